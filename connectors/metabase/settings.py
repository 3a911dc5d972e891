"""The source type metabase."""

from __future__ import annotations

from typing import ClassVar

from connectors.dashboards.settings import DashboardConfig


class MetabaseConfig(DashboardConfig):
    """`source.sourceConfig.config` of the source type metabase."""

    tool: ClassVar[str] = "Metabase"
    has_server: ClassVar[bool] = True


SETTINGS = MetabaseConfig
