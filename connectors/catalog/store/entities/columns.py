"""The columns of an entity: their answers, paths and types, and what happened to them after lineage named them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.errors import ApiError
from connectors.catalog.store.database import dumps
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import column_events
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.model.steps import MOST_COLUMNS

LOG_MARK = "columnsComplete"
"""In the extension of what is filed from a log: whether these are all of its columns."""
_NO_TYPE = "UNKNOWN"
MAX_NAMES = 8 << 20

# After Single Origin's standardised data types: what a type means, whatever a platform calls it.
_STANDARD: Mapping[str, str] = {
    **dict.fromkeys(("BOOL", "BOOLEAN", "BIT"), "BOOLEAN"),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "LONG", "BYTEINT", "SERIAL"), "INTEGER"),
    **dict.fromkeys(("INT2", "INT4", "INT8", "INT16", "INT32", "INT64", "INT128", "INT256"), "INTEGER"),
    **dict.fromkeys(("UINT8", "UINT16", "UINT32", "UINT64", "HUGEINT", "BIGSERIAL", "MEDIUMINT"), "INTEGER"),
    **dict.fromkeys(("FLOAT", "FLOAT4", "FLOAT8", "FLOAT32", "FLOAT64", "DOUBLE", "REAL"), "FLOAT"),
    **dict.fromkeys(("DOUBLE PRECISION", "BINARY_FLOAT", "BINARY_DOUBLE"), "FLOAT"),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "NUMBER", "BIGNUMERIC", "MONEY", "SMALLMONEY"), "DECIMAL"),
    **dict.fromkeys(("CHAR", "VARCHAR", "STRING", "TEXT", "NVARCHAR", "NCHAR", "CLOB", "VARCHAR2"), "STRING"),
    **dict.fromkeys(("CHARACTER VARYING", "CHARACTER", "MEDIUMTEXT", "LONGTEXT", "TINYTEXT", "BPCHAR"), "STRING"),
    **dict.fromkeys(("NVARCHAR2", "NTEXT", "ENUM", "FIXEDSTRING", "CITEXT", "NAME"), "STRING"),
    **dict.fromkeys(("BINARY", "VARBINARY", "BYTES", "BLOB", "BYTEA", "LONGBLOB", "RAW", "IMAGE"), "BINARY"),
    "DATE": "DATE",
    "DATE32": "DATE",
    **dict.fromkeys(("TIME", "TIMETZ", "TIME WITHOUT TIME ZONE", "TIME WITH TIME ZONE"), "TIME"),
    **dict.fromkeys(("DATETIME", "DATETIME2", "DATETIME64", "SMALLDATETIME", "TIMESTAMP_NTZ"), "DATETIME"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMPNTZ"), "DATETIME"),
    **dict.fromkeys(("TIMESTAMPZ", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_TZ"), "TIMESTAMP"),
    **dict.fromkeys(("TIMESTAMP_LTZ", "DATETIMEOFFSET"), "TIMESTAMP"),
    "INTERVAL": "INTERVAL",
    **dict.fromkeys(("STRUCT", "ROW", "RECORD", "TUPLE", "OBJECT"), "STRUCT"),
    **dict.fromkeys(("ARRAY", "LIST", "NESTED"), "ARRAY"),
    "MAP": "MAP",
    **dict.fromkeys(("JSON", "JSONB", "VARIANT", "SUPER", "HSTORE"), "JSON"),
    **dict.fromkeys(("UUID", "UNIQUEIDENTIFIER"), "UUID"),
    **dict.fromkeys(("GEOGRAPHY", "GEOMETRY", "POINT", "POLYGON"), "GEOGRAPHY"),
}

WITH_COLUMNS = ("table", "container", "topic", "dashboardDataModel")
"""What has columns of its own."""
_ITSELF = ("chart", "metric")
_COLUMNS_FIRST, _OTHER_COLUMNS = '{"columns":[', '"dataModel":'
_HAS_PARTS_OR_QUOTES = re.compile(r'[."]')
_HELD_IN: Mapping[str, str] = {"dataModel": "columns", "messageSchema": "schemaFields"}
"""What holds the columns of an entity that does not have them itself, and under which key there."""


# Answers, paths within the entity, types across platforms.


@lru_cache(maxsize=4096)  # a picture has thousands of columns of a few types
def standard_type(data_type: str) -> str:
    """The platform-neutral name of `data_type` (its parameters do not matter), UNKNOWN for what is not known."""
    bare = data_type.upper().split("(")[0].split("<")[0].strip()
    if data_type.rstrip().endswith("[]"):
        return "ARRAY"
    return _STANDARD.get(bare, "UNKNOWN")


def of_document(document: Json) -> list[Json]:
    """The columns of an entity's answer; containers keep theirs in their data model, topics in their messages' schema.

    The data model of a table is another: what a tool makes it from.
    """
    columns = document.get("columns")
    for key, inside in _HELD_IN.items():
        if columns is None:
            columns = (document.get(key) or {}).get(inside)
    return columns or []


def with_columns(document: Json, columns: list[Json]) -> Json:
    """An entity's answer with other columns, where it keeps its own."""
    key = next((one for one in _HELD_IN if document.get(one)), "") if "columns" not in document else ""
    return {**document, key: {**document[key], _HELD_IN[key]: columns}} if key else {**document, "columns": columns}


