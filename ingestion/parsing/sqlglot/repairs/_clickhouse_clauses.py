"""ClickHouse's clauses that sqlglot does not know, written as those that it does: the lineage is the same."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERY_STARTS

_BEHIND_CONDITION = keywords(
    "where prewhere group having qualify window order limit offset rows range groups settings format into union except"
    " intersect ; )"
)
_CONDITIONS = keywords("where prewhere having")
_LISTS = keywords("order group partition")
_BETWEEN_COUNTS = (",", "offset")
_MORE_ROWS = keywords("totals ties")


def limits_of_groups(code: Code) -> Iterator[Edit]:
    """LIMIT 1, 2 BY a and LIMIT 2 OFFSET 1 BY a as LIMIT 2 BY a: how many rows of each, and not which."""
    for number in range(len(code) - 3):
        if code.word(number) == "limit" and code.word(number + 4) == "by":
            between = code.word(number + 2)
            if between in _BETWEEN_COUNTS:
                count = number + (3 if between == "," else 1)
                yield code.edit(number + 1, number + 3, code.between(count, count + 1))


def without_more_rows(code: Code) -> Iterator[Edit]:
    """Without WITH TOTALS and WITH TIES, a row and some more, which sqlglot knows in few of their places.

    `WITH totals AS (SELECT …)` is a query of that name.
    """
    for number in range(len(code) - 1):
        if code.word(number) == "with" and code.word(number + 1) in _MORE_ROWS and code.word(number + 2) != "as":
            yield code.edit(number, number + 1)


def limited_again(code: Code) -> Iterator[Edit]:
    """LIMIT 1 BY a LIMIT 2, 5  is  LIMIT 1 BY a, of which there are less rows."""
    before = [""]
    for number in range(len(code)):
        word = code.word(number)
        if word == "(":
            before.append("")
        elif word == ")" and len(before) > 1:
            before.pop()
        elif word == "limit" and before[-1] == "by":
            last = number + 1
            while code.word(last + 1) in _BETWEEN_COUNTS:
                last += 2
            yield code.edit(number, last)
        elif word in ("select", "limit") or (word == "by" and before[-1] == "limit"):
            before[-1] = word


def named_in_clauses(code: Code) -> Iterator[Edit]:
    """ORDER BY f(a) AS x, WHERE a = 1 AS x: with parentheses around, as ORDER BY (f(a) AS x)."""
    for number in range(1, len(code)):
        lists = code.word(number) == "by" and code.word(number - 1) in _LISTS
        if lists or code.word(number) in _CONDITIONS:
            end = code.find(number + 1, _BEHIND_CONDITION)
            for first, last in code.items(number + 1, end):
                named = code.find(first, keywords("as"), last)
                alone = code.word(named + 1) not in QUERY_STARTS and code.word(named + 2) != "("
                if named < last and code.is_name(named + 1) and alone:
                    yield code.start_of(first), code.start_of(first), "("
                    yield code.end_of(named + 1), code.end_of(named + 1), ")"


def quoted_columns(code: Code) -> Iterator[Edit]:
    """map.1 of a column that is called as a type is: it would be the number .1 as a map."""
    for number in range(len(code) - 2):
        first = code.is_word(number) and code.word(number - 1) != "."
        if first and code.word(number + 1) == "." and code.word(number + 2).isdigit():
            yield code.edit(number, number, f"`{code.between(number, number + 1)}`")
