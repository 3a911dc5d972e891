"""How a file is told to have a model of SQLMesh, by its beginning alone: each file of SQL is asked."""

from __future__ import annotations

import re
from pathlib import Path

_SPACE = r"(?:\s|--[^\n]*+|/\*[\s\S]*?\*/|#[^\n]*+)*+"
HEADER = re.compile(rf"\A\ufeff?{_SPACE}model{_SPACE}\(", re.IGNORECASE)
"""How a file begins that has a model of SQLMesh."""


def begins_as_model(file: Path) -> bool:
    """Whether a file begins as a model does; one that cannot be read does not."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return HEADER.match(opened.read(64 << 10)) is not None
    except OSError:
        return False
