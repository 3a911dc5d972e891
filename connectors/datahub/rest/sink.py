"""Sends proposals by DataHub's own emitter, and tells its errors by what to do about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

import requests

from connectors.datahub.delivery import DatahubSink, changes_of
from connectors.datahub.names import ACTOR
from connectors.datahub.rest.settings import DatahubRestSettings
from connectors.sink import SinkRun
from ingestion.errors import ConfigError, Rejected, TargetDown

if TYPE_CHECKING:
    from datahub.emitter.rest_emitter import DataHubRestEmitter

    from connectors.datahub.changes import Proposal

_DENIED = frozenset({401, 403})
_NOT_THERE = frozenset({404, 405})
_LATER = frozenset({408, 425, 429})
_LONGEST_REASON = 300
_A_PAGE = "answers something else than DataHub's service: name that (port 8080), or the frontend's /api/gms"


@contextmanager
def open_sink(settings: DatahubRestSettings, run: SinkRun[object]) -> Iterator[DatahubSink]:
    """DataHub, which answers. Raises ConfigError, without the token, and TargetDown."""
    changes = changes_of(settings, run)

    from datahub.configuration.common import ConfigurationError
    from datahub.emitter.rest_emitter import DataHubRestEmitter

    emitter = DataHubRestEmitter(
        settings.server,
        token=settings.token.get_secret_value() if settings.token is not None else None,
        timeout_sec=settings.timeout_sec,
        retry_max_times=settings.retry_max_times,
    )
    with closing(emitter):
        try:
            emitter.fetch_server_config()
        except (requests.exceptions.InvalidJSONError, AttributeError):
            raise ConfigError(f"sink.config.server: {settings.server} {_A_PAGE}") from None
        except requests.exceptions.InvalidHeader:
            raise ConfigError("sink.config.token is none: it has a character that no header may have") from None
        except requests.RequestException as error:
            raise _outage(settings, type(error).__name__) from None
        except ConfigurationError as error:
            _refuse_at_the_door(settings, emitter, str(error))
        sender = _Sender(settings, emitter)
        yield DatahubSink(changes, sender.send, sender.upstreams_of_others)


class _Sender:
    def __init__(self, settings: DatahubRestSettings, emitter: DataHubRestEmitter) -> None:
        self._settings = settings
        self._emitter = emitter

    def send(self, proposals: Sequence[Proposal]) -> None:
        """All of them, once DataHub has stored them. Raises Rejected, TargetDown and ConfigError."""
        from datahub.configuration.common import OperationalError
        from datahub.emitter.rest_emitter import EmitMode

        try:
            self._emitter.emit_mcps(list(proposals), emit_mode=EmitMode.SYNC_PRIMARY)
        except OperationalError as error:
            status = _status_of(error)
            if status is None:
                raise _outage(self._settings, type(error.__cause__).__name__) from None
            _check(self._settings, status)
            if status in _NOT_THERE:
                raise ConfigError(f"{self._settings.server} is no DataHub: {status} for /aspects") from None
            raise Rejected(f"{status} {str(error.info.get('message') or '')[:_LONGEST_REASON]}".strip()) from None

    def upstreams_of_others(self, dataset: str) -> frozenset[str]:
        """Those of a dataset that were last written by others. Raises TargetDown and ConfigError."""
        url = f"{self._settings.server}/aspects/{quote(dataset, safe='')}"
        try:
            answer = self._emitter.session.get(url, params={"aspect": "upstreamLineage", "version": "0"})
            if answer.status_code == 404:
                return frozenset()
            _check(self._settings, answer.status_code)
            (aspect,) = answer.json()["aspect"].values()
            return frozenset(one["dataset"] for one in aspect["upstreams"] if one["auditStamp"]["actor"] != ACTOR)
        except (requests.RequestException, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _outage(self._settings, type(error).__name__) from None


def _check(settings: DatahubRestSettings, status: int) -> None:
    """Raises ConfigError and TargetDown where every call would be answered so."""
    if status in _DENIED:
        raise _denial(settings, status) from None
    if status >= 500 or status in _LATER:
        raise _outage(settings, str(status)) from None


def _status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error, None where there was no answer, or none in time."""
    cause = error.__cause__
    response = cause.response if isinstance(cause, requests.HTTPError) else None
    return response.status_code if response is not None else None


def _refuse_at_the_door(settings: DatahubRestSettings, emitter: DataHubRestEmitter, message: str) -> NoReturn:
    """Raises why the server's own configuration cannot be had: the emitter has one error for all of it."""
    try:
        status = emitter.session.get(f"{settings.server}/config").status_code
    except requests.RequestException as error:
        raise _outage(settings, type(error).__name__) from None
    _check(settings, status)
    raise ConfigError(f"sink.config.server: {message.splitlines()[0][:_LONGEST_REASON]}") from None


def _denial(settings: DatahubRestSettings, status: int) -> ConfigError:
    return ConfigError(f"{settings.server} refuses the token ({status}): set sink.config.token to one that may write")


def _outage(settings: DatahubRestSettings, cause: str) -> TargetDown:
    return TargetDown(f"DataHub at {settings.server} does not answer ({cause})")
