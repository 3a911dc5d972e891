"""The source type powerbi."""

from __future__ import annotations

from typing import ClassVar

from connectors.dashboards.settings import DashboardConfig


class PowerBiConfig(DashboardConfig):
    """`source.sourceConfig.config` of the source type powerbi."""

    tool: ClassVar[str] = "PowerBI"


SETTINGS = PowerBiConfig
