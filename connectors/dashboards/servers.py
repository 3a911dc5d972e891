"""A tool's server, asked over its REST API: with patience, within limits, and without a secret in any message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
import urllib3
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from connectors.dashboards.documents import documents_in
from ingestion.errors import ConfigError, RetryableError, TargetDown

_Kind = TypeVar("_Kind", dict[str, Any], list[Any])

_TIMEOUT = (10.0, 120.0)
_LARGEST = 256 << 20
_BLOCK = 1 << 16
_BROKEN, _BUSY = 500, 429
_REFUSALS = {401: "refuses who asks", 403: "does not let who asks see this", 404: "has no such address"}


@dataclass(slots=True)
class ToolServer:
    """The server of a `tool` at an `address`; `headers` go with each call."""

    tool: str
    address: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    attempts: int = 3
    wait: float = 1.0

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        """The answer to a question. Raises ConfigError where it is refused, TargetDown where none comes."""
        return self._ask_patiently("GET", path, params, None)

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The answer to what is sent; raises likewise."""
        return self._ask_patiently("POST", path, None, body)

    def require(self, value: object, kind: type[_Kind], path: str) -> _Kind:
        """A part of an answer, of its kind. Raises ConfigError: what is not listed would be taken for what is gone."""
        if not isinstance(value, kind):
            raise ConfigError(f"{self._shown} answers {path} as no {self.tool} that is known: is hostPort right?")
        return value

    def _ask_patiently(self, method: str, path: str, params: Mapping[str, str] | None, body: object) -> Any:
        policy = Retrying(
            retry=retry_if_exception_type(RetryableError),
            stop=stop_after_attempt(self.attempts),
            wait=wait_exponential(multiplier=self.wait, max=30),
            reraise=True,
        )
        try:
            return policy(self._ask, method, path, params, body)
        except RetryableError as error:
            raise TargetDown(f"{self._shown}: {error}: is it up, and can this machine reach it?") from None

    @property
    def _shown(self) -> str:
        parts = urlsplit(self.address)
        return f"{self.tool} at {parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"

    def _ask(self, method: str, path: str, params: Mapping[str, str] | None, body: object) -> Any:
        url = f"{self.address.rstrip('/')}/{path}"
        try:
            with requests.request(
                method,
                url,
                params=params,
                json=body,
                headers=self.headers,
                timeout=_TIMEOUT,
                stream=True,
                allow_redirects=False,
            ) as answer:
                return self._value(answer, path)
        except requests.exceptions.SSLError:
            problem = "has a certificate that is not trusted: name its authority in REQUESTS_CA_BUNDLE"
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            raise RetryableError("does not answer, or breaks off") from None
        raise ConfigError(f"{self._shown} {problem}")

    def _value(self, answer: requests.Response, path: str) -> Any:
        if answer.status_code >= _BROKEN or answer.status_code == _BUSY:
            raise RetryableError(f"answers HTTP {answer.status_code} to {path}")
        if answer.status_code in _REFUSALS:
            raise ConfigError(f"{self._shown} {_REFUSALS[answer.status_code]} (HTTP {answer.status_code}, {path})")
        if not answer.ok or answer.is_redirect:
            raise ConfigError(f"{self._shown} answers HTTP {answer.status_code} to {path}: is hostPort right?")
        content = bytearray()
        for block in answer.iter_content(_BLOCK):
            content += block
            if len(content) > _LARGEST:
                raise ConfigError(f"{self._shown}: an answer of more than {_LARGEST >> 20} MB to {path}")
        return _json(content, f"{self._shown} does not answer {path} with JSON: is hostPort right?")


def _json(content: bytearray, problem: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ConfigError(problem) from None


def objects_in(answer: object, key: str) -> Iterator[Mapping[str, Any]]:
    """The objects in the list that an answer has under a key."""
    found = answer.get(key) if isinstance(answer, dict) else None
    return documents_in(found)
