"""Runs that end well and are not, and names of which a log tells too little: what to look at, and the key that mends
it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pyspark.sql import functions as F

from connectors.records import UNSUPPORTED
from ingestion.binding.binder import BoundLog
from ingestion.dialects.other_dialects import fitting_types, is_share, mismatch_text
from ingestion.model.lineage import NameKind
from ingestion.model.moments import minute_text
from ingestion.model.outcomes import Outcome
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.counts import NAMES_SHOWN, RunCounts, most_frequent
from workflows.run.parse.templates import Templates
from workflows.run.read.reader import Statements
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.resolution import ResolvedNames
from workflows.state.runs import RecordedRun

_LOOK = "look at what `ingest validate --connect` shows, and name columns under headwater.queryLogColumns"
_MANY = 10
"""Statements that lineage came of in the last run, from which on none at all is strange."""
_NO_LOG = (
    "there is no log of statements: only definitions were read; set queryLogFilePath, or, in a PostgreSQL, install"
    " pg_stat_statements"
)
_TablePath = tuple[str, str, str]
"""Database, schema and name."""
_OPEN = frozenset({Outcome.NO_DEFAULT_SCHEMA, Outcome.UNKNOWN_SESSION, Outcome.UNRESOLVED, Outcome.AMBIGUOUS})


# What the counts of a run give away, and the statistics of its log.


def warnings_of(config: RunConfig, counts: RunCounts, before: RecordedRun | None) -> tuple[str, ...]:
    """What a person should look into; `before` is the last run of the workflow that came to its end, None if none."""
    warnings = [*_nothing_read(config, counts), *_nothing_published(counts, before)]
    if counts.unresolved:
        named = ", ".join(f"{name} {count}" for name, count in most_frequent(counts.unresolved_names, NAMES_SHOWN))
        warnings.append(f"{counts.unresolved} names are not in the catalog, most often {named}")
    return tuple(warnings)


def _nothing_read(config: RunConfig, counts: RunCounts) -> list[str]:
    if counts.records_read_before:
        return []
    if not counts.records_read and config.has_query_log:
        return ["the log is empty: nothing was read; check queryLogFilePath"]
    if not counts.records_read and config.source.is_database:
        return [_NO_LOG]
    if (lost := counts.dead.get(Outcome.NOT_SQL, 0)) * 10 > counts.statements:
        return [f"{lost} of {counts.statements} texts are no SQL: is it the right column? {_LOOK}"]
    if not counts.templates:
        return ["no statement of the log bears lineage; the skipped ones are listed by reason"]
    writes = counts.statements - counts.skipped_total + counts.skipped.get(Outcome.NO_LINEAGE, 0)
    if not counts.published and writes:
        given_up = f" ({counts.dead_total} of them dead)" if counts.dead_total else ""
        return [f"no lineage came of any statement that may write, of which there are {writes}{given_up}: {_LOOK}"]
    return []


def window_warnings(config: RunConfig, statements: Statements) -> Iterator[str]:
    """What the window has left out, and older than when: a short one looks like a log without lineage."""
    outside = statements.counts.skipped.get(Outcome.OUTSIDE_WINDOW, 0)
    if not outside or statements.window is None:
        return
    begin, end = statements.window
    days = config.lineage.query_log_duration
    window = f"the {days} days up to the newest record" if days is not None else "what came since the last run"
    if math.isfinite(end):
        window = f"up to {_moment(end)}"
    older = f"; it begins at {_moment(begin)}" if math.isfinite(begin) else ""
    of_all = f"{outside} of {statements.counts.statements} statements are outside the window ({window}{older})"
    yield f"{of_all}: set queryLogDuration, or read a stretch again with --since and --until"


def _moment(seconds: float) -> str:
    return minute_text(int(seconds * 1000))


def replay_warnings(templates: int) -> tuple[str, ...]:
    """A warning of dead templates whose masked texts stood in for their records; none where none did."""
    if not templates:
        return ()
    return (f"the log has the records of {templates} dead templates no more: their masked text was replayed",)


def other_dialect_warnings(config: RunConfig, templates: Templates) -> Iterator[str]:
    """That a share of what was parsed is of another dialect than the source's type, and the type that fits."""
    source = config.source
    if source.connection is None or not is_share(templates.others, len(templates.parsed)):
        return
    fitting = fitting_types(templates.others)
    of_source = f"source.type: {fitting[0].lower()}-lineage" if fitting and source.is_database else ""
    mend = f"set {of_source or 'source.serviceConnection.config.type: ' + fitting[0]}" if fitting else ""
    mismatch = mismatch_text(templates.others, len(templates.parsed), source.connection.type)
    yield f"{config.origin}: {mismatch}: {mend or 'check the type of the source'}"


def ahead_of_time(statements: int) -> tuple[str, ...]:
    """A warning of statements whose time is in the future; none where there are none."""
    if not statements:
        return ()
    return (f"{statements} statements have a time in the future: they count as without one; look at the log's clock",)


def _nothing_published(counts: RunCounts, before: RecordedRun | None) -> list[str]:
    if before is None or counts.published or not counts.statements:
        return []
    published = before.report.get("counts", {}).get("published", 0)
    if published < _MANY:
        return []
    return [f"no statement of {counts.statements} has lineage, and {published} of the last run had: look at the log"]


