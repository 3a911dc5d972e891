"""The parser processes that this process and its children have started."""

from __future__ import annotations

import psutil

from ingestion.parsing.sandbox.process import CHILD_MODULE


def parser_processes() -> list[psutil.Process]:
    """Those that live, in no particular order."""
    # Others of this process's children may have ended and not been waited for: they are no parsers.
    living = [c for c in psutil.Process().children(recursive=True) if c.status() != psutil.STATUS_ZOMBIE]
    return [child for child in living if CHILD_MODULE in child.cmdline()]
