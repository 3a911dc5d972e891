"""`ingest freshness`: when each table was written last, how often it is, and which are late."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from workflows.commands.options import FORMAT, AsOf, Budget, CatalogFile, Cursor, millis, print_answer
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def freshness(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Only a service, a database, a schema or a table.")
    ] = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    output: Annotated[Literal["tree", "json", "csv", "markdown", "text"], FORMAT] = "tree",
    as_json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Tables at most.")] = 1_000,
    budget: Budget = None,
    cursor: Cursor = None,
) -> None:
    """List when each table was written last, by which job and how often, those first that are late.

    A table is late by its own rhythm, measured against the newest write seen in its service and not the clock.

    \b
    Examples:
      ingest freshness
      ingest freshness mart --format csv
    """
    from connectors.catalog.answer.freshness import FRESHNESS
    from connectors.catalog.questions.freshness import FreshnessOptions, freshness_in_file

    options = FreshnessOptions(millis(as_of) if as_of else None, name, limit)
    print_answer(freshness_in_file(catalog, options), FRESHNESS, "json" if as_json else output, (budget, cursor))
