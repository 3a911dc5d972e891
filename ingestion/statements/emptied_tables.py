"""Which table a statement leaves without a row, and whether it certainly runs where it stands."""

from __future__ import annotations

import re

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords

EMPTYING = ("truncate", "delete")
_BEHIND_NAME = keywords("all cascade continue drop identity immediate restart restrict reuse storage ;")
_CONTROL_FLOW = re.compile(
    r"\b(?:while|loop|until|else?\s*+if|elif|goto|rollback|abort|exception|handler|catch|end\s++(?:if|case|for|repeat))\b"
    r"|\bif\s++(?!(?:not\s++)?exists\s++[^\s(])|\\(?:if|elif)\b|\bset\s++rowcount\b"
)
"""Words by which statements are left out, run again, taken back or, in T-SQL, stop after some rows.

Blocks are not known in every dialect.
"""


def emptied_table(text: str, dialect: Dialect) -> tuple[str, ...]:
    """The parts of the name of the table that `TRUNCATE TABLE w` and `DELETE FROM w` empty; () of any other text."""
    code = Code.of(text, dialect)
    if code.word(0) not in EMPTYING:
        return ()
    first = 1 + (code.word(1) in ("table", "from"))
    name, end = code.dotted_name(first + 2 * code.stands(first, "if", "exists"))
    return name if all(code.word(number) in _BEHIND_NAME for number in range(end, len(code))) else ()


def is_straight(text: str) -> bool:
    """Whether each statement of a script or body runs once, in the order it has, as far as its words tell."""
    return _CONTROL_FLOW.search(text.lower()) is None
