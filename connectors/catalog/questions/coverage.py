"""Of how many tables it is known what they are made of: by columns, by table, or not at all, and then why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, func, select

from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.tables import CatalogTable, TableListOptions, tables_under
from connectors.catalog.store.evidence.workflow_runs import (
    DeadStatementRow,
    Sourceless,
    StoredRun,
    dead_of,
    sourceless_writes,
    stored_runs,
)
from connectors.catalog.store.lineage.known_sources import CoverageLevel, levels_of
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.schema import entities, intervals
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.model.outcomes import Outcome, UncoveredReason, code_of, words_of

TREND = 30
"""Runs of which it is told how much was covered at their end."""
_FILLED = frozenset({Outcome.INSERT_VALUES, Outcome.COPY_STDIO, Outcome.NO_SOURCE})
"""Why there is nothing to be known of a table: it is filled, and from no other."""
_MOST_DEAD_OF_ONE = 5
_TRIED_FOR_ONE = 4
"""So many times as many are looked at: of some there is no source to be known."""


@dataclass(frozen=True, slots=True)
class DeadWrite:
    """A statement that was to fill a table, and is dead: where it stands, and its text without literals."""

    location: str
    reason: str
    masked: str
    error: str = ""

    def to_json(self) -> Json:
        """The same as JSON."""
        words = words_of(self.reason)
        known = {"location": self.location, "reason": self.reason, "reasonText": words}
        return {**known, "statement": self.masked, "error": self.error}


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table whose source is not known by columns, and why not.

    `reason`: a code of Outcome or of UncoveredReason; `names` are those that nobody knows, `dead` the statements
    that were given up on. `setting`: the line of the configuration that would mend it, "" where none does. `used_by`:
    how many entities are made of it.
    """

    id: str
    name: str
    level: CoverageLevel
    reason: str
    names: tuple[str, ...] = ()
    dead: tuple[DeadWrite, ...] = ()
    setting: str = ""
    used_by: int = 0

    @property
    def has_no_source(self) -> bool:
        """Whether it is filled, and from no other: there is nothing to work off."""
        return self.reason in _FILLED

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "entity": {"id": self.id, "fullyQualifiedName": self.name},
            "level": self.level.value,
            "reason": self.reason,
            "reasonText": words_of(self.reason),
            "names": list(self.names),
            "dead": [one.to_json() for one in self.dead],
            "setting": self.setting,
            "usedBy": self.used_by,
        }


@dataclass(frozen=True, slots=True)
class CoverageAt:
    """How many tables were covered how, at the end of a run."""

    run: str
    workflow: str
    at: int
    counts: Mapping[str, int]

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"run": self.run, "workflow": self.workflow, "at": self.at, "counts": dict(self.counts)}


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """Of so many tables the counts by what is known of them, and the reasons of the others, each with its count.

    `open` are those of which less is known than could be, what most is made of first, and last those that are filled
    from no other: so many have `no_source`. `trend` are the latest runs, the oldest first.
    """

    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    no_source: int = 0
    open: tuple[OpenTable, ...] = ()
    trend: tuple[CoverageAt, ...] = field(default=())

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "counts": dict(self.counts),
            "reasons": dict(self.reasons),
            "reasonTexts": {reason: words_of(reason) for reason in self.reasons},
            "noSource": self.no_source,
            "open": [one.to_json() for one in self.open],
            "trend": [one.to_json() for one in self.trend],
        }


# The question.


def coverage_in_file(file: Path, options: TableListOptions) -> Answer[CoverageReport]:
    """How much is covered of a catalog's file. Raises ConfigError for a name that nothing is called by."""
    with open_catalog(file) as connection:
        return coverage_report(connection, options)


def coverage_report(connection: Connection, options: TableListOptions) -> Answer[CoverageReport]:
    """The same of an open catalog."""
    tables = tables_under(connection, options.under)
    levels = levels_of(connection, options.as_of)
    known = _Reasons.of(connection, Moment(options.as_of))
    found = [
        known.of_table(one, level) for one in tables if (level := _level(levels, one)) is not CoverageLevel.COLUMNS
    ]
    found.sort(key=lambda one: (one.has_no_source, -one.used_by, one.level is CoverageLevel.TABLE, one.name))
    reasons = Counter(one.reason for one in found)
    report = CoverageReport(
        _counts(Counter(_level(levels, one) for one in tables)),
        dict(sorted(reasons.items(), key=lambda one: (-one[1], one[0]))),
        sum(one.has_no_source for one in found),
        tuple(found[: options.limit]),
        tuple(_trend(stored_runs(connection, limit=TREND))),
    )
    cut = (f"only the first {options.limit} tables are listed: ask for more, or of one schema",)
    return Answer(report, cut if len(found) > options.limit else ())


def coverage_counts(connection: Connection) -> Json:
    """How many tables there are, and how many are covered how."""
    levels = levels_of(connection)
    where = (entities.c.type == "table", entities.c.deleted.is_(False))
    there = connection.scalars(select(entities.c.id).where(*where))
    return _counts(Counter(levels.get(one, CoverageLevel.NONE) for one in there))


def first_uncovered(connection: Connection, limit: int) -> tuple[OpenTable, ...]:
    """The tables that a list of what is not covered begins with, so many, of which there is more to be known."""
    levels = levels_of(connection)
    known = _Reasons.of(connection, Moment(None))
    where = (entities.c.type == "table", entities.c.deleted.is_(False))
    open_tables = [
        (-known.used.get(one.id, 0), level is CoverageLevel.TABLE, one.fqn, one.id, level)
        for one in connection.execute(select(entities.c.id, entities.c.fqn).where(*where))
        if (level := levels.get(one.id, CoverageLevel.NONE)) is not CoverageLevel.COLUMNS
    ]
    ordered = sorted(open_tables)[: limit * _TRIED_FOR_ONE]
    found = (known.of_table(CatalogTable(id_, "table", name, ()), level) for _, _, name, id_, level in ordered)
    return tuple(islice((one for one in found if not one.has_no_source), limit))


