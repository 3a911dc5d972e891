"""Every source by its `source.type`, one line each: a room with its `source`, which is loaded when it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from connectors.source import OpenSource, SourceRun

_ROOMS: Mapping[str, str] = {
    "query-log-lineage": "connectors.query_log",
    "spark-history-lineage": "connectors.spark",
    "dbt": "connectors.dbt",
    "postgres-lineage": "connectors.postgres",
    "timescale-lineage": "connectors.postgres",
    "greenplum-lineage": "connectors.postgres",
}


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
