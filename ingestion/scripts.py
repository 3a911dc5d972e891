"""SQL files as people keep them: one statement, a script, or a lone query that stands for a model."""

from __future__ import annotations

import re

from ingestion.dialects import Dialect
from ingestion.statements import split

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONE_QUERY = re.compile(r"\s*\(*\s*(select|with|from|values)\b", re.IGNORECASE)


def lone_query_as_view(text: str, name: str, dialect: Dialect) -> str:
    """A lone query as the definition of the view `name`, on the same lines (as in dbt); any other text as it is."""
    statements = split(text, dialect.name)
    if len(statements) != 1 or not _LONE_QUERY.match(statements[0].text):
        return text
    opening = dialect.name_quotes[0]
    closing = "]" if opening == "[" else opening
    quoted = name if _PLAIN_NAME.fullmatch(name) else opening + name.replace(closing, closing * 2) + closing
    above = "\n" * (statements[0].line - 1)
    return f"{above}CREATE VIEW {quoted} AS {statements[0].text}"
