"""Databricks' pipelines: APPLY CHANGES, AUTO CDC and CREATE FLOW, as the INSERT that they come to."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, at_depth_zero, span, words

_CLAUSES = keywords("WHERE APPLY SEQUENCE COLUMNS STORED TRACK IGNORE ;")


def pipeline_flow(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """CREATE FLOW f AS INSERT INTO [ONCE] t …, without the flow's name."""
    if not words(tokens, 0, "CREATE", "FLOW"):
        return
    start = next((n for n in range(2, len(tokens)) if words(tokens, n, "AS", "INSERT", "INTO")), None)
    if start is not None:
        yield span(tokens, 0, start)
        if words(tokens, start + 3, "ONCE"):
            yield span(tokens, start + 3, start + 3)


def applied_changes(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """APPLY CHANGES INTO t FROM s KEYS (…) …: the rows of s by the names of its columns, the newest of each key.

    The keys decide which row is written, not what is in it.
    """
    first = next((n for n in at_depth_zero(tokens, 0) if _applies(tokens, n)), None)
    if first is None:
        return
    source = next((n for n in range(first, len(tokens)) if words(tokens, n, "FROM")), None)
    keys = next((n for n in range(source or 0, len(tokens)) if words(tokens, n, "KEYS", "(")), None)
    target = _target(text, tokens, first, source)
    if source is None or keys is None or not target:
        return
    rows = _between(text, tokens, source + 1, keys)
    columns, conditions, order = _clauses(text, tokens, keys + 1)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    by = f" ORDER BY {order}" if order else ""
    last = len(tokens) - 1
    yield span(tokens, 0, last, f"INSERT INTO {target} BY NAME SELECT {columns} FROM {rows}{where}{by}")


def _applies(tokens: list[Token], number: int) -> bool:
    return words(tokens, number, "APPLY", "CHANGES") or words(tokens, number, "AUTO", "CDC")


def _target(text: str, tokens: list[Token], first: int, source: int | None) -> str:
    """What stands behind INTO, or the table that the statement makes."""
    if words(tokens, first + 2, "INTO"):
        return _between(text, tokens, first + 3, source or len(tokens))
    start = next((n + 1 for n in range(first) if words(tokens, n, "TABLE")), None)
    if start is None or not words(tokens, first - 1, "FLOW"):
        return ""
    start += 3 if words(tokens, start, "IF", "NOT", "EXISTS") else 0
    end = start + 1
    while words(tokens, end, "."):
        end += 2
    return _between(text, tokens, start, end)


def _clauses(text: str, tokens: list[Token], start: int) -> tuple[str, list[str], str]:
    """The select list, the conditions under which rows are written, and what orders them."""
    columns, conditions, order = "*", [], ""
    places = [n for n in at_depth_zero(tokens, start) if tokens[n].text.upper() in _CLAUSES]
    for place, end in zip(places, [*places[1:], len(tokens)], strict=True):
        if words(tokens, place, "WHERE"):
            conditions.append(f"({_between(text, tokens, place + 1, end)})")
        elif words(tokens, place, "APPLY", "AS") and words(tokens, place + 3, "WHEN"):
            conditions.append(f"NOT ({_between(text, tokens, place + 4, end)})")
        elif words(tokens, place, "SEQUENCE", "BY"):
            order = _between(text, tokens, place + 2, end)
        elif words(tokens, place, "COLUMNS"):
            listed = tokens[place + 1].token_type is TokenType.L_PAREN
            columns = _between(text, tokens, place + 1 + listed, end - listed)
    return columns, conditions, order


def _between(text: str, tokens: list[Token], start: int, end: int) -> str:
    return text[tokens[start].start : tokens[end - 1].end + 1] if start < end <= len(tokens) else ""
