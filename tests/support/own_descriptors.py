"""What this process has open, so that a test can tell what was left open by what it ran."""

from __future__ import annotations

import contextlib
from pathlib import Path

Descriptor = tuple[str, str]
"""A descriptor's number and what it leads to: a number that was closed and taken again leads elsewhere."""


def own_descriptors() -> set[Descriptor]:
    """The open descriptors of this process.

    What is left is the difference of two of these, not of two counts: what an earlier test left to the garbage
    collector (a database, a socket of Spark's gateway) is closed at any moment, also between the two.
    """
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that reads the folder
            found.add((link.name, str(link.readlink())))
    return found
