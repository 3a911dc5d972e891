"""Random logs of tables that hang together in every way, and runs over them without Spark, in batches of any size."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from ingestion.analysis.symbolic import is_resolved
from ingestion.model.isolation import Isolation
from ingestion.parsing.templates import ParsedTemplate
from tests.behaviour.harness import Record, Warehouse, statement_rows, templates_of
from tests.support.growing_log import configuration, contributions_in, write_log
from workflows.config import RunConfig, load_config
from workflows.counts import RunCounts
from workflows.run.bind.binding import Binding
from workflows.run.group.names import TemplateNames, changing_names, names_by_template
from workflows.run.group.occurrences import GroupedRuns, Occurrences
from workflows.run.group.runs import Run, RunTallies, Tally
from workflows.run.group.schema_changes import with_tables_of_schemas
from workflows.run.parse.templates import Templates, TemplatesByFingerprint
from workflows.run.publish.publishing import Publishing, PublishOrder, SharedLineage
from workflows.run.remember.checkpoint import LineageResult
from workflows.run.resolve.resolution import NameResolution
from workflows.run.shards import LineageStages, LogFacts, OpenStage
from workflows.runtime.options import Backfill, Failpoints, RunOptions
from workflows.runtime.progress import LoggedProgress
from workflows.state.acknowledgements import CompleteScope, PublishedState
from workflows.state.lease import hold_lease
from workflows.state.store import open_state
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, open_target

_STARTS = (
    "CREATE TABLE {new} AS",
    "CREATE VIEW {new} AS",
    "CREATE TEMP TABLE {new} AS",
    "CREATE OR REPLACE VIEW {old} AS",
    "INSERT INTO {old}",
    "INSERT INTO mart.{old}",
    "INSERT INTO {other} (a, b)",
    "INSERT INTO {other} (b)",
)
_CHANGES = (
    "ALTER TABLE {old} ADD COLUMN e int",
    "ALTER TABLE {old} RENAME TO {new}",
    "DROP TABLE {old}",
    "CREATE TABLE {new} (LIKE {old})",
)
_SCHEMAS = ("public", "mart", "stage")


def tangled_log(seed: int, statements: int) -> list[Record]:
    """Statements a second apart: some alone, some joined by what they make, alter, move, end or write together.

    Bases are read with a schema and without one, from sessions of several schemas; what a run knows of their columns is
    what it sees of them.
    """
    random = Random(seed)
    made = ["base0"]
    records = []
    for number in range(statements):
        base = f"base{random.randrange(5)}"
        names = {"new": f"t{number}", "old": random.choice(made), "other": f"sink{random.randrange(3)}"}
        if random.random() < 0.15:
            text = random.choice(_CHANGES).format(**names)
        else:
            read = random.choice([base, f"public.{base}", f"mart.{base}", random.choice(made)])
            wanted = random.choice(["x.a, x.b", "x.a, x.c AS b", "x.d AS a, upper(x.b) AS b", "*"])
            joined = random.choice(["", f" JOIN {random.choice(made)} y ON x.a = y.a"]) if wanted != "*" else ""
            text = (
                f"{random.choice(_STARTS).format(**names)} SELECT {wanted} FROM {read} x{joined} WHERE x.a > {number}"
            )
        if "{new}".format(**names) in text.split() and not text.startswith("ALTER"):
            made.append(names["new"])
        at = 1000.0 + number
        records.append(Record(text, f"s{random.randrange(4)}", at, schema=random.choice(_SCHEMAS)))
    return records


_BUILT = (
    "CREATE TABLE {new} AS SELECT {wanted} FROM {old} x",
    "CREATE TABLE {new} AS SELECT {wanted} FROM {old} x JOIN {older} y ON x.a = y.a",
    "CREATE VIEW {new} AS SELECT {wanted} FROM {old} x",
    "CREATE OR REPLACE VIEW {older} AS SELECT {wanted} FROM {old} x",
    "CREATE VIEW {new} AS SELECT {wanted} FROM {later} x",
    "CREATE TABLE {later} AS SELECT {wanted} FROM {old} x",
    "INSERT INTO {old} SELECT {wanted} FROM {older} x",
    "INSERT INTO {sink} (a, b) SELECT x.a, x.b FROM {old} x WHERE x.a > {number}",
    "INSERT INTO mart.{sink} SELECT {wanted} FROM {older} x",
    "CREATE TEMP TABLE {temporary} AS SELECT {wanted} FROM {old} x",
    "INSERT INTO {temporary} SELECT {wanted} FROM {old} x",
    "INSERT INTO {old} SELECT {wanted} FROM {temporary} x",
    "DROP TABLE {temporary}",
    "ALTER TABLE {old} ADD COLUMN n{number} int",
    "ALTER TABLE {old} RENAME COLUMN a TO n{number}",
    "ALTER TABLE {old} DROP COLUMN b",
    "ALTER TABLE {old} RENAME TO {new}",
    "ALTER TABLE {old} SWAP WITH {older}",
    "DROP TABLE {old}",
    "CREATE TABLE {new} (LIKE {old})",
    "CREATE TABLE {new} (a int, b text)",
    "CREATE FUNCTION {new}() RETURNS TABLE (a int, b text) LANGUAGE sql AS $$ SELECT x.a, x.b FROM {old} x $$",
    "SELECT {wanted} FROM {old} x",
)
"""Statements of which nearly all are joined by what the log makes."""


def built_log(seed: int, statements: int) -> list[Record]:
    """A warehouse whose every table the log makes from others: chains, rings, stars over what comes later.

    What was set aside is made again, in sessions with temporary tables and in routines (sessions called p).
    """
    random = Random(seed)
    made = [f"t{number}" for number in range(3)]
    records = []
    for number in range(statements):
        new, later, temporary = f"t{3 + number}", f"t{4 + number + random.randrange(4)}", f"n{random.randrange(2)}"
        older, old = random.choice(made), random.choice(made[-4:])
        wanted = random.choice(["x.a, x.b", "x.a, upper(x.b) AS b", "*", "x.*, 1 AS c", "count(x.b) AS a, x.c AS b"])
        given = {"new": new, "old": old, "older": older, "later": later, "wanted": wanted, "number": number}
        text = random.choice(_BUILT).format(sink=f"sink{random.randrange(2)}", temporary=temporary, **given)
        made += [name for name in (new, later) if f" {name}" in text]
        session = random.choice(["s0", "s1", "s2", "p0", "p1"])
        records.append(Record(text, session, 1000.0 + number, schema=random.choice(["public", "public", "mart"])))
        if random.random() < 0.2:
            again = random.choice(records)
            records.append(Record(again.text, again.session, 1000.5 + number, schema=again.schema))
    return records


@dataclass(frozen=True)
class BatchedRun:
    """What runs, one after the other, leave: counts and deaths, warnings, and all that the catalog has."""

    counts: tuple[RunCounts, ...]
    dead: Mapping[str, str]
    warnings: tuple[str, ...]
    catalog: Mapping[str, Any]
    batches: int


def batched_run(
    folder: Path,
    logs: Sequence[Sequence[Record]],
    templates_at_once: int,
    failpoint: str | None = None,
    spark: SparkSession | None = None,
    **ours: object,
) -> BatchedRun:
    """Runs over each of the logs, into one catalog, by the tasks of `spark` where that is given.

    The journal is what the last one has.
    """
    write_log(folder / "log" / "all.csv", ())
    config = load_config(configuration(folder, None, templatesAtOnce=templates_at_once, **ours))
    with closing(open_state(config.state_url)) as store, open_target(config, "run", dry_run=False) as target:
        counts: list[RunCounts] = []
        dead: dict[str, str] = {}
        warnings: tuple[str, ...] = ()
        batches = 0
        for number, log in enumerate(logs):
            with hold_lease(store, "w", f"run{number}") as lease:
                state = WorkflowState(store, lease, config, Backfill())
                options = RunOptions(f"run{number}", failpoints=Failpoints(failpoint))
                ordered: list[int] = []
                stages = stages_of(config, options, target, state, ordered)
                result = lineage_of_log(stages, occurrences_of(log, config), spark)
                counts.append(result.counts)
                dead.update(result.dead)
                warnings += result.warnings
                batches = max(batches, len(ordered))
        catalog = _contents(target, folder)
    return BatchedRun(tuple(counts), dead, warnings, catalog, batches)


def dry_run(
    folder: Path, log: Sequence[Record], templates_at_once: int, spark: SparkSession | None = None
) -> tuple[RunCounts, list[Mapping[str, Any]]]:
    """The counts of a dry run over a log, and what it shows, by the tasks of `spark` where that is given."""
    write_log(folder / "log" / "all.csv", ())
    config = load_config(configuration(folder, None, templatesAtOnce=templates_at_once))
    shown: list[Mapping[str, Any]] = []
    with (
        closing(open_state(config.state_url)) as store,
        open_target(config, "run", dry_run=True) as target,
        hold_lease(store, "w", "run") as lease,
    ):
        state = WorkflowState(store, lease, config, Backfill())
        stages = stages_of(config, RunOptions("run", shown.append), target, state, [])
        result = lineage_of_log(stages, occurrences_of(log, config), spark)
    return result.counts, shown


@dataclass(frozen=True)
class _CountedPublishing(Publishing):
    """Notes how many targets each batch speaks of."""

    ordered: list[int] = field(default_factory=list)

    def order(
        self,
        states: Mapping[str, PublishedState | None],
        scope: CompleteScope,
        shared: SharedLineage,
        *,
        tells_requests: bool,
    ) -> PublishOrder:
        self.ordered.append(len(states))
        return Publishing.order(self, states, scope, shared, tells_requests=tells_requests)


def lineage_of_log(stages: LineageStages, found: Occurrences, spark: SparkSession | None) -> LineageResult:
    progress = stages.progress
    with ExitStack() as kept, progress.stage("bind") as of_stage:
        context = spark.sparkContext if spark else None
        bound = stages.bind(found, _FACTS, context, OpenStage(of_stage, kept))
        return stages.publish(stages.resolve(bound, of_stage), of_stage)


_FACTS = LogFacts({}, lambda _wanted: {}, lambda _current: {}, frozenset)


def stages_of(
    config: RunConfig, options: RunOptions, target: RunTarget, state: WorkflowState, ordered: list[int]
) -> LineageStages:
    probe, settings = options.failpoints.probe, Warehouse(database="db").settings
    names = NameResolution(config, settings, target, probe)
    binding = Binding(config, settings, None, state.remember, probe)
    publishing = _CountedPublishing(config, options, target, state, names, ordered=ordered)
    return LineageStages(config, LoggedProgress(), names, binding, publishing, None)


_PARSED: dict[str, dict[str, ParsedTemplate]] = {}
"""Templates that were parsed, by dialect and fingerprint."""


def occurrences_of(log: Sequence[Record], config: RunConfig, dialect: str = "postgres") -> Occurrences:
    """The runs of a log as Spark groups them."""
    warehouse = Warehouse(dialect, database="db")
    rows: list[dict[str, Any]] = [row for row in statement_rows(log, warehouse) if row.get("fingerprint")]
    parsed = _PARSED.setdefault(dialect, {})
    parsed.update(templates_of([row for row in rows if row["fingerprint"] not in parsed]))
    found = {str(row["fingerprint"]): parsed[str(row["fingerprint"])] for row in rows}
    names = names_by_template(found.values(), Isolation(), config.headwater.templates_at_once)
    by_key = {(key, template.dialect): template for key, template in found.items()}
    known, held = TemplatesByFingerprint([by_key]), config.headwater.templates_at_once
    runs = GroupedRuns(_tallies(rows, changing_names(names), warehouse), held)
    others = with_tables_of_schemas(known, names, runs, warehouse.settings.defaults, Isolation())
    if others:
        known, names = known.with_others(others), {**names, **{key: one.names() for key, one in others.items()}}
        runs = GroupedRuns(_tallies(rows, changing_names(names), warehouse), held)
    plans = frozenset(key for key, one in found.items() if one.symbolic is not None and is_resolved(one.symbolic))
    return Occurrences(Templates(known, frozenset(found)), runs, names, plans)


def _tallies(rows: Sequence[dict[str, Any]], names: TemplateNames, warehouse: Warehouse) -> Iterable[Tally]:
    tallies = RunTallies(names, warehouse.settings.defaults)
    for row in rows:
        path = (row["schema"],) if row["schema"] else ()
        given: dict[str, Any] = {
            **row,
            "search_path": path,
            "read_in_this_run": True,
            "routine": f"db.public.{row['session']}" if str(row["session"]).startswith("p") else None,
            "already_published": row["already_published"],
        }
        tallies.add(Run._make(given[name] for name in Run._fields))
    return tallies.tallies()


def _contents(target: RunTarget, folder: Path) -> dict[str, Any]:
    """Tables with their columns in order, edges by who says them, queries with what they touch, and DDL."""
    http = target.platform.http

    def listed(collection: str, **given: str) -> list[Any]:
        answer = http.get(collection, {"limit": "1000", **given})
        assert isinstance(answer, dict)
        assert len(answer["data"]) == answer["paging"]["total"]
        return list(answer["data"])

    tables = listed("tables", fields="columns", include="all")
    names = {table["id"]: table["fullyQualifiedName"] for table in tables}
    said = contributions_in(folder / "catalog.db")
    return {
        "tables": {
            table["fullyQualifiedName"]: (
                table.get("tableType"),
                table.get("deleted"),
                [column["name"] for column in table["columns"]],
            )
            for table in tables
        },
        "edges": {
            (one.source, one.target, one.producer, one.records, one.first, one.last, _named(one.text, names))
            for one in said
        },
        "queries": {
            one["query"]: sorted(names.get(used["id"], "") for used in one.get("queryUsedIn") or ())
            for one in listed("queries", fields="queryUsedIn")
        },
        **_ddl(folder),
    }


def _ddl(folder: Path) -> dict[str, Any]:
    """What became of names, in the order of time, of columns, and of lineage."""
    with closing(sqlite3.connect(f"file:{folder / 'catalog.db'}?mode=ro", uri=True)) as connection:
        names = dict(connection.execute("select id, fqn from entities"))
        moves = connection.execute("select kind, entity_id, other_id, at from name_events order by at, seq").fetchall()
        columns = connection.execute("select entity_id, path, at, other from column_events").fetchall()
        processed = connection.execute("select fqn from entities where processed order by fqn").fetchall()
        periods = connection.execute(
            'select from_id, to_id, start, min("end", 2e9), last_seen from intervals'
        ).fetchall()
    return {
        "names": [(kind, names[one], names[other], at) for kind, one, other, at in moves],
        "column names": {(names[one], *others) for one, *others in columns},
        "processed": processed,
        "periods": sorted(map(repr, ((names[one], names[other], *times) for one, other, *times in periods))),
    }


def _named(text: str, names: Mapping[str, str]) -> str:
    """A contribution without the ids that a catalog gave to its tables."""
    for identifier, name in names.items():
        text = text.replace(identifier, name)
    return json.dumps(json.loads(text), sort_keys=True)
