"""What tells whether a file has changed since it was read."""

from __future__ import annotations

from collections.abc import Mapping

FileMark = tuple[int, float]
"""The size of a file in bytes, and when it was modified, in seconds since the epoch."""

FileMarks = Mapping[str, FileMark]
"""The marks of files by their paths."""
