"""Policies over columns: what a flow does to a value, which rule a column falls under, and how tags go along
lineage.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.functions import AGGREGATES, COUNTS, GROUPINGS, HASHES, ORDERS, RETURNING
from ingestion.errors import RecordError
from ingestion.model import fqn
from ingestion.model.lineage import LineageType, Subtype
from ingestion.walk import TABLE, ColumnNode, EdgeIndex, Hop, Walk, node_name

_STOPPING = (AGGREGATES - RETURNING) | COUNTS | HASHES | ORDERS | GROUPINGS

_NONE: frozenset[str] = frozenset()

Path = tuple[str, ...]
"""The full names of the columns from the first one on."""


# Whether a value can be read in what is made of it, as a dependency's subtype and expression tell.


class ValueFlow(StrEnum):
    """What becomes of a source's value: it can be read in the target, or not, or nobody can tell."""

    KEPT = "kept"
    AGGREGATED = "aggregated"
    MASKED = "masked"
    INDIRECT = "indirect"
    UNCLEAR = "unclear"


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
    return tuple(_enclosing_functions(code, column))


def _enclosing_functions(code: Code, column: str) -> Iterator[tuple[str, ...]]:
    stack: list[str] = []
    for position in range(len(code.tokens)):
        word = code.word(position)
        if word == "(":
            stack.append(code.word(position - 1).upper())
        elif word == ")":
            if stack:
                stack.pop()
        elif code.name(position).casefold() == column and code.word(position + 1) not in (".", "("):
            yield tuple(name for name in stack if name)


# Which tag travels from which columns, through what, and where it may not go.


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


