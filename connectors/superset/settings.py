"""The source type superset."""

from __future__ import annotations

from typing import ClassVar

from connectors.dashboards.settings import DashboardConfig


class SupersetConfig(DashboardConfig):
    """`source.sourceConfig.config` of the source type superset."""

    tool: ClassVar[str] = "Superset"
    has_server: ClassVar[bool] = True


SETTINGS = SupersetConfig
