"""How many SQL statements a piece of work in the catalog's store takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, event


@contextmanager
def counted_statements(connection: Connection) -> Iterator[list[str]]:
    """The statements that are carried out in the block; one for many rows is one."""
    found: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_others: object) -> None:
        found.append(statement)

    event.listen(connection, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(connection, "before_cursor_execute", note)
