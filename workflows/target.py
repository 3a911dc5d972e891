"""The metadata server of a configuration, as the client wants it, and whether it answers."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.http import Http, RetryPolicy
from connectors.openmetadata.versions import check_version
from connectors.private_files import private_folder
from connectors.scratch import scratch_folder
from connectors.sink import DryRunSink, Sink, SinkRun
from ingestion.errors import RetryableError, TargetDown
from workflows.config import EmbeddedCatalog, RunConfig, Server, SslConfig
from workflows.counts import Pointer

TRIED_ONCE = RetryPolicy(attempts=1, total_seconds=15)


def connection_of(server: Server, threads: int = 1) -> Connection:
    """What the client needs to call `server` from so many threads."""
    tls = server.ssl_config or SslConfig()
    certificate, key = tls.ssl_certificate, tls.ssl_key
    both = (str(certificate), str(key)) if certificate and key else None
    return Connection(
        host_port=server.host_port,
        jwt_token=server.token.get_secret_value(),
        verify=(str(tls.ca_certificate) if tls.ca_certificate else True) if server.verifies_certificates else False,
        client_certificate=both or (str(certificate) if certificate else None),
        extra_headers=server.extra_headers,
        validate_version=server.enable_version_validation,
        connections=threads,
    )


def server_version(server: Server) -> str:
    """The server's version, asked once. Raises TargetDown and ConfigError, with what to do."""
    http = Http(connection_of(server), TRIED_ONCE)
    try:
        answer = http.get("system/version")
        # The version is open to all; a list is not.
        http.get("services/databaseServices", {"limit": 1})
    except RetryableError as error:
        raise TargetDown(str(error)) from None
    finally:
        http.close()
    if not isinstance(answer, dict) or "version" not in answer:
        raise TargetDown(f"{server.host_port} does not answer as an OpenMetadata: is hostPort right?")
    check_version(str(answer["version"]), strict=server.enable_version_validation)
    return str(answer["version"])


@dataclass(frozen=True, slots=True)
class RunTarget:
    """A catalog that answers; `where` tells a person how to look at it. `writes` False: nothing may change in it.

    `connection` is how to reach it, None where only this process does.
    """

    platform: Platform
    search: CatalogSearch
    sink: Sink
    where: tuple[Pointer, ...]
    writes: bool = True
    connection: Connection | None = None


@contextmanager
def open_target(config: RunConfig, run_id: str, *, dry_run: bool) -> Iterator[RunTarget]:
    """The configured target. A dry run gets a throw-away copy of an embedded catalog, so that it shows what would be.

    Of a server it only asks: nothing is written there on a dry run. Raises ConfigError and TargetDown.
    """
    if isinstance(config.target, Server):
        connection = connection_of(config.target, max(10, config.lineage.threads))
        with closing(connect(connection)) as platform, _sink(config, run_id, platform, sends=not dry_run) as sink:
            where = _pointers(config)
            yield RunTarget(platform, CatalogSearch(platform), sink, where, not dry_run, connection)
        return
    sends = not dry_run or config.sink.config.writes_to_catalog
    with (
        _embedded_connection(config.target, dry_run=dry_run) as connection,
        closing(connect(connection)) as platform,
        _sink(config, run_id, platform, sends=sends) as sink,
    ):
        yield RunTarget(platform, CatalogSearch(platform), sink, _pointers(config), connection=connection)


def _pointers(config: RunConfig) -> tuple[Pointer, ...]:
    """Where a person finds what was published: in the catalog, unless the sink writes elsewhere."""
    elsewhere, target = config.sink.config.location, config.target
    address = target.host_port if isinstance(target, Server) else str(target.file)
    if elsewhere:
        return Pointer("published to", elsewhere), Pointer("catalog", address)
    if isinstance(target, Server):
        return (Pointer("published to", address),)
    return Pointer("catalog", address), Pointer("look at it with", f"ingest serve --catalog {address}")


def _sink(config: RunConfig, run_id: str, platform: Platform, *, sends: bool) -> AbstractContextManager[Sink]:
    if not sends:
        return nullcontext(DryRunSink())
    return config.sink.open(_sink_run(config, run_id, platform))


def _sink_run(config: RunConfig, run_id: str, platform: Platform | None) -> SinkRun[object]:
    connection = config.source.connection
    service_type = connection.type if connection is not None else ""
    return SinkRun(run_id, config.lineage.threads, platform, config.source.service_name, service_type)


def check_sink(config: RunConfig) -> None:
    """Opens a sink that writes elsewhere than into the catalog, and closes it. Raises ConfigError and TargetDown."""
    if config.sink.config.location:
        with config.sink.open(_sink_run(config, "check", None)):
            pass


@contextmanager
def platform_of(target: EmbeddedCatalog | Server) -> Iterator[Platform]:
    """The platform behind a target, to read from and to write to. Raises ConfigError and TargetDown."""
    if isinstance(target, Server):
        with closing(connect(connection_of(target))) as platform:
            yield platform
        return
    with _embedded_connection(target, dry_run=False) as connection, closing(connect(connection)) as platform:
        yield platform


@contextmanager
def _embedded_connection(catalog: EmbeddedCatalog, *, dry_run: bool) -> Iterator[Connection]:
    from connectors.catalog.http.server import CatalogConfig, running_catalog

    with scratch_folder("dry-run") as scratch:
        file = _copy(catalog.file, scratch) if dry_run else catalog.file
        private_folder(file.parent)
        token = catalog.token.get_secret_value() if catalog.token else None
        with running_catalog(CatalogConfig(file, port=catalog.port, token=token)) as address:
            yield Connection(address.url, token) if token else Connection(address.url)


def _copy(file: Path, directory: Path) -> Path:
    copy = directory / "catalog.db"
    for suffix in ("", "-wal", "-shm"):
        part = file.with_name(file.name + suffix)
        if part.is_file():
            shutil.copyfile(part, copy.with_name(copy.name + suffix))
    return copy


def catalog_identity(target: EmbeddedCatalog | Server, platform: Platform) -> str:
    """What tells this catalog from another, and from one that takes its place."""
    location = str(target.file.resolve()) if isinstance(target, EmbeddedCatalog) else target.host_port
    digest = hashlib.sha256(f"{location} {platform.store}".encode()).hexdigest()
    return f"catalog {digest[:32]}"
