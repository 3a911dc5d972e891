"""Options that several commands take."""

from __future__ import annotations

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
