"""Snowflake's ACCESS_HISTORY, as its documentation has it: Account Usage, "ACCESS_HISTORY view".

OBJECTS_MODIFIED has what a statement wrote; each of its columns names the columns that it was made of directly (which
may be a view's) and those of base tables. DIRECT_OBJECTS_ACCESSED has all that the statement names, what only joins or
filters too. Names are as they are stored, with quotes around a part that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from connectors.query_log.engine_lineage.rows import (
    ColumnPair,
    EngineLineage,
    MalformedLineage,
    flow_into,
    lineage_of_flows,
    objects_in,
    objects_of,
    text_of,
)
from ingestion.model import Json, StatementLineage, TableName

_MODIFIED, _ACCESSED = "objects_modified", "direct_objects_accessed"
_TABLES = frozenset(
    {"table", "view", "materialized view", "external table", "dynamic table", "iceberg table", "event table"}
)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def _read(values: Sequence[str]) -> StatementLineage | None:
    modified, accessed = objects_of(values[0], _MODIFIED), objects_of(values[1], _ACCESSED)
    sources = [_table(one, _ACCESSED) for one in accessed if _is_table(one)]
    return lineage_of_flows(
        flow_into(_table(one, _MODIFIED), sources, _pairs(one)) for one in modified if _is_table(one)
    )


def _pairs(modified: Json) -> Iterator[ColumnPair]:
    for column in _objects(modified, "columns"):
        to = text_of(column, "columnName", _MODIFIED)
        for source in _objects(column, "directSources") or _objects(column, "baseSources"):
            if _is_table(source):
                yield ColumnPair(_table(source, _MODIFIED), text_of(source, "columnName", _MODIFIED), to)


def _objects(record: Json, key: str) -> list[Json]:
    return objects_in(record.get(key), f"{_MODIFIED}: {key}")


def _is_table(record: Json) -> bool:
    """Whether an object is one that data lies in: no function, no stage, no stream."""
    return str(record.get("objectDomain", "")).lower() in _TABLES


def _table(record: Json, column: str) -> TableName:
    name = text_of(record, "objectName", column)
    parts = tuple((quoted or bare).replace('""', '"') for quoted, bare in _PART.findall(name))
    if not parts:
        raise MalformedLineage(f"{column}: an objectName that is none")
    return TableName(parts)


ACCESS_HISTORY = EngineLineage((_MODIFIED, _ACCESSED), _read)
"""One row a statement."""
