"""A small server beside the scheduler: /metrics, /healthz, /readyz."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ingestion.errors import ConfigError, StateLost
from workflows.runtime.metrics import CONTENT_TYPE, metrics_text
from workflows.state.runs import run_totals
from workflows.state.store import StateStore


@contextmanager
def answering(store: StateStore, host: str, port: int) -> Iterator[str]:
    """The URL at which the state of affairs is told during the block. Raises ConfigError where it cannot listen."""
    try:
        server = ThreadingHTTPServer((host, port), _handler(store))
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen on {host}:{port}: choose another --metrics-port") from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(store: StateStore) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = _answer(store, self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Calls are not logged."""

    return Handler


def _answer(store: StateStore, path: str) -> tuple[int, str, bytes]:
    plain = "text/plain; charset=utf-8"
    if path == "/healthz":
        return 200, plain, b"ok\n"
    try:
        store.follow()
        if path == "/readyz":
            with store.read() as connection:
                run_totals(connection)
                return 200, plain, b"ok\n"
        if path == "/metrics":
            return 200, CONTENT_TYPE, metrics_text(store)
    except StateLost as error:
        return 503, plain, f"{error}\n".encode()
    return 404, plain, b"/metrics, /healthz and /readyz are here\n"
