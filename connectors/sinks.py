"""Every sink by its `sink.type`, one line each: a room with its `settings` and its `sink`.

A room is loaded when it is asked for. Its settings alone are what checks a configuration, and no client with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import import_module

from pydantic import Field

from connectors.fields import Model, Text
from connectors.sink import Sink, SinkRun, SinkSettings

_ROOMS: Mapping[str, str] = {
    "metadata-rest": "connectors.openmetadata",
    "edge-file": "connectors.edge_file",
    "datahub-rest": "connectors.datahub.rest",
    "datahub-file": "connectors.datahub.file",
    "databricks-rest": "connectors.databricks",
}

SINK_TYPES = tuple(_ROOMS)
"""The first is what a configuration has that names none."""


def sink_settings(sink_type: str) -> type[SinkSettings]:
    """The model of a sink's `config`."""
    found: type[SinkSettings] = import_module(f"{_ROOMS[sink_type]}.settings").SETTINGS
    return found


class ConfiguredSink(Model):
    """`sink`: what is written to, and how."""

    # It travels closed: where it is opened is where it writes, be it a task of Spark.

    type: Text = Field(description="What is written to.")
    config: SinkSettings = Field(description="The sink's settings.")

    def open(self, run: SinkRun[object]) -> AbstractContextManager[Sink]:
        """The sink, for the block. Raises ConfigError and TargetDown."""
        opened: AbstractContextManager[Sink] = import_module(f"{_ROOMS[self.type]}.sink").open_sink(self.config, run)
        return opened

    def without_settings(self) -> ConfiguredSink:
        """What may be written to an executor's disk: of the settings no more than what every sink has."""
        common = {name: getattr(self.config, name) for name in SinkSettings.model_fields}
        return ConfiguredSink.model_construct(type=self.type, config=type(self.config).model_construct(**common))
