"""What stands around a log: the live database where there is one, and the definitions that are in no log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from connectors.openmetadata.client import Platform
from connectors.postgres import PostgresDatabase, PostgresOptions, connected
from ingestion.definitions import Definition
from ingestion.model import Column
from ingestion.naming import RelationKey
from workflows.config import RunConfig, SourceKind
from workflows.definitions import catalog_definitions, current_definitions

_SPEAK_POSTGRES = frozenset({"Postgres", "Timescale", "Greenplum"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`columns` are those of the live database, by the places of its relations."""

    dialect: str
    definitions: tuple[Definition, ...] = ()
    database: PostgresDatabase | None = None
    columns: dict[RelationKey, tuple[Column, ...]] | None = None


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
    with connected(PostgresOptions.of(connection.options)) as session:
        yield PostgresDatabase(session)


def surroundings_of(
    config: RunConfig, dialect: str, platform: Platform, database: PostgresDatabase | None
) -> Surroundings:
    """What the catalog and the database tell before a log is read."""
    stored = catalog_definitions(platform, config.source.service, config.steps)
    if database is None:
        return Surroundings(dialect, stored)
    live: list[Definition] = []
    if config.steps.views:
        live += database.views()
    if config.steps.procedures:
        live += database.routines()
    columns = {RelationKey(place): known for place, known in database.columns().items()}
    return Surroundings(dialect, current_definitions(live, stored, dialect), database, columns)
