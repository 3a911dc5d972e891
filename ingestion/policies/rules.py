"""Which tag travels from which columns, through what, and where it may not go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from ingestion.names import fqn
from ingestion.policies.values import ColumnNode, ValueFlow


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """`tag` travels from the columns that a pattern names or that have one of `tags` by hand.

    `keeps` and `stops` are functions (in upper case) that do otherwise than they usually do. `leaves`: the tag that
    what stops a value leaves on its result, which only what keeps values carries on from there.
    """

    tag: str
    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    keeps: frozenset[str] = frozenset()
    stops: frozenset[str] = frozenset()
    leaves: Mapping[ValueFlow, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Declassification:
    """Columns on which a person says that tags (all, if none is named) do not hold, why, and the last day of it."""

    columns: tuple[str, ...]
    reason: str
    until: date
    tags: tuple[str, ...] = ()

    def covers(self, column: ColumnNode, tag: str) -> bool:
        return (not self.tags or tag in self.tags) and matches(column, self.columns)


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules, exceptions from them, and groups of tags of which a column has at most one, the strongest first."""

    rules: tuple[PolicyRule, ...]
    declassified: tuple[Declassification, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()

    def in_force(self, today: date) -> Policy:
        """The policy without the exceptions that have ended."""
        return Policy(self.rules, tuple(one for one in self.declassified if today <= one.until), self.exclusive)

    def ended_exceptions(self, today: date) -> tuple[Declassification, ...]:
        """The exceptions that have ended."""
        return tuple(one for one in self.declassified if today > one.until)

    def allows(self, column: ColumnNode, tag: str) -> bool:
        """Whether no exception keeps a tag off a column."""
        return not any(one.covers(column, tag) for one in self.declassified)

    def stronger(self, tag: str, others: Iterable[str]) -> tuple[str, ...]:
        """Those of the other tags that a column cannot have beside this one, and that win against it."""
        groups = [group[: group.index(tag)] for group in self.exclusive if tag in group]
        return tuple(other for other in others if any(other in group for group in groups))

    def excluded_tags(self, tag: str, others: Iterable[str]) -> tuple[str, ...]:
        """Those of the other tags that a column cannot have beside this one."""
        return tuple(other for other in others if other != tag and any({tag, other} <= set(g) for g in self.exclusive))


def column_name(column: ColumnNode) -> str:
    """The full name of a column."""
    return column[0] if column[1] is None else f"{column[0]}.{column[1]}"


def matches(column: ColumnNode, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns fits the column's full name or its end, part by part, whatever its case.

    `*` is any run of characters in one part of a name: `customers.e*` fits `shop.public.customers.email`.
    """
    parts = tuple(part.casefold() for part in fqn.split(column_name(column)))
    return any(_fits(parts, _pattern_parts(pattern)) for pattern in patterns)


def _fits(parts: tuple[str, ...], pattern: tuple[re.Pattern[str], ...]) -> bool:
    tail = parts[-len(pattern) :]
    return len(tail) == len(pattern) and all(one.fullmatch(part) for one, part in zip(pattern, tail, strict=True))


@lru_cache(maxsize=1_000)
def _pattern_parts(pattern: str) -> tuple[re.Pattern[str], ...]:
    parts = (re.escape(part.casefold()).replace(r"\*", ".*") for part in fqn.split(pattern))
    return tuple(re.compile(part, re.DOTALL) for part in parts)
