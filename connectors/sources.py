"""Every source by its `source.type`, one line each: a room with its `settings` and its `source`.

The settings alone are what checks a configuration, and no client with them; the `source` is loaded when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from connectors.source_settings import LineageConfig

if TYPE_CHECKING:
    from connectors.source import OpenSource, SourceRun

_ROOMS: Mapping[str, str] = {
    "query-log-lineage": "connectors.query_log",
    "spark-history-lineage": "connectors.spark",
    "dbt": "connectors.dbt",
    "sqlmesh": "connectors.sqlmesh",
    "dataform": "connectors.dataform",
    "edge-list": "connectors.edge_list",
    "superset": "connectors.superset",
    "lookml": "connectors.lookml",
    "metabase": "connectors.metabase",
    "powerbi": "connectors.powerbi",
    "table-commits": "connectors.table_commits",
    "flink-sql": "connectors.flink",
    "kafka-connect": "connectors.kafka_connect",
    "postgres-lineage": "connectors.postgres",
    "timescale-lineage": "connectors.postgres",
    "greenplum-lineage": "connectors.postgres",
}


OWN_TYPES = tuple(_ROOMS)
"""The types of sources that have a room; of a database of another type its log is all that is read."""


def source_settings(source_type: str) -> type[LineageConfig]:
    """The model of the settings of a source; where it has no room, those that every source has."""
    if source_type not in _ROOMS:
        return LineageConfig
    found: type[LineageConfig] = import_module(f"{_ROOMS[source_type]}.settings").SETTINGS
    return found


@dataclass(frozen=True, slots=True)
class ConfiguredSource:
    """A source that is closed; its settings may hold secrets, in clear."""

    type: str
    settings: object

    def open(self, run: SourceRun) -> AbstractContextManager[OpenSource]:
        """The source, for the block. Raises ConfigError and TargetDown, without a secret in them."""
        opened: AbstractContextManager[OpenSource] = import_module(f"{_ROOMS[self.type]}.source").open_source(
            self.settings, run
        )
        return opened


def has_room(source_type: str) -> bool:
    """Whether a source of this type can be opened; of another its log is all that is read."""
    return source_type in _ROOMS
