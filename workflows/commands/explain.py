"""`ingest explain`: where a column comes from, back to the base columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from connectors.catalog import DEFAULT_CATALOG
from ingestion.errors import ConfigError
from workflows.commands.options import (
    FORMAT,
    PARSER_SECONDS,
    AsOf,
    Budget,
    Cursor,
    Days,
    Depth,
    DirectOnly,
    ParserSeconds,
    SchemaFile,
    SqlDialect,
    Witnesses,
    end_with,
    millis,
    print_answer,
    start_parser,
    tell_left_out,
)
from workflows.runtime.error_reporting import shows_errors

ColumnName = Annotated[str, typer.Argument(metavar="TABLE.COLUMN", help="A full name, or as much of its end as tells.")]
SqlSource = Annotated[
    str | None, typer.Argument(metavar="FILE.sql|DIR|-", help="The SQL that makes it; - is standard input.")
]
OtherCatalogFile = Annotated[
    Path | None,
    typer.Option("--catalog", metavar="FILE", help=f"Or a catalog's file; {DEFAULT_CATALOG} if neither is given."),
]


@shows_errors
def explain(
    column: ColumnName,
    sql: SqlSource = None,
    catalog: OtherCatalogFile = None,
    as_of: AsOf = None,
    days: Days = None,
    dialect: SqlDialect = None,
    schema: SchemaFile = None,
    output: Annotated[Literal["tree", "json", "text"], FORMAT] = "tree",
    full: Annotated[bool, typer.Option("--full", help="Cut no long expression and no long statement.")] = False,
    timeout: ParserSeconds = PARSER_SECONDS,
    budget: Budget = None,
    cursor: Cursor = None,
    witness: Witnesses = None,
    depth: Depth = 0,
    direct: DirectOnly = False,
) -> None:
    """Print the chain of expressions behind a column, back to the base columns.

    Direct sources are what the value is made of; indirect ones only have a say in it: they filter, join, group or
    sort. Numbers in brackets name the statement behind each hop. Where more than one witness tells of a table, each hop
    says who has it and who tells otherwise. --as-of, --days and --witness are for a catalog. Exit code 1 if a statement
    could not be read.

    \b
    Examples:
      ingest explain mart.daily.revenue models/ --dialect snowflake
      ingest explain customers.total_price path/to/dbt_project
      ingest explain daily.revenue job.sql --dialect spark --schema tables.sql
      ingest explain shop.public.daily.revenue --catalog other.db --as-of 2026-01-31 --format json
      ingest explain shop.public.daily.revenue --format text --budget 1000
      ingest explain shop.public.daily.revenue --direct --depth 2
      ingest explain shop.public.daily.revenue --witness engine --witness '!log'
    """
    from connectors.catalog.answer.explanation import explanation
    from connectors.catalog.questions.answer import Answer, When
    from ingestion.model.witnesses import WitnessFilter

    if sql is not None and (catalog, as_of, days, witness) != (None, None, None, None):
        asked = "--catalog, --as-of, --days, --witness"
        raise ConfigError(f"give either FILE.sql, DIR or -, or what is asked of a catalog: {asked}")
    failures: tuple[str, ...] = ()
    if sql is None:
        from connectors.catalog.questions.explain import explain_in_file  # not needed for SQL files, and slow to load

        when = When(millis(as_of) if as_of else None, days, WitnessFilter.of(witness or ()))
        answer = explain_in_file(catalog or DEFAULT_CATALOG, column, when)
        tell_left_out(catalog or DEFAULT_CATALOG, when)
    else:
        start_parser(timeout)
        from connectors.sql_files.lineage import SqlOptions, explain_in_sql

        found, failures = explain_in_sql(column, SqlOptions(sql, dialect, schema, timeout))
        answer = Answer(found)
    answer = replace(answer, content=answer.content.within(depth, direct=direct))
    print_answer(answer, explanation(full=full), output, (budget, cursor))
    end_with(failures)
