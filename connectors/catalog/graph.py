"""The walk over the columns and tables that a catalog stores, as they are at one moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection

from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.inserts import Edge
from connectors.catalog.store.lineage.reads import NOW, ContributionView, Moment, StoredEdge, edge_of
from connectors.catalog.store.lineage.recency import with_unseen
from connectors.catalog.store.lineage.stored_content import columns_about, has_columns
from connectors.catalog.store.lineage.verdicts import with_verdicts
from ingestion.model.lineage import Json
from ingestion.model.moments import Unseen, earliest_unseen
from ingestion.walk import (
    TABLE,
    Budget,
    ColumnNode,
    EdgeIndex,
    Hop,
    Hops,
    Walk,
    Way,
    meeting_numbers,
    strongest_ways,
)

BUDGET = Budget(nodes=20_000, hops=200_000)
"""Of one question: an answer is held in memory and sent whole, each way with its hops."""
_FEW_COLUMNS = 2
"""Columns of a table that are looked for one by one: of more, all that is said of it is read once."""
StoredHop = Hop[ColumnNode, StoredEdge]
StoredWay = Way[ColumnNode, StoredEdge]


@dataclass(frozen=True, slots=True)
class Origins:
    """What a column comes from: `entities`, the nearest first, and the `columns` met; `cut`: there is more.

    `views` are what is said of the edges between the entities, which has been read; not where there is more.
    """

    entities: Sequence[str]
    columns: Collection[ColumnNode]
    views: Mapping[Edge, Sequence[ContributionView]]
    cut: bool

    def paths(self) -> dict[str, set[str]]:
        """The paths of the columns of each entity."""
        found: dict[str, set[str]] = defaultdict(set)
        for entity, path in self.columns:
            if path is not None:
                found[entity].add(path)
        return found


class CatalogGraph:
    """Edges between columns, and between tables of which nothing more is known, at one moment; by ids of entities.

    What is read once is kept for the next walk. `truncated`: a walk ended at its budget. `judged`: with the verdict of
    witnesses on each edge, as those that the moment leaves out by it always have. `with_statements`: with their texts
    and what ran them.
    """

    def __init__(
        self, connection: Connection, moment: Moment = NOW, *, judged: bool = False, with_statements: bool = True
    ) -> None:
        self.truncated = False
        self._reader = _EdgeReader(connection, moment, judged or moment.witnesses is not None, with_statements)
        self.upstream = EdgeIndex.of_tables(partial(self._reader.read, upstream=True), upstream=True)
        self.downstream = EdgeIndex.of_tables(partial(self._reader.read, upstream=False), upstream=False)

    def reached_from(self, start: ColumnNode) -> list[StoredWay]:
        """Everything downstream of `start`, the nearest first, each by the strongest tie."""
        ways = strongest_ways(start, self.downstream.hops, BUDGET, is_unseen)
        self.truncated = self.truncated or ways.truncated
        others = (way for way in ways.found.values() if way.node != start)
        return sorted(others, key=lambda way: (len(way.hops), way.node[0], way.node[1] or ""))

    def behind(self, start: ColumnNode, limit: int) -> Origins:
        """A column's own entity and those upstream of it, as many as the `limit`, with the columns on the way.

        It is followed column by column: a table's other columns bring nothing in. The entities of which only the
        tables are known to be joined with the column's own are among them.
        """
        inside = {start[0]: None}
        walk = Walk((start,), self._column_hops)
        for _ in walk.levels():
            inside.update((entity, None) for entity, _ in walk.frontier)
            if len(inside) >= limit:
                break
        joined = (edge.source[0] for edge in self.upstream.edges([start[0]]) if edge.column is None)
        found = list(dict.fromkeys((*inside, *joined)))
        met = set(found[:limit])
        between = {edge: views for edge, views in self._reader.views.items() if met.issuperset(edge)}
        return Origins(found[:limit], walk.arrivals.keys(), between, bool(walk.frontier) or len(found) > limit)

    def _column_hops(self, nodes: Sequence[ColumnNode]) -> Iterator[StoredHop]:
        return (hop for hop in self.upstream.hops(nodes) if hop.edge.column is not None)


@dataclass(frozen=True, slots=True)
class _EdgeReader:
    """Reads the edges of tables, and keeps the `views` that they are of.

    It knows nothing of the indexes that read by it: values that refer to each other stay after the walk, a million of
    a large one, until a search through all of them, which took 0.7 s in the middle of another question.
    """

    connection: Connection
    moment: Moment
    judged: bool
    with_statements: bool
    views: dict[Edge, list[ContributionView]] = field(default_factory=dict)

    def read(self, tables: list[str], *, upstream: bool) -> dict[str, _StoredEdges]:
        """The edges of some tables on one side of them, by table."""
        found = reads.contributions_around(
            self.connection, tables, upstream=upstream, moment=self.moment, with_statements=self.with_statements
        )
        # upstream of tables is all that is said of them
        found = with_unseen(self.connection, found, self.moment, whole=upstream)
        if self.judged:
            found = with_verdicts(self.connection, found, self.moment, whole=upstream)
        self.views.update(found)
        edges = {table: _StoredEdges(upstream=upstream) for table in tables}
        for (source, target), views in found.items():
            edges[target if upstream else source].add(views)
        return edges


def is_unseen(edge: StoredEdge) -> bool:
    """Whether it is not seen any more since a newer statement came."""
    return bool(edge.view.unseen) and edge.unseen is not None  # of most views nothing is, and a walk asks of each hop


def unseen_on(way: StoredWay) -> Unseen | None:
    """What of a way is not seen any more: of several the one that ended first."""
    apart = [hop.edge.unseen for hop in way.hops if hop.edge.view.unseen]
    return earliest_unseen(apart) if apart else None


class _StoredEdges:
    """The edges of a table on one side of it, made when a walk meets them: it goes by most of those of a wide table."""

    __slots__ = ("_index", "_met", "_upstream", "_views")

    def __init__(self, *, upstream: bool) -> None:
        self._upstream = upstream
        self._views: list[ContributionView] = []
        self._met: dict[str, list[StoredEdge]] = {}
        self._index: _EdgesByColumn | None = None

    def add(self, views: Sequence[ContributionView]) -> None:
        """Takes in what is said of an edge of the table."""
        self._views += views

    @property
    def edges(self) -> list[StoredEdge]:
        """All of them."""
        return self._by_column().edges

    def meeting(self, path: str | None) -> Iterable[StoredEdge]:
        """The edges that a column, or (None) the whole table, meets."""
        if path is None:
            return self.edges
        met = self._met.get(path)
        if met is None:
            if self._index is None and len(self._met) < _FEW_COLUMNS:
                met = [edge for view in self._views for edge in self._edges_about(view, path)]
            else:
                met = self._by_column().meeting(path)
            self._met[path] = met
        return met

    def _by_column(self) -> _EdgesByColumn:
        if self._index is None:
            self._index = _EdgesByColumn(self._views, upstream=self._upstream)
        return self._index

    def _edges_about(self, view: ContributionView, path: str) -> Iterator[StoredEdge]:
        columns = columns_about(view.content, (path,), upstream=self._upstream)
        if not columns and not has_columns(view.content):
            yield edge_of(view, None, None)
        for column in columns:
            for source in column["from"]:
                if self._upstream or source == path:
                    yield edge_of(view, column, source)


class _EdgesByColumn:
    """All edges of a table on one side of it, found by its columns."""

    __slots__ = ("_made", "_numbers", "_parts")

    def __init__(self, views: Iterable[ContributionView], *, upstream: bool) -> None:
        self._parts: list[tuple[ContributionView, Json | None, str | None]] = []
        self._numbers: dict[str | None, list[int]] = {}
        self._made: dict[int, StoredEdge] = {}
        parts, numbers = self._parts, self._numbers
        for view in views:
            columns = view.content.get("columns") or ()
            if not columns:
                numbers.setdefault(None, []).append(len(parts))
                parts.append((view, None, None))
            for column in columns:
                for path in column["from"]:
                    numbers.setdefault(column.get("to") if upstream else path, []).append(len(parts))
                    parts.append((view, column, path))

    @property
    def edges(self) -> list[StoredEdge]:
        """All of them."""
        return [self._edge(number) for number in range(len(self._parts))]

    def meeting(self, path: str) -> list[StoredEdge]:
        """Those that a column meets."""
        return [self._edge(number) for number in meeting_numbers(self._numbers, path)]

    def _edge(self, number: int) -> StoredEdge:
        edge = self._made.get(number)
        if edge is None:
            edge = self._made[number] = edge_of(*self._parts[number])
        return edge


def table_hops(connection: Connection, moment: Moment, *, upstream: bool) -> Hops[str, tuple[str, str]]:
    """The hops between entities at a moment, by their ids, whatever is said of their columns: their sources `upstream`,
    else what they are used for.
    """

    def hops(entities: Sequence[str]) -> Iterator[Hop[str, tuple[str, str]]]:
        for edge in sorted(reads.neighbours(connection, entities, upstream=upstream, moment=moment)):
            yield table_hop(edge, upstream=upstream)

    return hops


def table_hop(edge: tuple[str, str], *, upstream: bool) -> Hop[str, tuple[str, str]]:
    """The hop between the two entities of an edge."""
    start, end = reversed(edge) if upstream else edge
    return Hop(start, end, TABLE, edge)