def of_entity(kind: str, document: Json) -> list[Json]:
    """What lineage by column can touch of an entity: its columns, a dashboard's charts, a chart or metric itself."""
    if kind == "dashboard":
        return [_stand_in(ref, "CHART") for ref in document.get("charts") or ()]
    if kind in _ITSELF:
        return [_stand_in(document, kind.upper())]
    return of_document(document)


def _stand_in(named: Json, data_type: str) -> Json:
    column = {"name": named["name"], "dataType": data_type}
    return {**column, "description": named["displayName"]} if named.get("displayName") else column


def wire_name(kind: str, name: str, path: str) -> str:
    """What clients call the column at `path` of the entity of a type with this fully qualified `name`."""
    if kind == "dashboard":  # its columns are charts, which lie beside it
        return ".".join([*(fqn.quote(part) for part in fqn.split(name)[:-1]), path])
    return name if kind in _ITSELF else f"{name}.{path}"


def itself(kind: str, name: str) -> str | None:
    """The path of what stands for the columns of an entity that has none, None where it has some, or others have."""
    return path_of(name) if kind in _ITSELF else None


def shown_name(kind: str, name: str, path: str | None) -> str:
    """What people read of a column of the entity with this fully qualified `name`, and of the entity itself."""
    return name if path is None or kind in _ITSELF else f"{name}.{path}"


def fitting(parent: str, columns: list[Json]) -> list[Json]:
    """The first of them that one entity may have; all where none is too many."""
    count = size = 0
    for number, column in enumerate(columns):
        waiting = [(len(parent), column)]
        while waiting:
            length, one = waiting.pop()
            name = length + 1 + len(one["name"])
            count, size = count + 1, size + name
            waiting += [(name, child) for child in one.get("children") or ()]
        if count > MOST_COLUMNS or size > MAX_NAMES:
            return columns[:number]
    return columns


def check_size(parent: str, columns: list[Json]) -> None:
    """Raises ApiError (413) when there are too many columns, or their full names, which grow with depth, too long."""
    count = size = 0
    waiting = [(len(parent), columns)]
    while waiting:
        length, siblings = waiting.pop()
        for column in siblings:
            name = length + 1 + len(column["name"])
            count, size = count + 1, size + name
            if count > MOST_COLUMNS or size > MAX_NAMES:
                raise ApiError(413, f"more than {MOST_COLUMNS} columns, or {MAX_NAMES} characters of their full names")
            if column.get("children"):
                waiting.append((name, column["children"]))


def answers(parent: str, columns: list[Json]) -> list[Json]:
    """Columns as a client reads them: each with its fully qualified name, position as given."""
    result = []
    for column in columns:
        answer = {key: value for key, value in column.items() if value is not None}
        answer["fullyQualifiedName"] = fqn.join(parent, column["name"])
        if column.get("children"):
            answer["children"] = answers(answer["fullyQualifiedName"], column["children"])
        result.append(answer)
    return result


def walk(columns: list[Json], parent: str = "") -> Iterator[tuple[str, int, Json]]:
    """Every column with its path within the entity and its 1-based position, nested ones after their parent."""
    for position, column in enumerate(columns, start=1):
        path = fqn.join(parent, column["name"])
        yield path, position, column
        if column.get("children"):
            yield from walk(column["children"], path)


def path_of(name: str) -> str:
    """The path of a top-level column."""
    return fqn.quote(name)


def shape(position: int, column: Json) -> dict[str, Any]:
    """What the store remembers of a column over time: its order, its type and its standardised type."""
    data_type = type_text(column)
    return _shape(position, data_type, column.get("dataType") or data_type)


def shape_text(position: int, column: Json) -> str:
    """The same as the store keeps it."""
    data_type = type_text(column)
    return _shape_text(position, data_type, column.get("dataType") or data_type)


def _shape(position: int, data_type: str, known_as: str) -> dict[str, Any]:
    return {"position": position, "dataType": data_type, "standardType": standard_type(known_as)}


@lru_cache(maxsize=4096)  # thousands of tables have the same types in the same places
def _shape_text(position: int, data_type: str, known_as: str) -> str:
    return dumps(_shape(position, data_type, known_as))


def is_typed(column: Json) -> bool:
    """Whether the type of a column is told."""
    return str(column.get("dataType") or _NO_TYPE) != _NO_TYPE or bool(column.get("dataTypeDisplay"))


