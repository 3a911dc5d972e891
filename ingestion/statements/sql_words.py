"""Whether a text is SQL at all, or a number, a name or a sentence that stood where a statement was looked for."""

from __future__ import annotations

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import keywords
from ingestion.lexing import WORD, tokens

_WORDS = keywords(
    "select sel insert ins update upd delete del merge create alter drop truncate table view values from into grant"
    " revoke exec execute"
)


def holds_sql(text: str, dialect: Dialect | str) -> bool:
    """Whether one of SQL's own words stands in the text. Raises Unparsable where a quote or comment never ends."""
    dialect = dialect_of(dialect) if isinstance(dialect, str) else dialect
    return any(token.kind == WORD and token.text.lower() in _WORDS for token in tokens(text, dialect))
