"""What INFORMATION_SCHEMA.JOBS has of a job's tables, as BigQuery's documentation has it: "JOBS view".

`destination_table` is where the result went, which for a query is a hidden table; `referenced_tables` are those that
were read, unless the answer came out of a cache. The REST API writes the same in camelCase.
"""

from __future__ import annotations

from collections.abc import Sequence

from connectors.query_log.engine_lineage.rows import (
    EngineLineage,
    MalformedLineage,
    flow_into,
    json_of,
    lineage_of_flows,
    objects_of,
)
from ingestion.model import Json, StatementLineage, TableName

_DESTINATION, _REFERENCED = "destination_table", "referenced_tables"
_PARTS = (("project_id", "projectId"), ("dataset_id", "datasetId"), ("table_id", "tableId"))


def _read(values: Sequence[str]) -> StatementLineage | None:
    destination = json_of(values[0], _DESTINATION)
    if destination is None:
        return None
    if not isinstance(destination, dict):
        raise MalformedLineage(f"{_DESTINATION} is no object")
    target = _table(destination, _DESTINATION)
    if target is None:
        return None
    referenced = (_table(one, _REFERENCED) for one in objects_of(values[1], _REFERENCED))
    sources = [one for one in referenced if one is not None]
    return lineage_of_flows([flow_into(target, sources)] if sources else [])


def _table(record: Json, column: str) -> TableName | None:
    """The table, without a partition that its name picks; None for what a job keeps hidden."""
    parts = tuple(str(next((record[key] for key in keys if record.get(key)), "")) for keys in _PARTS)
    if not any(parts):
        return None
    if not all(parts):
        raise MalformedLineage(f"{column}: a table without project, dataset or name")
    project, dataset, table = parts
    return None if dataset.startswith("_") else TableName((project, dataset, table.partition("$")[0]))


JOBS = EngineLineage((_DESTINATION, _REFERENCED), _read)
