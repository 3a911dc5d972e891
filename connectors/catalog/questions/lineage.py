"""Lineage of a table or a column, and everything on the way between two names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph, StoredHop, is_unseen
from connectors.catalog.questions.answer import Answer
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage.reads import ContributionView, Moment, StoredEdge
from ingestion.model.lineage import Json
from ingestion.model.moments import Unseen
from ingestion.model.witnesses import Verdict
from ingestion.walk import DIRECT, Budget, ColumnNode, EdgeIndex, Hop, Walk, strongest_ways

UP, DOWN = "upstream", "downstream"
EVERY = "*"
"""Stands for every column that a statement gives its target."""
_BUDGET = Budget(nodes=100_000)
"""Columns of one walk: what lies beyond is told to be missing."""
_CUT = f"the walk ended at {_BUDGET.nodes} columns: ask of one column, or with a smaller depth"


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
    """An edge and the contribution that tells of it; `unseen`: not any more since a newer one came.

    `verdict`: who says it and who tells otherwise, None where one witness alone speaks of the target. `tables` are the
    names of the source's and of the target's.
    """

    edge: CatalogEdge
    view: ContributionView
    tables: tuple[str, str]
    unseen: Unseen | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class LineageEdges:
    """The column edges of a table or a column on one side, the nearest first, within so many `hops`.

    `tables` are the others that they lead to. An edge comes once for each statement that tells of it.
    """

    name: str
    direction: str
    hops: int
    tables: int
    seen: tuple[SeenEdge, ...]


class Station(NamedTuple):
    """A table by its full name, or a column of it, on a way, and how strongly it is tied to the one before."""

    table: str
    path: str | None
    strength: str = DIRECT

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"entity": self.table, "column": self.path, "type": self.strength}


@dataclass(frozen=True, slots=True)
class Paths:
    """The `shortest` of the strongest ways from one name down to another, and the edges of the `others`.

    `strength` is that of its weakest hop. Without a hop no way is known. `stations` are the ends of the hops.
    """

    source: str
    target: str
    hops: int = 0
    strength: str = DIRECT
    shortest: tuple[SeenEdge, ...] = ()
    others: tuple[SeenEdge, ...] = ()
    stations: tuple[Station, ...] = ()


class _Names:
    """The full names of entities by their ids, each read once."""

    def __init__(self, connection: Connection, identifiers: Iterable[str]) -> None:
        self._connection = connection
        self._known: dict[str, str] = {}
        self.learn(identifiers)

    def learn(self, identifiers: Iterable[str]) -> None:
        missing = set(identifiers) - self._known.keys()
        if missing:
            self._known |= {key: row.fqn for key, row in any_rows_of(self._connection, missing).items()}

    def of(self, node: ColumnNode) -> str:
        name = self._known[node[0]]
        return name if node[1] is None else f"{name}.{node[1]}"

    def station(self, node: ColumnNode, strength: str = DIRECT) -> Station:
        return Station(self._known[node[0]], node[1], strength)

    def seen_edge(self, edge: StoredEdge) -> SeenEdge:
        source, target = self.of(edge.source), self.of(edge.target)
        if edge.column is not None and edge.target[1] is None:
            target = f"{target}.{EVERY}"
        masking = edge.column is not None and bool(edge.column.get("masking"))
        known = CatalogEdge(target, source, edge.type, edge.subtype, masking, edge.certain, edge.expression)
        tables = self._known[edge.source[0]], self._known[edge.target[0]]
        return SeenEdge(known, edge.view, tables, edge.unseen, edge.verdict)


@dataclass(frozen=True, slots=True)
class LineageReach:
    """How far lineage is followed: `upstream` or `downstream`, so many hops (0: all), only where values flow."""

    direction: str = UP
    depth: int = 1
    direct: bool = False


def lineage(connection: Connection, start: ColumnNode, moment: Moment, reach: LineageReach) -> Answer[LineageEdges]:
    """Every column edge within a reach, the nearest first."""
    upstream = reach.direction == UP
    graph, names = CatalogGraph(connection, moment, judged=True), _Names(connection, [start[0]])
    index = graph.upstream if upstream else graph.downstream

    def hops(nodes: Sequence[ColumnNode]) -> Iterator[StoredHop]:
        names.learn(end[0] for edge in index.edges(table for table, _ in nodes) for end in (edge.source, edge.target))
        for node in nodes:
            for hop in sorted(index.hops([node]), key=lambda one: _order(one, names)):
                if reach.direct and hop.edge.type != DIRECT:
                    continue
                # who asks of a table asks of tables: all of the next one's columns, whichever are tied to this one's
                yield hop._replace(end=(hop.end[0], None)) if start[1] is None else hop

    walk = Walk((start,), hops, _BUDGET)
    found: dict[tuple[int, CatalogEdge], SeenEdge] = {}
    levels = 0
    for taken in walk.levels(reach.depth or None):
        for hop in taken:
            one = names.seen_edge(hop.edge)
            found.setdefault((one.view.version_id, one.edge), one)
        levels += bool(walk.frontier)
    tables = {one.view.from_id if upstream else one.view.to_id for one in found.values()} - {start[0]}
    edges = LineageEdges(names.of(start), reach.direction, levels, len(tables), tuple(found.values()))
    return Answer(edges, (_CUT,) if walk.truncated else ())


def _order(hop: StoredHop, names: _Names) -> tuple[bool, str, str, int]:
    edge = hop.edge
    return edge.type != DIRECT, names.of(edge.target), names.of(edge.source), edge.view.version_id


def paths(connection: Connection, start: ColumnNode, end: ColumnNode, moment: Moment) -> Answer[Paths]:
    """The shortest of the strongest ways from `start` down to `end`, and every edge on any way between them."""
    names = _Names(connection, [start[0], end[0]])
    onward, whole = _hops_between(CatalogGraph(connection, moment, judged=True).upstream, start, end)
    cut = () if whole else (_CUT,)
    ends = names.of(start), names.of(end)

    def hops(nodes: Sequence[ColumnNode]) -> Iterator[StoredHop]:
        return (hop for node in nodes for hop in onward.get(node, ()))

    way = strongest_ways(start, hops, apart=is_unseen).found.get(end)
    if way is None or not way.hops:
        return Answer(Paths(*ends), cut)
    walk = Walk((start,), hops)
    others = [hop.edge for taken in walk.levels() for hop in taken]
    names.learn(node[0] for edge in others for node in (edge.source, edge.target))
    shortest = tuple(names.seen_edge(hop.edge) for hop in way.hops)
    rest = tuple(map(names.seen_edge, others))
    return Answer(Paths(*ends, len(way.hops), way.strength, shortest, rest, tuple(_stations(names, way.hops))), cut)


def _stations(names: _Names, hops: Sequence[StoredHop]) -> Iterator[Station]:
    """Of a whole table the column that the way begins or ends at."""
    (table, path), edge = hops[0].start, hops[0].edge
    yield names.station((table, edge.source[1] if path is None else path))
    for hop in hops:
        (table, path), edge = hop.end, hop.edge
        yield names.station((table, edge.target[1] if path is None else path), hop.strength)


def _hops_between(
    index: EdgeIndex[StoredEdge], start: ColumnNode, end: ColumnNode
) -> tuple[dict[ColumnNode, list[StoredHop]], bool]:
    """The hops towards `end` by the nodes that they begin at, back to `start` and no further; whether those are all.

    What meets the start (any column of a whole table) stands for it.
    """

    def meets_start(node: ColumnNode) -> bool:
        return node[0] == start[0] and (None in (start[1], node[1]) or start[1] == node[1])

    onward: dict[ColumnNode, list[StoredHop]] = defaultdict(list)
    walk = Walk((end,), index.hops, _BUDGET)
    for taken in walk.levels():
        for hop in taken:
            beginning = start if meets_start(hop.end) else hop.end
            onward[beginning].append(Hop(beginning, hop.start, hop.strength, hop.edge))
        walk.frontier = [node for node in walk.frontier if not meets_start(node)]
    return onward, not walk.truncated
