"""`ingest impact` and `ingest diff`: what a change breaks, asked of a catalog's file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import (
    DEFAULT_CATALOG,
    FORMATS,
    AsOf,
    Budget,
    CatalogFile,
    Cursor,
    Days,
    SqlDialect,
    millis,
    print_page,
)
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from connectors.catalog.questions.proposed_change.report import ChangeReport

_PARSER_SECONDS = 30.0
BREAKING = 4
"""Exit code of a diff in which something downstream breaks."""


class ImpactFormat(StrEnum):
    """How an answer is written."""

    TREE = "tree"
    JSON = "json"
    CSV = "csv"
    TEXT = "text"
    MARKDOWN = "markdown"


ChangeFile = Annotated[
    str | None, typer.Option("--sql", metavar="FILE|DIR|-", help="Instead of a name: what this SQL would change.")
]
ChangeText = Annotated[str | None, typer.Option("--ddl", metavar="TEXT", help="Or what these statements would.")]
ChangeFolders = Annotated[
    tuple[str, str] | None, typer.Option("--diff", metavar="BASE HEAD", help="Or what differs between two folders.")
]
DefaultSchema = Annotated[
    str, typer.Option("--default-schema", metavar="[DB.]SCHEMA", help="Where the SQL's names without one stand.")
]


@shows_errors
def impact(
    name: Annotated[
        str | None, typer.Argument(metavar="[TABLE[.COLUMN]]", help="A full name, or as much of its end as tells.")
    ] = None,
    sql: ChangeFile = None,
    ddl: ChangeText = None,
    between: ChangeFolders = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    dialect: SqlDialect = None,
    default_schema: DefaultSchema = "",
    output: Annotated[ImpactFormat, typer.Option("--format", help="How to write it.")] = ImpactFormat.TREE,
    as_of: AsOf = None,
    days: Days = None,
    budget: Budget = None,
    cursor: Cursor = None,
) -> None:
    """List everything downstream of a table or a column, or of a change that is proposed, with the path to each.

    Of a change: which columns downstream break, or change their type, their meaning or their sensitivity. Exit code 4
    when something breaks, 1 when that is not known: not all of the change is understood, or something may break.

    \b
    Examples:
      ingest impact shop.orders.total
      ingest impact shop.orders --format text --budget 1000
      ingest impact --sql migrations/V7__totals.sql --format markdown
      ingest impact --diff base/models head/models --dialect snowflake
    """
    from connectors.catalog.questions.file import When, ask_impact
    from connectors.catalog.questions.proposed_change.question import ChangeOptions, proposed_change

    if sum(one is not None for one in (name, sql, ddl, between)) != 1:
        raise ConfigError("give one of: a name, --sql FILE, --ddl TEXT, --diff BASE HEAD")
    when = When(millis(as_of) if as_of else None, days)
    if name is None:
        change = ChangeOptions(sql, ddl, between, dialect, default_schema, _PARSER_SECONDS)
        _print_change(proposed_change(catalog, change, when), output)
    else:
        _print_downstream(ask_impact(catalog, name, when), output, budget, cursor)


def _print_downstream(answer: dict[str, Any], output: ImpactFormat, budget: int | None, cursor: str | None) -> None:
    if output is ImpactFormat.MARKDOWN:
        raise ConfigError("--format markdown is for --sql, --ddl and --diff")
    if output is ImpactFormat.TEXT:
        from connectors.catalog.questions.row_answers import impact as impact_answer

        print_page(impact_answer(answer), budget, cursor)
    elif output is ImpactFormat.JSON:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    elif output is ImpactFormat.CSV:
        typer.echo(_csv(answer), nl=False)
    else:
        _print_impact(answer)


def _print_change(report: ChangeReport, output: ImpactFormat) -> None:
    from connectors.catalog.questions.proposed_change.report import as_markdown, as_text

    if output in (ImpactFormat.CSV, ImpactFormat.TEXT):
        raise ConfigError(f"--format {output} is for what is downstream of a name")
    if output is ImpactFormat.JSON:
        typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    elif output is ImpactFormat.MARKDOWN:
        typer.echo(as_markdown(report), nl=False)
    else:
        for line in as_text(report):
            typer.echo(line)
    if report.breaks:
        raise typer.Exit(BREAKING)
    if not report.complete:
        raise typer.Exit(1)


class DiffFormat(StrEnum):
    """How a diff is written."""

    TREE = "tree"
    JSON = "json"
    MARKDOWN = "markdown"


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
        DiffFormat, typer.Option("--format", help="How to write it; markdown is for --manifest.")
    ] = DiffFormat.TREE,
    dialect: SqlDialect = None,
) -> None:
    """List what changed between two moments, or two manifests, and what each change reaches.

    Exit code 4 when a column or table that something downstream needs was dropped, retyped or renamed: so it can gate
    a pull request.

    \b
    Examples:
      ingest diff --from 2026-11-01
      ingest diff --from 2026-11-01 --to 2026-11-08T12:00 --json
      ingest diff --manifest base.json head.json --format markdown
    """
    output = DiffFormat.JSON if as_json else output
    if manifest is not None:
        _diff_manifests(manifest, dialect, output)
    elif start is None:
        raise ConfigError("nothing to compare: give --from TIME, or --manifest BASE HEAD")
    else:
        _diff_catalog(catalog, start, end, output)


def _diff_catalog(catalog: Path, start: datetime, end: datetime | None, output: DiffFormat) -> None:
    from connectors.catalog.questions.file import ask_diff

    if output is DiffFormat.MARKDOWN:
        raise ConfigError("--format markdown is for --manifest")
    until = millis(end) if end else int(datetime.now(UTC).timestamp() * 1000)
    if until < millis(start):
        raise ConfigError("--to is before --from")
    answer = ask_diff(catalog, millis(start), until)
    if output is DiffFormat.JSON:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        _print_diff(answer)
    if answer["breaking"]:
        raise typer.Exit(BREAKING)


def _diff_manifests(manifests: tuple[Path, Path], dialect: str | None, output: DiffFormat) -> None:
    from connectors.sql_files.manifest_diff import manifest_diff

    found = manifest_diff(*manifests, dialect, _PARSER_SECONDS)
    if output is DiffFormat.JSON:
        typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    elif output is DiffFormat.MARKDOWN:
        typer.echo(found.to_markdown(), nl=False)
    else:
        for change in found.changes:
            mark = typer.style("breaks ", fg="red") if change.broken else "       "
            needs = f": {', '.join(change.broken)}" if change.broken else ""
            typer.echo(f"{mark}{change.kind:16} {change.name}  reaches {len(change.reaches)}{needs}")
        for one in found.unread:
            typer.echo(f"ingest: not read: {one}", err=True)
        typer.echo(f"{len(found.changes)} changes, {sum(bool(one.broken) for one in found.changes)} of them breaking")
    if found.breaking:
        raise typer.Exit(BREAKING)


def _csv(answer: Mapping[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("table", "column", "type", "depth", "path"))
    for one in answer["impacted"]:
        table = one["entity"]["fullyQualifiedName"]
        writer.writerow((table, one["column"] or "", one["type"], one["depth"], " -> ".join(one["path"])))
    return text.getvalue()


def _print_impact(answer: Mapping[str, Any]) -> None:
    counts = answer["counts"]
    typer.echo(typer.style(answer["root"], bold=True))
    for one in answer["impacted"]:
        name = one["column"] or f"{one['entity']['fullyQualifiedName']} (every row)"
        via = f"  via {' -> '.join(one['path'][1:-1])}" if len(one["path"]) > len(("from", "to")) else ""
        typer.echo(f"  {one['type'].lower():8} {name}{via}")
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items() if kind != "entities")
    typer.echo(f"{counts['entities']} tables: {kinds}{'; there is more' if answer['truncated'] else ''}")


def _print_diff(answer: Mapping[str, Any]) -> None:
    for change in answer["schemaChanges"]:
        name = change["column"] or change["entity"]["fullyQualifiedName"]
        mark = typer.style("breaks ", fg="red") if change["breaking"] else "       "
        typer.echo(f"{mark}{change['kind']:16} {name}  reaches {change['reaches']['count']}")
    for change in answer["lineageChanges"]:
        source, target = (change.get(end + "Column") or change[end] for end in ("from", "to"))
        ends = f"{source} -> {target}"
        typer.echo(f"       {change['kind']:16} {ends}  reaches {change['reaches']['count']}")
        for sign, texts in (("-", change.get("before")), ("+", change.get("after"))):
            for text in texts or ():
                typer.echo(f"         {sign} {' '.join(text.split())}")
    broken = sum(change["breaking"] for change in answer["schemaChanges"])
    typer.echo(
        f"{len(answer['schemaChanges'])} schema changes, {broken} of them breaking; "
        f"{len(answer['lineageChanges'])} lineage changes{'; there is more' if answer['truncated'] else ''}"
    )
