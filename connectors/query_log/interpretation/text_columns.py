"""Which column cannot hold the text of statements, whatever it is called."""

from __future__ import annotations

import re
from collections.abc import Sequence

from connectors.query_log.interpretation.values import NULLS

# numbers, flags, times, and the ids that platforms give to queries: with a digit and without a blank
_NO_TEXT = re.compile(
    r"[-+]?\d[\d.,_eE+-]*|true|false|t|f|y|n|\d{4}-\d\d-\d\d[T ][\d:.]+\s*\S*|(?=\S*\d)[0-9A-Fa-f_-]{8,}|"
    r"(?=[^\s()]*\d)[0-9A-Za-z]+(?:[_-][0-9A-Za-z]+){3,}",
    re.IGNORECASE,
)


def holds_text(values: Sequence[str]) -> bool:
    """Whether these values may be statements: not where all of them are numbers, flags, times or ids."""
    given = [value for value in values if value not in NULLS]
    return not given or not all(_NO_TEXT.fullmatch(value.strip()) for value in given)
