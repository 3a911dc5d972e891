"""One HTTP client for everything that is said to the platform: pooled, bounded in time, with one retry policy and
one breaker.
"""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPResponse
from http.cookiejar import DefaultCookiePolicy
from socket import socket
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import requests
import urllib3
from requests.adapters import HTTPAdapter
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential, wait_random
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.poolmanager import PoolManager

from connectors.openmetadata.connection import BearerToken, Connection, base_url, check_headers, check_tls, is_loopback
from ingestion.errors import ConfigError, LineageError, Rejected, RetryableError, TargetDown

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


_MESSAGE_LENGTH = 200

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

Params = Mapping[str, str | int | Sequence[str]]

_BLOCK_BYTES = 65_536
_LARGEST_ANSWER = 256 * 1024 * 1024


# What an HTTP answer means: a value, an absence, a refusal, or a reason to try again.


_NO_ROOM = 507
"""Insufficient storage: a repetition a second later finds none either."""


class NotFound(Rejected):
    """The platform says, in its own words, that there is no such thing."""


class BadRequest(Rejected):
    """The platform understands the call, and not what it says (400)."""


class NotAllowed(Rejected):
    """The platform has something at that path, and no such call (405)."""


class ServerFailed(RetryableError):
    """The target is there and answers 5xx: it may be this very call that it cannot bear."""


class Throttled(RetryableError):
    """The target is well and asks for patience (429)."""


class NotOpenMetadata(RetryableError):
    """Something answers, but not the platform: a proxy's page, a truncated or foreign body."""


@dataclass(frozen=True, slots=True)
class _Response:
    """A complete answer; `call` names the call in errors: its method and path, no parameters, no body."""

    call: str
    status: int
    body: bytes
    retry_after: float | None = None


def _interpret(answer: _Response, redact: Callable[[str], str]) -> Any:
    """The JSON value of an answer, None where it has no body.

    Raises NotFound, BadRequest, NotAllowed, Rejected (other 4xx), ConfigError (401 and redirects), TargetDown (507),
    RetryableError (429, other 5xx, bodies that are not JSON).

    Messages carry what the server says, shortened and through `redact`, and nothing of what it was sent.
    """
    if answer.status in (200, 201, 202, 204):
        return _value(answer)
    if answer.status == 401:
        raise ConfigError(
            "the platform refuses the token (HTTP 401): it is expired or wrong; put a valid one into "
            "securityConfig.jwtToken"
        )
    if 300 <= answer.status < 400:
        raise ConfigError(
            f"the platform redirects {answer.call} (HTTP {answer.status}): hostPort must be the API itself; "
            "mind http or https"
        )
    message = _message(answer, redact)
    if answer.status == 429:
        raise Throttled(f"{answer.call}: too many requests (HTTP 429)", answer.retry_after)
    if answer.status == _NO_ROOM:
        raise TargetDown(f"{answer.call}: HTTP {answer.status}{_tail(message)}")
    if answer.status >= 500:
        raise ServerFailed(f"{answer.call}: HTTP {answer.status}{_tail(message)}", answer.retry_after)
    if answer.status == 404:
        if message is None:
            raise NotOpenMetadata(f"{answer.call}: HTTP 404, but not from the platform; check hostPort")
        raise NotFound(f"not found{_tail(message)}")
    refusal = {400: BadRequest, 405: NotAllowed}.get(answer.status, Rejected)
    raise refusal(f"HTTP {answer.status}{_tail(message)}")


def _value(answer: _Response) -> Any:
    if not answer.body.strip():
        return None
    try:
        return json.loads(answer.body)
    except RecursionError:
        raise NotOpenMetadata(f"{answer.call}: an answer nested too deeply; check what stands in between") from None
    except ValueError:
        kind = "HTML" if answer.body.lstrip()[:1] == b"<" else "something else"
        message = f"{answer.call}: {kind} instead of JSON; check hostPort, or what stands in between"
    raise NotOpenMetadata(message, answer.retry_after)


