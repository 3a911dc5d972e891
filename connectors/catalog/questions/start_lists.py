"""Where to begin: the tables that changed lately, are used most, failed lately, or whose source is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Executable, func, or_, select

from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.coverage import first_uncovered
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.entities.tests import failing_tests
from connectors.catalog.store.evidence.loads import failed_last_loads
from connectors.catalog.store.evidence.table_changes import table_changes
from connectors.catalog.store.evidence.workflow_runs import dead_of
from connectors.catalog.store.schema import attributes, entities, entity_activity, intervals
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.model.outcomes import StatementEnd, words_of

SHOWN = 8
_BEYOND = 4
"""So many times as many are looked at: of what changed some prove to be what was known before."""
_LISTED = ("table", "container", "topic", "dashboard")
_Event = tuple[str, int, str]
"""What happened to an entity (by its id), and when (milliseconds; 0: not known): id, time, words."""


@dataclass(frozen=True, slots=True)
class StartRow:
    """A table to begin with: what happened ("": nothing) and when (milliseconds; None: not known), and who reads it."""

    entity: EntityRow
    what: str = ""
    at: int | None = None
    runs: int = 0
    readers: int = 0

    def to_json(self) -> Json:
        """The same as JSON."""
        named = {"id": self.entity.id, "type": self.entity.type, "fullyQualifiedName": self.entity.fqn}
        return {"entity": named, "what": self.what, "at": self.at, "runs": self.runs, "readers": self.readers}


@dataclass(frozen=True, slots=True)
class StartLists:
    """The newest first of what `changed` and `failed`, the most used first of the others."""

    changed: tuple[StartRow, ...]
    used: tuple[StartRow, ...]
    failed: tuple[StartRow, ...]
    uncovered: tuple[StartRow, ...]

    def to_json(self) -> Json:
        """The same as JSON."""
        lists = {"changed": self.changed, "used": self.used, "failed": self.failed, "uncovered": self.uncovered}
        return {name: [row.to_json() for row in rows] for name, rows in lists.items()}


def start_lists(connection: Connection, limit: int = SHOWN) -> Answer[StartLists]:
    """So many tables of each list."""
    return Answer(
        StartLists(
            tuple(_rows(connection, _changes(connection, limit), limit)),
            tuple(_used_rows(connection, limit)),
            tuple(_rows(connection, _failures(connection), limit)),
            tuple(_open_rows(connection, limit)),
        )
    )


def _rows(connection: Connection, events: Iterable[_Event], limit: int) -> Iterator[StartRow]:
    """The first of those that are there, each once."""
    first: dict[str, _Event] = {}
    for one in events:
        first.setdefault(one[0], one)
    known = any_rows_of(connection, set(first))
    there = [one for one in first.values() if one[0] in known and not known[one[0]].deleted]
    for identifier, at, what in there[:limit]:
        yield StartRow(known[identifier], what, at or None)


def _used_rows(connection: Connection, limit: int) -> Iterator[StartRow]:
    used = entity_activity.c
    read = select(used.entity_id, used.runs, used.readers).join(entities, entities.c.id == used.entity_id)
    there = read.where(or_(used.runs > 0, used.readers > 0), entities.c.deleted.is_(False))
    order = used.runs.desc(), used.readers.desc(), entities.c.fqn
    counts = connection.execute(there.order_by(*order).limit(limit)).all()
    known = any_rows_of(connection, {one.entity_id for one in counts})
    for identifier, runs, readers in counts:
        yield StartRow(known[identifier], runs=runs, readers=readers)


def _open_rows(connection: Connection, limit: int) -> Iterator[StartRow]:
    found = first_uncovered(connection, limit)
    known = any_rows_of(connection, {one.id for one in found})
    for one in found:
        yield StartRow(known[one.id], words_of(one.reason), readers=one.used_by)


# What changed: columns and definitions, then what tables are made of; where that is little, what is new.


def _changes(connection: Connection, limit: int) -> list[_Event]:
    found = [*_column_changes(connection, limit * _BEYOND), *_source_changes(connection, limit * _BEYOND)]
    found.sort(key=lambda one: (-one[1], one[0]))
    return found if len({one[0] for one in found}) >= limit else [*found, *_new_tables(connection, limit * _BEYOND)]


def _newest(at: ColumnElement[int], entity: ColumnElement[str], limit: int, *where: ColumnElement[bool]) -> Executable:
    """The entities of which the last event is the newest, but for those of which it is the first one."""
    last = func.max(at)
    known = select(entity, last).where(at <= now_millis(), *where).group_by(entity)
    return known.having(last > func.min(at)).order_by(last.desc(), entity).limit(limit)


def _column_changes(connection: Connection, limit: int) -> list[_Event]:
    newest = _newest(attributes.c.at, attributes.c.entity_id, limit, attributes.c.name.in_(_OF_TABLES))
    rows = connection.execute(newest).all()
    if not rows:
        return []
    start = min(at for _, at in rows) - 1
    kinds: dict[tuple[str, int], list[str]] = {}
    for one in table_changes(connection, [row[0] for row in rows], start, now_millis()):
        column = f"{fqn.decode_name(one.path)} " if one.path else ""
        kinds.setdefault((one.entity_id, one.at), []).append(f"{column}{one.kind}")
    return [(entity, at, _some(texts)) for (entity, at), texts in kinds.items()]


_OF_TABLES = ("shape", "exists", "schemaDefinition", "dropped", "renamedFrom", "retyped")
_MOST_COLUMNS = 2


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - _MOST_COLUMNS} more" if len(texts) > _MOST_COLUMNS else ""
    return ", ".join(texts[:_MOST_COLUMNS]) + more


def _source_changes(connection: Connection, limit: int) -> list[_Event]:
    """Tables that something else is known to make since, or that something makes no more."""
    other = intervals.c.from_id != intervals.c.to_id
    begun = _newest(intervals.c.start, intervals.c.to_id, limit, other)
    ended = select(intervals.c.to_id, func.max(intervals.c.end)).where(intervals.c.end <= now_millis(), other)
    ended = ended.group_by(intervals.c.to_id).order_by(func.max(intervals.c.end).desc()).limit(limit)
    found = ((begun, "made in another way"), (ended, "a source of it ended"))
    return [(entity, at, what) for query, what in found for entity, at in connection.execute(query)]


def _new_tables(connection: Connection, limit: int) -> list[_Event]:
    at = func.min(attributes.c.at)
    where = (attributes.c.name == "exists", attributes.c.value.is_not(None), entities.c.type.in_(_LISTED))
    known = select(attributes.c.entity_id, at).join(entities, entities.c.id == attributes.c.entity_id).where(*where)
    newest = known.group_by(attributes.c.entity_id).order_by(at.desc(), attributes.c.entity_id).limit(limit)
    return [(entity, at, "new here") for entity, at in connection.execute(newest)]


# What failed.


def _failures(connection: Connection) -> list[_Event]:
    """Tests, loads and statements that failed last, the newest first."""
    found = [(one.table_id, one.at, _test_text(one.result, one.name)) for one in failing_tests(connection)]
    found += [(one.entity_id, one.at, f"load failed{_in_brackets(one.error)}") for one in failed_last_loads(connection)]
    for dead in dead_of(connection):
        found += [
            (table, dead.at or 0, f"statement {StatementEnd.DEAD.words}: {words_of(dead.reason)}")
            for table in dead.writes
        ]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _test_text(result: Mapping[str, object], name: str) -> str:
    rows = result.get("failedRows")
    return f"test {name} failed{_in_brackets(f'{rows} rows' if rows else '')}"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
