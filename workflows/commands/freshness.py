"""`ingest freshness`: when each table was written last, how often it is, and which are late."""

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
def freshness(
    name: Under = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    output: ListForm = "tree",
    as_json: AsJson = False,
    as_of: AsOf = None,
    limit: MostTables = 1_000,
    budget: Budget = None,
    cursor: Cursor = None,
) -> None:
    """List when each table was written last, by which job and how often, those first that are late.

    A table is late by its own rhythm, measured against the newest record read of its service, not the clock.

    \b
    Examples:
      ingest freshness
      ingest freshness mart --format csv
    """
    from connectors.catalog.answer.freshness import FRESHNESS
    from connectors.catalog.questions.freshness import freshness_in_file
    from connectors.catalog.questions.tables import TableListOptions

    options = TableListOptions(millis(as_of) if as_of else None, name, limit)
    print_answer(freshness_in_file(catalog, options), FRESHNESS, "json" if as_json else output, (budget, cursor))
