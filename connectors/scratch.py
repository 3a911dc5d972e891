"""Folders for a run's passing files: removed at its end, or by a later run where it was killed before."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "headwater-"
_PURPOSES = ("spark", "state", "dry-run", "dbt", "sqlmesh")
_OWNER = ".owner"
"""The file that a run holds locked for as long as it lives, however it ends."""

_YOUNG_SECONDS = 60.0
"""The age up to which a folder may not have been locked yet."""

_UNOWNED_SECONDS = 7 * 86_400.0
"""The age from which a folder without an owner's file is nobody's: of a run that was killed before it made one."""


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A new folder in the directory for temporary files; `purpose` is one of spark, state, dry-run, dbt,
    sqlmesh.

    Folders of runs that are no more are removed first: those of this user alone.
    """
    remove_abandoned(Path(tempfile.gettempdir()))
    with (
        tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{purpose}-", ignore_cleanup_errors=True) as made,
        (Path(made) / _OWNER).open("wb") as owner,
    ):
        with suppress(OSError):  # where there are no locks the age alone tells
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield Path(made)


def remove_abandoned(directory: Path) -> None:
    """Removes the folders in `directory` that killed runs of this user left; what cannot be removed stays."""
    for purpose in _PURPOSES:
        for folder in directory.glob(f"{_PREFIX}{purpose}-*"):
            with suppress(OSError):
                if _is_abandoned(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    status = folder.lstat()
    age = time.time() - status.st_mtime
    if status.st_uid != os.getuid() or folder.is_symlink() or not folder.is_dir() or age < _YOUNG_SECONDS:
        return False
    try:
        owner = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return age > _UNOWNED_SECONDS
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(owner)
    return True
