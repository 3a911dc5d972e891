"""Databricks' lineage system tables, as its documentation has them: "Lineage system tables reference".

A row is an event: reading without a target, writing without a source, or both. Unity Catalog keeps names in lower case.
"""

from __future__ import annotations

from collections.abc import Sequence

from connectors.query_log.engine_lineage.rows import ColumnPair, EngineLineage, flow_into, lineage_of_flows, path_name
from ingestion.model import StatementLineage, TableName

_END = ("{}_table_full_name", "{}_table_catalog", "{}_table_schema", "{}_table_name", "{}_path")
_ENDS = tuple(column.format(end) for end in ("source", "target") for column in _END)


def _read_tables(values: Sequence[str]) -> StatementLineage | None:
    source, target = _end(values[: len(_END)]), _end(values[len(_END) : 2 * len(_END)])
    return None if source is None or target is None else lineage_of_flows([flow_into(target, [source])])


def _read_columns(values: Sequence[str]) -> StatementLineage | None:
    source, target = _end(values[: len(_END)]), _end(values[len(_END) : 2 * len(_END)])
    column, to = values[2 * len(_END) :]
    if source is None or target is None or not (column and to):
        return None
    return lineage_of_flows([flow_into(target, (), [ColumnPair(source, column, to)])])


def _end(values: Sequence[str]) -> TableName | None:
    full_name, *parts, path = values
    if all(parts):
        return TableName(tuple(part.lower() for part in parts))
    if full_name:
        return TableName(tuple(part.strip("`").lower() for part in full_name.split(".")))
    return path_name(path) if path else None


TABLE_LINEAGE = EngineLineage(_ENDS, _read_tables)
COLUMN_LINEAGE = EngineLineage((*_ENDS, "source_column_name", "target_column_name"), _read_columns)
