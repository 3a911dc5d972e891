"""A folder for a database server that a test starts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")


@contextmanager
def server_folder() -> Iterator[Path]:
    """A new folder, gone in the end; in memory where there is one, as a server is faster there.

    It is none of pytest's: as root a server runs under another account, and pytest shuts others out.
    """
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)
