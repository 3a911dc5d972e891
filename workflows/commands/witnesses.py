"""`ingest witnesses`: who tells of which edges, and where they differ."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from workflows.commands.options import (
    FORMAT,
    AsOf,
    Budget,
    CatalogFile,
    Cursor,
    Days,
    Witnesses,
    millis,
    print_answer,
)
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def witnesses(
    name: Annotated[
        str | None, typer.Argument(metavar="[TABLE[.COLUMN]]", help="Only what it is made of; else everything.")
    ] = None,
    catalog: CatalogFile = DEFAULT_CATALOG,
    output: Annotated[Literal["tree", "json", "csv", "text"], FORMAT] = "tree",
    as_of: AsOf = None,
    days: Days = None,
    witness: Witnesses = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Disagreements at most.")] = 1_000,
    budget: Budget = None,
    cursor: Cursor = None,
) -> None:
    """List the column edges of which one witness says something and another tells otherwise, with counts.

    Witnesses are the log (statements, definitions and plans that were read), the engine's own records, OpenLineage,
    dbt, files, persons and other tools. One tells otherwise who has other columns that the target is made of; who does
    not speak of the column is silent, and is not listed.

    \b
    Examples:
      ingest witnesses
      ingest witnesses mart.daily --format json
      ingest witnesses --witness engine --format csv
    """
    from connectors.catalog.answer.witnesses import WITNESSES
    from connectors.catalog.questions.answer import When
    from connectors.catalog.questions.witnesses import witnesses_in_file
    from ingestion.model.witnesses import WitnessFilter

    when = When(millis(as_of) if as_of else None, days, WitnessFilter.of(witness or ()))
    print_answer(witnesses_in_file(catalog, name, when, limit), WITNESSES, output, (budget, cursor))
