"""A server in a thread ends when it is told to: at once, or when it has answered what it was asked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from connectors import web_server
from connectors.web_server import HttpProtocol, WebServer, listen, server_thread

CALL = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Application:
    """Answers a call as soon as it may."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        def answer(_request: Request) -> PlainTextResponse:
            self.asked.set()
            assert self.may_answer.wait(30)
            return PlainTextResponse("answered")

        await Router([Route("/", answer)])(scope, receive, send)


@pytest.fixture
def application() -> Application:
    return Application()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with listen("127.0.0.1", 0, "") as listening:
        yield listening


def server_of(application: Application) -> WebServer:
    return WebServer(uvicorn.Config(application, http=HttpProtocol, log_config=None, lifespan="off"))


def connected(listener: socket.socket) -> socket.socket:
    return socket.create_connection(listener.getsockname(), timeout=30)


def read_to_the_end(connection: socket.socket) -> bytes:
    with closing(connection):
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_connections_that_ask_nothing_are_closed_with_the_server(
    application: Application, listener: socket.socket
) -> None:
    application.may_answer.set()
    with server_thread(server_of(application), listener, "some"):
        used, unused = connected(listener), connected(listener)
        used.sendall(CALL)
        assert used.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert "some" not in {thread.name for thread in threading.enumerate()}
    assert read_to_the_end(unused) == b""
    assert not read_to_the_end(used).startswith(b"HTTP")
    assert listener.fileno() == -1


def test_what_is_being_asked_when_a_server_is_told_to_end_is_answered(
    application: Application, listener: socket.socket
) -> None:
    server = server_of(application)
    with server_thread(server, listener, "some"):
        connection = connected(listener)
        connection.sendall(CALL)
        assert application.asked.wait(30)
        server.end()
        application.may_answer.set()
    assert read_to_the_end(connection).endswith(b"answered")


def test_what_answers_nothing_ends_without_a_look_at_the_clock(
    application: Application, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def waits(*_: object) -> None:
        raise AssertionError("uvicorn's own end waits a tenth of a second")

    monkeypatch.setattr(web_server, "_TICK_SECONDS", 3_600)
    monkeypatch.setattr(uvicorn.Server, "shutdown", waits)
    application.may_answer.set()
    with server_thread(server_of(application), listener, "some"), connected(listener) as connection:
        connection.sendall(CALL)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert "some" not in {thread.name for thread in threading.enumerate()}
    assert listener.fileno() == -1


def test_a_server_that_has_ended_may_be_told_so_again(application: Application, listener: socket.socket) -> None:
    server = server_of(application)
    with server_thread(server, listener, "some"):
        pass
    server.end()
    assert server.should_exit
