"""The files of a log that were read, so that those that did not change need no reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, delete, insert, select

from workflows.state.schema import log_files

FileMarks = Mapping[str, tuple[int, float]]
"""Paths with their size in bytes and their modification time in seconds since the epoch."""


def files_read(connection: Connection, workflow: str) -> dict[str, tuple[int, float]]:
    """The files that were read, as they were then."""
    found = connection.execute(select(log_files).where(log_files.c.workflow == workflow))
    return {row.path: (row.size, row.modified) for row in found}


def note_files(connection: Connection, workflow: str, read: FileMarks, there: Collection[str]) -> None:
    """Notes files as read, and forgets those that are not there any more."""
    before = files_read(connection, workflow)
    present = set(there)
    now = {**{path: mark for path, mark in before.items() if path in present}, **read}
    if now == before:
        return
    connection.execute(delete(log_files).where(log_files.c.workflow == workflow))
    rows = [{"workflow": workflow, "path": path, "size": size, "modified": at} for path, (size, at) in now.items()]
    if rows:
        connection.execute(insert(log_files), rows)
