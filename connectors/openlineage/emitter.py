"""Sending events by openlineage-python: its own transports by its own configuration."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import RunEvent, set_producer

from connectors.openlineage.events import PRODUCER
from ingestion.errors import ConfigError, TargetDown

_FLUSH_SECONDS = 60.0
_REFUSED = frozenset({400, 401, 403, 404, 405, 413, 422})


@dataclass(frozen=True, slots=True)
class Transport:
    """openlineage-python's `transport` mapping, whose `type` is http, file, kafka, ...; secrets in clear."""

    options: Mapping[str, Any] = field(repr=False)

    @property
    def location(self) -> str:
        """What tells it from another: its type, and where it leads to."""
        known = (self.options.get(name) for name in ("type", "url", "endpoint", "log_file_path", "topic"))
        return " ".join(str(value) for value in known if value)


class Emitter:
    """Sends events, each at least once."""

    def __init__(self, client: OpenLineageClient, location: str) -> None:
        self._client = client
        self._location = location

    def emit(self, event: RunEvent) -> None:
        """Raises ConfigError where the receiver refuses the event or us, TargetDown where it does not answer."""
        try:
            self._client.emit(event)
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            if status in _REFUSED:
                message = f"the OpenLineage receiver refuses events ({status}): see headwater.openLineage"
                raise ConfigError(message) from None
            reason = str(status)
        except (requests.RequestException, OSError, RuntimeError) as error:
            reason = type(error).__name__
        else:
            return
        raise TargetDown(f"the OpenLineage receiver does not take events ({reason}); the next run sends them again")


@contextmanager
def open_emitter(transport: Transport) -> Iterator[Emitter]:
    """An emitter, whose events have left when the block ends. Raises ConfigError where the transport is not one."""
    set_producer(PRODUCER)
    # At DEBUG it logs whole events.
    logging.getLogger("openlineage").setLevel(logging.WARNING)
    try:
        client = OpenLineageClient(config={"transport": dict(transport.options)})
    except (ValueError, TypeError, KeyError, RuntimeError, ImportError) as error:
        kind = transport.options.get("type")
        raise ConfigError(
            f"headwater.openLineage.transport: {kind} cannot be set up ({type(error).__name__}); "
            "its keys are those of openlineage-python"
        ) from None
    try:
        yield Emitter(client, transport.location)
        if not client.close(_FLUSH_SECONDS):
            raise TargetDown("the OpenLineage receiver did not take every event in time; run again later")
    finally:
        client.close(0)
