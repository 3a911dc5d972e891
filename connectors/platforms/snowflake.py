"""Snowflake's QUERY_HISTORY, and the lineage in its ACCESS_HISTORY."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from connectors.platforms.profile import (
    MILLISECONDS,
    OTHERWISE,
    ColumnPair,
    EngineLineage,
    ExportProfile,
    MalformedLineage,
    TextLimit,
    flow_into,
    lineage_of_flows,
    marks,
    objects_in,
    objects_of,
    only_read,
    text_of,
)
from ingestion.model.lineage import ColumnRef, Json, StatementLineage, TableName
from ingestion.model.outcomes import Outcome
from ingestion.model.storage_paths import location

# Snowflake's ACCESS_HISTORY, as its documentation has it: Account Usage, "ACCESS_HISTORY view".
#
# OBJECTS_MODIFIED has what a statement wrote; each of its columns names the columns that it was made of directly
# (which may be a view's) and those of base tables. DIRECT_OBJECTS_ACCESSED has all that the statement names, what
# only joins or filters too, BASE_OBJECTS_ACCESSED the base tables behind the views among it; each object of both has
# the columns that were read. Names are as they are stored, with quotes around a part that needs them.

_MODIFIED, _ACCESSED, _BASE = "objects_modified", "direct_objects_accessed", "base_objects_accessed"
_TABLES = frozenset(
    {
        *("table", "view", "materialized view", "external table", "dynamic table", "iceberg table", "event table"),
        "stream",  # whose columns are those of the table that it watches
    }
)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def _read(values: Sequence[str]) -> StatementLineage | None:
    modified, accessed = objects_of(values[0], _MODIFIED), objects_of(values[1], _ACCESSED)
    sources = [_table(one, _ACCESSED) for one in accessed if _is_table(one)]
    written = lineage_of_flows(
        flow_into(_table(one, _MODIFIED), sources, _pairs(one)) for one in modified if _is_table(one)
    )
    return written or _only_read(((_ACCESSED, accessed), (_BASE, objects_of(values[2], _BASE))))


def _only_read(accessed: Iterable[tuple[str, Sequence[Json]]]) -> StatementLineage | None:
    """An object without a list of columns does not tell them; with an empty one only its rows were needed."""
    tables = [(column, one) for column, objects in accessed for one in objects if _is_table(one)]
    read = (
        ColumnRef(_table(one, column), text_of(of, "columnName", column))
        for column, one in tables
        for of in objects_in(one.get("columns"), f"{column}: columns")
    )
    whole = all(one.get("columns") is not None for _column, one in tables)
    return only_read(read, [_table(one, column) for column, one in tables], whole=whole)


def _pairs(modified: Json) -> Iterator[ColumnPair]:
    for column in _objects(modified, "columns"):
        to = text_of(column, "columnName", _MODIFIED)
        for source in _objects(column, "directSources") or _objects(column, "baseSources"):
            if _is_table(source):
                yield ColumnPair(_table(source, _MODIFIED), text_of(source, "columnName", _MODIFIED), to)


def _objects(record: Json, key: str) -> list[Json]:
    return objects_in(record.get(key), f"{_MODIFIED}: {key}")


def _is_table(record: Json) -> bool:
    """Whether an object is one that data lies in, or is read through: no function, no stage."""
    return str(record.get("objectDomain", "")).lower() in _TABLES


def _table(record: Json, column: str) -> TableName:
    name = text_of(record, "objectName", column)
    parts = tuple((quoted or bare).replace('""', '"') for quoted, bare in _PART.findall(name))
    if not parts:
        raise MalformedLineage(f"{column}: an objectName that is none")
    return TableName(parts)


_WRITTEN_OBJECTS = EngineLineage((_MODIFIED, _ACCESSED, _BASE), _read)
"""One row a statement."""


# Snowflake's QUERY_HISTORY and ACCESS_HISTORY, as its documentation has them.
#
# Account Usage and Information Schema, "QUERY_HISTORY"; Account Usage, "ACCESS_HISTORY view".

QUERY_HISTORY = ExportProfile(
    name="Snowflake QUERY_HISTORY",
    services=frozenset({"Snowflake"}),
    marks=marks(
        "query_text warehouse_name", "query_text execution_status session_id", "query_text query_tag",
        "query_text total_elapsed_time warehouse_size",
    ),
    own_marks=marks("query_text"),
    columns={
        "text": ("query_text",),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
        "duration": ("total_elapsed_time", "execution_time"),
        "user": ("user_name",),
        "session": ("session_id",),
        "database": ("database_name",),
        "schema": ("schema_name",),
        "query_type": ("query_type",),
        "status": ("execution_status",),
        "failure": ("error_code", "error_message"),
        "error_code": ("error_code",),
        "rows": ("rows_inserted", "rows_updated"),
        "result_rows": ("rows_produced",),
        "bytes": ("bytes_scanned",),
        "credits": ("credits_used_cloud_services",),
        "job": ("query_tag",),
    },
    units={"total_elapsed_time": MILLISECONDS, "execution_time": MILLISECONDS},
    limits={"query_text": TextLimit(100_000)},
    adds_rows=True,
)  # fmt: skip

ACCESS_HISTORY = ExportProfile(
    name="Snowflake ACCESS_HISTORY",
    only_ran=True,
    services=frozenset({"Snowflake"}),
    marks=marks("objects_modified direct_objects_accessed", "objects_modified base_objects_accessed query_id"),
    columns={"start_time": ("query_start_time",), "user": ("user_name",)},
    lineage=_WRITTEN_OBJECTS,
)

# DYNAMIC_TABLE_GRAPH_HISTORY, TASK_HISTORY and COPY_HISTORY, views of Account Usage and functions of the Information
# Schema. The text of a dynamic table is the query that fills it; a task's is what it runs, and its name that of a job.

DYNAMIC_TABLES = ExportProfile(
    name="Snowflake DYNAMIC_TABLE_GRAPH_HISTORY",
    services=frozenset({"Snowflake"}),
    marks=marks("query_text qualified_name inputs", "query_text qualified_name target_lag_sec"),
    columns={
        "text": ("query_text",),
        "start_time": ("valid_from",),
        "database": ("database_name",),
        "schema": ("schema_name",),
    },
    fills=("qualified_name", "name"),
    only_ran=True,
)

TASK_HISTORY = ExportProfile(
    name="Snowflake TASK_HISTORY",
    services=frozenset({"Snowflake"}),
    marks=marks("query_text scheduled_time root_task_id", "query_text scheduled_time completed_time"),
    columns={
        "text": ("query_text",),
        "start_time": ("query_start_time", "scheduled_time"),
        "end_time": ("completed_time",),
        "database": ("database_name",),
        "schema": ("schema_name",),
        "status": ("state",),
        "failure": ("error_code", "error_message"),
        "error_code": ("error_code",),
        "job": ("name",),
    },
    states={"state": {"skipped": Outcome.NOT_A_STATEMENT, "scheduled": Outcome.UNFINISHED}},
    limits={"query_text": TextLimit(100_000)},
)

_LOADED = ("stage_location", "table_catalog_name", "table_schema_name", "table_name")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _read_load(values: Sequence[str]) -> StatementLineage | None:
    """From the location of an external stage; what an internal one holds came from a client."""
    stage, *parts = values
    if not _URL.match(stage) or not all(parts):
        return None
    return lineage_of_flows([flow_into(TableName(tuple(parts)), [location(stage)])])


COPY_HISTORY = ExportProfile(
    name="Snowflake COPY_HISTORY",
    services=frozenset({"Snowflake"}),
    marks=marks("stage_location table_name last_load_time", "stage_location table_name row_parsed"),
    columns={"start_time": ("last_load_time",), "rows": ("row_count",)},
    states={
        "status": {
            **dict.fromkeys(("loaded", "partially loaded")),
            "load failed": Outcome.FAILED,
            "load in progress": Outcome.UNFINISHED,
            OTHERWISE: Outcome.UNKNOWN_STATE,
        },
        # of rows, the others of which are loaded
        **{name: dict[str, str | None]() for name in ("error_count", "first_error_message")},
    },
    lineage=EngineLineage(_LOADED, _read_load),
)
