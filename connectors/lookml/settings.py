"""The source type lookml."""

from __future__ import annotations

from typing import ClassVar

from connectors.dashboards.settings import DashboardConfig


class LookmlConfig(DashboardConfig):
    """`source.sourceConfig.config` of the source type lookml."""

    tool: ClassVar[str] = "LookML"

    @property
    def service(self) -> str:
        """What the catalog calls the tool: Looker, whose models these are."""
        return self.dashboard_service_name or "looker"


SETTINGS = LookmlConfig
