"""Sending events by openlineage-python: its own transports by its own configuration."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import RunEvent

from ingestion.errors import ConfigError, LineageError, Rejected, TargetDown

_FLUSH_SECONDS = 60.0
_REFUSES_EVENT = frozenset({400, 413, 422})
_REFUSES_ALL = frozenset({401, 403, 404, 405})
_OF_CLIENTS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("confluent_kafka", "KafkaException"),
    ("google.api_core.exceptions", "GoogleAPIError"),
    ("google.auth.exceptions", "GoogleAuthError"),
)
"""What the packages that some transports need raise, none of it an error of HTTP or of the system."""
_WITHOUT_ACCESS = frozenset(
    {"DefaultCredentialsError", "NoCredentialsError", "PartialCredentialsError", "RefreshError"}
)


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
        """Raises Rejected where the receiver refuses this event, ConfigError where it refuses us, TargetDown where it
        does not answer.
        """
        try:
            self._client.emit(event)
        except ImportError as error:
            raise ConfigError(f"headwater.openLineage.transport: it needs the package {error.name}") from None
        except (requests.RequestException, OSError, RuntimeError) as error:
            raise _error_of(error) from None
        except _errors_of_clients() as error:
            raise _error_of(error) from None


def _errors_of_clients() -> tuple[type[Exception], ...]:
    """By what is imported: a transport imports its package when it is made, or when it first sends."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in _OF_CLIENTS)
    return tuple(error for error in found if error is not None)


def _error_of(error: BaseException) -> LineageError:
    """What to do about an error of a client: by the status that the receiver answered, else by what it is."""
    chain = list(_causes(error))
    status = next((code for one in chain if (code := _status(one))), 0)
    if status in _REFUSES_EVENT:
        return Rejected(str(status))
    if status in _REFUSES_ALL:
        return ConfigError(f"the OpenLineage receiver refuses events ({status}): see headwater.openLineage")
    if any(type(one).__name__ in _WITHOUT_ACCESS for one in chain):
        return ConfigError("the OpenLineage receiver wants credentials: see headwater.openLineage.transport")
    reason = str(status or type(error).__name__)
    return TargetDown(f"the OpenLineage receiver does not take events ({reason}); the next run sends them again")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _status(error: BaseException) -> int:
    """The status of HTTP in an error: of requests, of Google's clients (`code`), of boto's (`response`); 0 if none."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        response = response.get("ResponseMetadata")
        status = response.get("HTTPStatusCode") if isinstance(response, Mapping) else None
    else:
        status = getattr(response, "status_code", None) or getattr(error, "code", None)
    return int(status) if isinstance(status, int) else 0


@contextmanager
def open_emitter(transport: Transport) -> Iterator[Emitter]:
    """An emitter, whose events have left when the block ends. Raises ConfigError where the transport is not one."""
    # It logs whole events, and what receivers say of them: an error that matters is raised too.
    logging.getLogger("openlineage").setLevel(logging.CRITICAL)
    try:
        client = OpenLineageClient(config={"transport": dict(transport.options)})
    except (ValueError, TypeError, KeyError, RuntimeError, ImportError) as error:
        kind = transport.options.get("type")
        lacks = f"it needs the package {error.name}" if isinstance(error, ImportError) else type(error).__name__
        raise ConfigError(
            f"headwater.openLineage.transport: {kind} cannot be set up ({lacks}); "
            "its keys are those of openlineage-python"
        ) from None
    try:
        yield Emitter(client, transport.location)
        if not client.close(_FLUSH_SECONDS):
            raise TargetDown("the OpenLineage receiver did not take every event in time; run again later")
    finally:
        client.close(0)
