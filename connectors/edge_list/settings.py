"""The source type edge-list: where the list is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, model_validator

from connectors.fields import InputLocation, Misfits
from connectors.source_settings import LineageConfig


class EdgeListConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type edge-list; its own key is Headwater's."""

    has_own_log: ClassVar[bool] = True
    names_services: ClassVar[bool] = True
    is_whole: ClassVar[bool] = True

    edge_list_path: InputLocation | None = Field(
        default=None, description="The list: a CSV file with a header, a directory, a glob, or a URI for Spark."
    )

    @model_validator(mode="after")
    def _has_a_list(self) -> Self:
        if self.edge_list_path is None:
            raise Misfits((("edgeListPath",), "needed by the source type edge-list, and not given"))
        return self

    @property
    def location(self) -> str | None:
        return self.edge_list_path

    @property
    def input_paths(self) -> Mapping[str, str]:
        """The list too."""
        own = {} if self.edge_list_path is None else {"edgeListPath": self.edge_list_path}
        return {**super().input_paths, **own}

    def implied_connection(self) -> str | None:
        """No database in particular: what decides is how literals look in the expressions of the list."""
        return "CustomDatabase"


SETTINGS = EdgeListConfig
