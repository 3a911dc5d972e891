"""How a query that writes nothing uses a table."""

from __future__ import annotations

from enum import StrEnum


class ColumnUseKind(StrEnum):
    """It names a column, has it by a star, needs but the rows of a table (a count), or is not understood."""

    NAMED = "named"
    STAR = "star"
    ROWS = "rows"
    UNKNOWN = "unknown"