def _level(levels: Mapping[str, CoverageLevel], table: CatalogTable) -> CoverageLevel:
    return levels.get(table.id, CoverageLevel.NONE)


def _counts(levels: Mapping[CoverageLevel, int]) -> Json:
    return {"tables": sum(levels.values()), **{level.value: levels.get(level, 0) for level in CoverageLevel}}


def _trend(runs: Iterable[StoredRun]) -> list[CoverageAt]:
    known = [one for one in runs if one.coverage is not None and one.ended is not None]
    return [CoverageAt(one.run, one.workflow, one.ended or 0, one.coverage or {}) for one in reversed(known)]


# Why nothing is known of a table.

_BEFORE_OTHERS = (
    Outcome.UNKNOWN_SERVER,
    Outcome.NO_DEFAULT_SCHEMA,
    Outcome.UNKNOWN_SESSION,
    Outcome.AMBIGUOUS,
    Outcome.UNRESOLVED,
)
"""Of several reasons of one table the first of these is told: somebody can do something about it."""
_SETTINGS: Mapping[str, str] = {
    Outcome.UNKNOWN_SERVER: "headwater.catalogServices: {{{first}: <its service>}}",
    Outcome.NO_DEFAULT_SCHEMA: "headwater.defaults: {{schema: {schema}}}",
    Outcome.AMBIGUOUS: "headwater.defaults: {{schema: {schema}}}",
    Outcome.UNRESOLVED: "headwater.registerTables: always",
    Outcome.TIMEOUT: "source.sourceConfig.config.parsingTimeoutLimit: <more seconds>",
    Outcome.MEMORY: "headwater.parserMemoryLimit: <more>",
    Outcome.NOT_WANTED: "source.sourceConfig.config.processViewLineage and processQueryLineage: true",
    Outcome.FILTERED: "source.sourceConfig.config.filterCondition, or a filter pattern there",
}


@dataclass(frozen=True, slots=True)
class _Reasons:
    """What runs told of tables that they could tell no source of, and how many entities are made of each."""

    connection: Connection
    dead: Mapping[str, list[DeadStatementRow]]
    sourceless: Mapping[str, list[Sourceless]]
    used: Mapping[str, int]

    @classmethod
    def of(cls, connection: Connection, moment: Moment) -> _Reasons:
        dead: defaultdict[str, list[DeadStatementRow]] = defaultdict(list)
        for one in dead_of(connection):
            for table in one.writes:
                dead[table].append(one)
        return cls(connection, dead, sourceless_writes(connection), _used_by(connection, moment))

    def of_table(self, table: CatalogTable, level: CoverageLevel) -> OpenTable:
        """A table whose source is not known by columns, and why not."""
        found = OpenTable(table.id, table.fqn, level, UncoveredReason.NOT_WRITTEN, used_by=self.used.get(table.id, 0))
        if dead := self.dead.get(table.id):
            reason = code_of(dead[0].reason)
            writes = tuple(
                DeadWrite(one.location, one.reason, one.masked, one.error) for one in dead[:_MOST_DEAD_OF_ONE]
            )
            return replace(found, reason=reason, dead=writes, setting=_setting(reason))
        if level is CoverageLevel.TABLE:
            return replace(found, reason=UncoveredReason.COLUMNS_UNKNOWN)
        if sourceless := self.sourceless.get(table.id):
            first = min(sourceless, key=_rank)
            names = tuple(dict.fromkeys(name for one in sourceless if one.reason == first.reason for name in one.names))
            setting = _setting(first.reason, names, self._schemas_of(names))
            return replace(found, reason=first.reason, names=names, setting=setting)
        return found

    def _schemas_of(self, names: Iterable[str]) -> list[str]:
        """The schemas that have tables by the last parts of these names."""
        folded = {fqn.written_parts(name)[-1].casefold() for name in names}
        where = (entities.c.type == "table", entities.c.deleted.is_(False), entities.c.name_folded.in_(sorted(folded)))
        found = self.connection.scalars(select(entities.c.fqn).where(*where).order_by(entities.c.fqn))
        return list(dict.fromkeys(fqn.decode_name(fqn.split(one)[-2]) for one in found))


def _rank(one: Sourceless) -> tuple[int, str]:
    known = [code.value for code in _BEFORE_OTHERS]
    return (known.index(one.reason) if one.reason in known else len(known) + (one.reason in _FILLED)), one.reason


def _setting(reason: str, names: Iterable[str] = (), schemas: Iterable[str] = ()) -> str:
    """The line of the configuration that would mend it; what only a person can know stands in angle brackets."""
    first = next((fqn.written_parts(name)[0] for name in names), "<its name>")
    schema = " or ".join(schemas) or "<where bare names stand>"
    return _SETTINGS.get(reason, "").format(first=first, schema=schema)


def _used_by(connection: Connection, moment: Moment) -> dict[str, int]:
    """How many other entities are made of each."""
    ends = select(intervals.c.from_id, func.count(intervals.c.to_id.distinct()))
    where = (moment.holds(), intervals.c.from_id != intervals.c.to_id)
    rows = connection.execute(ends.where(*where).group_by(intervals.c.from_id))
    return {row.from_id: row[1] for row in rows}
