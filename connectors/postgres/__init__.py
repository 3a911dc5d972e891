"""A live PostgreSQL as a source: definitions, columns, statistics of statements, its own word on columns."""

from connectors.postgres.database import PostgresDatabase, PostgresOptions, connect

__all__ = ["PostgresDatabase", "PostgresOptions", "connect"]
