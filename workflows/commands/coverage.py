"""`ingest coverage`: of how many tables it is known what they are made of, and why not of the others."""

from __future__ import annotations

from connectors.catalog import DEFAULT_CATALOG
from workflows.commands.options import (
    AsJson,
    AsOf,
    Budget,
    CatalogFile,
    Cursor,
    ListForm,
    MostTables,
    Under,
    millis,
    print_answer,
)
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def coverage(
    name: Under = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    output: ListForm = "tree",
    as_json: AsJson = False,
    as_of: AsOf = None,
    limit: MostTables = 1_000,
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
    from connectors.catalog.questions.coverage import coverage_in_file
    from connectors.catalog.questions.tables import TableListOptions

    options = TableListOptions(millis(as_of) if as_of else None, name, limit)
    print_answer(coverage_in_file(catalog, options), COVERAGE, "json" if as_json else output, (budget, cursor))
