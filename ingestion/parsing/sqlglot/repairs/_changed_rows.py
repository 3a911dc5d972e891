"""Db2: the rows that a change has changed, read by a query, and columns of theirs that the table has not."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import CHANGES, QUERY_STARTS
from ingestion.errors import FinalRefusal

_CHANGED = keywords("final old new")
_BEHIND_SET = keywords("where from returning")
_BETWEEN_QUERIES = keywords("union except intersect minus )")
_BEHIND_LIST = keywords("from into union except intersect minus")


def rows_of_changes(code: Code) -> Iterator[Edit]:
    """Db2: FROM FINAL TABLE (INSERT …), OLD TABLE (DELETE …): a change in WITH that returns its rows."""
    for number in range(1, len(code) - 3):
        if code.word(number) not in _CHANGED or not code.stands(number + 1, "table", "("):
            continue
        closing = code.closing(number + 2)
        if code.word(number + 3) in CHANGES and closing < len(code):
            name = f"changed_rows_{number}"
            item = f"{name} AS ({code.between(number + 3, closing)} RETURNING *)"
            yield code.edit(number, closing, name)
            with_ = code.word(0) == "with"
            at = code.start_of(1 if with_ else 0)
            yield at, at, f"{item}, " if with_ else f"WITH {item} "
            return


def included_columns(code: Code) -> Iterator[Edit]:
    """Db2: without the columns that only who reads the changed rows sees, as the table has none of them.

    `INSERT INTO t (a) INCLUDE (x INT) SELECT b, c FROM s` fills a with b, and x is c;
    `UPDATE t INCLUDE (x INT) SET a = b, x = a` sets a.
    """
    for number in range(2, len(code) - 4):
        if not code.stands(number, "include", "(") or not (code.is_name(number + 2) and code.is_name(number + 3)):
            continue
        closing = code.closing(number + 1)
        verb = next((n for n in range(number - 1, -1, -1) if code.word(n) in CHANGES), 0)
        end = next((n for n in code.outside(verb) if code.word(n) == "returning"), _end_of_change(code, verb))
        included = tuple(code.name(first) for first, _ in code.items(number + 2, closing))
        if code.stands(end, "returning", "*"):
            unknown = "".join(f", NULL AS {code.between(n, n + 1)}" for n, _ in code.items(number + 2, closing))
            yield code.end_of(end + 1), code.end_of(end + 1), unknown
        if code.word(verb) == "insert":
            yield from _inserted_without(code, range(number, closing), end, included)
        elif code.word(verb) != "merge":
            yield code.edit(number, closing)
            yield from _assigned_without(code, range(closing + 1, end), included)
        else:
            raise FinalRefusal("columns are included in the rows of a MERGE")
        return


def _end_of_change(code: Code, verb: int) -> int:
    """Behind the last token of a statement that may stand in brackets."""
    end = code.end_around(verb)
    return end - (code.word(end - 1) == ";")


def _inserted_without(code: Code, clause: range, end: int, included: tuple[str, ...]) -> Iterator[Edit]:
    """The query of an INSERT without the values of the included columns: those that the list names, or its last."""
    before, start = code.opening(clause.start - 1), clause.stop + 1
    listed = range(before, clause.start - 1) if before else range(0)
    if code.word(start) == "(" and code.word(start + 1) not in (*QUERY_STARTS, "("):
        start, listed = code.closing(start) + 1, range(start, code.closing(start))
    start += 3 * (code.word(start) == "overriding")  # OVERRIDING USER VALUE
    items = [(code.name(first), code.between(first, last)) for first, last in code.items(listed.start + 1, listed.stop)]
    kept = ", ".join(text for name, text in items if name not in included)
    if listed:
        named = {name for name, _ in items}
        defined = code.items(clause.start + 2, clause.stop)
        rest = (code.between(first, first + 1) for first, _ in defined if code.name(first) not in named)
        names = ", ".join([*(text for _, text in items), *rest])
        first = min(clause.start, listed.start)
        yield code.start_of(first), code.start_of(start), f"({kept}) SELECT {kept} FROM ("
        yield code.end_of(end - 1), code.end_of(end - 1), f") AS included ({names})"
        return
    yield code.edit(clause.start, start - 1)
    for values in _rows_of_query(code, start, end):
        if len(values) <= len(included):
            raise FinalRefusal("the included columns have more values than the rows")
        yield code.edit(values[-len(included)][0] - 1, values[-1][1] - 1)


def _rows_of_query(code: Code, first: int, end: int) -> Iterator[list[tuple[int, int]]]:
    """The values of each SELECT and each row of VALUES that a query puts together.

    Raises FinalRefusal where a star stands for some, as which they are is not told then.
    """
    for number in code.outside(first, end):
        word = code.word(number)
        before = number - 1 - (code.word(number - 1) in ("all", "distinct"))
        begins = number == first or code.word(before) in _BETWEEN_QUERIES
        if word == "(" and begins:
            yield from _rows_of_query(code, number + 1, code.closing(number))
        elif word in ("select", "sel"):
            begin = number + 1 + (code.word(number + 1) in ("all", "distinct"))
            until = next((n for n in code.outside(begin, end) if code.word(n) in _BEHIND_LIST), end)
            values = list(code.items(begin, until))
            if any(code.word(last - 1) == "*" for _, last in values):
                raise FinalRefusal("a star stands for the values of included columns")
            yield values
        elif word == "values":
            rows = [n for n in code.outside(number + 1, end) if code.word(n) == "("]
            yield from (list(code.items(n + 1, code.closing(n))) for n in rows)


def _assigned_without(code: Code, clauses: range, included: tuple[str, ...]) -> Iterator[Edit]:
    """SET without what it gives to the included columns."""
    set_ = next((n for n in code.outside(clauses.start, clauses.stop) if code.word(n) == "set"), None)
    if set_ is None:
        return
    end = next((n for n in code.outside(set_, clauses.stop) if code.word(n) in _BEHIND_SET), clauses.stop)
    items = (_assignment_without(code, first, last, included) for first, last in code.items(set_ + 1, end))
    kept = [item for item in items if item]
    if kept:
        yield code.edit(set_ + 1, end - 1, ", ".join(kept))
    else:  # a DELETE has no others
        yield code.edit(set_, end - 1)


def _assignment_without(code: Code, first: int, last: int, included: tuple[str, ...]) -> str:
    """What is left of `a = b` or `(a, x) = (b, c)`, "" of none."""
    if code.word(first) != "(":
        return "" if code.name(first) in included else code.between(first, last)
    opening = code.closing(first) + 2
    names = list(code.items(first + 1, code.closing(first)))
    kept = [number for number, (name, _) in enumerate(names) if code.name(name) not in included]
    if len(kept) in (0, len(names)):
        return code.between(first, last) if kept else ""
    is_query = code.word(opening + 1) in (*QUERY_STARTS, "(")
    begin, end = opening + 1, code.closing(opening)
    rows = list(_rows_of_query(code, begin, end)) if is_query else [list(code.items(begin, end))]
    if len(rows) != 1 or len(rows[0]) != len(names):
        raise FinalRefusal("which values the included columns have is not told")
    values = rows[0]
    around = (code.between(opening, values[0][0]), code.between(values[-1][1], last))
    left, right = (", ".join(code.between(*items[number]) for number in kept) for items in (names, values))
    return f"({left}) = {around[0]} {right} {around[1]}"
