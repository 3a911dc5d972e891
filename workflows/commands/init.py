"""`ingest init` and `ingest schema`: a configuration to start from, and its description for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ingestion.errors import ConfigError
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def init(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write it; standard output if left out.")
    ] = None,
) -> None:
    """Write a commented configuration.

    It has every key, beside its default.

    \b
    Examples:
      ingest init > lineage.yaml
      ingest init lineage.yaml
    """
    from workflows.config.schema import commented_yaml

    if file is None:
        typer.echo(commented_yaml(), nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(commented_yaml())
    except FileExistsError:
        raise ConfigError(f"{file} is there already; name another file, or remove it") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror})") from None
    typer.echo(f"{file}: set queryLogFilePath, serviceName and the connection's type; then: ingest validate -c {file}")


@shows_errors
def schema() -> None:
    """Print the configuration's JSON Schema.

    Editors complete and check with it.

    \b
    Example:
      ingest schema > lineage.schema.json
    """
    from workflows.config.schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))
