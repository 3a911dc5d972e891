"""Snowflake's chains, `a ->> b`: statements one after the other, in which FROM $1 reads the result of the one before.

Its documentation, "Flow operators": $n is the result of the nth statement before it in the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES

_ARROW = "->>"
_BEFORE_STATEMENT = keywords("; begin then else do loop")
_VERBS = QUERIES | keywords("insert update delete merge create copy call show describe desc list ls execute (")
_READS = keywords("from join")
_RESULT_OF_NO_QUERY = "TABLE(RESULT_SCAN(LAST_QUERY_ID()))"
"""Of a SHOW or an INSERT: rows that come from no table."""
_MOST_PUT_IN = 100_000
"""Characters of the queries that are put into one statement: those that read one twice grow without end."""


def may_be_chain(text: str, dialect: Dialect) -> bool:
    """Whether the text may have several statements, told without looking at quotes."""
    return dialect.statement_chains and _ARROW in text


def without_chains(text: str, dialect: Dialect) -> str:
    """The text with semicolons between the statements of chains, and queries in the places of their results.

    `SELECT a FROM s ->> INSERT INTO t SELECT a FROM $1` becomes `SELECT a FROM s; INSERT INTO t SELECT a FROM (SELECT a
    FROM s)`.
    """
    if not may_be_chain(text, dialect):
        return text
    code = Code.of(text, dialect)
    edits: list[Edit] = []
    before: list[str] = []
    arrows = list(_arrows(code))
    for arrow in arrows:
        first = _beginning(code, arrow)
        before = [*(before if first - len(_ARROW) in arrows else []), _text_with_edits(code, (first, arrow), edits)]
        edits.append(code.edit(arrow, arrow + 2, ";"))
        edits += _results(code, (arrow + len(_ARROW), _end(code, arrow + len(_ARROW))), before)
    return with_edits(text, edits)


def _arrows(code: Code) -> Iterator[int]:
    for number in code.outside(0):
        if code.stands(number, *_ARROW) and code.end_of(number + 2) - code.start_of(number) == len(_ARROW):
            yield number


def _beginning(code: Code, arrow: int) -> int:
    """Where the statement begins that ends at an arrow."""
    for number in range(arrow - 1, -1, -1):
        if code.stands(number - 2, *_ARROW):
            return number + 1
        if code.word(number) in _BEFORE_STATEMENT and code.word(number + 1) in _VERBS:
            return number + 1
    return 0


def _end(code: Code, first: int) -> int:
    """Where the statement ends that begins behind an arrow."""
    for number in code.outside(first):
        if code.word(number) == ";" or code.stands(number, *_ARROW):
            return number
    return len(code)


def _text_with_edits(code: Code, span: tuple[int, int], edits: Sequence[Edit]) -> str:
    """The text from token to token, with those of the edits that are in it."""
    start = code.start_of(span[0])
    own = [(begin - start, end - start, put) for begin, end, put in edits if begin >= start]
    return with_edits(code.between(*span), own)


def _results(code: Code, span: tuple[int, int], before: Sequence[str]) -> Iterator[Edit]:
    room = _MOST_PUT_IN
    for number in range(*span):
        back = code.word(number)[1:] if code.word(number).startswith("$") else ""
        if code.word(number - 1) not in _READS or not back.isdecimal() or not 0 < int(back) <= len(before):
            continue
        query = before[-int(back)]
        is_query = Code.of(query, code.dialect, 1).word(0) in QUERIES
        put = f"({_on_one_line(query)})" if is_query else _RESULT_OF_NO_QUERY
        room -= len(put)
        if room >= 0:
            yield code.edit(number, number, put)


def _on_one_line(query: str) -> str:
    """The query, which moves no line behind it; one with comments keeps its own, which end them."""
    return query if "--" in query or "//" in query else query.replace("\n", " ")
