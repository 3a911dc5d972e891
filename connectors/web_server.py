"""An ASGI application served by this process: the socket that it listens on, and a server in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ingestion.errors import ConfigError

STOP_SECONDS = 10
"""For the requests that are being answered when a server is told to end."""
_START_SECONDS = 30.0
_HEAD_SECONDS = 60.0
"""For the first line and the headers of a request, which uvicorn waits for without an end."""


class HttpProtocol(H11Protocol):
    """HTTP of a server of ours, whichever parsers are installed: a head that does not come ends its connection."""

    _head_limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a request."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Takes what came; waits on, from when it began, where the head is not whole."""
        answered = self.cycle
        super().data_received(data)
        if self.cycle is answered and (answered is None or answered.response_complete):
            self._await_head()
        else:
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing more."""
        self._end_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._head_limit is None:
            self._head_limit = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _end_waiting(self) -> None:
        if self._head_limit is not None:
            self._head_limit.cancel()
            self._head_limit = None


def listen(host: str, port: int, advice: str) -> socket.socket:
    """A socket that takes connections at `host` (a name, or an address of IPv4 or IPv6) and `port` (0: any free one).

    Raises ConfigError, ending in `advice`, where it cannot listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # the protocol is named, and no answer waits for an acknowledgement of its header: without, a call takes 45 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(f"cannot listen on {host}:{port}: {advice}") from error
    return listener


def url_of(listener: socket.socket, host: str) -> str:
    """The URL at which a listening socket's server answers, without a path."""
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def server_thread(server: uvicorn.Server, listener: socket.socket, name: str) -> Iterator[None]:
    """Runs a server in a thread called `name` during the block. Raises ConfigError where it does not start in 30 s."""
    # uvicorn only installs signal handlers in a main thread
    thread = threading.Thread(target=server.run, args=([listener],), name=name, daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield
    finally:
        server.should_exit = True
        thread.join(_START_SECONDS)


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    waiting = threading.Event()
    for _ in range(int(_START_SECONDS / 0.005)):
        if server.started:
            return
        if not thread.is_alive():
            break
        waiting.wait(0.005)
    raise ConfigError(f"the server of the {thread.name} did not start: look at its log")
