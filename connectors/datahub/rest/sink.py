"""Sends proposals by DataHub's own emitter, and tells its errors by what to do about them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import quote

import requests
from urllib3.exceptions import ReadTimeoutError

from connectors.datahub.delivery import CallFailed, DatahubSink, changes_of
from connectors.datahub.names import ACTOR
from connectors.datahub.rest.settings import DatahubRestSettings
from connectors.sink import SinkRun
from ingestion.errors import ConfigError, Rejected, TargetDown

if TYPE_CHECKING:
    from datahub.emitter.rest_emitter import DataHubRestEmitter

    from connectors.datahub.changes import Proposal

Result = TypeVar("Result")

_DENIED = frozenset({401, 403})
_NOT_THERE = frozenset({404, 405})
_LATER = frozenset({408, 425, 429})
_RETRIED_BY_EMITTER = [429, 502, 503, 504]
"""Not 500: so answers a service that is out of order, and one that cannot take this call, ever."""
_FIRST_WAIT = 1.0
"""Seconds before a call is tried again; each further wait is twice as long."""
_PARTIAL = (requests.exceptions.ChunkedEncodingError, requests.exceptions.InvalidJSONError)
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
        retry_status_codes=_RETRIED_BY_EMITTER,
    )
    emitter.session.hooks["response"].append(_refuse_page)
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
        self._fails = False

    def send(self, proposals: Sequence[Proposal]) -> None:
        """All of them, once DataHub has stored them. Raises Rejected, CallFailed, TargetDown and ConfigError."""
        self._retry(lambda: self._emit(proposals))

    def upstreams_of_others(self, dataset: str) -> frozenset[str]:
        """Those of a dataset that were last written by others. Raises TargetDown and ConfigError."""
        try:
            return self._retry(lambda: self._read_upstreams(dataset))
        except CallFailed as error:
            raise _outage(self._settings, str(error)) from None

    def _retry(self, call: Callable[[], Result]) -> Result:
        """What a call gives; it is tried again where it fails, but not while one after the other does.

        Then a part of what was sent is what cannot be taken, and is looked for.
        """
        tries = 1 if self._fails else self._settings.retry_max_times + 1
        for number in range(tries):
            try:
                result = call()
            except (CallFailed, _AnswerLost) as error:
                self._fails, last = True, number == tries - 1
                if last and isinstance(error, CallFailed):
                    raise
                if last:
                    raise _outage(self._settings, str(error)) from None
                time.sleep(_FIRST_WAIT * 2**number)
            else:
                break
        self._fails = False
        return result

    def _emit(self, proposals: Sequence[Proposal]) -> None:
        from datahub.configuration.common import OperationalError
        from datahub.emitter.rest_emitter import EmitMode

        try:
            self._emitter.emit_mcps(list(proposals), emit_mode=EmitMode.SYNC_PRIMARY)
        except (OperationalError, AttributeError, RecursionError) as error:  # the last two: of a body that is no object
            status = _status_of(error)
            if status is None:
                raise self._error_of(error.__cause__ or error) from None
            message = str(error.info.get("message") or "") if isinstance(error, OperationalError) else ""
            reason = f"{status} {message[:_LONGEST_REASON]}".strip()
            if status == 500:
                raise CallFailed(reason) from None
            _check(self._settings, status)
            if status in _NOT_THERE:
                raise ConfigError(f"{self._settings.server} is no DataHub: {status} for /aspects") from None
            raise Rejected(reason) from None

    def _read_upstreams(self, dataset: str) -> frozenset[str]:
        url = f"{self._settings.server}/aspects/{quote(dataset, safe='')}"
        try:
            answer = self._emitter.session.get(url, params={"aspect": "upstreamLineage", "version": "0"})
            if answer.status_code == 500:
                raise CallFailed("500")
            _check(self._settings, answer.status_code)
            if answer.status_code >= 400:  # there is none
                return frozenset()
            (aspect,) = answer.json()["aspect"].values()
            return frozenset(one["dataset"] for one in aspect.get("upstreams") or () if not _is_ours(one))
        except (requests.RequestException, AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._error_of(error) from None

    def _error_of(self, error: BaseException) -> _AnswerLost | TargetDown:
        """Of an answer that was lost on its way: where nobody answered, the emitter has tried that again itself."""
        name = type(error).__name__
        partial = isinstance(error, _PARTIAL) or isinstance(next(iter(error.args), None), ReadTimeoutError)
        return _AnswerLost(name) if partial else _outage(self._settings, name)


class _AnswerLost(Exception):
    """Half of an answer came, or a page in its place; what was sent may be there."""


def _is_ours(upstream: dict[str, object]) -> bool:
    stamp = upstream.get("auditStamp")
    return isinstance(stamp, dict) and stamp.get("actor") == ACTOR


def _refuse_page(answer: requests.Response, *_arguments: object, **_named: object) -> None:
    """Raises InvalidJSONError for a page in place of an answer: a proxy's, or that of a login, has the status 200."""
    if answer.status_code == 200 and answer.content:
        try:
            json.loads(answer.content)
        except (ValueError, RecursionError):
            raise requests.exceptions.InvalidJSONError("no JSON", response=answer) from None


def _check(settings: DatahubRestSettings, status: int) -> None:
    """Raises ConfigError and TargetDown where every call would be answered so."""
    if status in _DENIED:
        raise _denial(settings, status) from None
    if status >= 500 or status in _LATER:
        raise _outage(settings, str(status)) from None


def _status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error, None where there was no answer, or none in time."""
    cause = error.__cause__ or error.__context__
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
