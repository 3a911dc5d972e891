"""The walk over the columns and tables that a catalog stores, as they are at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sqlalchemy import Connection

from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import NOW, Moment, StoredEdge, edges_of
from connectors.catalog.store.lineage.recency import with_unseen
from connectors.catalog.store.lineage.verdicts import with_verdicts
from ingestion.model.moments import Unseen, earliest_unseen
from ingestion.walk import TABLE, Budget, ColumnNode, EdgeIndex, Hop, Hops, Walk, Way, strongest_ways

BUDGET = Budget(nodes=20_000, hops=200_000)
"""Of one question: an answer is held in memory and sent whole, each way with its hops."""
StoredHop = Hop[ColumnNode, StoredEdge]
StoredWay = Way[ColumnNode, StoredEdge]


class CatalogGraph:
    """Edges between columns, and between tables of which nothing more is known, at one moment; by ids of entities.

    What is read once is kept for the next walk. `truncated`: a walk ended at its budget. `judged`: with the verdict of
    witnesses on each edge, as those that the moment leaves out by it always have.
    """

    def __init__(self, connection: Connection, moment: Moment = NOW, *, judged: bool = False) -> None:
        self.truncated = False
        read = partial(_edges, connection, moment, judged=judged or moment.witnesses is not None)
        self.upstream = EdgeIndex(partial(read, upstream=True), upstream=True)
        self.downstream = EdgeIndex(partial(read, upstream=False), upstream=False)

    def reached_from(self, start: ColumnNode) -> list[StoredWay]:
        """Everything downstream of `start`, the nearest first, each by the strongest tie."""
        ways = strongest_ways(start, self.downstream.hops, BUDGET, is_unseen)
        self.truncated = self.truncated or ways.truncated
        others = (way for way in ways.found.values() if way.node != start)
        return sorted(others, key=lambda way: (len(way.hops), way.node[0], way.node[1] or ""))

    def entities_behind(self, start: ColumnNode, limit: int) -> tuple[list[str], bool]:
        """A column's own entity and those upstream of it, the nearest first; whether `limit` cut them short.

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
        return found[:limit], bool(walk.frontier) or len(found) > limit

    def _column_hops(self, nodes: Sequence[ColumnNode]) -> Iterator[StoredHop]:
        return (hop for hop in self.upstream.hops(nodes) if hop.edge.column is not None)


def is_unseen(edge: StoredEdge) -> bool:
    """Whether it is not seen any more since a newer statement came."""
    return edge.unseen is not None


def unseen_on(way: StoredWay) -> Unseen | None:
    """What of a way is not seen any more: of several the one that ended first."""
    return earliest_unseen(hop.edge.unseen for hop in way.hops)


def _edges(
    connection: Connection, moment: Moment, tables: list[str], *, upstream: bool, judged: bool
) -> Iterator[StoredEdge]:
    found = reads.contributions_around(connection, tables, upstream=upstream, moment=moment)
    found = with_unseen(connection, found, moment)
    if judged:
        found = with_verdicts(connection, found, moment)
    return (edge for views in found.values() for view in views for edge in edges_of(view))


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
