"""One HTTP client for everything that is said to the platform: pooled, bounded in time, with one retry policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, TypeVar
from urllib.parse import quote

import requests
import urllib3

from connectors.openmetadata.transport.breaker import Breaker
from connectors.openmetadata.transport.connection import (
    BearerToken,
    Connection,
    base_url,
    check_headers,
    check_tls,
    is_loopback,
)
from connectors.openmetadata.transport.deadline import Deadline, DeadlineAdapter
from connectors.openmetadata.transport.responses import NotFound, NotOpenMetadata, Response, Throttled, interpret
from connectors.openmetadata.transport.retry import RetryPolicy, Timing, retry_after_seconds, retrying
from ingestion.errors import ConfigError, LineageError, RetryableError

Result = TypeVar("Result")
Params = Mapping[str, str | int | Sequence[str]]

_CHUNK = 65_536
_LARGEST_ANSWER = 256 * 1024 * 1024


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
        self._deadline = Deadline(self.timing.monotonic)
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
        return retrying(action, self._policy, self._breaker, self.timing)

    def attempt(self, call: Call) -> Any:
        """One attempt at a call, for what must not be repeated blindly. Raises RetryableError besides `send`'s."""
        try:
            answer = self._exchange(call)
            if answer.status == 401 and self._token.refresh():
                answer = self._exchange(call)
            value = interpret(answer, self._token.redact)
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

    def _exchange(self, call: Call) -> Response:
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
                return Response(
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
        chunks: list[bytes] = []
        size = 0
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            chunks.append(chunk)
            size += len(chunk)
            if size > _LARGEST_ANSWER:
                raise RetryableError(f"{call}: an answer beyond {_LARGEST_ANSWER} bytes")
            if self.timing.monotonic() > deadline:
                raise self._too_slow(call)
        return b"".join(chunks)

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


def _session(connection: Connection, deadline: Deadline) -> requests.Session:
    session = requests.Session()
    # an entry for the host in ~/.netrc would silently take the token's place
    session.auth = _keep_authorization
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.cert = connection.client_certificate
    # a proxy of the environment knows nothing of this machine's own ports
    session.trust_env = not is_loopback(connection.host_port)
    size = max(connection.connections, 1)
    adapter = DeadlineAdapter(deadline, size)
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
