"""`ingest lineage`: the lineage of SQL files, at once and without Spark."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from workflows.commands.options import ParserSeconds, SchemaFile, SqlDialect, end_with
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from connectors.sql_files.lineage import ScriptLineage


class LineageFormat(StrEnum):
    """How lineage is written."""

    TREE = "tree"
    JSON = "json"


@shows_errors
def lineage(
    sql: Annotated[
        str,
        typer.Argument(metavar="FILE.sql|DIR|-", help="What to read: SQL, a dbt project or its manifest; - is stdin."),
    ],
    dialect: SqlDialect = None,
    schema: SchemaFile = None,
    output: Annotated[LineageFormat, typer.Option("--format", help="How to write it.")] = LineageFormat.TREE,
    timeout: ParserSeconds = 30.0,
) -> None:
    """Print the lineage of SQL files.

    Statements are read as one script: what one creates, the next ones know. In a directory a lone SELECT is a view
    that is named after its file. A dbt project is read by its manifest.json, or by its own files where it has none.
    Exit code 1 if a statement could not be read.

    \b
    Examples:
      ingest lineage model.sql --dialect snowflake
      ingest lineage models/ --dialect postgres --schema schema.sql
      ingest lineage path/to/dbt_project
      cat job.sql | ingest lineage - --dialect spark --format json | jq .column_lineage
    """
    from connectors.sql_files.lineage import script_lineage

    found = script_lineage(sql, dialect, schema, timeout)
    if output is LineageFormat.JSON:
        typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    else:
        _print_tree(found)
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    end_with(found.failures)


def _print_tree(found: ScriptLineage) -> None:
    for target, columns in found.tree().items():
        typer.echo(typer.style(target, bold=True))
        rows = [(column, *row) for column, rows in columns.items() for row in rows]
        for column, source, how in rows:
            typer.echo(f"  {column} <- {source}  {typer.style(how, dim=True)}")
    for problem in found.problems:
        typer.echo(f"  unresolved: {problem}")
    if not found.tables and not found.failures:
        typer.echo("no lineage: nothing here reads a table")
