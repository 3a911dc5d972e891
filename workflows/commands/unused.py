"""`ingest unused`: what nobody reads, and what it costs."""

from __future__ import annotations

from typing import Annotated

import typer

from connectors.catalog import DEFAULT_CATALOG
from workflows.commands.options import AsJson, AsOf, Budget, CatalogFile, Cursor, ListForm, Under, millis, print_answer
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def list_unused(
    name: Under = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    output: ListForm = "tree",
    as_json: AsJson = False,
    as_of: AsOf = None,
    days: Annotated[
        int, typer.Option(min=1, max=36_500, help="So many days before the newest record of the logs.")
    ] = 90,
    but_for: Annotated[
        list[str] | None,
        typer.Option("--but-for", metavar="USER", help="Whose reading does not count: a test's. Can be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Of each kind at most.")] = 1_000,
    budget: Budget = None,
    cursor: Cursor = None,
) -> None:
    """List tables, columns and dashboards that nobody read, the dearest first, with who to ask.

    Readers are known from the SELECTs of logs that are read with `processEntities: true`. The first lines tell what
    these cover: nothing is claimed of any other time, or of a table whose readers no log tells. Exits with 1 where
    nothing is known of readers.

    \b
    Examples:
      ingest unused --days 90
      ingest unused mart --json
      ingest unused --but-for monitoring --format csv
    """
    from connectors.catalog.answer.unused import UNUSED
    from connectors.catalog.questions.unused import UnusedOptions, unused_in_file

    moment = millis(as_of) if as_of else None
    answer = unused_in_file(catalog, UnusedOptions(days, moment, name, tuple(but_for or ()), limit))
    print_answer(answer, UNUSED, "json" if as_json else output, (budget, cursor))
    if answer.content.claimed_from is None:
        raise typer.Exit(1)
