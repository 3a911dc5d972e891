"""The embedded catalog as a server: in the foreground, or beside a run on a loopback port."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from connectors.catalog.http._replays import Replays
from connectors.catalog.http.app import create_app
from connectors.catalog.http.middleware import LOOPBACK, AccessMiddleware, AccessRules
from connectors.catalog.store.database import Database, open_database
from connectors.catalog.store.lineage.openlineage import Intake
from connectors.web_server import STOP_SECONDS, HttpProtocol, WebServer, listen, server_thread, url_of
from ingestion.dialects.dataset_namespaces import NamespaceMap
from ingestion.errors import ConfigError, TargetDown

_ENDINGS = (signal.SIGINT, signal.SIGTERM)
_HEAD_BYTES = 2 * 1024 * 1024  # filters and fully qualified names travel in URLs, escaped


@dataclass(frozen=True, slots=True)
class CatalogConfig:
    """Where the catalog keeps its one file and listens; `port` 0 takes any free one.

    `version` is what clients are told: they insist on their own major and minor version. With `openlineage` run
    events are taken at /api/v1/lineage too, where OpenLineage's clients post by default. With `sample_data` rows of
    data are kept and answered; without it they are refused. With `keep_rewritten` what an OpenLineage job said before
    it was rewritten does not end with its newer word. `namespaces` are those of the services in run events,
    `replays` the commands that read the dead statements of workflows again.
    """

    file: Path
    host: str = "127.0.0.1"
    port: int = 8585
    token: str | None = field(default=None, repr=False)
    version: str = "2.0.7"
    max_body_bytes: int = 64 * 1024 * 1024
    body_seconds: float = 60.0
    openlineage: bool = False
    sample_data: bool = False
    keep_rewritten: bool = False
    namespaces: NamespaceMap = field(default_factory=NamespaceMap)
    replays: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogAddress:
    """Where a running catalog answers: the `hostPort` that clients are configured with, ending in /api."""

    url: str


def serve(config: CatalogConfig, announce: Callable[[CatalogAddress], None]) -> None:
    """Serves until SIGINT or SIGTERM; `announce` is told the address as soon as connections are taken.

    Raises ConfigError when the file or the address cannot be used, or when an address other machines can reach has
    no token.
    """
    listener = _listen(config)
    with listener:
        database = open_database(config.file)
        server = _server(config, database)
        with _signals_after_closing(server, database):
            announce(_address(listener, config))
            server.run(sockets=[listener])


@contextmanager
def _signals_after_closing(server: WebServer, database: Database) -> Iterator[None]:
    """Closes the store before the signal that ended the server takes effect: uvicorn raises it again at its end."""
    received: list[int] = []

    def note(number: int, _: object) -> None:
        received.append(number)
        server.end()

    in_main_thread = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in _ENDINGS} if in_main_thread else {}
    for number in handlers:
        signal.signal(number, note)
    try:
        yield
    finally:
        database.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def running_catalog(config: CatalogConfig) -> Iterator[CatalogAddress]:
    """The catalog in a thread of this process, stopped with nothing left behind. Raises ConfigError like `serve`."""
    listener = _listen(config)
    with listener:
        database = open_database(config.file)
        try:
            with server_thread(_server(config, database), listener, "catalog"):
                yield _address(listener, config)
        except TargetDown as error:
            raise database.trouble or error from None
        finally:
            database.close()


def _listen(config: CatalogConfig) -> socket.socket:
    if config.host not in LOOPBACK and not config.token:
        message = f"host {config.host} can be reached by other machines: set a token (--token) or listen on 127.0.0.1"
        raise ConfigError(message)
    if config.token is not None and not config.token.isascii():
        raise ConfigError("the catalog's token must be plain ASCII: it travels in an HTTP header")
    return listen(config.host, config.port, "choose another port (0 takes any free one)")


def _address(listener: socket.socket, config: CatalogConfig) -> CatalogAddress:
    return CatalogAddress(f"{url_of(listener, config.host)}/api")


def _server(config: CatalogConfig, database: Database) -> WebServer:
    rules = AccessRules(
        token=config.token,
        hosts=LOOPBACK if config.host in LOOPBACK and not config.token else None,
        max_body=config.max_body_bytes,
        body_seconds=config.body_seconds,
    )
    app = create_app(
        database,
        config.version,
        openlineage=config.openlineage,
        sample_data=config.sample_data,
        intake=Intake(config.namespaces, superseding=not config.keep_rewritten),
    )
    app.state.replays = Replays(config.replays)
    settings = uvicorn.Config(
        AccessMiddleware(app, rules),
        log_config=None,
        http=HttpProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=75,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    return WebServer(settings)
