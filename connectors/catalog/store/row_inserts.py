"""Many rows of one table, given to the driver itself.

SQLAlchemy takes each row apart by the names of its columns, which costs more than storing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Table


def insert_rows(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Adds `rows`, each with a value for each of the `columns`. Raises IntegrityError for one that is there."""
    if rows:
        connection.exec_driver_sql(_statement(table, columns), list(rows))


def insert_new_rows(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Adds those of `rows` that are not there yet, as `insert_rows` does."""
    if rows:
        connection.exec_driver_sql(f"{_statement(table, columns)} on conflict do nothing", list(rows))


@lru_cache(maxsize=64)
def _statement(table: Table, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{table.c[column].name}"' for column in columns)
    return f'insert into "{table.name}" ({names}) values ({", ".join("?" * len(columns))})'
