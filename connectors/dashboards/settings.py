"""The settings that the dashboard tools share: where their files or servers are, and what the catalog calls them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from connectors.fields import InputLocation, Misfits, Model, OrEmpty, Secret, Text, http_url
from connectors.source_settings import LineageConfig


def _address(written: str) -> str:
    return http_url(written, "https://bi.example")


class DashboardServer(Model):
    """`dashboardServer`: the tool's own server, asked over its REST API."""

    host_port: Annotated[Text, AfterValidator(_address)] | None = Field(
        default=None, description="The address of the tool, such as https://bi.example."
    )
    username: Text | None = Field(default=None, description="Who asks.")
    password: Secret | None = Field(default=None, description="The password.")
    provider: Text = Field(default="db", description="Superset: how users log in, db or ldap.")
    api_key: Secret | None = Field(default=None, description="Metabase: a key in place of user and password.")


class DashboardConfig(LineageConfig):
    """`source.sourceConfig.config` of a dashboard tool; its own keys are Headwater's."""

    has_own_log: ClassVar[bool] = True
    is_whole: ClassVar[bool] = True

    tool: ClassVar[str] = ""
    """What people call it; in lower case the name of its service where none is given."""
    has_server: ClassVar[bool] = False

    dashboard_path: InputLocation | None = Field(
        default=None, description="What the tool exports, or its project: a folder, a ZIP, a file."
    )
    dashboard_server: Annotated[DashboardServer, OrEmpty] = Field(
        default_factory=DashboardServer, description="Or its server (Superset, Metabase).", repr=False
    )
    dashboard_service_name: Text | None = Field(
        default=None, description="The catalog's service of the dashboards; the tool's name if left out."
    )
    database_names: dict[str, Text] = Field(
        default_factory=dict,
        description="By the name of one of the tool's connections: the database that it leads to, where it is "
        "another than the tool says.",
    )

    @model_validator(mode="after")
    def _has_a_location(self) -> Self:
        if not self.tool:
            return self
        given = sum((self.dashboard_path is not None, self.dashboard_server.host_port is not None))
        if not self.has_server and self.dashboard_server.host_port is not None:
            raise Misfits((("dashboardServer", "hostPort"), f"{self.tool} is read by its files: give dashboardPath"))
        if given != 1:
            wanted = "dashboardPath or dashboardServer.hostPort" if self.has_server else "dashboardPath"
            raise Misfits((("dashboardPath",), f"the source type {self.tool.lower()} needs {wanted}, one of them"))
        return self

    @property
    def service(self) -> str:
        """What the catalog calls the tool."""
        return self.dashboard_service_name or self.tool.lower().replace(" ", "")

    @property
    def path(self) -> Path:
        """The files, where they are what is read."""
        return Path(self.dashboard_path or "")

    @property
    def location(self) -> str | None:
        return self.dashboard_path or self.dashboard_server.host_port

    def implied_connection(self) -> str | None:
        """No database in particular: each connection of the tool tells its own."""
        return "CustomDatabase"
