"""The walk on graphs made at random: downstream is the mirror of upstream, and what is cut says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.walk import (
    DIRECT,
    INDIRECT,
    STRENGTHS,
    TABLE,
    Budget,
    ColumnNode,
    EdgeIndex,
    Hop,
    Walk,
    Ways,
    strongest_ways,
)
from tests.support.random_edges import COLUMNS, TABLES, MadeEdge, edge_lists

NODES: tuple[ColumnNode, ...] = tuple(product(TABLES, (*COLUMNS, None)))


def met(one: ColumnNode, other: ColumnNode) -> bool:
    """Whether they are the same column, or one of them is the other's table."""
    return one[0] == other[0] and (one[1] == other[1] or None in (one[1], other[1]))


def nearest(ways: Ways[ColumnNode, MadeEdge], node: ColumnNode) -> tuple[int, int] | None:
    """The rank of the strength and the hops of the best way to what `node` meets."""
    found = ((STRENGTHS.index(way.strength), len(way.hops)) for way in ways.found.values() if met(way.node, node))
    return min(found, default=None)


@settings(max_examples=300)
@given(edge_lists())
def test_downstream_is_the_mirror_of_upstream(edges: list[MadeEdge]) -> None:
    down, up = (EdgeIndex.of(edges, upstream=upstream) for upstream in (False, True))
    reached = {node: strongest_ways(node, down.hops) for node in NODES}
    origins = {node: strongest_ways(node, up.hops) for node in NODES}
    for start, end in product(NODES, NODES):
        if start[0] != end[0]:
            assert nearest(reached[start], end) == nearest(origins[end], start)


@given(edge_lists())
def test_a_way_is_a_chain_of_edges_as_strong_as_its_weakest(edges: list[MadeEdge]) -> None:
    index = EdgeIndex.of(edges, upstream=False)
    for node, way in strongest_ways(("a", "x"), index.hops).found.items():
        assert way.node == node and way.nodes[0] == ("a", "x") and len(way.nodes) == len(way.hops) + 1
        assert way.strength == max((hop.strength for hop in way.hops), key=STRENGTHS.index, default=DIRECT)
        for before, hop in zip(way.nodes, way.hops, strict=False):
            assert hop.start == before and hop.edge in edges
            assert met(hop.start, hop.edge.source) and hop.end == hop.edge.target


@given(edge_lists())
def test_rows_lead_to_every_table_that_is_tied_at_all(edges: list[MadeEdge]) -> None:
    index = EdgeIndex.of(edges, upstream=True, rows=True)
    tables = {table for table, _ in strongest_ways(("a", "x"), index.hops).found}
    onward = {table: {edge.source[0] for edge in edges if edge.target[0] == table} for table in TABLES}
    expected = {"a"}
    while more := set().union(*(onward[table] for table in expected)) - expected:
        expected |= more
    assert tables == expected


@given(edge_lists())
def test_with_rows_columns_are_tied_as_without_and_all_else_is_of_whole_tables(edges: list[MadeEdge]) -> None:
    plain, rows = (EdgeIndex.of(edges, upstream=True, rows=rows) for rows in (False, True))
    for node in NODES:
        tied = [hop for hop in plain.hops([node]) if hop.strength != TABLE]
        found = rows.hops([node])
        assert [hop for hop in found if hop.strength != TABLE] == tied
        assert all(hop.end[1] is None for hop in found if hop.strength == TABLE)


@given(edge_lists(), st.integers(1, 6))
def test_what_is_cut_says_so_and_nothing_else_does(edges: list[MadeEdge], most: int) -> None:
    index = EdgeIndex.of(edges, upstream=False)
    whole, cut = (strongest_ways(("a", "x"), index.hops, Budget(nodes)) for nodes in (10_000, most))
    assert not whole.truncated
    assert cut.truncated or cut.found == whole.found
    assert set(cut.found) <= set(whole.found)


def test_the_hops_of_all_ways_together_have_a_limit() -> None:
    chain = [MadeEdge((str(number), "x"), (str(number + 1), "x"), DIRECT) for number in range(100)]
    found = strongest_ways(("0", "x"), EdgeIndex.of(chain, upstream=False).hops, Budget(hops=45))
    assert found.truncated
    assert len(found.found) == 11  # the ways of 1 to 9 hops make 45, the next one is over it


def test_the_shortest_of_the_strongest_ways_is_told() -> None:
    edges = [
        MadeEdge(("a", "x"), ("d", "x"), INDIRECT),
        MadeEdge(("a", "x"), ("b", "x"), DIRECT),
        MadeEdge(("b", "x"), ("d", "x"), DIRECT),
        MadeEdge(("a", "x"), ("c", "x"), DIRECT, certain=False),
    ]
    found = strongest_ways(("a", "x"), EdgeIndex.of(edges, upstream=False).hops).found
    assert [(way.node, way.strength, len(way.hops)) for way in found.values()] == [
        (("a", "x"), DIRECT, 0),
        (("b", "x"), DIRECT, 1),
        (("d", "x"), DIRECT, 2),
        (("c", "x"), TABLE, 1),
    ]


def test_each_table_is_asked_for_once() -> None:
    asked: list[str] = []

    def read(tables: list[str]) -> Sequence[MadeEdge]:
        asked.extend(tables)
        return [MadeEdge((table, "x"), ("b", "x"), DIRECT) for table in tables if table == "a"]

    index = EdgeIndex(read, upstream=False)
    for start in (("a", "x"), ("a", "y"), ("b", "x")):
        strongest_ways(start, index.hops)
    assert index.edges(["a", "b"]) == [MadeEdge(("a", "x"), ("b", "x"), DIRECT)]
    assert sorted(asked) == ["a", "b"]


@pytest.mark.parametrize(("depth", "nodes"), [(0, 1), (1, 2), (2, 4), (None, 4)])
def test_a_walk_goes_so_many_levels(depth: int | None, nodes: int) -> None:
    onward = {1: [2], 2: [3, 4], 3: [1], 4: []}

    def hops(starts: Sequence[int]) -> list[Hop[int, None]]:
        return [Hop(start, end, TABLE, None) for start in starts for end in onward[start]]

    walk = Walk((1,), hops).finish(depth)
    assert len(walk.arrivals) == nodes
    assert not walk.truncated


def test_over_what_stands_apart_goes_only_the_way_to_what_no_other_reaches() -> None:
    edges = {"a": [("b", DIRECT, True), ("c", TABLE, False)], "b": [("d", DIRECT, False)], "c": [("b", TABLE, False)]}

    def hops(nodes: Sequence[str]) -> Iterator[Hop[str, bool]]:
        return (Hop(node, end, tie, apart) for node in nodes for end, tie, apart in edges.get(node, ()))

    ways = strongest_ways("a", hops, apart=lambda apart: apart).found
    assert {node: (way.strength, [hop.end for hop in way.hops]) for node, way in ways.items() if way.hops} == {
        "c": (TABLE, ["c"]),
        "b": (TABLE, ["c", "b"]),
        "d": (TABLE, ["c", "b", "d"]),
    }
    edges["c"] = []
    assert strongest_ways("a", hops, apart=lambda apart: apart).found["d"].strength == DIRECT
