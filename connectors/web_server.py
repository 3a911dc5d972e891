"""An ASGI application served by this process: the socket that it listens on, and a server in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ingestion.errors import ConfigError

STOP_SECONDS = 10
"""For the requests that are being answered when a server is told to end."""
_START_SECONDS = 30.0
_HEAD_SECONDS = 60.0
"""For the first line and the headers of a request, which uvicorn waits for without an end."""
_MOST_TURNS = 100
"""Of the event loop, before a server takes it that something is still being answered."""
_TICK_SECONDS = 0.1
"""As uvicorn has it: every tenth time it sets the clock of its answers."""


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


class WebServer(uvicorn.Server):
    """A server that ends as soon as it is told to, if it answers nothing then; what it has not read yet it never will.

    uvicorn's looks ten times a second whether it is to end, and then lets its connections have a tenth more: each run
    and each command that has the catalog embedded would wait for that.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.should_exit = False  # as uvicorn has it: `end` sets it
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def end(self) -> None:
        """Tells it to end, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._stop.set)

    async def main_loop(self) -> None:
        """Serves until it is to end."""
        self._loop = asyncio.get_running_loop()
        ticks = 0
        while not await self.on_tick(ticks):
            ticks += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _TICK_SECONDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Closes what is open; where something is being answered, uvicorn waits for it."""
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(_MOST_TURNS):  # until a closed connection has told that it is, and an answered call returned
            if not self.server_state.connections and not self.server_state.tasks:
                await self.lifespan.shutdown()
                return
            await asyncio.sleep(0)
        await super().shutdown(sockets)


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
def server_thread(server: WebServer, listener: socket.socket, name: str) -> Iterator[None]:
    """Runs a server in a thread called `name` during the block. Raises ConfigError where it does not start in 30 s."""
    # uvicorn only installs signal handlers in a main thread
    thread = threading.Thread(target=server.run, args=([listener],), name=name, daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield
    finally:
        server.end()
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
