"""`ingest doctor`: is this machine ready for a run?"""

from __future__ import annotations

from typing import Annotated

import typer

from workflows.commands.options import Settings
from workflows.runtime.error_reporting import shows_errors

_COLOURS = {"ok": typer.colors.GREEN, "warning": typer.colors.YELLOW, "failed": typer.colors.RED}


@shows_errors
def doctor(
    config: Annotated[
        str | None, typer.Option("--config", "-c", metavar="FILE", help="Also check the target that this YAML names.")
    ] = None,
    settings: Settings = None,
) -> None:
    """Check this machine.

    Looks at Python, Java, PySpark, memory, disk and the catalog; exit code 2 if a run cannot work.

    \b
    Examples:
      ingest doctor
      ingest doctor -c lineage.yaml
    """
    from workflows.config import load_config
    from workflows.runtime.doctor import Health, examine
    from workflows.runtime.logs import Redactor

    loaded = load_config(config, settings or ()) if config else None
    redact = Redactor(loaded.secrets if loaded else ())
    findings = examine(loaded)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        health = typer.style(f"{finding.health.value:8}", fg=_COLOURS[finding.health.value])
        typer.echo(f"{health} {finding.subject:{width}}  {redact(finding.detail)}")
    if any(finding.health is Health.FAILED for finding in findings):
        raise typer.Exit(2)
