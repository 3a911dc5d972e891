"""What tells whether a file has changed since it was read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Protocol

FileMark = tuple[int, float]
"""The size of a file in bytes, and when it was modified, in seconds since the epoch."""

FileMarks = Mapping[str, FileMark]
"""The marks of files by their paths."""


class MarkedFile(Protocol):
    """A file as it was listed; `modified` is in seconds since the epoch."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def modified(self) -> float: ...


def mark_of(file: MarkedFile) -> FileMark:
    """What a later run compares: whoever notes a mark and whoever looks for a change have to mean the same by it."""
    return file.size, file.modified


def marks_of(files: Iterable[MarkedFile]) -> dict[str, FileMark]:
    """The marks of files by their paths."""
    return {file.path: mark_of(file) for file in files}


def local_mark(status: os.stat_result) -> FileMark:
    """The mark of a file on this machine's disks. A local file that was listed has the same one: `mark_of`."""
    return status.st_size, status.st_mtime
