"""Row patterns: what sqlglot does not know of MATCH_RECOGNIZE, and of patterns in a window, written so that it does."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot.repairs.edits import ANY_FUNCTION

_RECOGNIZER = "match_recognize"
_BEFORE_RELATION = keywords("( , from join using")
_FRAMES = keywords("rows range groups")
_FRAME_OF_MATCHES = ("between", "current", "row")
"""What stands behind ROWS where a window has a pattern; `c AS (SELECT rows, pattern(a) FROM s)` is none."""
_BEHIND_FRAME = keywords("after initial seek pattern")
_NAMED_ROWS = keywords("first last next")
_OF_WHICH_ROWS = keywords("final running")


def is_misread_pattern(lowered: str) -> bool:
    """Whether sqlglot takes a text in lower case that has row patterns, and takes it wrong.

    `FROM t MATCH_RECOGNIZE (…) AS m JOIN u` would look for rows in what t and u give together.
    """
    return _RECOGNIZER in lowered


def pattern_rows(code: Code) -> Iterator[Edit]:
    """MATCH_RECOGNIZE: FINAL and RUNNING before a call within a measure, SUBSET u = (a, b) before DEFINE, SKIP TO a.

    A variable of SUBSET is a row of the input's like any other.
    """
    for opening in range(1, len(code)):
        if not code.stands(opening - 1, _RECOGNIZER, "("):
            continue
        for number in range(opening, code.closing(opening)):
            if code.word(number) in _OF_WHICH_ROWS and code.is_name(number + 1):
                yield code.edit(number, number)
            elif code.stands(number - 1, "skip", "to") and code.word(number + 1) not in _NAMED_ROWS:
                yield code.edit(number, number, "TO LAST")
            elif code.stands(number - 1, ")", "subset"):
                define = next((n for n in code.outside(number) if code.word(n) == "define"), None)
                if define is not None:
                    yield code.edit(number, define - 1)


def rows_of_one_relation(code: Code) -> Iterator[Edit]:
    """FROM t AS x MATCH_RECOGNIZE (…) AS m  is  FROM (SELECT * FROM t AS x MATCH_RECOGNIZE (…)) AS m.

    sqlglot has one for all that FROM names, where it is of the relation before it alone.
    """
    for number in range(2, len(code)):
        if not code.stands(number, _RECOGNIZER, "("):
            continue
        first = number
        while first > 0 and code.word(first - 1) not in _BEFORE_RELATION:
            first = code.opening(first - 1) if code.word(first - 1) == ")" else first - 1
        if code.words(first - 4, 4) != ("(", "select", "*", "from"):
            yield code.start_of(first), code.start_of(first), "(SELECT * FROM "
            last = code.closing(number + 1)
            yield code.end_of(last), code.end_of(last), ")"


def patterns_in_windows(code: Code) -> Iterator[Edit]:
    """OVER (PARTITION BY k ORDER BY d MEASURES LAST(a.v) AS m ROWS … PATTERN (a b+) DEFINE b AS b.v > a.v).

    The conditions decide which rows a window has, as its order does, and `m OVER w` is the measure over the window.
    """
    measures: dict[str, str] = {}
    for opening in range(1, len(code)):
        if code.word(opening) == "(" and code.word(opening - 1) in ("over", "as"):
            yield from _window(code, opening, measures)
    for number in range(len(code) - 1) if measures else ():
        if code.word(number + 1) == "over" and code.name(number) in measures:
            yield code.edit(number, number, f"{ANY_FUNCTION}({measures[code.name(number)]})")


def _window(code: Code, opening: int, measures: dict[str, str]) -> Iterator[Edit]:
    """The edits of what stands between a window's parentheses; its measures join those that are known."""
    closing = code.closing(opening)
    clauses = list(code.outside(opening + 1, closing))
    pattern = next((n for n in clauses if code.stands(n, "pattern", "(")), closing)
    frame = next((n for n in clauses if code.word(n) in _FRAMES and code.words(n + 1, 3) == _FRAME_OF_MATCHES), closing)
    if not frame < pattern < closing:
        return
    variables = {code.name(n) for n in range(pattern + 2, code.closing(pattern + 1))}
    variables |= {code.name(n + 1) for n in clauses if n > pattern and code.word(n) == "subset"}
    start = next((n for n in clauses if n < frame and code.word(n) == "measures"), frame)
    for first, last in code.items(start + 1, frame):
        measures[code.name(last - 1)] = _of_rows(code, first, last - 2, variables)
    define = next((n for n in clauses if n > pattern and code.word(n) == "define"), closing)
    keys = [f"({_of_rows(code, first + 2, last, variables)})" for first, last in code.items(define + 1, closing)]
    ordered = any(code.stands(n, "order", "by") for n in clauses if n < start)
    order = f"{',' if ordered else 'ORDER BY'} {', '.join(keys)} " if keys else ""
    yield code.start_of(start), code.start_of(frame), order
    yield code.edit(next(n for n in clauses if n > frame and code.word(n) in _BEHIND_FRAME), closing - 1)


def _of_rows(code: Code, first: int, last: int, variables: set[str]) -> str:
    """An expression over rows without the variables of the pattern: FINAL LAST(b.v) || CLASSIFIER(b) is of v alone."""
    text = code.between(first, last)
    inner = Code.of(text, code.dialect)
    edits: list[Edit] = []
    for number in range(len(inner)):
        if inner.word(number + 1) == "." and inner.word(number - 1) != "." and inner.name(number) in variables:
            edits.append(inner.edit(number, number + 1, ""))
        elif inner.stands(number, "classifier", "("):
            edits.append(inner.edit(number + 1, inner.closing(number + 1), "()"))
        elif inner.word(number) in _OF_WHICH_ROWS and inner.is_name(number + 1):
            edits.append(inner.edit(number, number))
    return with_edits(text, edits)
