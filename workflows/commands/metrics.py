"""`ingest metrics`: what queries measure, by which dimensions, and who runs them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import (
    FORMAT,
    PARSER_SECONDS,
    ParserSeconds,
    SchemaFile,
    SqlDialect,
    end_with,
    print_answer,
)
from workflows.runtime.error_reporting import shows_errors

if TYPE_CHECKING:
    from ingestion.metrics.report import MetricReport

Queries = Annotated[
    str | None, typer.Argument(metavar="[FILE.sql|DIR|-]", help="SQL, a dbt project or its manifest; - is stdin.")
]
MetricsCatalog = Annotated[
    Path | None,
    typer.Option("--catalog", metavar="FILE", help="File them in this catalog; without SQL, list what it has."),
]


MetricsOrigin = Annotated[
    str | None,
    typer.Option("--origin", metavar="NAME", help="Whose metrics they are in the catalog; default: the path of SQL."),
]


@shows_errors
def metrics(
    sql: Queries = None,
    catalog: MetricsCatalog = None,
    dialect: SqlDialect = None,
    schema: SchemaFile = None,
    output: Annotated[Literal["text", "json", "metricflow"], FORMAT] = "text",
    timeout: ParserSeconds = PARSER_SECONDS,
    origin: MetricsOrigin = None,
) -> None:
    """List the metrics that queries compute: measure, view, dimensions, filters, variants that differ.

    Each query is taken apart; those of one view, one measure and the same filters are one metric. A query of which
    that is not certain is counted with the reason. Exit code 1 if a statement could not be read.

    \b
    Examples:
      ingest metrics reports/ --dialect snowflake
      ingest metrics reports/ --dialect bigquery --format metricflow > models/semantic_models.yml
      ingest metrics reports/ --dialect snowflake --catalog .headwater/catalog.db
      ingest metrics --catalog .headwater/catalog.db
      ingest metrics - --dialect postgres --schema ddl.sql --format json < queries.sql
    """
    from connectors.sql_files.metrics import file_metrics

    if sql is None:
        _print_filed(catalog, output)
        return
    found = file_metrics(sql, dialect, schema, timeout)
    warnings: tuple[str, ...] = ()
    if catalog is not None:
        warnings = _file(catalog, found, origin or _origin_of(sql))
    if output == "metricflow":
        from ingestion.metrics.metricflow import metricflow_yaml

        typer.echo(metricflow_yaml(found), nl=False)
    else:
        from connectors.catalog.answer.metrics import METRICS
        from connectors.catalog.questions.answer import Answer

        print_answer(Answer(found), METRICS, output)
    for note in (*found.notes, *warnings):
        typer.echo(f"note: {note}", err=True)
    end_with(found.failures)


def _origin_of(sql: str) -> str:
    """Two folders of one name are two origins, and one folder is one from wherever it is named."""
    return sql if sql == "-" else str(Path(sql).resolve())


def _file(catalog: Path, report: MetricReport, origin: str) -> tuple[str, ...]:
    """Files the metrics in a catalog's file; what to warn of."""
    from connectors.catalog.questions.metrics import tables_of
    from connectors.openmetadata.metrics import file_report
    from workflows.config import EmbeddedCatalog
    from workflows.target import platform_of

    tables, warnings = tables_of(catalog, report.metrics)
    with platform_of(EmbeddedCatalog(file=catalog)) as platform:
        return (*warnings, *file_report(platform, report, origin, tables))


def _print_filed(catalog: Path | None, output: str) -> None:
    if catalog is None:
        raise ConfigError("give SQL to read, or --catalog FILE")
    if output == "metricflow":
        raise ConfigError("--format metricflow is for SQL")
    from connectors.catalog.answer.metrics import FILED_METRICS
    from connectors.catalog.questions.metrics import filed_metrics

    print_answer(filed_metrics(catalog), FILED_METRICS, output)
