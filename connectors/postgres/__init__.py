"""A live PostgreSQL as a source: definitions, columns, statistics of statements, its own word on columns."""

from connectors.postgres.connection import PostgresOptions, connect
from connectors.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase", "PostgresOptions", "connect"]
