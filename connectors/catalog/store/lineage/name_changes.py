"""DDL from a log: names of entities and columns end or move at their time, each event once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract import bulk_models
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import bad_request, not_found
from connectors.catalog.store.database import dumps, loads, tick
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.entities.attributes import Change, column_changes, is_recorded, record, shapes_around
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.indexes import add_runs, index_labels, index_names
from connectors.catalog.store.lineage.inserts import record_digest
from connectors.catalog.store.lineage.writer import project, versions_at
from connectors.catalog.store.schema import attributes, entities, usage_records
from ingestion.dialects.types import is_same_type
from ingestion.model.lineage import Json

_TYPE_KEYS = ("dataType", "dataTypeDisplay", "arrayDataType", "dataLength", "precision", "scale", "children")
_NAME_KINDS = ("dropColumn", "renameColumn")
_COLUMN_KINDS = (*_NAME_KINDS, "addColumn", "retypeColumn")


def apply(connection: Connection, events: Sequence[bulk_models.DdlEvent]) -> Json:
    """Files the events and moves the lineage they concern. Raises ApiError (404, 400), then nothing is filed."""
    now = tick(connection)
    of_names = [event for event in events if event.kind not in _COLUMN_KINDS]
    ends = {end.id.lower() for event in of_names for end in (event.entity, event.other) if end is not None}
    rows = any_rows_of(connection, ends)
    named = [_name_event(rows, event) for event in of_names]
    new = name_events.file_events(connection, named)
    # what a statement does to columns was done to those of the old name
    ordered = sorted(events, key=lambda event: (event.at, event.kind not in _NAME_KINDS))
    for (_at, _id, of_columns), some in groupby(ordered, lambda e: (e.at, e.entity.id.lower(), e.kind in _NAME_KINDS)):
        if of_columns:
            new += _column_events(connection, [*some])
            continue
        for event in some:
            if event.kind == "rename" and event.other is not None:
                _hand_over(connection, event)
            elif event.kind == "retypeColumn":
                new += _retype(connection, event)
            elif event.kind == "addColumn":
                new += _add(connection, event)
    ends_of_events = {identifier for event in named for identifier in (event.entity_id, event.other_id)}
    # that a name was given says something only of one that was taken away
    touched = name_events.with_history(connection, ends_of_events)
    project(connection, sorted(versions_at(connection, touched)))
    name_events.update_visibility(connection, touched, now)
    return {"filed": len(events), "new": new}


def file_usage(connection: Connection, items: Sequence[bulk_models.Use]) -> Json:
    """Counts the log records that read entities, each record once. Raises ApiError (404)."""
    now = tick(connection)
    new = 0
    for item in items:
        row = _row(connection, item.entity)
        rows = [
            {"entity_id": row.id, "digest": record_digest(one), "at": item.at if item.at is not None else now}
            for one in sorted(set(item.records))
        ]
        if rows:
            added = connection.execute(upsert(usage_records).on_conflict_do_nothing(), rows).rowcount
            add_runs(connection, {row.id: added})
            new += added
    return {"new": new}


def _row(connection: Connection, end: bulk_models.End) -> EntityRow:
    return _row_among(any_rows_of(connection, {end.id.lower()}), end)


def _row_among(rows: Mapping[str, EntityRow], end: bulk_models.End) -> EntityRow:
    row = rows.get(end.id.lower())
    if row is None or row.purged or row.type != end.type:
        raise not_found(end.type, end.id)
    return row


def _name_event(rows: Mapping[str, EntityRow], event: bulk_models.DdlEvent) -> name_events.StoredNameEvent:
    entity = _row_among(rows, event.entity)
    if event.kind not in {name_events.RENAME, name_events.SWAP}:
        return name_events.StoredNameEvent(event.kind, entity.id, entity.id, event.at)
    if event.other is None:
        raise bad_request(f"a {event.kind} needs the other entity")
    other = _row_among(rows, event.other)
    if other.id == entity.id:
        raise bad_request(f"a {event.kind} needs two entities")
    if event.kind == name_events.SWAP:  # the same exchange, whichever is named first
        first, second = sorted((entity.id, other.id))
        return name_events.StoredNameEvent(event.kind, first, second, event.at)
    return name_events.StoredNameEvent(event.kind, entity.id, other.id, event.at)


def _hand_over(connection: Connection, event: bulk_models.DdlEvent) -> None:
    """What bears the new name has at least the columns of what bore the old one."""
    assert event.other is not None
    entity, other = _row(connection, event.entity), _row(connection, event.other)
    columns = columns_of.of_document(loads(entity.document))
    if entity.type != "table" or other.type != "table" or not columns:
        return
    document = loads(other.document)
    registration = Registration(connection, event.at, replace=False)
    request = {
        "name": document["name"],
        "columns": columns,
        "databaseSchema": document["databaseSchema"]["fullyQualifiedName"],
    }
    registration.put(BY_TYPE["table"], request)
    registration.finish()


def _column_events(connection: Connection, events: Sequence[bulk_models.DdlEvent]) -> int:
    """Files what became of columns of one entity at one moment; two may have exchanged their names."""
    row = _row(connection, events[0].entity)
    document = loads(row.document)
    columns = columns_of.of_document(document)
    by_name = {column["name"].casefold(): column for column in reversed(columns)}
    new, paths, moved = 0, list[tuple[str, str | None]](), list[Change]()
    names: dict[str, str | None] = {}
    for event in events:
        if event.column is None or (event.kind == "renameColumn" and event.to is None):
            raise bad_request(f"a {event.kind} needs column" + (" and to" if event.kind == "renameColumn" else ""))
        known = by_name.get(event.column.casefold())
        if known is None or event.again or _stands_since(connection, row, document, (known["name"], event)):
            new += _earlier_column(connection, row.id, known["name"] if known else event.column, event)
            continue
        path, to = columns_of.path_of(known["name"]), event.to if event.kind == "renameColumn" else None
        names[known["name"]] = to
        paths.append((path, None if to is None else columns_of.path_of(to)))
        if to is not None:
            moved.append(Change(row.id, columns_of.path_of(to), "renamedFrom", dumps(path), event.at))
            index_names(connection, {(row.id, columns_of.path_of(to)): to})
    if not names:
        return new
    at = events[0].at
    kept = [
        {**column, "name": names.get(column["name"], column["name"])} for column in columns if _stays(column, names)
    ]
    columns_of.insert_column_events(connection, row.id, paths, at)
    record(connection, [*column_changes(row.id, {"columns": columns}, {"columns": kept}, at), *moved])
    _store_columns(connection, row, document, kept)
    return new + len(names)


def _stays(column: Json, names: Mapping[str, str | None]) -> bool:
    """Whether a column is there under its old name or a new one, and not one whose name another column takes."""
    if column["name"] in names:
        return names[column["name"]] is not None
    return column["name"] not in names.values()


def _stands_since(
    connection: Connection, row: EntityRow, document: Json, named: tuple[str, bulk_models.DdlEvent]
) -> bool:
    """Whether a column was defined after an event, which is then about an earlier one of its name.

    Where the entity is filed from a log, that was written down after all of it: only an event that is known already is
    an earlier column's.
    """
    name, event = named
    if columns_of.LOG_MARK not in (document.get("extension") or {}):
        return _later(connection, row.id, name, event.at)
    path = columns_of.path_of(name)
    if event.to is not None:
        return is_recorded(connection, Change(row.id, columns_of.path_of(event.to), "renamedFrom", None, event.at))
    known = (Change(row.id, path, kind, None, event.at) for kind in ("dropped", "shape"))
    return any(is_recorded(connection, change) for change in known)


def _earlier_column(connection: Connection, identifier: str, name: str, event: bulk_models.DdlEvent) -> int:
    """Files what became of a column that is not there any more, or not yet again; what stands is as it is."""
    path = columns_of.path_of(name)
    new_path = None if event.to is None else columns_of.path_of(event.to)
    if new_path is not None:
        change = Change(identifier, new_path, "renamedFrom", dumps(path), event.at)
    else:
        before = event.before or _type_at(connection, identifier, path, event.at)
        change = Change(identifier, path, "dropped", dumps(before), event.at)
    if is_recorded(connection, change) or is_recorded(connection, Change(identifier, path, "shape", None, event.at)):
        return 0
    columns_of.insert_column_events(connection, identifier, [(path, new_path)], event.at)
    record(connection, [change])
    return 1


def _add(connection: Connection, event: bulk_models.DdlEvent) -> int:
    """Adds a column to those that stand, unless it went since, or nothing is known of any."""
    row = _row(connection, event.entity)
    if event.definition is None:
        raise bad_request("an addColumn needs definition")
    given = event.definition.model_dump(exclude_none=True)
    document = loads(row.document)
    columns = columns_of.of_document(document)
    path = columns_of.path_of(given["name"])
    since = columns_of.column_events_of(connection, [row.id]).get((row.id, path), ())
    there = any(column["name"].casefold() == given["name"].casefold() for column in columns)
    if there or not columns or any(one.at > event.at for one in since):
        return 0
    changes = column_changes(row.id, {"columns": columns}, {"columns": [*columns, given]}, event.at)
    record(connection, changes)
    index_names(connection, {(row.id, path): given["name"]})
    _store_columns(connection, row, document, [*columns, given])
    return 1


def _retype(connection: Connection, event: bulk_models.DdlEvent) -> int:
    """Files that a column got another type; what stands is another column where it was defined later."""
    row = _row(connection, event.entity)
    if event.definition is None:
        raise bad_request("a retypeColumn needs definition")
    given = event.definition.model_dump(exclude_none=True)
    document = loads(row.document)
    columns = columns_of.of_document(document)
    known = next((one for one in columns if one["name"].casefold() == given["name"].casefold()), None)
    if known is None:
        return 0
    path, later = columns_of.path_of(known["name"]), _later(connection, row.id, known["name"], event.at)
    before = event.before or _type_at(connection, row.id, path, event.at)
    change = Change(row.id, path, "retyped", dumps([before, columns_of.type_text(given)]), event.at)
    if is_same_type(before, columns_of.type_text(given)) or is_recorded(connection, change):
        return 0
    changes = [change]
    if not later:
        retyped = {**{key: value for key, value in known.items() if key not in _TYPE_KEYS}, **given}
        kept = [{**retyped, "name": known["name"]} if column is known else column for column in columns]
        changes += column_changes(row.id, {"columns": columns}, {"columns": kept}, event.at)
        _store_columns(connection, row, document, kept)
    record(connection, changes)
    return 1


def _type_at(connection: Connection, identifier: str, path: str, at: int) -> str:
    """The type that a column is known to have had at `at`, "" where nothing told it."""
    shape = shapes_around(connection, identifier, at)[0].get(path)
    known = str(loads(shape)["dataType"]) if shape else ""
    return "" if known.casefold() == "unknown" else known


def _store_columns(connection: Connection, row: EntityRow, document: Json, columns: list[Json]) -> None:
    answers = columns_of.answers(row.fqn, columns)
    if "columns" in document:
        document["columns"] = answers
    else:
        document["dataModel"] = {**document["dataModel"], "columns": answers}
    values = {"document": dumps(document), "version": round(row.version + 0.1, 1)}
    connection.execute(update(entities).where(entities.c.id == row.id).values(**values))
    index_labels(connection, row.id, document, row.document)


def _later(connection: Connection, identifier: str, name: str, at: int) -> bool:
    """Whether the column is defined after `at`: then the event is about an earlier column of that name."""
    where = (
        attributes.c.entity_id == identifier,
        attributes.c.column_path == columns_of.path_of(name),
        attributes.c.name == "shape",
        attributes.c.value.is_not(None),
        attributes.c.at > at,
    )
    latest = connection.execute(select(attributes.c.seq).where(*where).limit(1)).first()
    return latest is not None
