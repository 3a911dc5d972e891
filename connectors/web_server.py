"""An ASGI application served by this process: the socket that it listens on, and a server in a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from ingestion.errors import ConfigError

STOP_SECONDS = 10
"""For the requests that are being answered when a server is told to end."""
_START_SECONDS = 30.0


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
