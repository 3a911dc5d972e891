"""Files and folders of what is remembered, readable by nobody but their owner.

Names of tables and users, and texts of statements, stand in them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

_FILE, _FOLDER = 0o600, 0o700


def private_folder(folder: Path) -> None:
    """Makes a folder that is not there, and those above it; one that is there stays as it is. Raises OSError."""
    folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)


def private_file(file: Path) -> Path:
    """Makes an empty file, and its folder, where there is none; what writes into it leaves its mode. Raises OSError.

    SQLite gives the files beside a database the mode that the database has.
    """
    private_folder(file.parent)
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, _FILE))
    return file


@contextmanager
def replaced_text(file: Path) -> Iterator[TextIO]:
    """What is written takes the place of what the file has, once it is whole. Raises OSError."""
    passing = file.with_name(f"{file.name}.new")
    with private_file(passing).open("w", encoding="utf-8", newline="") as out:
        yield out
        out.flush()
        os.fsync(out.fileno())
    passing.replace(file)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Waits for any other process that is in such a block of the same folder: nothing is left in it. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
