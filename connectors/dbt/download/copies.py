"""Copies of artifacts, no larger than is sensible."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ingestion.errors import ConfigError

LARGEST = 4 << 30
"""Bytes; manifests of a hundred megabytes are large."""

PIECE = 1 << 20
"""Bytes that are copied at a time."""


def write_copy(pieces: Iterable[bytes], file: Path, origin: str, largest: int = LARGEST) -> None:
    """Writes the pieces of what is at `origin` (without secrets). Raises ConfigError where it is beyond `largest`."""
    size = 0
    with file.open("wb") as stream:
        for piece in pieces:
            size += len(piece)
            if size > largest:
                raise ConfigError(f"{origin}: over {largest >> 20} MB: is this an artifact of dbt's?")
            stream.write(piece)