def malformed_warnings(statements: Statements) -> Iterator[str]:
    """What was wrong with the records that could not be read, by kind and file, the most frequent first."""
    if not statements.counts.malformed_records:
        return
    prefix = f"{Outcome.MALFORMED_RECORD}:"
    found = (
        statements.frame.where(F.col("dead").startswith(prefix))
        .groupBy("file", F.expr(f"substring(dead, {len(prefix) + 1})").alias("problem"))
        .agg(F.count(F.lit(1)).alias("records"), F.min("line").alias("line"))
        .orderBy(F.desc("records"), "file", "problem")
        .limit(NAMES_SHOWN + 1)
        .collect()
    )
    for row in found[:NAMES_SHOWN]:
        records = _count_of(row["records"], "record")
        location = f"{row['file']}, line {row['line']}: "  # which a file that is no log at all has told itself
        yield f"{location}{row['problem'].removeprefix(location)} ({records} not read)"
    if len(found) > NAMES_SHOWN:
        yield "more files hold records that cannot be read: the dead letters name each"


def history_warnings(statements: Statements) -> Iterator[str]:
    """The files that are no event logs, and the writes that were not understood, by kind."""
    strays = statements.counts.skipped.get(Outcome.NOT_AN_EVENT_LOG, 0)
    if strays:
        found = (
            statements.frame.where(F.col("skipped") == Outcome.NOT_AN_EVENT_LOG)
            .select("file")
            .orderBy("file")
            .limit(NAMES_SHOWN)
        )
        names = ", ".join(row["file"] for row in found.collect())
        others = f", and {strays - NAMES_SHOWN:,} more" if strays > NAMES_SHOWN else ""
        files = _count_of(strays, "file")
        yield f"{files} beside the event logs {'is' if strays == 1 else 'are'} none: {names}{others}"
    kinds = {
        reason.removeprefix(UNSUPPORTED): n
        for reason, n in statements.counts.dead.items()
        if reason.startswith(UNSUPPORTED)
    }
    if kinds:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in most_frequent(kinds, len(kinds)))
        yield f"{_count_of(sum(kinds.values()), 'write')} not understood: {listed}"


def _count_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# Names of which a log tells too little, or two of which may be one.


@dataclass(frozen=True, slots=True)
class DoubtfulNames:
    """Such names of all shards of a log."""

    settings: SourceSettings
    _schemaless: set[str] = field(default_factory=set)
    _missing: set[str] = field(default_factory=set)
    _tables: set[_TablePath] = field(default_factory=set)

    def add(self, names: ResolvedNames, log: BoundLog) -> None:
        """Takes in those of a shard."""
        entities, settings = names.entities, self.settings
        open_keys = [log.relations[number].key for number, status in entities.statuses.items() if status in _OPEN]
        tables = [key for key in open_keys if key.kind is NameKind.TABLE]
        self._schemaless.update(key.table for key in tables if not (key.schema or settings.default_schema))
        self._schemaless.update(names.routines.unplaced)
        missing = [key for key in tables if key.schema and key.database == settings.guessed_database != ""]
        self._missing.update(f"{key.schema}.{key.table}" for key in missing)
        self._tables.update(_tables(entities, log))

    def merge(self, other: DoubtfulNames) -> None:
        """Takes in those of another shard."""
        self._schemaless.update(other._schemaless)
        self._missing.update(other._missing)
        self._tables.update(other._tables)

    def warnings(self) -> tuple[str, ...]:
        """A warning for each kind of such names, none where there are none."""
        return (
            *_without_schema(self._schemaless, self.settings),
            *_without_database(self._missing),
            *_alike_but_for_case(self._tables),
            *_alike_but_for_database(self._tables, self.settings),
        )


def _without_schema(names: Iterable[str], settings: SourceSettings) -> Iterator[str]:
    found = sorted(set(names))
    if found:
        mend = "headwater.defaults.schema" + (", which is the database there" if settings.two_level else "")
        yield (
            f"{len(found)} names have no schema, and neither their session nor the dialect has a default one "
            f"({_some(found)}): set {mend}"
        )


def _without_database(names: Iterable[str]) -> Iterator[str]:
    found = sorted(names)
    if found:
        yield (
            f"nothing tells the database of {len(found)} names that were not found ({_some(found)}): "
            "set headwater.defaults.database"
        )


def _alike_but_for_case(tables: Iterable[_TablePath]) -> Iterator[str]:
    found: dict[_TablePath, list[_TablePath]] = {}
    for database, schema, table in sorted(tables):
        folded = (database.casefold(), schema.casefold(), table.casefold())
        found.setdefault(folded, []).append((database, schema, table))
    pairs = [" and ".join(map(".".join, alike)) for alike in found.values() if len(alike) > 1]
    if pairs:
        yield f"{len(pairs)} tables go by names that differ in case alone, and are kept apart ({_some(pairs)})"


def _alike_but_for_database(tables: Iterable[_TablePath], settings: SourceSettings) -> Iterator[str]:
    """Tables that have one name in a database that nobody named, and in one that somebody did."""
    guessed = settings.guessed_database
    named: dict[tuple[str, str], str] = {}
    for database, schema, table in sorted(tables):
        if database != guessed:
            named[schema, table] = database
    pairs = sorted(
        f"{schema}.{table} and {named[schema, table]}.{schema}.{table}"
        for database, schema, table in tables
        if guessed and database == guessed and (schema, table) in named
    )
    if pairs:
        yield (
            f"{len(pairs)} tables stand with a database and without one ({_some(pairs)}), and are kept apart: "
            "if they are one, set headwater.defaults.database"
        )


def _tables(entities: RelationEntities, log: BoundLog) -> frozenset[_TablePath]:
    """Where the tables are that edges join: in the catalog, or where the log has them."""
    found = set()
    for number in entities.statuses:
        key, entity = log.relations[number].key, entities.resolved.get(number)
        if entity is not None and entity.type == "table":
            found.add((sys.intern(entity.database), sys.intern(entity.schema), entity.name))
        elif entity is None and key.kind is NameKind.TABLE and key.session is None:
            found.add((sys.intern(key.database), sys.intern(key.schema), key.table))
    return frozenset(found)


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMES_SHOWN])