def type_text(column: Json) -> str:
    """The type of a column as people read it."""
    return str(column.get("dataTypeDisplay") or _with_parameters(column))


def merge(known: list[Json], given: list[Json]) -> list[Json]:
    """`known` with the types and texts that `given` adds, and the columns it adds at the end; none is lost."""
    merged = {column["name"].casefold(): dict(column) for column in known}
    for column in given:
        folded = column["name"].casefold()
        if folded not in merged:
            merged[folded] = dict(column)
            continue
        kept = merged[folded]
        news = {key: value for key, value in column.items() if value is not None and key != "name"}
        if news.get("dataType") == "UNKNOWN":
            del news["dataType"]
        if "children" in news:
            news["children"] = merge(kept.get("children") or [], news["children"])
        kept.update(news)
    return list(merged.values())


def _with_parameters(column: Json) -> str:
    data_type = str(column.get("dataType") or _NO_TYPE)
    if column.get("precision") is not None:
        scale = f",{column['scale']}" if column.get("scale") is not None else ""
        return f"{data_type}({column['precision']}{scale})"
    if column.get("dataLength") is not None:
        return f"{data_type}({column['dataLength']})"
    return data_type


# Columns in the text of a stored document, which need not be taken apart to find one of a hundred.


def names_column(document: str, table: str, path: str) -> bool:
    """Whether a table's document has a column of this name, not one within another; False where that is not plain."""
    if not document.startswith(_COLUMNS_FIRST) or _HAS_PARTS_OR_QUOTES.search(path):
        return False
    column = f'"fullyQualifiedName":{quoted(f"{table}.{path}")},"name":{quoted(path)}'
    at = document.find(column)
    return at >= 0 and document.find(_OTHER_COLUMNS, 0, at) < 0


# What happened to columns after lineage named them: renamed ones are read under their new name, dropped ones not.


@dataclass(frozen=True, slots=True)
class ColumnEvent:
    """At `at` the column became `other`; None: it was dropped."""

    at: int
    other: str | None


ColumnEvents = Mapping[tuple[str, str], Sequence[ColumnEvent]]
_EVENTS_OF = select(column_events).where(column_events.c.entity_id.in_(IDS)).order_by(column_events.c.at)


def insert_column_events(connection: Connection, entity: str, paths: Iterable[tuple[str, str | None]], at: int) -> None:
    """Files that columns of an entity were renamed (to the second name) or dropped (None)."""
    rows = [{"entity_id": entity, "path": path, "other": other or "", "at": at} for path, other in paths]
    if rows:
        connection.execute(upsert(column_events).on_conflict_do_nothing(), rows)


def column_events_of(connection: Connection, identifiers: Iterable[str]) -> ColumnEvents:
    """What became of the columns of these entities, by entity and path, in order of time."""
    found: dict[tuple[str, str], list[ColumnEvent]] = defaultdict(list)
    for some in thousands_of(sorted(set(identifiers))):
        for row in connection.execute(_EVENTS_OF, bind_ids(some)).all():
            found[row.entity_id, row.path].append(ColumnEvent(row.at, row.other or None))
    return found


def path_at(events: ColumnEvents, column: tuple[str, str], seen: int, until: int | None) -> str | None:
    """The path, as of `until`, of a column that was seen at `seen`; None when it was dropped."""
    entity, path = column
    clock = seen
    while True:
        coming = [f for f in events.get((entity, path), ()) if f.at > clock and (until is None or f.at <= until)]
        if not coming:
            return path
        if coming[0].other is None:
            return None
        path, clock = coming[0].other, coming[0].at


Bearers = Sequence[tuple[str, int | None]]
"""What bore the names of some columns: entities in order, each with when the next one took its place (None: never)."""


def rewrite(
    events: ColumnEvents, ends: tuple[Bearers, Bearers], content: Mapping[str, Any], seen: int, until: int | None
) -> Json:
    """What is said about an edge with its columns as they are called at `until`; `ends` are what it lay between."""
    seen = max(seen, content.get("columnsAt") or 0)
    columns = []
    for column in content.get("columns") or ():
        sources = [_path_along(events, (ends[0], path), seen, until) for path in column["from"]]
        kept = [path for path in sources if path is not None]
        target = column.get("to")
        target = _path_along(events, (ends[1], target), seen, until) if target is not None else None
        if kept and (target is not None or column.get("to") is None):
            columns.append({**column, "from": kept, "to": target})
    return {**content, "columns": columns}


def _path_along(events: ColumnEvents, column: tuple[Bearers, str], seen: int, until: int | None) -> str | None:
    """The path, as of `until`, of a column whose table was renamed since it was seen; None when it was dropped."""
    bearers, name = column
    path: str | None = name
    for entity, end in bearers:
        stop = min((one for one in (end, until) if one is not None), default=None)
        path = path_at(events, (entity, path), seen, stop) if path is not None else None
        seen = seen if end is None else max(seen, end)
    return path
