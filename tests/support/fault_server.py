"""A catalog behind a proxy that misbehaves on demand: what comes through is answered by the real catalog."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Fault = Callable[["Proxied"], None]
"""Answers a call in its own way."""


@dataclass
class Plan:
    """Which fault meets which call: `fault` is asked with the path and the number of calls of that path so far."""

    fault: Callable[[str, int], Fault | None] = lambda _path, _number: None
    calls: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, path: str) -> Fault | None:
        with self.lock:
            self.calls[path] = self.calls.get(path, 0) + 1
            return self.fault(path, self.calls[path])


class Proxied(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    catalog: str
    plan: Plan

    def handle_any(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.plan.of(urlsplit(self.path).path)
        with suppress(OSError):
            if fault is None:
                status, headers, content = self.forwarded()
                self.answer(status, content, headers)
            else:
                fault(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 the names that the server calls

    def forwarded(self) -> tuple[int, dict[str, str], bytes]:
        """What the catalog answers."""
        connection = HTTPConnection(urlsplit(self.catalog).netloc, timeout=30)
        try:
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            connection.request(self.command, self.path, self.body, headers)
            answer: HTTPResponse = connection.getresponse()
            return answer.status, {"Content-Type": answer.headers.get("Content-Type", "")}, answer.read()
        finally:
            connection.close()

    def answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """The calls are not logged."""


def reset(call: Proxied) -> None:
    """The catalog took it, and the connection is reset before the answer."""
    call.forwarded()
    call.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    call.close_connection = True


def half_a_body(call: Proxied) -> None:
    """The catalog took it, and half of the answer arrives."""
    status, headers, content = call.forwarded()
    call.send_response(status)
    call.send_header("Content-Type", headers["Content-Type"])
    call.send_header("Content-Length", str(len(content) + 100))
    call.end_headers()
    call.wfile.write(content[: len(content) // 2])
    call.close_connection = True


def hang(call: Proxied) -> None:
    """The catalog took it, and the answer stops half-way for good."""
    status, _headers, content = call.forwarded()
    call.send_response(status)
    call.send_header("Content-Length", str(len(content) + 1))
    call.end_headers()
    call.wfile.write(content)
    call.wfile.flush()
    time.sleep(3)
    call.connection.close()


def dripping_header(call: Proxied) -> None:
    """The catalog took it, and the header of its answer grows by a line before the patience for a line ends."""
    call.forwarded()
    call.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(60):
        call.wfile.write(b"X-Drip: y\r\n")
        time.sleep(0.1)
    call.connection.close()


def nested(call: Proxied) -> None:
    """The catalog took it, and what is answered is JSON that nests 100,000 deep."""
    status, _headers, _content = call.forwarded()
    call.answer(status, b"[" * 100_000 + b"]" * 100_000, {"Content-Type": "application/json"})


def slow(call: Proxied) -> None:
    """A right answer that takes its time."""
    status, headers, content = call.forwarded()
    time.sleep(0.5)
    call.answer(status, content, headers)


def html(call: Proxied) -> None:
    """A proxy's own page in place of the answer."""
    call.answer(200, b"<html><body>Please log in</body></html>", {"Content-Type": "text/html"})


def followed_by(path: str, edge_details: dict[str, Any]) -> Fault:
    """The catalog took it, and then the PUT of another, who had read the edge before, before it is answered."""

    def lose(call: Proxied) -> None:
        status, headers, content = call.forwarded()
        call.command, call.path, call.body = "PUT", path, json.dumps(edge_details).encode()
        del call.headers["Content-Length"]
        call.headers["Content-Length"] = str(len(call.body))
        assert call.forwarded()[0] == 200
        call.answer(status, content, headers)

    return lose


def refused_with(status: int, **headers: str) -> Fault:
    def refuse(call: Proxied) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        call.answer(status, b'{"code": %d, "message": "no"}' % status, named)

    return refuse


@contextmanager
def misbehaving(catalog: str, plan: Plan) -> Iterator[str]:
    """The address (ending in /api) of a proxy before the catalog."""
    handler = type("Handler", (Proxied,), {"catalog": catalog, "plan": plan})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
