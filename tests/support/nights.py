"""Nights of DDL over a handful of names, what an engine then has under each, and runs over them without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import accumulate, chain, zip_longest
from pathlib import Path
from random import Random

from tests.behaviour.harness import Record
from tests.support.batched_runs import lineage_of_log, occurrences_of, stages_of
from tests.support.growing_log import configuration, contributions_in, write_log
from workflows.config import load_config
from workflows.runtime.options import Backfill, RunOptions
from workflows.state.lease import hold_lease
from workflows.state.store import open_state
from workflows.state.workflow_state import WorkflowState
from workflows.target import open_target

Edge = tuple[str, str]
Night = Sequence[str]


@dataclass
class Names:
    """What stands under names, as an engine has it: a table is whatever was written into it since it was made."""

    tables: dict[str, set[str]] = field(default_factory=dict)

    def run(self, text: str) -> None:
        """What a statement of `random_nights` does. Raises KeyError where an engine would refuse it."""
        words, tables = text.split(), self.tables
        if words[0] == "INSERT":
            tables[words[2]].add(words[-1])
        elif words[0] == "DROP":
            tables.pop(words[-1], None)
        elif "RENAME" in words:
            tables[words[-1]] = tables.pop(words[2])
        elif "SWAP" in words:
            tables[words[2]], tables[words[-1]] = tables[words[-1]], tables[words[2]]
        elif "EXISTS" in words:
            tables.setdefault(words[5], {words[-1]})
        else:
            tables[words[words.index("AS") - 1]] = {words[-1]}

    def edges_after(self, nights: Iterable[Night]) -> Iterator[set[Edge]]:
        """From what into what, after each night."""
        for night in nights:
            for text in night:
                self.run(text)
            yield {(source, name) for name, sources in self.tables.items() for source in sources}


@dataclass
class Readers:
    """Tables that are read as well as written, by what they are and not by their names, which they exchange."""

    names: dict[str, int] = field(default_factory=dict)
    made_of: set[tuple[int | str, int]] = field(default_factory=set)

    def run(self, text: str) -> None:
        """What a statement of `random_reading_nights` does. Raises KeyError where an engine would refuse it."""
        words, names = text.split(), self.names
        if "RENAME" in words:
            names[words[-1]] = names.pop(words[2])
        elif "SWAP" in words:
            names[words[2]], names[words[-1]] = names[words[-1]], names[words[2]]
        else:
            source = words[-1] if words[-1].startswith("s") else names[words[-1]]
            target = names.setdefault(words[2], len(self.names) + len(self.made_of))
            self.made_of.add((source, target))

    def edges_after(self, nights: Iterable[Night]) -> Iterator[set[Edge]]:
        """From what into what, after each night, by the names that they have then."""
        for night in nights:
            for text in night:
                self.run(text)
            last = {number: name for name, number in self.names.items()}
            yield {(source if isinstance(source, str) else last[source], last[to]) for source, to in self.made_of}


def random_reading_nights(seed: int, nights: int = 3, statements: int = 6) -> list[Night]:
    """Nights in which tables are written out of each other and exchange their names, one after the other or at once."""
    random = Random(seed)
    there, free = [f"{name}{seed}" for name in "abc"], f"o{seed}"
    found = [[f"CREATE TABLE {name} AS SELECT x FROM s{number}" for number, name in enumerate(there)]]
    for _night in range(nights):
        night: list[str] = []
        while len(night) < statements:
            name, other = random.sample(there, 2)
            kind = random.randrange(5)
            if kind == 0:
                night.append(f"ALTER TABLE {name} SWAP WITH {other}")
            elif kind == 1:
                night.append(f"ALTER TABLE {name} RENAME TO {free}")
                there[there.index(name)], free = free, name
            elif kind == 2:
                night += [f"ALTER TABLE {a} RENAME TO {b}" for a, b in ((name, free), (other, name), (free, other))]
            elif kind == 3:
                night.append(f"INSERT INTO {name} SELECT x FROM {other}")
            else:
                night.append(f"CREATE TABLE r{len(found)}_{len(night)}_{seed} AS SELECT x FROM {name}")
        found.append(night)
    return found


def random_nights(seed: int, nights: int = 3, statements: int = 6) -> list[Night]:
    """Statements that an engine would carry out, night by night; most of a night is what the night before did too."""
    random, engine = Random(seed), Names()
    names = [f"{name}{seed}" for name in "abcd"[: random.randrange(2, 5)]]
    found: list[Night] = []
    for _night in range(nights):
        night: list[str] = []
        planned = [*found[-1]] if found and random.random() < 0.7 else []
        while len(night) < statements:
            again = planned.pop(0) if planned and random.random() < 0.8 else None
            text = again or _statement(random, names)
            if _is_possible(engine, text):
                engine.run(text)
                night.append(text)
        found.append(night)
    return found


def _statement(random: Random, names: Sequence[str]) -> str:
    name, other = random.sample([*names], 2)
    query = f"SELECT x FROM s{random.randrange(3)}"
    forms = (
        f"CREATE TABLE {name} AS {query}",
        f"CREATE OR REPLACE TABLE {name} AS {query}",
        f"CREATE TABLE IF NOT EXISTS {name} AS {query}",
        f"INSERT INTO {name} {query}",
        f"INSERT INTO {name} {query}",
        f"DROP TABLE IF EXISTS {name}",
        f"ALTER TABLE {name} RENAME TO {other}",
        f"ALTER TABLE {name} RENAME TO {other}",
        f"ALTER TABLE {name} SWAP WITH {other}",
    )
    return random.choice(forms)


def _is_possible(engine: Names, text: str) -> bool:
    words, there = text.split(), engine.tables
    if words[0] == "INSERT":
        return words[2] in there
    if "RENAME" in words:
        return words[2] in there and words[-1] not in there
    if "SWAP" in words:
        return words[2] in there and words[-1] in there
    return words[:2] != ["CREATE", "TABLE"] or words[2] not in there


def side_by_side(several: Sequence[Sequence[Night]]) -> list[Night]:
    """Nights of several databases as the nights of one log, a statement of each in turn."""
    return [
        [text for turn in zip_longest(*together) for text in turn if text is not None]
        for together in zip(*several, strict=True)
    ]


def records_of(nights: Iterable[Night], apart: float = 1.0) -> list[list[Record]]:
    """A night a day, its statements so many seconds apart."""
    return [
        [Record(text, at=86_400.0 * day + apart * number, schema="public") for number, text in enumerate(night)]
        for day, night in enumerate(nights, 1)
    ]


def growing(parts: Iterable[list[Record]]) -> list[list[Record]]:
    """What a run reads after each part of a log: all until then."""
    return [*accumulate(parts)]


def standing_after(
    folder: Path, logs: Iterable[list[Record]], dialect: str = "postgres", *, forgets: bool = False
) -> Iterator[set[Edge]]:
    """What the catalog says that names hold, after a run over each of the logs; whether a run `forgets` others."""
    write_log(folder / "log" / "all.csv", ())
    config = load_config(configuration(folder))
    with closing(open_state(config.state_url)) as store, open_target(config, "run", dry_run=False) as target:
        for number, log in enumerate(logs):
            with hold_lease(store, f"w{number if forgets else 0}", f"run{number}") as lease:
                state = WorkflowState(store, lease, config, Backfill())
                stages = stages_of(config, RunOptions(f"run{number}"), target, state, [])
                lineage_of_log(stages, occurrences_of(log, config, dialect), None)
            yield standing_at(folder)


def standing_at(folder: Path, moment: float | None = None) -> set[Edge]:
    """What the catalog in a folder says that names held at a moment (seconds since the epoch), None for now."""
    found = contributions_in(folder / "catalog.db", None if moment is None else round(moment * 1000))
    return {(_table(one.source), _table(one.target)) for one in found}


def in_one_run(parts: Iterable[list[Record]]) -> list[list[Record]]:
    """The whole log, for one run."""
    return [[*chain(*parts)]]


def _table(fqn: str) -> str:
    return fqn.rpartition(".")[2].casefold()
