"""What an HTTP answer means: a value, an absence, a refusal, or a reason to try again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ingestion.errors import ConfigError, Rejected, RetryableError

_MESSAGE_LENGTH = 200


class NotFound(Rejected):
    """The platform says, in its own words, that there is no such thing."""


class ServerFailed(RetryableError):
    """The target is there and answers 5xx: it may be this very call that it cannot bear."""


class Throttled(RetryableError):
    """The target is well and asks for patience (429)."""


class NotOpenMetadata(RetryableError):
    """Something answers, but not the platform: a proxy's page, a truncated or foreign body."""


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer; `call` names the call in errors: its method and path, no parameters, no body."""

    call: str
    status: int
    body: bytes
    retry_after: float | None = None


def interpret(answer: Response, redact: Callable[[str], str]) -> Any:
    """The JSON value of an answer, None where it has no body.

    Raises NotFound, Rejected (4xx), ConfigError (401 and redirects), RetryableError (429, 5xx, bodies that are not
    JSON). Messages carry what the server says, shortened and through `redact`, and nothing of what it was sent.
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
    if answer.status >= 500:
        raise ServerFailed(f"{answer.call}: HTTP {answer.status}{_tail(message)}", answer.retry_after)
    if answer.status == 404:
        if message is None:
            raise NotOpenMetadata(f"{answer.call}: HTTP 404, but not from the platform; check hostPort")
        raise NotFound(f"not found{_tail(message)}")
    raise Rejected(f"HTTP {answer.status}{_tail(message)}")


def _value(answer: Response) -> Any:
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


def _message(answer: Response, redact: Callable[[str], str]) -> str | None:
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
