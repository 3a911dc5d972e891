"""`ingest diff`: what changed between two moments of a catalog, or two manifests of dbt's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError
from workflows.commands.options import (
    BREAKING,
    FORMATS,
    PARSER_SECONDS,
    CatalogFile,
    ContractFiles,
    SqlDialect,
    millis,
    print_answer,
)
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def diff(
    start: Annotated[datetime | None, typer.Option("--from", help="What it was then (UTC).", formats=FORMATS)] = None,
    end: Annotated[datetime | None, typer.Option("--to", help="What it was then; else now.", formats=FORMATS)] = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    manifest: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--manifest", metavar="BASE HEAD", help="Instead: two manifests of dbt's, or two projects."),
    ] = None,
    output: Annotated[
        Literal["tree", "json", "markdown"],
        typer.Option("--format", help="How to write it; markdown is for --manifest."),
    ] = "tree",
    dialect: SqlDialect = None,
    contracts: ContractFiles = None,
    everything: Annotated[
        bool, typer.Option("--all", help="List queries, services, databases and schemas too, not how many alone.")
    ] = False,
) -> None:
    """List what changed between two moments, or two manifests, and what each change reaches.

      Exit code 4 when a column or table that something downstream needs, or that a contract promises, was dropped,
      retyped or renamed: so it can gate a pull request. Exit code 1 when contracts could not be read, or may be broken.

      \b
      Examples:
        ingest diff --from 2026-11-01
        ingest diff --from 2026-11-01 --to 2026-11-08T12:00 --json
        ingest diff --from 2026-11-01 --contracts contracts/
    ingest diff --manifest base.json head.json --format markdown
    """
    output = "json" if as_json else output
    if manifest is not None:
        if contracts is not None:
            raise ConfigError("--contracts is for --from: a manifest has no types of its models")
        breaking = _print_manifests(manifest, dialect, output)
    elif start is None:
        raise ConfigError("nothing to compare: give --from TIME, or --manifest BASE HEAD")
    else:
        breaking = _print_moments(catalog, (start, end), contracts, output, everything=everything)
    if breaking:
        raise typer.Exit(BREAKING)


def _print_moments(
    catalog: Path, moments: tuple[datetime, datetime | None], contracts: Path | None, output: str, *, everything: bool
) -> bool:
    """Prints what changed in a catalog; whether that breaks something. Raises Exit where contracts do not tell."""
    from connectors.catalog.answer.changes import DIFF
    from connectors.catalog.questions.diff import diff_of_file

    if output == "markdown":
        raise ConfigError("--format markdown is for --manifest")
    start, end = moments
    if end is not None and end < start:
        raise ConfigError("--to is before --from")
    if start > datetime.now(UTC).replace(tzinfo=None):
        raise ConfigError("--from is in the future (UTC): nothing can have changed since")
    answer = diff_of_file(catalog, millis(start), millis(end) if end else None, contracts, everything=everything)
    print_answer(answer, DIFF, output)
    found = answer.content
    if found.contracts is not None and not found.breaking and not found.contracts.complete:
        raise typer.Exit(1)
    return found.breaking


def _print_manifests(manifests: tuple[Path, Path], dialect: str | None, output: str) -> bool:
    from connectors.catalog.answer.manifest_diff import MANIFEST_DIFF
    from connectors.catalog.questions.answer import Answer
    from connectors.sql_files.manifest_diff import manifest_diff

    found = manifest_diff(*manifests, dialect, PARSER_SECONDS)
    if output == "tree":
        for one in found.unread:
            typer.echo(f"ingest: not read: {one}", err=True)
    print_answer(Answer(found), MANIFEST_DIFF, output)
    return found.breaking
