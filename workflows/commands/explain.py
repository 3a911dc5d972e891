"""`ingest explain`: where a column comes from, back to the base columns."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import (
    DEFAULT_CATALOG,
    AsOf,
    Budget,
    Cursor,
    Days,
    ParserSeconds,
    SchemaFile,
    SqlDialect,
    end_with,
    millis,
    print_page,
)
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from ingestion.scripts.explanation import ExplainedHop, ExplainedStatement, Explanation


_CHARACTERS = 120
"""Of an expression, unless the whole is asked for: what a wide terminal shows in a line or two."""

_LINES = 12
"""Of a statement, likewise."""


_BY_HAND = "(no statement: entered by hand)"
_WITHOUT_TEXT = {
    "engine": "(no statement: recorded by the engine itself)",
    "plan": "(no statement: a plan)",
}


class ExplainFormat(StrEnum):
    """How an explanation is written."""

    TREE = "tree"
    JSON = "json"
    TEXT = "text"


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
    output: Annotated[ExplainFormat, typer.Option("--format", help="How to write it.")] = ExplainFormat.TREE,
    full: Annotated[bool, typer.Option("--full", help="Cut no long expression and no long statement.")] = False,
    timeout: ParserSeconds = 30.0,
    budget: Budget = None,
    cursor: Cursor = None,
) -> None:
    """Print the chain of expressions behind a column, back to the base columns.

    Direct sources are what the value is made of; indirect ones only have a say in it: they filter, join, group or
    sort. Numbers in brackets name the statement behind each hop. --as-of and --days are for a catalog. Exit code 1 if
    a statement could not be read.

    \b
    Examples:
      ingest explain mart.daily.revenue models/ --dialect snowflake
      ingest explain customers.total_price path/to/dbt_project
      ingest explain daily.revenue job.sql --dialect spark --schema tables.sql
      ingest explain shop.public.daily.revenue --catalog other.db --as-of 2026-01-31 --format json
      ingest explain shop.public.daily.revenue --format text --budget 1000
    """
    from connectors.catalog.questions.explain import SqlOptions, explain_in_catalog, explain_in_sql

    if sql is not None and (catalog, as_of, days) != (None, None, None):
        raise ConfigError("give either FILE.sql, DIR or -, or what is asked of a catalog: --catalog, --as-of, --days")
    failures: tuple[str, ...] = ()
    if sql is None:
        found = explain_in_catalog(column, catalog or DEFAULT_CATALOG, millis(as_of) if as_of else None, days)
    else:
        found, failures = explain_in_sql(column, SqlOptions(sql, dialect, schema, timeout))
    _print_explanation(found, output, (budget, cursor), full=full)
    end_with(failures)


def _print_explanation(
    found: Explanation, output: ExplainFormat, page: tuple[int | None, str | None], *, full: bool
) -> None:
    if output is ExplainFormat.TEXT:
        from connectors.catalog.questions.row_answers import explanation_answer

        print_page(explanation_answer(found, complete=True), *page)
    elif output is ExplainFormat.JSON:
        typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    else:
        _print_tree(found, full=full)


def _print_tree(found: Explanation, *, full: bool) -> None:
    typer.echo(typer.style(found.column, bold=True))
    if not found.hops[found.column]:
        typer.echo("  nothing upstream of it is known")
    shown = {found.column}
    waiting = [(1, hop) for hop in _direct_last(found.hops[found.column])]
    while waiting:  # as deep as the chain goes, so no recursion
        depth, hop = waiting.pop()
        sources = found.hops[hop.source]
        again = bool(sources) and hop.source in shown
        shown.add(hop.source)
        typer.echo("  " * depth + _line(hop, again=again, full=full))
        if not again:
            waiting += [(depth + 1, source) for source in _direct_last(sources)]
    direct, indirect = found.base_columns()
    for title, names in (("made of", direct), ("and depending on", indirect)):
        if names:
            typer.echo(f"{title}: {', '.join(names)}")
    for number, statement in enumerate(found.statements, 1):
        _print_statement(number, statement, full=full)


def _print_statement(number: int, statement: ExplainedStatement, *, full: bool) -> None:
    run_by = f"run by {', '.join(statement.jobs)}" if statement.jobs else ""
    origin = ", ".join(dict.fromkeys(filter(None, (statement.producer, statement.parser, run_by))))
    typer.echo(f"[{number}] {typer.style(origin, dim=True)}")
    lines = (statement.text or _WITHOUT_TEXT.get(statement.producer, _BY_HAND)).splitlines()
    shown = lines if full or len(lines) <= _LINES else lines[: _LINES - 1]
    for line in shown:
        typer.echo(f"    {line}")
    if len(shown) < len(lines):
        typer.echo(f"    … {len(lines) - len(shown)} more lines: --full")


def _direct_last(hops: tuple[ExplainedHop, ...]) -> list[ExplainedHop]:
    """In the order for a stack: what is taken off it first are the direct ones, in their own order."""
    return sorted(hops, key=lambda hop: not hop.direct)[::-1]


def _line(hop: ExplainedHop, *, again: bool, full: bool) -> str:
    how = [hop.type.lower(), hop.subtype.lower().replace("_", " ")]
    if hop.masking:
        how.append("masked")
    if not hop.certain:
        how.append("not certain")
    numbers = "".join(f" [{number}]" for number in hop.statements)
    cut = not full and len(hop.expression) > _CHARACTERS
    shown = f"{hop.expression[:_CHARACTERS]}…" if cut else hop.expression
    expression = f"  {shown}" if shown else ""
    return f"<- {hop.source}  {typer.style(', '.join(filter(None, how)), dim=True)}{expression}{numbers}" + (
        "  (see above)" if again else ""
    )
