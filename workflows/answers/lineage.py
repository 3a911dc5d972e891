"""Lineage of a table or a column, and everything on the way between two names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from connectors.catalog.store.queries.impact import Node
from workflows.answers.column_graph import Arrow, ColumnGraph
from workflows.answers.edges import SeenEdge, edge_rows, edges_of
from workflows.answers.paging.pages import Answer, fact
from workflows.answers.paging.statements import NumberedTexts
from workflows.answers.paging.writing import Name

UP, DOWN = "upstream", "downstream"
_MOST_NODES = 100_000
"""Columns of one walk: what lies beyond is told to be missing."""


def lineage(graph: ColumnGraph, start: Node, direction: str, depth: int) -> Answer:
    """Every column edge within `depth` hops (0: all there are), the nearest first; statements follow."""
    upstream = direction == UP
    seen, levels, whole = _walk(graph, start, depth, upstream=upstream)
    texts = NumberedTexts()
    rows = edge_rows(seen, texts)
    tables = {one.view.from_id if upstream else one.view.to_id for one in seen} - {start[0]}
    facts = (
        fact(Name(graph.name_of(start)), f": {len(rows)} edges {direction} within {levels} hops"),
        fact(f"{len(tables)} other tables, {texts.statement_count} statements (their text follows the edges)"),
    )
    notes = () if whole else (f"the walk ended at {_MOST_NODES} columns: ask of one column, or with a smaller depth",)
    return Answer("rows", facts, (*rows, *texts.rows()), notes)


def _walk(graph: ColumnGraph, start: Node, depth: int, *, upstream: bool) -> tuple[list[SeenEdge], int, bool]:
    """The edges in the order met, how many hops there were, and whether that is all within `depth`."""
    visited, frontier = {start}, [start]
    found: dict[tuple[int, str], SeenEdge] = {}
    level = 0
    while frontier and (not depth or level < depth) and len(visited) < _MOST_NODES:
        graph.views({entity for entity, _ in frontier}, upstream=upstream)
        following: dict[Node, None] = {}
        for node in frontier:
            for arrow in sorted(graph.arrows(node, upstream=upstream), key=lambda one: _order(graph, one)):
                for one in _edges(graph, arrow):
                    found.setdefault((one.view.version_id, repr(one.edge)), one)
                end = _onward(arrow, node, upstream=upstream)
                if end not in visited:
                    following[end] = None
        visited |= following.keys()
        frontier = list(following)
        level += bool(following)
    return list(found.values()), level, not (frontier and len(visited) >= _MOST_NODES)


def _onward(arrow: Arrow, node: Node, *, upstream: bool) -> Node:
    """Where the walk goes on: from a table to tables, from a column to columns."""
    end = arrow[0] if upstream else arrow[1]
    return (end[0], None) if node[1] is None else end


def _edges(graph: ColumnGraph, arrow: Arrow) -> Iterable[SeenEdge]:
    source, _, view, column = arrow
    names = graph.name_of((view.from_id, None)), graph.name_of((view.to_id, None))
    if column is None:
        return edges_of(view, names)
    return edges_of(view, names, [{**column, "from": [source[1]]}])


def _order(graph: ColumnGraph, arrow: Arrow) -> tuple[bool, str, str, int]:
    source, target, view, column = arrow
    direct = column is not None and column.get("type", "DIRECT") == "DIRECT"
    return not direct, graph.name_of(target), graph.name_of(source), view.version_id


def paths(graph: ColumnGraph, start: Node, end: Node) -> Answer:
    """The shortest way from `start` down to `end`, and every edge that lies on any way between them.

    A way of direct edges is preferred to a shorter one of others.
    """
    backward = _between(graph, start, end)
    title = (Name(graph.name_of(start)), " -> ", Name(graph.name_of(end)))
    shortest = _shortest(backward, start, end)
    if shortest is None:
        return Answer("rows", (fact(*title, ": no way is known"),), ())
    texts = NumberedTexts()
    on_the_way = [one for arrow in shortest for one in _edges(graph, arrow)]
    first = edge_rows(on_the_way, texts)
    others = [one for arrow in _forward(backward, start) for one in _edges(graph, arrow)]
    rows = edge_rows([*on_the_way, *others], texts)
    direct = all(arrow[3] is not None and arrow[3].get("type", "DIRECT") == "DIRECT" for arrow in shortest)
    facts = (
        fact(*title, f": {len(shortest)} hops {'of values' if direct else 'not all of values'}"),
        fact(f"the first {len(first)} edges are the shortest way; {len(rows)} edges lie on any"),
    )
    return Answer("rows", facts, (*rows, *texts.rows()))


def _between(graph: ColumnGraph, start: Node, end: Node) -> dict[Node, list[Arrow]]:
    """The hops towards `end`, by where they begin, back to `start` and no further."""
    found: dict[Node, list[Arrow]] = {}
    seen, frontier = {end}, [end]
    while frontier and len(seen) < _MOST_NODES:
        graph.views({entity for entity, _ in frontier}, upstream=True)
        following: dict[Node, None] = {}
        for node in frontier:
            if node[0] == start[0] and start[1] in (None, node[1]) and node != end:
                continue
            for arrow in graph.arrows(node, upstream=True):
                source = arrow[0]
                found.setdefault(source, []).append((source, node, arrow[2], arrow[3]))
                if source not in seen:
                    following[source] = None
        seen |= following.keys()
        frontier = list(following)
    return found


def _starts(backward: dict[Node, list[Arrow]], start: Node) -> list[Node]:
    """The nodes that the way may begin with: the column, or any of the table's."""
    return sorted((node for node in backward if node[0] == start[0] and start[1] in (None, node[1])), key=repr)


def _shortest(backward: dict[Node, list[Arrow]], start: Node, end: Node) -> list[Arrow] | None:
    for direct_only in (True, False):
        reached: dict[Node, Arrow | None] = dict.fromkeys(_starts(backward, start))
        waiting = deque(reached)
        while waiting:
            node = waiting.popleft()
            if node == end:
                return _way(reached, node)
            for arrow in backward.get(node, ()):
                direct = arrow[3] is not None and arrow[3].get("type", "DIRECT") == "DIRECT"
                if arrow[1] not in reached and (direct or not direct_only):
                    reached[arrow[1]] = arrow
                    waiting.append(arrow[1])
    return None


def _way(reached: dict[Node, Arrow | None], node: Node) -> list[Arrow]:
    way: list[Arrow] = []
    while (arrow := reached[node]) is not None:
        way.append(arrow)
        node = arrow[0]
    return way[::-1]


def _forward(backward: dict[Node, list[Arrow]], start: Node) -> list[Arrow]:
    """All hops that can be reached from the start, nearest first."""
    waiting = deque(_starts(backward, start))
    seen, found = set(waiting), []
    while waiting:
        node = waiting.popleft()
        for arrow in backward.get(node, ()):
            found.append(arrow)
            if arrow[1] not in seen:
                seen.add(arrow[1])
                waiting.append(arrow[1])
    return found
