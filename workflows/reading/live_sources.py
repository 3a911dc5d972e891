"""What stands around a log: the live database where there is one, and the definitions that are in no log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from connectors.dbt.model_statements import DbtProject
from connectors.openmetadata.transport.platform import Platform
from connectors.postgres import PostgresDatabase, PostgresOptions, connect
from connectors.spark_catalog import SparkCatalog
from ingestion.model import Column
from ingestion.names.namespaces import RelationKey
from ingestion.routines.definition import Definition, DefinitionKind
from workflows.config import RunConfig, SourceKind, Steps
from workflows.reading.dbt_definitions import columns_by_place, failed_models, model_definitions
from workflows.reading.stored_definitions import FailedDefinition, catalog_definitions, current_definitions

_SPEAK_POSTGRES = frozenset({"Postgres", "Timescale", "Greenplum"})


@dataclass(frozen=True, slots=True)
class LiveDefinitions:
    """`columns` are those of the live database or of Spark's catalogs, by the places of their relations."""

    dialect: str
    definitions: tuple[Definition, ...] = ()
    database: PostgresDatabase | None = None
    columns: Mapping[RelationKey, tuple[Column, ...]] = field(default_factory=dict)
    failures: tuple[FailedDefinition, ...] = ()


@contextmanager
def open_database(config: RunConfig) -> Iterator[PostgresDatabase | None]:
    """The live database of the source, None where it has none that can be read.

    Raises ConfigError and TargetDown, without a password in them.
    """
    connection = config.source.connection
    live = config.source.kind is SourceKind.DATABASE and connection is not None and "hostPort" in connection.options
    if connection is None or not live or connection.type not in _SPEAK_POSTGRES:
        yield None
        return
    with connect(PostgresOptions.of(connection.options)) as session:
        yield PostgresDatabase(session)


def spark_catalog(config: RunConfig, spark: SparkSession, database: str) -> SparkCatalog | None:
    """The catalogs of the session that are to be read; `database` stands for the session's own."""
    return SparkCatalog(spark, config.spark.catalogs, database) if config.spark.catalogs else None


def live_definitions(
    config: RunConfig, dialect: str, platform: Platform, live: PostgresDatabase | SparkCatalog | DbtProject | None
) -> LiveDefinitions:
    """What the catalog, and what is live, tell before a log is read."""
    stored = catalog_definitions(platform, config.source.service, config.steps)
    if isinstance(live, DbtProject):
        return _of_dbt(live, dialect, stored, config.steps)
    if live is None:
        return LiveDefinitions(dialect, stored)
    if isinstance(live, SparkCatalog):
        return _of_spark(live, dialect, stored, config.steps)
    return _of_database(live, dialect, stored, config.steps)


def _of_dbt(project: DbtProject, dialect: str, stored: Sequence[Definition], steps: Steps) -> LiveDefinitions:
    # Other definitions of the catalog are for the source that they came from.
    models = current_definitions(model_definitions(project), stored, dialect) if steps.views else ()
    columns = {RelationKey(place): known for place, known in columns_by_place(project).items()}
    return LiveDefinitions(dialect, models, columns=columns, failures=failed_models(project))


def _of_spark(catalog: SparkCatalog, dialect: str, stored: Sequence[Definition], steps: Steps) -> LiveDefinitions:
    views = current_definitions(catalog.views(), stored, dialect) if steps.views else ()
    # What Spark cannot have, such as a procedure, the catalog may still tell.
    others = (
        definition
        for definition in stored
        if definition.kind is DefinitionKind.ROUTINE or catalog.parts(RelationKey(definition.place)) is None
    )
    return LiveDefinitions(dialect, (*views, *others), columns=catalog.columns())


def _of_database(
    database: PostgresDatabase, dialect: str, stored: Sequence[Definition], steps: Steps
) -> LiveDefinitions:
    live: list[Definition] = []
    if steps.views:
        live += database.views()
    if steps.procedures:
        live += database.routines()
    columns = {RelationKey(place): known for place, known in database.columns().items()}
    return LiveDefinitions(dialect, current_definitions(live, stored, dialect), database, columns)
