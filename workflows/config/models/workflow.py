"""The whole file as its source and its sink have it: their types decide which keys there are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union

from pydantic import Field, create_model

from connectors.fields import OrEmpty
from connectors.sinks import SINK_TYPES, sink_settings
from workflows.config.models.dbt import AnySource, DbtSource
from workflows.config.models.headwater import Workflow
from workflows.config.models.openmetadata import QuerySource, Sink, SparkHistorySource

_SOURCES: Mapping[str, type[QuerySource]] = {"spark-history-lineage": SparkHistorySource, "dbt": DbtSource}


@cache
def workflow_model(source_type: str = "", sink_type: str = SINK_TYPES[0]) -> type[Workflow]:
    """The file of a source and a sink of these types; where a type is not known, it says so."""
    sink = sink_type if sink_type in SINK_TYPES else SINK_TYPES[0]
    return _workflow(_SOURCES.get(source_type, QuerySource), _sink(sink, sink_settings(sink)))


@cache
def any_workflow() -> type[Workflow]:
    """The file with the keys of all sources and sinks, for what knows none yet."""
    every: Any = Union[tuple(map(sink_settings, SINK_TYPES))]  # noqa: UP007 there may be any number
    return _workflow(AnySource, _sink(SINK_TYPES[0], every))


def owners() -> Mapping[str, type[Workflow]]:
    """By the type of a source: the file that has keys which others have not."""
    return {source_type: workflow_model(source_type) for source_type in _SOURCES}


def _sink(sink_type: str, settings: Any) -> type[Sink]:
    types: Any = Literal[SINK_TYPES]
    return create_model(
        "Sink",
        __base__=Sink,
        __doc__=Sink.__doc__,
        type=(types, Field(default=sink_type, description="The REST API of OpenMetadata.")),
        config=(
            Annotated[settings, OrEmpty],
            Field(default_factory=sink_settings(sink_type), description="The sink's settings."),
        ),
    )


def _workflow(source: type[QuerySource], sink: type[Sink]) -> type[Workflow]:
    section: Any = Annotated[sink, OrEmpty]
    return create_model(
        "Workflow",
        __base__=Workflow,
        __doc__="The whole file.",
        source=(source, Field(description="Where the lineage is read from.")),
        sink=(section, Field(default_factory=sink, description="Where it is written to.")),
    )
