"""What a catalog says after runs over the logs of scripts, and what it says wrongly or not at all."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import yaml
from sqlalchemy import Connection, select

from connectors.catalog.graph import CatalogGraph, table_hops
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.store.lineage.reads import NOW
from connectors.catalog.store.schema import entities
from ingestion.model.fqn import split_fqn
from ingestion.walk import DIRECT, INDIRECT, ColumnNode, Walk
from tests.differential.script_engines import (
    Contents,
    Edge,
    Runner,
    Session,
    StepEffects,
    changed,
    random_filling,
)
from tests.differential.script_grammar import Engine, Node, Script
from tests.support.growing_log import SPARK
from tests.support.run_in_session import run
from workflows.counts import RunCounts

CATALOG = "catalog.db"
_START = datetime(2026, 3, 1, 1, tzinfo=UTC)
_COLUMNS = {"text": "body", "time": "at", "session": "who", "database": "db", "schema": "place"}


def write_night(folder: Path, scripts: Mapping[int, Sequence[str]], night: int) -> None:
    """The records of one night: of each script, by its number, the statements that ran; each has its own schema."""
    begin = _START + timedelta(days=night)
    rows = [
        [text, f"{begin + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}", f"s{number}", "db", f"s{number}"]
        for number, statements in scripts.items()
        for second, text in enumerate(statements)
    ]
    (folder / "log").mkdir(parents=True, exist_ok=True)
    with (folder / "log" / f"night{night}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(_COLUMNS.values()), *sorted(rows, key=lambda row: row[1])])


def write_configuration(folder: Path, engine: Engine) -> None:
    """The YAML of a workflow over the log in the folder."""
    content = {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "shop",
            "serviceConnection": {"config": {"type": engine.connection}},
            "sourceConfig": {"config": {"type": "DatabaseLineage", "queryLogFilePath": str(folder / "log")}},
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "queryLogColumns": _COLUMNS,
            "spark": {"master": "local[2]", "conf": SPARK},
            "catalog": {"file": str(folder / CATALOG)},
            "deadLetters": str(folder / "dead.jsonl"),
            "state": {"url": str(folder / "state.db")},
        },
    }
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))


@dataclass(frozen=True)
class Tie:
    """A way along lineage, and how strong it is."""

    strength: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Reached:
    """What is tied to a column: columns, tables whose rows it decides, and all that has rows because of those."""

    ties: Mapping[Node, Tie]
    tables: frozenset[str]


class ScriptCatalog:
    """An open catalog over the scripts of several schemas."""

    def __init__(self, connection: Connection) -> None:
        self._graph = CatalogGraph(connection)
        tables = select(entities.c.id, entities.c.fqn).where(entities.c.type == "table")
        self._names = {row.id: ".".join(split_fqn(row.fqn)[-2:]) for row in connection.execute(tables)}
        self._ids = {name: identifier for identifier, name in self._names.items()}
        self._table_hops = table_hops(connection, NOW, upstream=False)

    def reached(self, number: int, table: str, column: str) -> Reached:
        """What script `number` left that is tied to a column that it started from."""
        start = self._ids.get(f"s{number}.{table}")
        ways = self._graph.reached_from((start, column)) if start else []
        ties = {self._node(way.node): Tie(way.strength, tuple(map(self._node, way.nodes))) for way in ways}
        tables = Walk({way.node[0] for way in ways}, self._table_hops).finish().arrivals
        return Reached(ties, frozenset(self._node((one, None))[0] for one in tables))

    def _node(self, node: ColumnNode) -> Node:
        return self._names[node[0]].partition(".")[2], node[1]


@dataclass
class Moved:
    """What of a script's tables and views was another, in some filling, when one column's values were.

    `values`: columns, while no table had another number of rows. `rows`: tables that had, and those with columns that
    moved then, which may be but the number of what they are made of.
    """

    values: set[tuple[str, str]] = field(default_factory=set)
    rows: set[str] = field(default_factory=set)

    def add(self, script: Script, before: Contents, after: Contents) -> None:
        """What one filling shows, before and after."""
        held = [(table, before[table], after[table]) for table in script.made]
        if any(old[0].total() != new[0].total() for _, old, new in held):
            self.rows.update(table for table, old, new in held if old != new)
            return
        for table, old, new in held:
            columns = zip(script.made[table], old, new, strict=True)
            self.values.update((table, column) for column, one, other in columns if one != other)

    def untold(self, reached: Reached) -> list[Node]:
        """What moved, and is not tied to the column that was changed: values by their column, or with their rows."""
        ties = reached.ties
        decided = {table for (table, column), tie in ties.items() if column is None and tie.strength == INDIRECT}
        return [
            *sorted(node for node in self.values if node not in ties and node[0] not in decided),
            *((table, None) for table in sorted(self.rows - reached.tables)),
        ]

    def doubtful(self, reached: Reached) -> set[Edge]:
        """The steps of the ways along which values are said to flow for certain to what did not move."""
        still = (tie for node, tie in reached.ties.items() if node not in self.values and node[0] not in self.rows)
        return {edge for tie in still if tie.strength == DIRECT for edge in pairwise(tie.nodes)}


@dataclass
class Findings:
    """How lineage compares with what an engine did."""

    scripts: int = 0
    observed: int = 0
    claims: int = 0
    untold: list[str] = field(default_factory=list)
    unmoved: list[str] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """A catalog beside an engine; `session`: where single statements are tried, if they are to be."""

    catalog: ScriptCatalog
    runner: Runner
    session: Session | None = None
    fillings: int = 2

    def compare(self, number: int, script: Script, found: Findings) -> None:
        """Adds what is found of one script."""
        moved = self._moved(number, script)
        if moved is None:
            found.refused.append(number)
            return
        found.scripts += 1
        doubtful: set[Edge] = set()
        for (table, column), one in moved.items():
            reached = self.catalog.reached(number, table, column)
            found.observed += len(one.values) + len(one.rows)
            found.claims += sum(tie.strength == DIRECT for tie in reached.ties.values())
            found.untold += [f"{number}: {table}.{column} -> {target}" for target in one.untold(reached)]
            doubtful |= one.doubtful(reached)
        if self.session is not None:
            for rounds in (2, 6, 20):
                steps = StepEffects(self.session, script, Random(rounds)) if doubtful else None
                doubtful -= steps.among(doubtful, rounds) if steps else set()
            found.unmoved += [f"{number}: {source} -> {target}" for source, target in sorted(doubtful, key=str)]

    def _moved(self, number: int, script: Script) -> dict[tuple[str, str], Moved] | None:
        """What moved with each column that the script started from; None: the engine refuses it."""
        random = Random(number)
        found: dict[tuple[str, str], Moved] = {}
        for _ in range(self.fillings):
            filling = random_filling(random, script)
            columns = [(table, at, one) for table, own in script.bases.items() for at, one in enumerate(own)]
            others = [changed(random, filling, table, at) for table, at, _ in columns]
            before, *after = self.runner.contents(script, [filling, *others])
            if before is None:
                return None
            for (table, _, column), held in zip(columns, after, strict=True):
                if held is not None:
                    found.setdefault((table, column), Moved()).add(script, before, held)
        return found


def nights_of(number: int, script: Script, count: int) -> list[tuple[str, ...]]:
    """The script cut into so many nights, its tables being made in the first."""
    places = range(len(script.bases), len(script.statements))
    cuts = [0, *sorted(Random(number).sample(places, count - 1)), len(script.statements)]
    return [script.statements[start:end] for start, end in pairwise(cuts)]


def publish(folder: Path, engine: Engine, scripts: Mapping[int, Script], nights: int = 1) -> list[RunCounts]:
    """Runs over the scripts' logs, night after night, into a catalog in the folder."""
    write_configuration(folder, engine)
    parts = {number: nights_of(number, script, nights) for number, script in scripts.items()}
    counts = []
    for night in range(nights):
        write_night(folder, {number: own[night] for number, own in parts.items()}, night)
        counts.append(run(folder).counts)
    return counts


@contextmanager
def script_catalog(folder: Path) -> Iterator[ScriptCatalog]:
    """The catalog that runs have left in a folder."""
    with open_catalog(folder / CATALOG) as connection:
        yield ScriptCatalog(connection)
