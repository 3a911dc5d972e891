"""`ingest mcp`: the catalog's answers for language models."""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError, Interrupted
from workflows.commands.options import AsOf, CatalogFile, Days, millis
from workflows.commands.serve import token_of
from workflows.runtime.error_reporting import shows_errors, without_secrets

_LAST_PORT = 65_535

if TYPE_CHECKING:
    from connectors.catalog.mcp.answers import CatalogAnswers


@shows_errors
def mcp(
    catalog: CatalogFile = DEFAULT_CATALOG,
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve over HTTP instead of standard input.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="What callers over HTTP send. Better in HEADWATER_TOKEN, or as ${file:/path}.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="A name that clients call HOST by.")
    ] = None,
    as_of: AsOf = None,
    days: Days = None,
) -> None:
    """Answer language models' questions about a catalog, over the Model Context Protocol. It is only read.

    Needs pip install 'headwater[mcp]'. Each answer keeps to a budget of tokens and has a cursor to the rest.

    \b
    Examples:
      ingest mcp --catalog .headwater/catalog.db
      ingest mcp --http 127.0.0.1:8586
      HEADWATER_TOKEN=... ingest mcp --http 0.0.0.0:8586 --allow-host lineage.example.com
    """
    if find_spec("mcp") is None:
        raise ConfigError("`ingest mcp` needs the SDK of the protocol: pip install 'headwater[mcp]'")
    from connectors.catalog.mcp.answers import CatalogAnswers
    from connectors.catalog.questions.answer import When

    with CatalogAnswers(catalog, When(millis(as_of) if as_of else None, days)) as answers:
        if http is None:
            from connectors.catalog.mcp.tools import mcp_server

            mcp_server(answers).run("stdio")
            return
        _serve(answers, http, token, tuple(allow_host or ()))


def _serve(answers: CatalogAnswers, http: str, token: str | None, names: tuple[str, ...]) -> None:
    from connectors.catalog.mcp.http import McpAddress, running_mcp
    from workflows.runtime.logs import Redactor
    from workflows.runtime.signals import interrupted_by_signals

    secret = token_of(token or os.environ.get("HEADWATER_TOKEN"))
    address = McpAddress(*_host_and_port(http), secret, names)
    redactor = Redactor([secret] if secret else [])
    try:
        with without_secrets(redactor), interrupted_by_signals(), running_mcp(answers, address) as url:
            typer.echo(f"The tools are at {url}")
            threading.Event().wait()
    except Interrupted as error:
        # What ends a server in good order is no failure to speak of.
        raise typer.Exit(error.exit_code) from None


def _host_and_port(given: str) -> tuple[str, int]:
    host, colon, port = given.rpartition(":")
    if not colon or not port.isdigit() or int(port) > _LAST_PORT:
        raise ConfigError(f"--http {given}: give HOST:PORT, as in 127.0.0.1:8586 (port 0 takes a free one)")
    return host.removeprefix("[").removesuffix("]"), int(port)
