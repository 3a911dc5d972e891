"""Tags along columns: the fixed point, held against a model of ten lines, and what a withdrawn edge leaves."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import pytest

from ingestion.policies import (
    ColumnNode,
    Declassification,
    Policy,
    PolicyRule,
    Propagation,
    TaggedColumns,
    ValueFlow,
    matches,
    propagate,
)

GRAPHS = 300
TODAY = date(2026, 11, 22)


@dataclass(frozen=True)
class Edge:
    """As a catalog has it."""

    source: ColumnNode
    target: ColumnNode
    type: str = "DIRECT"
    subtype: str = "IDENTITY"
    masking: bool = False
    expression: str = ""
    certain: bool = True


HOW: dict[str, dict[str, object]] = {
    "keep": {},
    "max": {"subtype": "AGGREGATION", "expression": "MAX({})"},
    "sum": {"subtype": "AGGREGATION", "expression": "SUM({})"},
    "hash": {"subtype": "TRANSFORMATION", "masking": True, "expression": "MD5({})"},
    "filter": {"type": "INDIRECT", "subtype": "FILTER"},
    "guess": {"certain": False},
}
STOPS = {"sum": ValueFlow.AGGREGATED, "hash": ValueFlow.MASKED, "filter": ValueFlow.INDIRECT}
Drawn = tuple[str, str, str]
"""The numbers of two columns, and how one is made of the other."""


def node(name: str) -> ColumnNode:
    return (f"t{name[0]}", f"c{name}")


def edge(drawn: Drawn) -> Edge:
    source, target, how = drawn
    told = {key: value.format(f"c{source}") if isinstance(value, str) else value for key, value in HOW[how].items()}
    return Edge(node(source), node(target), **told)  # type: ignore[arg-type]


def drawn_case(seed: int) -> tuple[list[Drawn], dict[ColumnNode, frozenset[str]], Policy]:
    """A random graph with circles, tags set by hand, rules and exceptions."""
    pick = random.Random(seed)
    names = [f"{pick.randrange(10)}{number}" for number in range(pick.randint(3, 14))]
    edges = {(pick.choice(names), pick.choice(names), pick.choice(list(HOW))) for _ in range(pick.randint(0, 30))}
    tags = {node(name): frozenset(pick.sample("ABC", pick.randint(1, 2))) for name in pick.sample(names, 2)}
    rules = tuple(
        PolicyRule(
            pick.choice("ABC"),
            tuple(f"*.c{name}" for name in pick.sample(names, pick.randint(0, 2))),
            tuple(pick.sample("ABC", pick.randint(0, 2))),
            leaves={flow: f"{flow}.left" for flow in pick.sample(list(STOPS.values()), pick.randint(0, 3))},
        )
        for _ in range(pick.randint(1, 3))
    )
    tag = (pick.choice("ABC"),)
    kept_off = Declassification((f"*.c{pick.choice(names)}",), "aggregated over years", TODAY, tag)
    return sorted(one for one in edges if one[0] != one[1]), tags, Policy(rules, (kept_off,) if seed % 2 else ())


def model(edges: list[Drawn], tags: dict[ColumnNode, frozenset[str]], policy: Policy) -> set[tuple[ColumnNode, str]]:
    """The same by going round until nothing is new."""
    nodes = {node(name) for one in edges for name in one[:2]} | set(tags)
    found: set[tuple[int, ColumnNode, str]] = set()
    for number, rule in enumerate(policy.rules):
        wanted = set(rule.tags) or (set() if rule.columns else {rule.tag})
        found |= {(number, n, rule.tag) for n in nodes if wanted & tags.get(n, set()) or matches(n, rule.columns)}
    while True:
        found = {(n, c, t) for n, c, t in found if not any(d.covers(c, t) for d in policy.declassified)}
        new = set(found)
        for number, column, tag in found:
            for source, target, how in edges:
                leaves = policy.rules[number].leaves if tag in "ABC" else {}
                if node(source) == column and how in ("keep", "max"):
                    new.add((number, node(target), tag))
                elif node(source) == column and STOPS.get(how) in leaves:
                    new.add((number, node(target), leaves[STOPS[how]]))
        new = {(n, c, t) for n, c, t in new if not any(d.covers(c, t) for d in policy.declassified)}
        if new == found:
            return {(c, t) for _, c, t in found if t not in tags.get(c, ())}
        found = new


def propagated(edges: list[Drawn], tags: dict[ColumnNode, frozenset[str]], policy: Policy) -> Propagation:
    columns: dict[str, tuple[str, ...]] = {}
    for table, path in {node(name) for one in edges for name in one[:2]} | set(tags):
        columns[table] = (*columns.get(table, ()), path or "")
    return propagate(TaggedColumns(tags, columns, tuple(map(edge, edges))), policy)


def pairs(found: Propagation) -> set[tuple[ColumnNode, str]]:
    return {(column, tag) for column, tags in found.derived.items() for tag in tags}


def test_the_tags_are_those_of_the_fixed_point() -> None:
    sizes = []
    for seed in range(GRAPHS):
        edges, tags, policy = drawn_case(seed)
        found = propagated(edges, tags, policy)
        assert pairs(found) == model(edges, tags, policy), seed
        sizes.append(len(pairs(found)))
    assert sum(size > 3 for size in sizes) > GRAPHS / 3


def test_each_tag_has_a_path_of_certain_edges_and_goes_with_it() -> None:
    """After any edge is withdrawn no path has it; what is left is what a model finds without it."""
    for seed in range(0, GRAPHS, 3):
        edges, tags, policy = drawn_case(seed)
        for gone in edges:
            left = [one for one in edges if one != gone]
            found = propagated(left, tags, policy)
            steps = {(f"t{a[0]}.c{a}", f"t{b[0]}.c{b}") for a, b, how in left if how != "guess"}
            assert pairs(found) == model(left, tags, policy)
            for paths in found.derived.values():
                assert all(hop in steps for path in paths.values() for hop in pairwise(path))


def one_rule(**more: object) -> Policy:
    return Policy((PolicyRule("PII", **more),))  # type: ignore[arg-type]


A, B, C = node("1"), node("2"), node("3")
SET = {A: frozenset({"PII"})}


@pytest.mark.parametrize(
    ("unsure", "why"),
    [
        (Edge(A, B, certain=False), "it is not certain that this column is meant"),
        (Edge((A[0], None), (B[0], None), "TABLE", ""), "it is not known which columns are read or filled"),
        (Edge(A, B, "DIRECT", "AGGREGATION"), "the expression does not tell whether values get through"),
    ],
)
def test_what_is_uncertain_goes_to_review(unsure: Edge, why: str) -> None:
    found = propagate(TaggedColumns(SET, {}, (unsure, Edge(B, C))), one_rule())
    assert found.derived == {}
    assert [one.why for one in found.review] == [why]


def test_what_is_reached_for_certain_too_needs_no_review() -> None:
    found = propagate(TaggedColumns(SET, {}, (Edge(A, B, certain=False), Edge(A, C), Edge(C, B))), one_rule())
    assert (set(found.derived), found.review) == ({B, C}, ())


def test_a_filter_leaves_its_tag_on_every_column() -> None:
    graph = TaggedColumns(SET, {"t2": ("x", "y")}, (Edge(A, ("t2", None), "INDIRECT", "FILTER"),))
    found = propagate(graph, one_rule(leaves={ValueFlow.INDIRECT: "PII.Near"}))
    assert pairs(found) == {(("t2", "x"), "PII.Near"), (("t2", "y"), "PII.Near")}


def test_of_tags_that_exclude_each_other_people_come_first_then_the_strongest() -> None:
    rules = (PolicyRule("High"), PolicyRule("Low"))
    policy = Policy(rules, exclusive=(("High", "Low", "None"),))
    tags = {A: frozenset({"High", "Low"}), C: frozenset({"None"})}
    found = propagate(TaggedColumns(tags, {}, (Edge(A, B), Edge(A, C))), policy)
    assert pairs(found) == {(B, "High")}
    assert {(one.column, one.why) for one in found.review} == {("t3.c3", "None was set on it by hand")}


def test_an_exception_holds_until_its_last_day() -> None:
    policy = Policy((PolicyRule("PII"),), (Declassification(("t2.*",), "k-anonymous", TODAY),))
    graph = TaggedColumns(SET, {}, (Edge(A, B), Edge(B, C)))
    assert pairs(propagate(graph, policy.in_force(TODAY))) == set()
    later = date(2026, 11, 23)
    assert pairs(propagate(graph, policy.in_force(later))) == {(B, "PII"), (C, "PII")}
    assert policy.ended_exceptions(later) == policy.declassified


def test_patterns_fit_ends_of_names_part_by_part() -> None:
    column = ("s.shop.public.customers", "Email")
    for fits in ("customers.email", "*.email", "public.*.e*", "s.shop.public.customers.email", "email"):
        assert matches(column, (fits,)), fits
    for not_so in ("mail", "customers.e", "shop.email", "other.customers.email"):
        assert not matches(column, (not_so,)), not_so
    assert matches(("s.d.p.t", '"a.b"'), ('t."a.b"',))
