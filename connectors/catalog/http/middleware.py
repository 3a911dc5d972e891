"""What every call passes before it reaches a route: who may call, from where, with how much; and what answers carry.

Pure ASGI: an answer leaves as the application wrote it, in one piece.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from dataclasses import dataclass
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_OPEN_PATHS = frozenset({"/", "/healthz", "/readyz"})
_OPEN_FILES = "/explorer/"  # the page itself holds no lineage: it asks for the token before it can show any
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_CLOSE = {"connection": "close"}
"""With an answer that does not wait for the rest of the body."""
_SEVERAL = "send it in several calls"
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


@dataclass(frozen=True, slots=True)
class AccessRules:
    """`token` None lets everybody in; `hosts` are the names this server answers to (None: any)."""

    token: str | None
    hosts: frozenset[str] | None
    max_body: int
    max_values: int = 2_000_000  # in a body: each takes a hundred bytes and more once it is read
    body_seconds: float = 60.0  # for all of a body: who sends it byte by byte holds a connection for ever


class _BoundedBody:
    """The body of a request, as far as the rules let it come."""

    def __init__(self, receive: Receive, rules: AccessRules) -> None:
        self._receive = receive
        self._rules = rules
        self._late = asyncio.get_running_loop().time() + rules.body_seconds
        self._read = self._values = 0
        self._is_whole = False

    async def receive(self) -> Message:
        """The next part of it; then the end of the connection, for which it may be waited. Raises HTTPException."""
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._late):
                message = await self._receive()
        except TimeoutError:
            slow = f"the body did not come within {self._rules.body_seconds:g} seconds: {_SEVERAL}"
            raise HTTPException(408, slow, _CLOSE) from None
        self._is_whole = not message.get("more_body", False)
        body = message.get("body", b"")
        self._read += len(body)
        self._values += body.count(b",") + body.count(b"[") + body.count(b"{")
        if self._read > self._rules.max_body:
            raise HTTPException(413, _too_large(self._rules), _CLOSE)
        if self._values > self._rules.max_values:
            many = f"the body has more than {self._rules.max_values} values: {_SEVERAL}"
            raise HTTPException(413, many, _CLOSE)
        return message


def _too_large(rules: AccessRules) -> str:
    return f"the body is larger than {rules.max_body} bytes: {_SEVERAL}"


class AccessMiddleware:
    """ASGI middleware that enforces `AccessRules`."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers or refuses one call."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        _keep_slashes(scope)
        started = False

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": _with_headers(message.get("headers", ()))}
            await send(message)

        refusal = self._refuse(scope)
        if refusal is not None:
            await _answer(send_safely, *refusal)
            return
        try:
            await self._app(scope, _BoundedBody(receive, self._rules).receive, send_safely)
        except Exception as error:  # noqa: BLE001 — the border: a traceback may quote what the client sent
            logger.error("call failed: %s", type(error).__name__)
            if not started:
                await _answer(send_safely, 500, "the call failed inside the catalog")

    def _refuse(self, scope: Scope) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        host = _host_name(headers.get(b"host", b""))
        if self._rules.hosts is not None and host not in self._rules.hosts:
            return 421, "this server is not known by that name: call it by the address it listens on"
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers.get(b"host", b""):
            return 403, "calls from other web pages are not accepted"
        path: str = scope["path"]
        is_open = path in _OPEN_PATHS or path.startswith(_OPEN_FILES)
        if not is_open and not self._admits(headers.get(b"authorization", b"")):
            return 401, "the token is missing or wrong: send it as Authorization: Bearer <token>"
        if b"transfer-encoding" in headers and b"content-length" in headers:
            return 400, "the body's length is told twice (Transfer-Encoding, Content-Length): send one of them"
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self._rules.max_body:
            return 413, _too_large(self._rules)
        return None

    def _admits(self, authorization: bytes) -> bool:
        if self._rules.token is None:
            return True
        scheme, _, token = authorization.partition(b" ")
        right = hmac.compare_digest(token.strip(), self._rules.token.encode())
        return scheme.lower() == b"bearer" and right


def _host_name(host: bytes) -> str:
    name = host.decode("latin-1").lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def _keep_slashes(scope: Scope) -> None:
    """An escaped slash belongs to a name, not to the path: names keep `%2F` and `%25` until a route decodes them."""
    raw = scope.get("raw_path") or scope["path"].encode()
    text = raw.decode("latin-1").replace("%25", "%2525").replace("%2F", "%252F").replace("%2f", "%252F")
    scope["path"] = unquote(text, errors="replace")


def _with_headers(headers: object) -> list[tuple[bytes, bytes]]:
    given = list(headers)  # type: ignore[call-overload]
    if not any(key == b"content-security-policy" for key, _ in given):
        given.append(_POLICY)
    return [*given, *_HEADERS]


async def _answer(send: Send, status: int, message: str) -> None:
    body = json.dumps({"code": status, "message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status in {400, 408, 413, 421}:
        headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
