"""When each table was written last, by which job and how often, and whether it is late by its own rhythm.

Late is measured against the newest record that was read of the table's service, be it a write or not, and not against
the clock: a log that was read a week ago says nothing of this morning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection, func, select

from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.tables import CatalogTable, TableListOptions, tables_under
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.evidence.loads import LoadRhythm, SeenWrites, rhythm_of, seen_writes
from connectors.catalog.store.evidence.readers import last_runs
from connectors.catalog.store.evidence.workflow_runs import read_until_by_service
from connectors.catalog.store.schema import entities, entity_activity
from ingestion.model import fqn
from ingestion.model.lineage import Json


class Timeliness(StrEnum):
    """Whether a table was written when it was due."""

    LATE = "late"
    ON_TIME = "on_time"
    UNKNOWN = "unknown"
    """It has no rhythm: too few rounds were seen, or they come as they like."""
    NEVER = "never"
    """No statement was seen to fill it from others: it may be a view, or be loaded from files or constants."""


TIMELINESS_WORDS: Mapping[Timeliness, str] = {
    Timeliness.LATE: "late",
    Timeliness.ON_TIME: "on time",
    Timeliness.UNKNOWN: "without a rhythm",
    Timeliness.NEVER: "never seen filled from others",
}


@dataclass(frozen=True, slots=True)
class Freshness:
    """When a table was written last and by which jobs (milliseconds), how far apart two rounds are, when one was due.

    `until` is the time of the newest record that was read of its service.
    """

    id: str
    name: str
    state: Timeliness
    last: int | None = None
    jobs: tuple[str, ...] = ()
    period: int | None = None
    due: int | None = None
    until: int | None = None

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "entity": {"id": self.id, "fullyQualifiedName": self.name},
            "state": self.state.value,
            "last": self.last,
            "jobs": list(self.jobs),
            "period": self.period,
            "due": self.due,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True)
class FreshnessReport:
    """How many tables are in each state of Timeliness; and the tables, the latest first."""

    counts: Mapping[str, int]
    tables: tuple[Freshness, ...]

    def to_json(self) -> Json:
        """The same as JSON."""
        words = {state.value: text for state, text in TIMELINESS_WORDS.items()}
        return {"counts": dict(self.counts), "words": words, "tables": [one.to_json() for one in self.tables]}


def freshness_in_file(file: Path, options: TableListOptions) -> Answer[FreshnessReport]:
    """How fresh the tables of a catalog's file are. Raises ConfigError for a name that nothing is called by."""
    with open_catalog(file) as connection:
        return freshness_report(connection, options)


def freshness_report(connection: Connection, options: TableListOptions) -> Answer[FreshnessReport]:
    """The same of an open catalog."""
    tables = tables_under(connection, options.under)
    moment = now_millis() if options.as_of is None else options.as_of
    seen = seen_writes(connection, moment)
    runs = {entity: run for entity, run in last_runs(connection).items() if run[0] <= moment}
    names = {one.id: one.fqn for one in tables_under(connection, None)}
    read = read_until_by_service(connection)
    ends = defaultdict(int, {service: min(until, moment) for service, until in read.items()})
    for entity, last in (*_last_seen(seen), *((entity, run[0]) for entity, run in runs.items())):
        if entity in names:
            service = fqn.split(names[entity])[0]
            ends[service] = max(ends[service], last)
    found = [_of_table(one, seen.get(one.id), runs.get(one.id), ends.get(fqn.split(one.fqn)[0])) for one in tables]
    found.sort(key=_rank)
    counted = Counter(one.state for one in found)
    report = FreshnessReport({state.value: counted[state] for state in Timeliness}, tuple(found[: options.limit]))
    cut = (f"only the first {options.limit} tables are listed: ask for more, or of one schema",)
    return Answer(report, cut if len(found) > options.limit else ())


def freshness_of(connection: Connection, identifiers: Collection[str]) -> dict[str, Freshness]:
    """The same of some entities, by id; read without all the others."""
    moment = now_millis()
    rows = any_rows_of(connection, set(identifiers))
    seen = seen_writes(connection, moment, rows)
    runs = {entity: run for entity, run in last_runs(connection).items() if entity in rows and run[0] <= moment}
    newest = select(entities.c.service_folded, func.max(entity_activity.c.last_written))
    joined = newest.join(entity_activity, entity_activity.c.entity_id == entities.c.id)
    ends = dict(connection.execute(joined.group_by(entities.c.service_folded)).all())
    for service, until in read_until_by_service(connection).items():
        ends[service.casefold()] = max(until, ends.get(service.casefold()) or 0)
    found = {}
    for identifier, row in rows.items():
        end = ends.get(fqn.split(row.fqn)[0].casefold())
        table = CatalogTable(identifier, row.type, row.fqn, ())
        found[identifier] = _of_table(
            table, seen.get(identifier), runs.get(identifier), None if end is None else min(end, moment)
        )
    return found


def _last_seen(seen: Mapping[str, SeenWrites]) -> list[tuple[str, int]]:
    return [(entity, one.last) for entity, one in seen.items()]


def _of_table(
    table: CatalogTable, seen: SeenWrites | None, run: tuple[int, str, str] | None, until: int | None
) -> Freshness:
    if seen is None and run is None:
        return Freshness(table.id, table.fqn, Timeliness.NEVER, until=until)
    last, jobs = (0, ()) if seen is None else (seen.last, seen.jobs)
    if run is not None and run[0] >= last:
        last, jobs = run[0], (run[2],) if run[2] else jobs
    rhythm = None if seen is None else rhythm_of(seen.spans)
    if rhythm is None:
        return Freshness(table.id, table.fqn, Timeliness.UNKNOWN, last, jobs, until=until)
    state = Timeliness.LATE if _is_late(rhythm, last, until or last) else Timeliness.ON_TIME
    due = round(last + rhythm.period)
    return Freshness(table.id, table.fqn, state, last, jobs, round(rhythm.period), due, until)


def _is_late(rhythm: LoadRhythm, last: int, until: int) -> bool:
    return until - last > rhythm.patience


def _rank(one: Freshness) -> tuple[int, float, str]:
    """What is late first, by how many of its periods; then what was written longest ago."""
    order = [*Timeliness].index(one.state)
    if one.state is Timeliness.LATE and one.due is not None and one.period:
        return order, -((one.until or 0) - one.due) / one.period, one.name
    return order, float(one.last or 0), one.name
