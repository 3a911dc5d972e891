"""`ingest serve`: the embedded catalog, kept up."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError, Interrupted
from workflows.commands.options import CatalogFile
from workflows.runtime.error_reporting import shows_errors, without_secrets

if TYPE_CHECKING:
    from connectors.catalog.http.server import CatalogAddress
    from ingestion.dialects.dataset_namespaces import NamespaceMap


TakesOpenLineage = Annotated[
    bool,
    typer.Option("--openlineage", help="Take OpenLineage's events at /api/v1/lineage, its clients' default."),
]
KeepsRows = Annotated[
    bool, typer.Option("--sample-data", help="Keep rows of data that clients send; without it they are refused (403).")
]
KeepsRewritten = Annotated[
    bool,
    typer.Option(
        "--keep-rewritten",
        help="Keep what an OpenLineage job said before it was rewritten; else its newer word ends it.",
    ),
]
NamedServices = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help="The YAML of a run into this catalog: which of its services the namespaces in OpenLineage's events are, "
        "and how its dead statements are read again. May be given several times.",
    ),
]


@shows_errors
def serve(
    catalog: CatalogFile = DEFAULT_CATALOG,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but loopback demands a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8585,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="The token that callers must send. Better in HEADWATER_TOKEN, or as ${file:/path}: other users "
            "of the machine see command lines.",
        ),
    ] = None,
    openlineage: TakesOpenLineage = False,
    sample_data: KeepsRows = False,
    keep_rewritten: KeepsRewritten = False,
    config: NamedServices = None,
) -> None:
    """Keep the embedded catalog up: the lineage page, and OpenMetadata's REST API, until a signal ends it.

    \b
    Examples:
      ingest serve
      ingest serve --catalog /var/lib/headwater/catalog.db --port 0
      HEADWATER_TOKEN=... ingest serve --host 0.0.0.0 --openlineage
      ingest serve --openlineage -c lineage.yaml
    """
    from connectors.catalog.http.server import CatalogConfig
    from connectors.catalog.http.server import serve as serve_catalog
    from workflows.runtime.garbage_collection import collect_seldom
    from workflows.runtime.logs import Redactor
    from workflows.runtime.signals import interrupted_by_signals

    if not catalog.exists():
        typer.echo(f"{catalog.absolute()} is not there: it begins as an empty catalog", err=True)
    secret = token_of(token or os.environ.get("HEADWATER_TOKEN"))
    try:
        with without_secrets(Redactor([secret] if secret else [])), interrupted_by_signals():
            settings = CatalogConfig(
                catalog,
                host,
                port,
                secret,
                openlineage=openlineage,
                sample_data=sample_data,
                keep_rewritten=keep_rewritten,
                namespaces=_namespaces(config or ()),
                replays=_replays(config or ()),
            )
            collect_seldom()  # again: what was loaded to serve stays as well
            serve_catalog(settings, _announce)
    except Interrupted as error:
        # What ends a server in good order is no failure to speak of.
        raise typer.Exit(error.exit_code) from None


def _announce(address: CatalogAddress) -> None:
    typer.echo(f"The lineage page is at {address.url.removesuffix('api')}, the REST API at {address.url}")


def _namespaces(files: Iterable[str]) -> NamespaceMap:
    """The namespaces of the services that several YAML files name. Raises ConfigError."""
    from ingestion.dialects.dataset_namespaces import NamespaceMap
    from workflows.config import load_config

    maps = [load_config(file, may_lack_log=True).namespaces for file in files]
    given = {namespace: service for one in maps for namespace, service in one.given.items()}
    catalogs = {service: names for one in maps for service, names in one.catalogs.items() if names}
    return NamespaceMap(given, {name: address for one in maps for name, address in one.services.items()}, catalogs)


def _replays(files: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What reads the dead statements of each workflow of several YAML files again."""
    from workflows.config import load_config

    started_by = (sys.executable, "-m", "workflows", "replay", "-c")
    return {load_config(file, may_lack_log=True).workflow: (*started_by, str(Path(file).absolute())) for file in files}


def token_of(given: str | None) -> str | None:
    """The token that an option or the environment gives. Raises ConfigError for a bad reference in it."""
    from workflows.config.yaml.references import BadReference, interpolate

    try:
        return interpolate(given, os.environ).text if given else None
    except BadReference as error:
        raise ConfigError(f"--token: {error}") from None
