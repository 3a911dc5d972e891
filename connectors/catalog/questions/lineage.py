"""Lineage of a table or a column, and everything on the way between two names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from connectors.catalog.answer.pages import Answer, NumberedTexts, Row, fact
from connectors.catalog.answer.writing import Name
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ColumnDependency, ContributionView, Moment, dependencies_of
from ingestion.model.lineage import Json
from ingestion.walk import ColumnNode as Node

# The graph of columns of a catalog, read as far as a walk goes: what is read once is kept for the rest of it.

Arrow = tuple[Node, Node, ContributionView, Json | None]
"""Source, target, the contribution that tells of it, and its column edge (None: of the tables alone)."""


class ColumnGraph:
    """Hops between columns, and between tables of which nothing more is known, at one moment."""

    def __init__(self, connection: Connection, moment: Moment) -> None:
        self._connection = connection
        self._moment = moment
        self._views: dict[bool, dict[str, list[ContributionView]]] = {True: {}, False: {}}
        self._names: dict[str, str] = {}

    def name_of(self, node: Node) -> str:
        """The full name of a table or a column that a hop led to, or of one that `learn` was told of."""
        name = self._names[node[0]]
        return name if node[1] is None else f"{name}.{node[1]}"

    def learn(self, identifiers: Iterable[str]) -> None:
        """Reads the names of entities."""
        missing = set(identifiers) - self._names.keys()
        if missing:
            self._names |= {key: row.fqn for key, row in any_rows_of(self._connection, missing).items()}

    def views(self, entities: Iterable[str], *, upstream: bool) -> None:
        """Reads what is told about the edges into (upstream) or out of entities."""
        known = self._views[upstream]
        missing = set(entities) - known.keys()
        known.update({identifier: [] for identifier in missing})
        found = reads.contributions_around(self._connection, missing, upstream=upstream, moment=self._moment)
        for (source, target), views in found.items():
            known[target if upstream else source] += views
        self.learn(end for edge in found for end in edge)

    def around(self, entity: str, *, upstream: bool) -> list[ContributionView]:
        """What is told about the edges of an entity that `views` has read."""
        return self._views[upstream][entity]

    def arrows(self, node: Node, *, upstream: bool) -> Iterator[Arrow]:
        """The hops out of a node, towards its sources (upstream) or what it is used for.

        A whole table has those of all its columns. What acts on every column of a target leads, downstream, to the
        table as a whole.
        """
        entity, path = node
        for view in self._views[upstream][entity]:
            columns = view.content.get("columns") or []
            if not columns and path is None:
                yield (view.from_id, None), (view.to_id, None), view, None
            for column in columns:
                to = column.get("to")
                if upstream and (path is None or to in (path, None)):
                    for source in column["from"]:
                        yield (view.from_id, source), (entity, to if path is None else path), view, column
                elif not upstream:
                    for source in column["from"]:
                        if path in (None, source):
                            yield (entity, source), (view.to_id, to), view, column


# Column edges of a catalog as an answer tells them: a line each, with how and by which statements.

EVERY = "*"
"""Stands for every column that a statement gives its target."""


@dataclass(frozen=True, slots=True)
class CatalogEdge:
    """One source in one target; both without a column where only the tables are known to be joined."""

    target: str
    source: str
    type: str
    subtype: str
    masking: bool
    certain: bool
    expression: str


@dataclass(frozen=True, slots=True)
class SeenEdge:
    """An edge and the contribution that tells of it."""

    edge: CatalogEdge
    view: ContributionView


def edges_of(view: ContributionView, names: tuple[str, str], columns: Iterable[Json] | None = None) -> list[SeenEdge]:
    """The edges of a contribution between the entities of these `names`; of these `columns` of it alone, if given."""
    return [SeenEdge(_edge(one), view) for one in dependencies_of(view, *names, columns)]


def _edge(one: ColumnDependency) -> CatalogEdge:
    (source, path), (target, to) = one.source, one.target
    if one.type != "TABLE":
        source, target = f"{source}.{path}", f"{target}.{to or EVERY}"
    return CatalogEdge(
        target, source, one.type, one.subtype, masking=one.masking, certain=one.certain, expression=one.expression
    )


def edge_rows(seen: Sequence[SeenEdge], texts: NumberedTexts) -> list[Row]:
    """A row an edge, in the order given; what several statements tell is told once, with all of their numbers."""
    numbers: dict[CatalogEdge, dict[str, None]] = {}
    for one in seen:
        number = texts.statement(one.view.content.get("sql") or "", one.view.kind, one.view.jobs)
        numbers.setdefault(one.edge, {})[number] = None
    return [_row(edge, tuple(seen_in), texts) for edge, seen_in in numbers.items()]


def _row(edge: CatalogEdge, numbers: tuple[str, ...], texts: NumberedTexts) -> Row:
    how = how_text(edge.type, edge.subtype, masking=edge.masking, certain=edge.certain)
    expression = texts.expression(edge.expression)
    shown = f" {expression}" if expression else ""
    return Row(
        (Name(edge.target), " <- ", Name(edge.source), f" [{how}] {' '.join(numbers)}{shown}"),
        ("edge", Name(edge.target), Name(edge.source), how, " ".join(numbers), expression),
    )


def how_text(type_: str, subtype: str, *, masking: bool, certain: bool) -> str:
    """How a source takes part, in words: `aggregation`, `filter`, the type without a subtype, `identity, masked`."""
    words = [(subtype or type_).lower().replace("_", " ")]
    if masking:
        words.append("masked")
    if not certain:
        words.append("uncertain")
    return ", ".join(words)


# Lineage of a table or a column, and everything on the way between two names.

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
