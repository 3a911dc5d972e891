"""Where tags travel: a fixed point over certain dependencies between columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingestion.model import LineageType
from ingestion.policies.rules import Policy, PolicyRule, column_name, matches
from ingestion.policies.values import ColumnNode, Dependency, ValueFlow, value_flow

Path = tuple[str, ...]
"""The full names of the columns from the first one on."""


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
    out: dict[ColumnNode, list[Dependency]] = defaultdict(list)
    for one in graph.dependencies:
        out[one.source].append(one)
    paths: dict[_TagState, Path] = {}
    uncertain: dict[tuple[ColumnNode, str], Review] = {}
    frontier = sorted(_starts(graph, policy), key=_order)
    paths.update({state: (column_name(state.column),) for state in frontier})
    while frontier:
        following: dict[_TagState, Path] = {}
        for state in frontier:
            for one in (*out.get(state.column, ()), *_of_table(out, state.column)):
                for reached in _next(graph, policy, state, one):
                    path = (*paths[state], column_name(reached.column))
                    if not policy.allows(reached.column, reached.tag):
                        continue
                    if (why := _doubt(policy.rules[state.rule], one)) is not None:
                        uncertain.setdefault((reached.column, reached.tag), _review(reached, path, why))
                    elif reached not in paths and (reached not in following or path < following[reached]):
                        following[reached] = path
        paths.update(following)
        frontier = sorted(following, key=_order)
    return _result(graph, policy, paths, uncertain)


def _of_table(out: Mapping[ColumnNode, list[Dependency]], column: ColumnNode) -> list[Dependency]:
    """What is said of the column's whole table: it is not known which columns are read."""
    return out.get((column[0], None), []) if column[1] is not None else []


def _order(state: _TagState) -> tuple[str, str, int, bool]:
    return column_name(state.column), state.tag, state.rule, state.left


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
    if one.source[1] is None or (one.target[1] is None and one.type == LineageType.DIRECT) or one.type == "TABLE":
        return "it is not known which columns are read or filled"
    if not one.certain:
        return "it is not certain that this column is meant"
    if value_flow(one, rule.keeps, rule.stops) is ValueFlow.UNCLEAR:
        return "the expression does not tell whether values get through"
    return None


def _review(state: _TagState, path: Path, why: str) -> Review:
    return Review(column_name(state.column), state.tag, path, why)


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
    review = [one for place, one in uncertain.items() if place not in known]
    derived: dict[ColumnNode, dict[str, Path]] = {}
    for column, tags in reached.items():
        by_hand = graph.tags.get(column, frozenset())
        for tag, path in tags.items():
            if tag in by_hand or policy.stronger(tag, tags):
                continue
            if against := policy.excluded_tags(tag, sorted(by_hand)):
                review.append(Review(column_name(column), tag, path, f"{', '.join(against)} was set on it by hand"))
            else:
                derived.setdefault(column, {})[tag] = path
    return Propagation(derived, tuple(sorted(review)))
