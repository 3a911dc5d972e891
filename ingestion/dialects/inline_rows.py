"""The rows that stand behind a ClickHouse statement, in a format that it names: INSERT INTO t FORMAT CSV 1,2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import ENDS_FROM
from ingestion.dialects.lexing import NAME, WORD, Token

_NO_FORMAT = ENDS_FROM - {"values"} | keywords(
    "and or xor not in like ilike is between global asc desc nulls collate with as then when else end div mod on using"
)
"""May stand behind a column that is called format, where a format of rows has a name of its own."""
_BEFORE_NAME = keywords(". into table function")
"""What behind these is called format, input or select is a table."""


class RowFormat(NamedTuple):
    """The format of an INSERT's rows: where its name stands, and whether a query before it reads them by input()."""

    token: Token
    behind_query: bool


def row_format(found: Iterable[Token]) -> RowFormat | None:
    """The format that the rows behind it are written in; no token behind it is looked at, as rows are no SQL.

    Behind a query that reads no input() there are no rows. A column may be called select: `INSERT INTO t (a, select)`
    has no query.
    """
    depth, inserts, queries, reads = 0, False, False, False
    before = last = ""
    for token in found:
        word = token.text.lower()
        has_rows = inserts and depth == 0 and (reads or not queries)
        named = token.kind == NAME or (token.kind == WORD and word not in _NO_FORMAT)
        if has_rows and named and last == "format" and before not in _BEFORE_NAME:
            return RowFormat(token, queries)
        selects = (word == "select" and depth == 0 and last not in _BEFORE_NAME) or (
            last == "select" and before == "(" and word not in (",", ")")
        )
        depth += (word == "(") - (word == ")")
        inserts = inserts or word == "insert"
        queries = queries or (inserts and selects)
        reads = reads or (last == "input" and word == "(" and before not in _BEFORE_NAME)
        before, last = last, word
    return None
