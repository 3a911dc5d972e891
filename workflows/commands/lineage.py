"""`ingest lineage`: the lineage of SQL files, at once and without Spark."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from workflows.commands.options import (
    FORMAT,
    PARSER_SECONDS,
    ParserSeconds,
    SchemaFile,
    SqlDialect,
    end_with,
    print_answer,
    start_parser,
)
from workflows.runtime.error_reporting import shows_errors


@shows_errors
def lineage(
    sql: Annotated[
        str,
        typer.Argument(metavar="FILE.sql|DIR|-", help="What to read: SQL, a dbt project or its manifest; - is stdin."),
    ],
    dialect: SqlDialect = None,
    schema: SchemaFile = None,
    output: Annotated[Literal["tree", "json"], FORMAT] = "tree",
    timeout: ParserSeconds = PARSER_SECONDS,
) -> None:
    """Print the lineage of SQL files.

    Statements are read as one script: what one creates, the next ones know. USE and SET search_path hold to the end of
    their file. In a directory a lone SELECT is a view that is named after its file. A dbt project is read by its
    manifest.json, or by its own files where it has none.
    Exit code 1 if a statement could not be read or runs a routine that the SQL does not define, 2 if there is none.

    \b
    Examples:
      ingest lineage model.sql --dialect snowflake
      ingest lineage models/ --dialect postgres --schema schema.sql
      ingest lineage path/to/dbt_project
      cat job.sql | ingest lineage - --dialect spark --format json | jq .column_lineage
    """
    start_parser(timeout)
    from connectors.catalog.answer.sql_files import SCRIPT_LINEAGE
    from connectors.catalog.questions.answer import Answer
    from connectors.sql_files.lineage import script_lineage

    found = script_lineage(sql, dialect, schema, timeout)
    print_answer(Answer(found), SCRIPT_LINEAGE, output)
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    end_with(found.failures)
