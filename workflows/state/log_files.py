"""The files of a log that were read, as they were then: they tell a later run whether anything in them can be new."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from ingestion.model.file_marks import FileMark, FileMarks, local_mark
from workflows.state.store import log_files


def files_read(connection: Connection, workflow: str) -> dict[str, FileMark]:
    """The files that were read, as they were then."""
    found = connection.execute(select(log_files).where(log_files.c.workflow == workflow))
    return {row.path: (row.size, row.modified) for row in found}


def note_files(connection: Connection, workflow: str, read: FileMarks, known: Collection[str]) -> None:
    """Notes files as read, and forgets those that are not `known` any more."""
    before = files_read(connection, workflow)
    present = set(known)
    now = {**{path: mark for path, mark in before.items() if path in present}, **read}
    if now == before:
        return
    connection.execute(delete(log_files).where(log_files.c.workflow == workflow))
    rows = [{"workflow": workflow, "path": path, "size": size, "modified": at} for path, (size, at) in now.items()]
    if rows:
        connection.execute(insert(log_files), rows)


def files_unchanged(connection: Connection, workflow: str) -> bool:
    """Whether there are files that were read, and each stands on this machine as it did then."""
    known = files_read(connection, workflow)
    return bool(known) and all(_mark(path) == mark for path, mark in known.items())


def _mark(path: str) -> FileMark | None:
    try:
        return local_mark(Path(path).stat())
    except (OSError, ValueError):  # gone, or no path of this machine
        return None
