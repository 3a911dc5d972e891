"""`ingest correct`: what a person knows better than the log, with a reason and a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.model.lineage import Json
from workflows.commands.options import CatalogFile
from workflows.runtime.error_reporting import shows_errors

_MOST = 2**63 - 1  # the largest number of a SQLite row
correct = typer.Typer(
    name="correct", no_args_is_help=True, help="Edges added, confirmed or rejected by hand, each with a reason."
)

Source = Annotated[str, typer.Argument(metavar="FROM", help="A table or column: a full name, or as much as tells.")]
Target = Annotated[str, typer.Argument(metavar="TO", help="What is made of it.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; whoever reads the edge later reads it too.")]
Author = Annotated[str, typer.Option("--author", help="Who says so.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@correct.command()
@shows_errors
def add(
    source: Source, target: Target, reason: Reason, author: Author = "local", catalog: CatalogFile = DEFAULT_CATALOG
) -> None:
    """Add an edge that no log has; no run ends it.

    \b
    Examples:
      ingest correct add files.rates.rate mart.daily.total --reason "loaded by hand" --author ann
    """
    _file("added", (source, target), (reason, author), catalog)


@correct.command()
@shows_errors
def confirm(
    source: Source, target: Target, reason: Reason, author: Author = "local", catalog: CatalogFile = DEFAULT_CATALOG
) -> None:
    """Confirm an edge that is not certain: from now on it is.

    \b
    Examples:
      ingest correct confirm shop.orders.day mart.daily.day --reason "the contract says so"
    """
    _file("confirmed", (source, target), (reason, author), catalog)


@correct.command()
@shows_errors
def reject(
    source: Source, target: Target, reason: Reason, author: Author = "local", catalog: CatalogFile = DEFAULT_CATALOG
) -> None:
    """Reject an edge: nobody reads it any more, whatever later runs say, until that is undone.

    \b
    Examples:
      ingest correct reject shop.orders mart.daily --reason "it only counts the rows"
    """
    _file("rejected", (source, target), (reason, author), catalog)


@correct.command()
@shows_errors
def undo(
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", min=1, max=2**63 - 1, help="As `ingest correct list` has it.")
    ],
    reason: Reason,
    author: Author = "local",
    catalog: CatalogFile = DEFAULT_CATALOG,
) -> None:
    """Take a correction back: what the runs say counts again.

    \b
    Examples:
      ingest correct undo 3 --reason "it reads the totals too"
    """
    from connectors.catalog.questions.corrections import Justification
    from connectors.catalog.questions.corrections import undo as undo_correction

    typer.echo(_line(undo_correction(catalog, number, Justification(reason, author))))


@correct.command("list")
@shows_errors
def listing(
    name: Annotated[str | None, typer.Argument(metavar="TABLE", help="Only those of its edges.")] = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="So many at most, the newest.")] = 1_000,
    *,
    as_json: AsJson = False,
) -> None:
    """List who corrected what, when and why, the newest first.

    \b
    Examples:
      ingest correct list
      ingest correct list mart.daily --json
    """
    from connectors.catalog.questions.corrections import list_corrections

    answer = list_corrections(catalog, name, limit)
    found = answer.content
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for one in found:
            typer.echo(_line(one))
        typer.echo(f"{len(found)} corrections, {sum(one['undone'] is not None for one in found)} of them undone")
    for note in answer.cut:
        typer.echo(f"note: {note}", err=True)


def _file(verdict: str, ends: tuple[str, str], why: tuple[str, str], catalog: Path) -> None:
    """Files a `verdict` and prints it; `why` is the reason and the author."""
    from connectors.catalog.questions.corrections import Justification
    from connectors.catalog.questions.corrections import correct as file_correction

    typer.echo(_line(file_correction(catalog, verdict, ends, Justification(*why))))


def _line(one: Json) -> str:
    from ingestion.model.moments import minute_text

    source, target = (".".join(filter(None, (end["entity"], end["column"]))) for end in (one["from"], one["to"]))
    at, verdict = minute_text(one["at"]), one["verdict"]
    text = f"{one['id']}  {at}  {verdict}  {source} -> {target}  {one['author']}: {one['reason']}"
    undone = one["undone"]
    return f"{text}  (undone {minute_text(undone['at'])}, {undone['author']}: {undone['reason']})" if undone else text
