"""The source type query-log-lineage: a log and nothing else."""

from __future__ import annotations

from typing import ClassVar

from connectors.source_settings import LineageConfig


class _QueryLogLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type query-log-lineage: the keys that every source has."""

    needs_query_log: ClassVar[bool] = True


SETTINGS = _QueryLogLineageConfig