def _message(answer: _Response, redact: Callable[[str], str]) -> str | None:
    """The platform's own message, "" if it has none; None when the body is not an error of the platform."""
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or "code" not in body:
        return None
    text = " ".join(redact(str(body.get("message") or "")).split())
    return "".join(character for character in text if character.isprintable())[:_MESSAGE_LENGTH]


def _tail(message: str | None) -> str:
    return f": {message}" if message else ""


# The circuit breaker: after enough failures in a row, over enough time, nobody calls the target any more.


class Breaker:
    """Shared by the threads of one client. It stays open: the run ends, and the next run starts with a new one.

    Both bounds must be met, so that many threads meeting one hiccup at the same moment do not open it.
    """

    def __init__(self, clock: Callable[[], float], failures: int = 12, seconds: float = 30.0) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._streak = 0
        self._since = 0.0
        self._reason: str | None = None
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        with self._lock:
            return self._reason is not None

    def check(self) -> None:
        """Raises TargetDown when the breaker is open."""
        with self._lock:
            reason = self._reason
        if reason is not None:
            raise TargetDown(reason)

    def record_success(self) -> None:
        """The target answered, be it with a refusal."""
        with self._lock:
            self._streak = 0

    def record_failure(self, reason: str) -> None:
        """One attempt failed; `reason` is told when this was one too many."""
        with self._lock:
            now = self._clock()
            if self._streak == 0:
                self._since = now
            self._streak += 1
            if self._streak >= self._failures and now - self._since >= self._seconds:
                self._reason = self._reason or reason

    def trip(self, reason: str) -> None:
        """Opens at once: a call was given up on for a reason that every call would meet."""
        with self._lock:
            self._reason = self._reason or reason


# The one retry policy of the client: exponential backoff with jitter, Retry-After obeyed, bounded twice.


@dataclass(frozen=True, slots=True)
class Timing:
    """The clocks that waiting depends on."""

    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds of one call: attempts, and seconds for all of them together, waiting included."""

    attempts: int = 6
    total_seconds: float = 120.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    jitter: float = 0.5


def _retrying(action: Callable[[], Result], policy: RetryPolicy, breaker: Breaker, timing: Timing) -> Result:
    """The result of `action`, repeated while it raises RetryableError.

    Given up on: TargetDown when nothing got through or the breaker is open; ServerFailed as it is when the target
    answers and only this call makes it fail. Other errors pass at once.
    """
    started = timing.monotonic()

    def attempt() -> Result:
        breaker.check()
        return action()

    def out_of_bounds(state: RetryCallState) -> bool:
        spent = timing.monotonic() - started
        return state.attempt_number >= policy.attempts or spent + state.upcoming_sleep > policy.total_seconds

    retry = Retrying(
        sleep=timing.sleep,
        stop=out_of_bounds,
        wait=_Wait(policy),
        retry=retry_if_exception_type(RetryableError),
        before_sleep=_log_wait,
        reraise=True,
    )
    try:
        return retry(attempt)
    except ServerFailed:
        breaker.check()
        raise
    except RetryableError as error:
        reason = f"{error.message}; given up on, run again later"
    breaker.trip(reason)
    raise TargetDown(reason)


def retry_after_seconds(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, written as seconds or as an HTTP date; None if it is neither."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


class _Wait:
    """Backoff with jitter, and never less than what the target asked for."""

    def __init__(self, policy: RetryPolicy) -> None:
        growing = wait_exponential(multiplier=policy.first_wait, max=policy.longest_wait)
        self._backoff = growing + wait_random(0, policy.jitter)

    def __call__(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, RetryableError) else None
        return max(asked or 0.0, self._backoff(state))


def _log_wait(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome is not None else None
    logger.info("%s; attempt %d, next in %.1f s", error, state.attempt_number, state.upcoming_sleep)


# A bound in time for a whole answer, its header included: a socket's own timeout begins again with each byte.


class _Deadline(threading.local):
    """When the answer that a thread is waiting for must be complete, by `clock`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.clock = clock
        self.at = float("inf")

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.at - self.clock()


