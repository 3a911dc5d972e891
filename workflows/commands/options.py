"""Options that several commands take."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    str, typer.Option("--config", "-c", metavar="FILE", help="The workflow's YAML; - reads standard input.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Replace a value of the YAML: --set resultLimit=500. Can be repeated."
    ),
]


SqlDialect = Annotated[
    str | None,
    typer.Option(
        "--dialect", "-d", help="sqlglot's name of the dialect, or a connection type; a dbt project's own, else ansi."
    ),
]

DEFAULT_CATALOG = Path(".headwater/catalog.db")
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]

AsOf = Annotated[datetime | None, typer.Option("--as-of", help="As it was then (UTC).", formats=FORMATS)]
Days = Annotated[int | None, typer.Option(min=0, help="Observations of so many days; 0 is any age.")]


def millis(moment: datetime) -> int:
    """A moment of the command line, which is in UTC, as milliseconds since the epoch."""
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)
