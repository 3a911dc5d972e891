"""Every sink of the index is a room as the interface has it."""

from __future__ import annotations

import pytest

from connectors.sink import SinkSettings
from connectors.sinks import SINK_TYPES, ConfiguredSink, sink_settings


@pytest.mark.parametrize("sink_type", SINK_TYPES)
def test_a_sink_has_its_settings(sink_type: str) -> None:
    settings = sink_settings(sink_type)
    assert issubclass(settings, SinkSettings)
    assert settings is not SinkSettings


def test_what_goes_to_tasks_keeps_what_every_sink_has_and_nothing_else() -> None:
    settings = sink_settings("metadata-rest").model_validate({"bulk_sink_batch_size": 7, "api_endpoint": "secret"})

    bare = ConfiguredSink(type="metadata-rest", config=settings).without_settings()

    assert bare.config.bulk_sink_batch_size == 7
    assert "secret" not in repr(bare)
    assert bare.config.writes_to_catalog


def test_the_catalogs_sink_is_known_by_its_catalog() -> None:
    assert sink_settings("metadata-rest")().identity("catalog 1") == "catalog 1"