class _DeadlineAdapter(HTTPAdapter):
    """Connections, `size` at most to one place, whose answers are read no longer than `deadline` allows."""

    def __init__(self, deadline: _Deadline, size: int) -> None:
        self._pools = _pools(deadline)
        super().__init__(pool_connections=2, pool_maxsize=size, max_retries=0)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: Any) -> PoolManager:
        manager: PoolManager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _pools(deadline: _Deadline) -> dict[str, type[HTTPConnectionPool]]:
    class Response(HTTPResponse):
        def __init__(self, sock: socket, *arguments: Any, **options: Any) -> None:
            super().__init__(sock, *arguments, **options)
            self.fp = io.BufferedReader(_BoundedReader(self.fp, sock, deadline))

    class Plain(HTTPConnection):
        response_class = Response

    class Secure(HTTPSConnection):
        response_class = Response

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


class _BoundedReader(io.RawIOBase):
    """A socket's file, each reading of which may take as long as is left. Raises TimeoutError when nothing is."""

    def __init__(self, file: io.BufferedReader, sock: socket, deadline: _Deadline) -> None:
        super().__init__()
        self._file = file
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        left = self._deadline.left
        if left <= 0:
            raise TimeoutError
        before = self._sock.gettimeout()
        self._sock.settimeout(left if before is None else min(before, left))
        try:
            return self._file.raw.readinto(memoryview(buffer).cast("B"))
        finally:
            self._sock.settimeout(before)

    def close(self) -> None:
        self._file.close()
        super().close()


# The client.


@dataclass(frozen=True, slots=True)
class Call:
    """One request below /v1; `path` is quoted already (see `path_of`).

    `body` is a JSON value, or the bytes of one. `answered`: only an answer with a body counts, so that a truncated one
    is never taken for success.
    """

    method: str
    path: str
    params: Params | None = None
    body: Any = None
    answered: bool = True

    def __str__(self) -> str:
        return f"{self.method} /v1/{self.path}"


def path_of(*segments: str) -> str:
    """A path of segments, each quoted whole: FQNs hold dots, quotes, slashes and spaces."""
    return "/".join(quote(segment, safe="") for segment in segments)


