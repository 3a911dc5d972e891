"""`ingest doctor`: is this machine ready for a run?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import Settings
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from workflows.config import RunConfig

_COLOURS = {"ok": typer.colors.GREEN, "warning": typer.colors.YELLOW, "failed": typer.colors.RED}


@shows_errors
def doctor(
    config: Annotated[
        str | None, typer.Option("--config", "-c", metavar="FILE", help="Also check the target that this YAML names.")
    ] = None,
    class_archive: Annotated[
        bool, typer.Option("--class-archive", help="First archive the classes that Spark loads: 170 MB in the cache.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Keep what can be read of a damaged catalog or state. End what uses it first."),
    ] = False,
    catalog: Annotated[
        Path | None, typer.Option("--catalog", metavar="FILE", help="With --repair: the file of a catalog.")
    ] = None,
    settings: Settings = None,
) -> None:
    """Check this machine.

    Looks at Python, Java, PySpark, memory, disk, the catalog and the state; exit code 2 if a run cannot work. Says,
    too, what is kept of a statement's text.

    With --repair it puts a new file in the place of a damaged catalog or state, with every row that can be read, and
    sets the damaged one aside; in figures it says what was kept, and what is lost.

    With --class-archive it makes what lets Spark start in half the processor time, once for this Java and PySpark:
    for a machine that runs often, or where its image is built.

    \b
    Examples:
      ingest doctor
      ingest doctor -c lineage.yaml
      ingest doctor --class-archive
      ingest doctor --repair -c lineage.yaml
      ingest doctor --repair --catalog catalog.db
    """
    from ingestion.statements.masking import KEPT
    from workflows.config import load_config
    from workflows.doctor import Health, examine
    from workflows.runtime.logs import Redactor

    loaded = load_config(config, settings or (), may_lack_log=repair) if config else None
    if repair or catalog:
        _repair(loaded, catalog, asked=repair)
        return
    if class_archive:
        _make_class_archive()
    redact = Redactor(loaded.secrets if loaded else ())
    findings = examine(loaded)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        health = typer.style(f"{finding.health.value:8}", fg=_COLOURS[finding.health.value])
        typer.echo(f"{health} {finding.subject:{width}}  {redact(finding.detail)}")
    typer.echo("\nWhat is kept of a statement's text, in files, catalog and logs; all else is ?")
    for kept in KEPT:
        typer.echo(f"  {kept.what}: {kept.why}")
    if any(finding.health is Health.FAILED for finding in findings):
        raise typer.Exit(2)


def _repair(config: RunConfig | None, catalog: Path | None, *, asked: bool) -> None:
    """Raises ConfigError where nothing is named that could be repaired."""
    from workflows.repair import repair
    from workflows.runtime.logs import Redactor

    if not asked:
        raise ConfigError("--catalog names what --repair is to repair: add it")
    if config is None and catalog is None:
        raise ConfigError("--repair needs to know what: -c lineage.yaml, or --catalog FILE")
    redact = Redactor(config.secrets if config else ())
    for line in repair(config, catalog):
        typer.echo(redact(line))


def _make_class_archive() -> None:
    """Raises ConfigError where there is no Java, or where the cache's folder cannot be written."""
    from workflows.run.class_archiving import make_class_archive
    from workflows.runtime.java import archive_file, find_java

    file = archive_file(find_java())
    try:
        make_class_archive(file)
    except OSError as error:
        raise ConfigError(f"{file.parent} cannot be written ({error.strerror}): set XDG_CACHE_HOME") from error