def matches(column: ColumnNode, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns fits the column's full name or its end, part by part, whatever its case.

    `*` is any run of characters in one part of a name: `customers.e*` fits `shop.public.customers.email`.
    """
    parts = tuple(part.casefold() for part in fqn.split(node_name(column)))
    return any(_fits(parts, _pattern_parts(pattern)) for pattern in patterns)


def _fits(parts: tuple[str, ...], pattern: tuple[re.Pattern[str], ...]) -> bool:
    tail = parts[-len(pattern) :]
    return len(tail) == len(pattern) and all(one.fullmatch(part) for one, part in zip(pattern, tail, strict=True))


@lru_cache(maxsize=1_000)
def _pattern_parts(pattern: str) -> tuple[re.Pattern[str], ...]:
    parts = (re.escape(part.casefold()).replace(r"\*", ".*") for part in fqn.split(pattern))
    return tuple(re.compile(part, re.DOTALL) for part in parts)


# Where tags travel: a fixed point over certain dependencies between columns.


@dataclass(frozen=True, slots=True)
class TaggedColumns:
    """Columns with the tags that people set on them, and what is said between them.

    `columns` are the paths of each table's columns.
    """

    tags: Mapping[ColumnNode, frozenset[str]]
    columns: Mapping[str, tuple[str, ...]]
    dependencies: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True, order=True)
class Review:
    """A tag that a person has to decide on, and why it is not derived."""

    column: str
    tag: str
    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Propagation:
    """For each column the tags that are derived, each with its shortest path; and what nobody but a person can tell."""

    derived: Mapping[ColumnNode, Mapping[str, Path]]
    review: tuple[Review, ...]


@dataclass(frozen=True, slots=True)
class _TagState:
    """A tag on its way; `left`: what a stop has left of it."""

    rule: int
    column: ColumnNode
    tag: str
    left: bool


def propagate(graph: TaggedColumns, policy: Policy) -> Propagation:
    """The tags that follow from those set by hand and from the rules' patterns.

    What is not certain (an ambiguous name, columns that are not known, an aggregate without its expression) carries no
    tag: it goes to the review.
    """
    known = EdgeIndex.of(graph.dependencies, upstream=False)
    uncertain: dict[tuple[ColumnNode, str], Review] = {}

    def hops(states: Sequence[_TagState]) -> Iterator[Hop[_TagState, Dependency]]:
        for state in sorted(states, key=_order):
            for hop in known.hops([state.column]):
                why = _doubt(policy.rules[state.rule], hop.edge)
                for reached in _next(graph, policy, state, hop.edge):
                    if not policy.allows(reached.column, reached.tag):
                        continue
                    if why is None:
                        yield Hop(state, reached, hop.strength, hop.edge)
                    else:
                        path = (*paths[state], node_name(reached.column))
                        uncertain.setdefault((reached.column, reached.tag), _review(reached, path, why))

    walk = Walk(_starts(graph, policy), hops, rank=lambda hop: paths[hop.start])
    paths: dict[_TagState, Path] = {state: (node_name(state.column),) for state in walk.frontier}
    for _ in walk.levels():
        for hop in filter(None, map(walk.arrivals.get, walk.frontier)):
            paths[hop.end] = (*paths[hop.start], node_name(hop.end.column))
    return _result(graph, policy, paths, uncertain)


def _order(state: _TagState) -> tuple[str, str, int, bool]:
    return node_name(state.column), state.tag, state.rule, state.left


def _starts(graph: TaggedColumns, policy: Policy) -> Iterator[_TagState]:
    nodes = {*graph.tags, *((table, path) for table, paths in graph.columns.items() for path in paths)}
    for number, rule in enumerate(policy.rules):
        sources = frozenset(rule.tags or (() if rule.columns else (rule.tag,)))
        for node in nodes:
            starts = not sources.isdisjoint(graph.tags.get(node, ())) or matches(node, rule.columns)
            if starts and policy.allows(node, rule.tag):
                yield _TagState(number, node, rule.tag, left=False)


def _next(graph: TaggedColumns, policy: Policy, state: _TagState, one: Dependency) -> Iterator[_TagState]:
    rule = policy.rules[state.rule]
    flow = value_flow(one, rule.keeps, rule.stops)
    doubtful = _doubt(rule, one) is not None
    if flow is ValueFlow.KEPT or (doubtful and one.type != LineageType.INDIRECT):
        tag, left = state.tag, state.left
    elif not state.left and flow in rule.leaves:
        tag, left = rule.leaves[flow], True
    else:
        return
    whole = one.target[1] is None and not doubtful
    targets = [(one.target[0], path) for path in graph.columns.get(one.target[0], ())] if whole else [one.target]
    for target in targets:
        if target != state.column:
            yield _TagState(state.rule, target, tag, left)


def _doubt(rule: PolicyRule, one: Dependency) -> str | None:
    """Why a dependency carries no tag for certain, None where it does, or surely does not."""
    if one.source[1] is None or (one.target[1] is None and one.type == LineageType.DIRECT) or one.type == TABLE:
        return "it is not known which columns are read or filled"
    if not one.certain:
        return "it is not certain that this column is meant"
    if value_flow(one, rule.keeps, rule.stops) is ValueFlow.UNCLEAR:
        return "the expression does not tell whether values get through"
    return None


def _review(state: _TagState, path: Path, why: str) -> Review:
    return Review(node_name(state.column), state.tag, path, why)


def _result(
    graph: TaggedColumns,
    policy: Policy,
    paths: Mapping[_TagState, Path],
    uncertain: Mapping[tuple[ColumnNode, str], Review],
) -> Propagation:
    reached: dict[ColumnNode, dict[str, Path]] = defaultdict(dict)
    for state, path in sorted(paths.items(), key=lambda item: (len(item[1]), item[1])):
        reached[state.column].setdefault(state.tag, path)
    known = {(column, tag) for found in (graph.tags, reached) for column, tags in found.items() for tag in tags}
    review = [one for key, one in uncertain.items() if key not in known]
    derived: dict[ColumnNode, dict[str, Path]] = {}
    for column, tags in reached.items():
        by_hand = graph.tags.get(column, frozenset())
        for tag, path in tags.items():
            if tag in by_hand or policy.stronger(tag, tags):
                continue
            if against := policy.excluded_tags(tag, sorted(by_hand)):
                review.append(Review(node_name(column), tag, path, f"{', '.join(against)} was set on it by hand"))
            else:
                derived.setdefault(column, {})[tag] = path
    return Propagation(derived, tuple(sorted(review)))
