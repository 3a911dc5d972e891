"""`ingest impact` and `ingest diff`: what a change breaks, asked of a catalog's file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import DEFAULT_CATALOG, FORMATS, AsOf, CatalogFile, Days, millis
from workflows.runtime.error_reporting import shows_errors

BREAKING = 4
"""Exit code of a diff in which something downstream breaks."""


class ImpactFormat(StrEnum):
    """How an answer is written."""

    TREE = "tree"
    JSON = "json"
    CSV = "csv"


@shows_errors
def impact(
    name: Annotated[str, typer.Argument(metavar="TABLE[.COLUMN]", help="A full name, or as much of its end as tells.")],
    catalog: CatalogFile = DEFAULT_CATALOG,
    output: Annotated[ImpactFormat, typer.Option("--format", help="How to write it.")] = ImpactFormat.TREE,
    as_of: AsOf = None,
    days: Days = None,
) -> None:
    """List everything downstream of a table or a column, with the path to each.

    \b
    Examples:
      ingest impact shop.orders.total
      ingest impact shop.orders --format csv > impact.csv
      ingest impact shop.orders.total --as-of 2026-01-31 --days 0
    """
    from connectors.catalog.local_queries import When, ask_impact

    answer = ask_impact(catalog, name, When(millis(as_of) if as_of else None, days))
    if output is ImpactFormat.JSON:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    elif output is ImpactFormat.CSV:
        typer.echo(_csv(answer), nl=False)
    else:
        _print_impact(answer)


@shows_errors
def diff(
    start: Annotated[datetime, typer.Option("--from", help="What it was then (UTC).", formats=FORMATS)],
    end: Annotated[datetime | None, typer.Option("--to", help="What it was then; else now.", formats=FORMATS)] = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """List what changed between two moments, and what each change reaches.

    Exit code 4 when a column or table that something downstream needs was dropped, retyped or renamed: so it can gate
    a pull request.

    \b
    Examples:
      ingest diff --from 2026-11-01
      ingest diff --from 2026-11-01 --to 2026-11-08T12:00 --json
    """
    from connectors.catalog.local_queries import ask_diff

    until = millis(end) if end else int(datetime.now(UTC).timestamp() * 1000)
    if until < millis(start):
        raise ConfigError("--to is before --from")
    answer = ask_diff(catalog, millis(start), until)
    if as_json:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        _print_diff(answer)
    if answer["breaking"]:
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
    broken = sum(change["breaking"] for change in answer["schemaChanges"])
    typer.echo(
        f"{len(answer['schemaChanges'])} schema changes, {broken} of them breaking; "
        f"{len(answer['lineageChanges'])} lineage changes{'; there is more' if answer['truncated'] else ''}"
    )
