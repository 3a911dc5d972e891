"""`ingest metrics`: what queries measure, by which dimensions, and who runs them."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from workflows.commands.options import ParserSeconds, SchemaFile, SqlDialect, end_with
from workflows.runtime.error_reporting import shows_errors


class MetricsFormat(StrEnum):
    """How metrics are written."""

    TEXT = "text"
    JSON = "json"
    METRICFLOW = "metricflow"


@shows_errors
def metrics(
    sql: Annotated[
        str, typer.Argument(metavar="FILE.sql|DIR|-", help="SQL, a dbt project or its manifest; - is stdin.")
    ],
    dialect: SqlDialect = None,
    schema: SchemaFile = None,
    output: Annotated[MetricsFormat, typer.Option("--format", help="How to write it.")] = MetricsFormat.TEXT,
    timeout: ParserSeconds = 30.0,
) -> None:
    """List the metrics that queries compute: measure, view, dimensions, filters, variants that differ.

    Each query is taken apart; those of one view, one measure and the same filters are one metric. A query of which
    that is not certain is counted with the reason. Exit code 1 if a statement could not be read.

    \b
    Examples:
      ingest metrics reports/ --dialect snowflake
      ingest metrics reports/ --dialect bigquery --format metricflow > models/semantic_models.yml
      ingest metrics - --dialect postgres --schema ddl.sql --format json < queries.sql
    """
    from workflows.entity_lineage.file_metrics import file_metrics

    found = file_metrics(sql, dialect, schema, timeout)
    if output is MetricsFormat.JSON:
        typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    elif output is MetricsFormat.METRICFLOW:
        from workflows.entity_lineage.metricflow import metricflow_yaml

        typer.echo(metricflow_yaml(found), nl=False)
    else:
        typer.echo(found.to_text())
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    end_with(found.failures)
