"""`ingest why`: what is wrong upstream of a table or a column, asked of a catalog's file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from workflows.commands.options import FORMAT, FORMATS, CatalogFile, millis, print_answer
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def why(
    name: Annotated[str, typer.Argument(metavar="TABLE[.COLUMN]", help="A full name, or as much of its end as tells.")],
    at: Annotated[
        datetime | None,
        typer.Option("--at", metavar="TIME", help="When it was wrong (UTC); else now.", formats=FORMATS),
    ] = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    dead_letters: Annotated[
        Path | None,
        typer.Option("--dead-letters", metavar="FILE", help="What runs gave up on."),
    ] = None,
    output: Annotated[Literal["text", "json", "markdown"], FORMAT] = "text",
    days: Annotated[
        int | None, typer.Option(min=0, help="How far back to look; 0 is as far as is known. Usually 30.")
    ] = None,
) -> None:
    """Rank what may have made a table or a column wrong: changes, failures, late loads and failing tests upstream.

    Exit code 1 when that is not known: nothing is seen to have changed, but not everything is told.

    \b
    Examples:
      ingest why mart.daily.revenue
      ingest why mart.daily --at 2026-11-20T06:00
      ingest why mart.daily --format markdown
    """
    from connectors.catalog.answer.why import WHY
    from connectors.catalog.questions.answer import When
    from connectors.catalog.questions.why.search import causes_in_file

    answer = causes_in_file(catalog, name, When(millis(at) if at else None, days), dead_letters)
    print_answer(answer, WHY, output)
    if not answer.content.known:
        raise typer.Exit(1)
