"""Whether a value can be read in what is made of it, as a dependency's subtype and expression tell."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from ingestion.dialects import dialect_of
from ingestion.dialects.functions import AGGREGATES, COUNTS, GROUPINGS, HASHES, ORDERS, RETURNING
from ingestion.errors import RecordError
from ingestion.lexing.cursor import Code
from ingestion.model import LineageType, Subtype

_STOPPING = (AGGREGATES - RETURNING) | COUNTS | HASHES | ORDERS | GROUPINGS


class ValueFlow(StrEnum):
    """What becomes of a source's value: it can be read in the target, or not, or nobody can tell."""

    KEPT = "kept"
    AGGREGATED = "aggregated"
    MASKED = "masked"
    INDIRECT = "indirect"
    UNCLEAR = "unclear"


ColumnNode = tuple[str, str | None]
"""The full name of a table (or of whatever else has lineage) and a column's path in it; None: the whole of it."""


class Dependency(Protocol):
    """What a source column is to a target column."""

    @property
    def source(self) -> ColumnNode: ...
    @property
    def target(self) -> ColumnNode: ...
    @property
    def certain(self) -> bool: ...
    @property
    def type(self) -> str: ...
    @property
    def subtype(self) -> str: ...
    @property
    def masking(self) -> bool: ...
    @property
    def expression(self) -> str: ...


_NONE: frozenset[str] = frozenset()


def value_flow(one: Dependency, keeps: frozenset[str] = _NONE, stops: frozenset[str] = _NONE) -> ValueFlow:
    """What becomes of the value of the dependency's source; `keeps` and `stops` are functions to be taken otherwise.

    MAX, MIN, ANY_VALUE and LISTAGG give a value back; COUNT, SUM and AVG do not. Of an expression in which the column
    stands several times, one place where its value gets through is enough.
    """
    if one.type != LineageType.DIRECT:
        return ValueFlow.INDIRECT
    if one.masking and not keeps:
        return ValueFlow.MASKED
    if one.subtype == Subtype.IDENTITY or not one.expression:
        return ValueFlow.KEPT if one.subtype != Subtype.AGGREGATION else ValueFlow.UNCLEAR
    column = (one.source[1] or "").rpartition(".")[2].strip('"')
    enclosing = _functions_around(one.expression, column.casefold())
    if not enclosing:
        return ValueFlow.UNCLEAR if one.subtype == Subtype.AGGREGATION else ValueFlow.KEPT
    flows = [_flow_through(functions, (_STOPPING | stops) - keeps) for functions in enclosing]
    return next((flow for flow in (ValueFlow.KEPT, ValueFlow.AGGREGATED) if flow in flows), ValueFlow.MASKED)


def _flow_through(functions: tuple[str, ...], stopping: frozenset[str]) -> ValueFlow:
    stops = [name for name in functions if name in stopping]
    if not stops:
        return ValueFlow.KEPT
    return ValueFlow.AGGREGATED if all(name in AGGREGATES for name in stops) else ValueFlow.MASKED


@lru_cache(maxsize=20_000)
def _functions_around(expression: str, column: str, dialect: str = "ansi") -> tuple[tuple[str, ...], ...]:
    """For each place of the column in the expression the functions around it, outermost first."""
    try:
        code = Code.of(expression, dialect_of(dialect))
    except RecordError:
        return ()
    return tuple(_places(code, column))


def _places(code: Code, column: str) -> Iterator[tuple[str, ...]]:
    stack: list[str] = []
    for place in range(len(code.tokens)):
        word = code.word(place)
        if word == "(":
            stack.append(code.word(place - 1).upper())
        elif word == ")":
            if stack:
                stack.pop()
        elif code.name(place).casefold() == column and code.word(place + 1) not in (".", "("):
            yield tuple(name for name in stack if name)
