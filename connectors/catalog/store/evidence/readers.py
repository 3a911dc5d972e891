"""Who reads what, as the logs of workflows tell it, and what the runs cost that fill tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.errors import not_found
from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.schema import read_columns, reading_spans, usage_counts, written_runs
from ingestion.model.lineage import Json

if TYPE_CHECKING:
    from connectors.catalog.contract.bulk_models import ColumnRead, End, ReadingSpan, Reads, WrittenRun


class _OfEntity(Protocol):
    @property
    def entity(self) -> End: ...


# What is filed, each as often as one likes.


def file_reads(connection: Connection, given: Reads) -> Json:
    """Keeps the last time of each reader of each column, and the span. Raises ApiError (404)."""
    _check(connection, given.reads)
    if given.span is not None:
        if given.whole:
            connection.execute(delete(reading_spans).where(reading_spans.c.source == given.source))
        _file_span(connection, given.source, given.span)
    if given.reads:
        new = upsert(read_columns)
        last = func.max(new.excluded.last, read_columns.c.last)
        undated = func.max(new.excluded.undated, read_columns.c.undated)
        kept = new.on_conflict_do_update(
            index_elements=list(read_columns.primary_key), set_={"last": last, "undated": undated}
        )
        connection.execute(kept, [_read_row(given.source, one) for one in given.reads])
    return {"filed": len(given.reads)}


def _read_row(source: str, read: ColumnRead) -> Json:
    return {
        "entity_id": read.entity.id.lower(),
        "column_path": read.column or "",
        "how": read.how,
        "reader": read.reader,
        "source": source,
        "last": read.last or 0,
        "undated": read.undated or read.last is None,
    }


def _file_span(connection: Connection, source: str, span: ReadingSpan) -> None:
    values = {
        "source": source,
        "part": span.part,
        "service": span.service,
        "first": span.first,
        "last": span.last,
        "counts": dumps(span.counts),
        "days": dumps(sorted(set(span.days))),
    }
    new = upsert(reading_spans).values(values)
    connection.execute(new.on_conflict_do_update(index_elements=list(reading_spans.primary_key), set_=values))


def file_runs(connection: Connection, runs: Sequence[WrittenRun]) -> Json:
    """Keeps each run once, as it was told last. Raises ApiError (404)."""
    _check(connection, runs)
    if runs:
        new = upsert(written_runs)
        key = list(written_runs.primary_key)
        others = {column.name: column for column in new.excluded if column.name not in {one.name for one in key}}
        rows = [{"entity_id": one.entity.id.lower(), **one.model_dump(exclude={"entity"})} for one in runs]
        connection.execute(new.on_conflict_do_update(index_elements=key, set_=others), rows)
    return {"filed": len(runs)}


def _check(connection: Connection, given: Sequence[_OfEntity]) -> None:
    rows = any_rows_of(connection, {one.entity.id.lower() for one in given})
    for one in given:
        row = rows.get(one.entity.id.lower())
        if row is None or row.purged or row.type != one.entity.type:
            raise not_found(one.entity.type, one.entity.id)


# What is known of readers.


@dataclass(frozen=True, slots=True)
class KnownRead:
    """A column (path "": the table) that somebody read: `last` in milliseconds, None where only `undated`."""

    entity: str
    path: str
    how: str
    reader: str
    last: int | None
    undated: bool


def known_reads(connection: Connection) -> Iterator[KnownRead]:
    """Everything that any log tells, each reader and way of reading a column once."""
    subject = (read_columns.c.entity_id, read_columns.c.column_path, read_columns.c.how, read_columns.c.reader)
    found = select(*subject, func.max(read_columns.c.last), func.max(read_columns.c.undated)).group_by(*subject)
    for entity, path, how, reader, last, undated in connection.execute(found):
        yield KnownRead(entity, path, how, reader, last or None, bool(undated))


@dataclass(frozen=True, slots=True)
class KnownSpan:
    """A stretch of a log of a `service` that was read: from when to when (milliseconds; None: it has no times)."""

    source: str
    service: str
    first: int | None
    last: int | None
    counts: dict[str, int]
    days: tuple[int, ...]


def known_spans(connection: Connection) -> list[KnownSpan]:
    """Every stretch, in order."""
    rows = connection.execute(select(reading_spans).order_by(reading_spans.c.source, reading_spans.c.part))
    return [
        KnownSpan(row.source, row.service, row.first, row.last, loads(row.counts), tuple(_numbers(row.days)))
        for row in rows
    ]


def _numbers(text: str) -> list[int]:
    found: Any = loads(text)
    return list(found)


@dataclass(frozen=True, slots=True)
class KnownUse:
    """How often something was used, as clients tell it day by day, in a stretch of days."""

    entity: str
    type: str
    times: int
    last: int | None


def known_uses(connection: Connection, kind: str, first: int, last: int) -> dict[str, KnownUse]:
    """What clients tell of the use of entities of a kind; `times` counts the days from `first` to `last` (ordinals)."""
    inside = func.sum(usage_counts.c.count).filter(usage_counts.c.day.between(first, last))
    used = func.max(usage_counts.c.day).filter(usage_counts.c.count > 0)
    found = select(usage_counts.c.entity_id, func.coalesce(inside, 0), used).where(usage_counts.c.type == kind)
    rows = connection.execute(found.group_by(usage_counts.c.entity_id))
    return {entity: KnownUse(entity, kind, times, day) for entity, times, day in rows}


def first_use(connection: Connection, kind: str) -> int | None:
    """The first day (an ordinal) of which clients tell the use of anything of a kind."""
    found: int | None = connection.scalar(select(func.min(usage_counts.c.day)).where(usage_counts.c.type == kind))
    return found


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What the runs of a stretch took that filled a table, as far as it is told; `at`, `writer`, `job`: the last."""

    runs: int
    statements: int
    at: int
    writer: str
    job: str
    seconds: float | None
    bytes: int | None
    credits: float | None


def run_totals(connection: Connection, since: int, until: int) -> dict[str, RunTotals]:
    """What the runs took from `since` to `until` (milliseconds), by the id of what they filled."""
    table = written_runs.c
    sums = (func.count(), func.count(table.statement.distinct()), func.max(table.at))
    # SQLite takes the bare columns beside a max() from the row that has it
    columns = (*sums, table.writer, table.job, func.sum(table.seconds), func.sum(table.bytes), func.sum(table.credits))
    found = select(table.entity_id, *columns).where(table.at.between(since, until)).group_by(table.entity_id)
    return {entity: RunTotals(*values) for entity, *values in connection.execute(found)}


def last_runs(connection: Connection) -> dict[str, tuple[int, str, str]]:
    """When each entity was filled last, by whom and by which job."""
    table = written_runs.c
    found = select(table.entity_id, func.max(table.at), table.writer, table.job).group_by(table.entity_id)
    return {entity: (at, writer, job) for entity, at, writer, job in connection.execute(found)}
