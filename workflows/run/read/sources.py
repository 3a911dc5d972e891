"""What a run reads: its source, opened from the index, and the definitions that are in no log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession

from connectors.dbt.downloads import download_artifacts
from connectors.dbt.model_statements import DbtProject
from connectors.dbt.projects import open_project
from connectors.openmetadata.client import Platform
from connectors.query_log.reader import QueryLogOptions
from connectors.renamed_records import renamed_records
from connectors.scratch import scratch_folder
from connectors.source import FailedDefinition, OpenSource, Schemas, SourceRun
from connectors.sources import ConfiguredSource, has_room
from connectors.spark.catalog import SparkCatalog
from ingestion.statements.routines.definition import Definition
from workflows.config import RunConfig
from workflows.run.read.definitions import catalog_definitions, current_definitions


@contextmanager
def local_artifacts(config: RunConfig) -> Iterator[RunConfig]:
    """The configuration with dbt's artifacts on this machine's disk, for the block.

    Raises ConfigError where they are refused or missing, TargetDown where what has them does not answer.
    """
    artifacts = config.dbt.dbt_config_source if config.dbt is not None else None
    if artifacts is None or artifacts.elsewhere is None:
        yield config
        return
    with scratch_folder("dbt") as folder:
        here = artifacts.copied_to(download_artifacts(artifacts.elsewhere, folder))
        source = config.source.with_value("source_config.config.dbt_config_source", here)
        yield config.with_value("source", source.with_connection())


def open_dbt(config: RunConfig) -> DbtProject | None:
    """The project of the source type dbt, None for any other. Raises ConfigError, UnreadableArtifact."""
    if config.dbt is None:
        return None
    artifacts = config.dbt.dbt_config_source
    return open_project(artifacts.project, config.source.dialect, config.limits, artifacts.dbt_catalog_file_path)


@contextmanager
def open_source(config: RunConfig, project: DbtProject | None) -> Iterator[OpenSource]:
    """The source of a run, whose records are those of the log where one is given beside it.

    Raises ConfigError and TargetDown, without a password in them.
    """
    run = SourceRun(config.source.dialect or "", config.name_rules, config.limits)
    configured = _source_beside_log(config, project)
    with ExitStack() as opened:
        source = OpenSource() if configured is None else opened.enter_context(configured.open(run))
        if config.has_query_log and not config.lineage.has_own_log:
            log = opened.enter_context(ConfiguredSource("query-log-lineage", log_options(config)).open(run))
            source = replace(source, records=renamed_records(log.records, source.text_names))
            if configured is None:  # what else a source has may have changed
                source = replace(source, is_as_read=log.is_as_read)
        yield source


def _source_beside_log(config: RunConfig, project: DbtProject | None) -> ConfiguredSource | None:
    """The source beside a log, None where there is none that can be read."""
    source_type, connection = config.source.type.lower(), config.source.connection
    if project is not None:
        return ConfiguredSource(source_type, project)
    if config.lineage.has_own_log or config.lineage.has_own_definitions:
        return ConfiguredSource(source_type, config.lineage)
    live = config.source.is_database and connection is not None and "hostPort" in connection.options
    if connection is None or not live or not has_room(source_type):
        return None
    return ConfiguredSource(source_type, connection.options)


def log_options(config: RunConfig) -> QueryLogOptions:
    """Where the configured query log is, and what its columns mean."""
    ours, connection = config.headwater, config.source.connection
    return QueryLogOptions(
        config.lineage.query_log_file_path,
        ours.query_log_timezone,
        connection.type if connection is not None else None,
        ours.query_log_columns.by_field,
        ours.query_log_table,
        ours.query_log_jdbc.spark_options,
    )


def with_spark_catalogs(source: OpenSource, config: RunConfig, spark: SparkSession, database: str) -> OpenSource:
    """The source with the definitions of the session's catalogs that are to be read, where it has none of its own.

    `database` stands for the session's own catalog.
    """
    if source.has_definitions or not config.spark_catalogs:
        return source
    return SparkCatalog(spark, config.spark_catalogs, database).beside(source)


@dataclass(frozen=True, slots=True)
class LiveDefinitions:
    """The `source`, and what it and the catalog tell; `columns` are by the places of their relations."""

    source: OpenSource
    dialect: str
    definitions: tuple[Definition, ...] = ()
    columns: Schemas = field(default_factory=dict)
    failures: tuple[FailedDefinition, ...] = ()


def live_definitions(config: RunConfig, dialect: str, platform: Platform, source: OpenSource) -> LiveDefinitions:
    """What the platform's catalog, and what is live at the source, tell before a log is read; `dialect` is theirs."""
    stored = catalog_definitions(platform, config.source.service_name, config.lineage)
    live: list[Definition] = []
    if config.lineage.process_view_lineage:
        live += source.views()
    if config.lineage.process_stored_procedure_lineage:
        live += source.routines()
    current = current_definitions(live, stored, dialect)
    others = tuple(definition for definition in stored if source.keeps(definition))
    return LiveDefinitions(source, dialect, (*current, *others), source.columns(), tuple(source.failures()))