class Http:
    """Sends calls and gives back JSON values; safe to share between threads."""

    def __init__(self, connection: Connection, policy: RetryPolicy | None = None, timing: Timing | None = None) -> None:
        check_headers(connection.extra_headers)
        check_tls(connection)
        self._connection = connection
        self._policy = policy or RetryPolicy()
        self.timing = timing or Timing()
        self._url = base_url(connection.host_port) + "/v1/"
        self._token = BearerToken(connection.jwt_token)
        self._breaker = Breaker(self.timing.monotonic)
        self._deadline = _Deadline(self.timing.monotonic)
        self._session = _session(connection, self._deadline)

    def __repr__(self) -> str:
        return f"Http({self._url})"

    def close(self) -> None:
        self._session.close()

    def get(self, path: str, params: Params | None = None) -> Any | None:
        """The value at `path`, None when the platform says that there is none."""
        try:
            return self.send(Call("GET", path, params))
        except NotFound:
            return None

    def send(self, call: Call) -> Any:
        """The answer to a call that may be repeated without harm (GET, PUT, DELETE, or a POST that only reads).

        Raises NotFound, Rejected, ConfigError, ServerFailed when only this call fails, TargetDown.
        """
        return self.retrying(lambda: self.attempt(call))

    def retrying(self, action: Callable[[], Result]) -> Result:
        """The result of `action` under the client's retry policy; `action` makes its calls with `attempt`."""
        return _retrying(action, self._policy, self._breaker, self.timing)

    def attempt(self, call: Call) -> Any:
        """One attempt at a call, for what must not be repeated blindly. Raises RetryableError besides `send`'s."""
        try:
            answer = self._exchange(call)
            if answer.status == 401 and self._token.refresh():
                answer = self._exchange(call)
            value = _interpret(answer, self._token.redact)
            if value is None and call.answered:
                raise NotOpenMetadata(f"{call}: an empty answer")
        except Throttled:
            raise
        except RetryableError as error:
            self._breaker.record_failure(f"{error.message}; so did the calls before it, run again later")
            raise
        except LineageError:
            self._breaker.record_success()
            raise
        self._breaker.record_success()
        return value

    def _exchange(self, call: Call) -> _Response:
        deadline = self.timing.monotonic() + self._connection.answer_seconds
        self._deadline.at = deadline
        try:
            with self._session.request(
                call.method,
                self._url + call.path,
                params=call.params,
                data=_bytes_of(call.body),
                headers=self._headers(call),
                timeout=(self._connection.connect_seconds, self._connection.read_seconds),
                verify=self._connection.verify,
                allow_redirects=False,
                stream=True,
            ) as response:
                body = self._read(response, call, deadline)
                return _Response(
                    str(call), response.status_code, body, retry_after_seconds(response.headers.get("Retry-After"))
                )
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            failure = _failure(error, call, self._connection)
            if self.timing.monotonic() >= deadline:
                failure = self._too_slow(call)
        # raised out here, so that no request with its headers hangs on the error
        raise failure

    def _read(self, response: requests.Response, call: Call, deadline: float) -> bytes:
        """The body, as it comes: a target that drips bytes is given up on in time."""
        blocks: list[bytes] = []
        size = 0
        while block := response.raw.read1(_BLOCK_BYTES, decode_content=True):
            blocks.append(block)
            size += len(block)
            if size > _LARGEST_ANSWER:
                raise RetryableError(f"{call}: an answer beyond {_LARGEST_ANSWER} bytes")
            if self.timing.monotonic() > deadline:
                raise self._too_slow(call)
        return b"".join(blocks)

    def _too_slow(self, call: Call) -> RetryableError:
        return RetryableError(f"{call}: the answer was not complete in {self._connection.answer_seconds:g} s")

    def _headers(self, call: Call) -> dict[str, str]:
        kind = "application/json-patch+json" if call.method == "PATCH" else "application/json"
        return {
            **self._connection.extra_headers,
            "Authorization": f"Bearer {self._token.value}",
            "Accept": "application/json",
            "Content-Type": kind,
        }


def _bytes_of(body: Any) -> bytes | None:
    return body if body is None or isinstance(body, bytes) else json.dumps(body).encode()


def _session(connection: Connection, deadline: _Deadline) -> requests.Session:
    session = requests.Session()
    # an entry for the host in ~/.netrc would silently take the token's place
    session.auth = _keep_authorization
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.cert = connection.client_certificate
    # a proxy of the environment knows nothing of this machine's own ports
    session.trust_env = not is_loopback(connection.host_port)
    size = max(connection.connections, 1)
    adapter = _DeadlineAdapter(deadline, size)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _keep_authorization(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _failure(error: Exception, call: Call, connection: Connection) -> RetryableError | ConfigError:
    """What a transport error means, in words of our own: the library's hold the request."""
    if isinstance(error, requests.exceptions.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ConfigError(
            "the platform's certificate is not trusted: name its authority in sslConfig.caCertificate, "
            "or set verifySSL: ignore"
        )
    if isinstance(error, requests.exceptions.InvalidHeader | requests.exceptions.InvalidURL):
        return ConfigError("hostPort, a header or the token cannot be sent as it is written")
    if isinstance(error, OSError) and not isinstance(error, requests.RequestException) and error.filename:
        return ConfigError(f"sslConfig: the file {error.filename} cannot be read")
    if isinstance(error, requests.ConnectTimeout):
        return RetryableError(f"{call}: no connection within {connection.connect_seconds:g} s")
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        return RetryableError(f"{call}: no answer within {connection.read_seconds:g} s")
    if isinstance(error, requests.ConnectionError):
        return RetryableError(f"{call}: no connection to {base_url(connection.host_port)}")
    return RetryableError(f"{call}: the connection broke before the answer was complete")
