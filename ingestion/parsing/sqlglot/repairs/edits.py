"""What a repair is, and what sqlglot raises on a text that it cannot read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from sqlglot.errors import SqlglotError

from ingestion.dialects.cursor import Code, Edit

REFUSALS = (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, IndexError, KeyError)
"""Not all that sqlglot raises on such a text is its own error: its rules look into parts that are not there."""

Repair: TypeAlias = Callable[[Code], Iterator[Edit]]

BY_POSITION = "by_position"
"""The option that stands for COPY INTO's BY POSITION."""
ANY_FUNCTION = "_"
"""The function that stands for a lambda of APPLY, whose name no column has."""
