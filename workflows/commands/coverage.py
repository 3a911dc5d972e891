"""`ingest coverage`: of how many tables it is known what they are made of, and why not of the others."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from workflows.commands.options import FORMAT, AsOf, Budget, CatalogFile, Cursor, millis, print_answer
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def coverage(
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
    """List the tables whose source is not known by columns, what most is made of first, and why not.

    The first lines count all tables; the last ones how it was after each of the latest runs.

    \b
    Examples:
      ingest coverage
      ingest coverage mart --format csv
    """
    from connectors.catalog.answer.coverage import COVERAGE
    from connectors.catalog.questions.coverage import CoverageOptions, coverage_in_file

    options = CoverageOptions(millis(as_of) if as_of else None, name, limit)
    print_answer(coverage_in_file(catalog, options), COVERAGE, "json" if as_json else output, (budget, cursor))
