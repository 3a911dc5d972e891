"""The walk along lineage: from a column or a table over hops, the nearest first, each node once.

Everything that follows lineage goes through it: what a change reaches, why a table is wrong, where a column comes
from, how far a tag travels, which cards a picture holds. It knows no catalog and no SQL: who calls it says which hops
there are out of some nodes, so that a stored catalog is read level by level, and a script from memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

DIRECT, INDIRECT, TABLE = "DIRECT", "INDIRECT", "TABLE"
STRENGTHS = (DIRECT, INDIRECT, TABLE)
"""How two nodes are tied, the strongest first: values flow; values decide; only the tables are known to be joined, or
it is not certain which column is meant. A way is as strong as its weakest hop."""

ColumnNode = tuple[str, str | None]
"""A table (or whatever else has lineage), by name or id, and a column's path in it; None: the whole of it."""


def node_name(node: ColumnNode) -> str:
    """The full name of a table or of a column, of a node that has its table's."""
    return node[0] if node[1] is None else f"{node[0]}.{node[1]}"


class _Edge(Protocol):
    """What is said of a source and a target."""

    @property
    def source(self) -> ColumnNode: ...
    @property
    def target(self) -> ColumnNode: ...
    @property
    def type(self) -> str: ...
    @property
    def certain(self) -> bool: ...


N = TypeVar("N", bound=Hashable)
T = TypeVar("T")
E = TypeVar("E", bound=_Edge)


class Hop(NamedTuple, Generic[N, T]):
    """A step of a walk out of a node; upstream it leads from an edge's target to its source."""

    start: N
    end: N
    strength: str
    edge: T


Hops = Callable[[Sequence[N]], Iterable[Hop[N, T]]]
"""The hops out of some nodes, in the order in which they are to be taken: the first that leads to a node counts."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a walk may meet: `nodes`, its start among them, and the hops of the ways to all of them together.

    The hops along a chain grow with the square of its length: a chain of 20,000 nodes has 200 million.
    """

    nodes: int = sys.maxsize
    hops: int = sys.maxsize


_UNBOUNDED = Budget()


class Walk(Generic[N, T]):
    """A walk from `starts`, a level a step; `frontier` are the nodes that the next step goes out of.

    A caller may take nodes out of `frontier` between two steps: they are not followed.
    """

    def __init__(
        self,
        starts: Iterable[N],
        hops: Hops[N, T],
        budget: Budget = _UNBOUNDED,
        rank: Callable[[Hop[N, T]], tuple[object, ...]] | None = None,
    ) -> None:
        self.arrivals: dict[N, Hop[N, T] | None] = dict.fromkeys(starts)
        self.frontier = list(self.arrivals)
        self._hops = hops
        self._budget = budget
        self._rank = rank
        self._depth = 0
        self._spent = 0

    @property
    def truncated(self) -> bool:
        """Whether the budget ended the walk: there is more than it met."""
        return bool(self.frontier) and self._is_spent()

    def _is_spent(self) -> bool:
        return len(self.arrivals) > self._budget.nodes or self._spent > self._budget.hops

    def levels(self, depth: int | None = None) -> Iterator[list[Hop[N, T]]]:
        """The hops of each level, those to nodes that are known already too; `depth` levels at most (None: all)."""
        while self.frontier and not self._is_spent() and (depth is None or self._depth < depth):
            yield self.step()

    def finish(self, depth: int | None = None) -> Walk[N, T]:
        """The walk, gone as far as its budget and so many levels allow."""
        for _ in self.levels(depth):
            pass
        return self

    def step(self) -> list[Hop[N, T]]:
        """The hops out of the frontier; where they lead to for the first time is the next one."""
        taken = list(self._hops(self.frontier))
        self._depth += 1
        following: dict[N, Hop[N, T]] = {}
        for hop in taken:
            if hop.end in self.arrivals:
                continue
            known = following.get(hop.end)
            if known is None or (self._rank is not None and self._rank(hop) < self._rank(known)):
                following[hop.end] = hop
        self.arrivals.update(following)
        self._spent += len(following) * self._depth
        self.frontier = list(following)
        return taken

    def ways(self) -> dict[N, tuple[Hop[N, T], ...]]:
        """The hops from a start to each node that was met, in the order met."""
        ways: dict[N, tuple[Hop[N, T], ...]] = {}
        for node, hop in self.arrivals.items():
            ways[node] = () if hop is None else (*ways[hop.start], hop)
        return ways


class Way(NamedTuple, Generic[N, T]):
    """The shortest of the strongest ways from a start to `node`."""

    node: N
    strength: str
    hops: tuple[Hop[N, T], ...]

    @property
    def nodes(self) -> tuple[N, ...]:
        """The nodes on it, from the start on."""
        return (*(hop.start for hop in self.hops), self.node)


@dataclass(frozen=True, slots=True)
class Ways(Generic[N, T]):
    """The way to each node that a walk met, in the order met; the start has one without hops."""

    found: dict[N, Way[N, T]] = field(default_factory=dict)
    truncated: bool = False


def strongest_ways(
    start: N, hops: Hops[N, T], budget: Budget = _UNBOUNDED, apart: Callable[[T], bool] | None = None
) -> Ways[N, T]:
    """For all that can be reached the strongest tie, and of the ways that are as strong the shortest.

    `hops` gives those out of some nodes; what the `budget` leaves unmet makes the answer a truncated one. Over edges
    that stand `apart` goes only the way to what no other way reaches.
    """
    if apart is None:
        return _strongest_ways(start, hops, budget)
    others = _Allowed(hops, lambda hop: not apart(hop.edge))
    ways = _strongest_ways(start, others, budget)
    if not others.refused:
        return ways
    every = _strongest_ways(start, hops, budget)
    return Ways({**every.found, **ways.found}, ways.truncated or every.truncated)


def _strongest_ways(start: N, hops: Hops[N, T], budget: Budget) -> Ways[N, T]:
    found: dict[N, Way[N, T]] = {}
    truncated = False
    for number, strength in enumerate(STRENGTHS, 1):
        allowed = _Allowed(hops, partial(_is_as_strong, STRENGTHS[:number]))
        walk = Walk((start,), allowed, budget).finish()
        found.update({node: Way(node, strength, way) for node, way in walk.ways().items() if node not in found})
        truncated = truncated or walk.truncated
        if not allowed.refused:  # no hop was too weak, so the walk over weaker ones would be this one again
            break
    return Ways(found, truncated)


def _is_as_strong(strengths: Sequence[str], hop: Hop[N, T]) -> bool:
    return hop.strength in strengths


class _Allowed(Generic[N, T]):
    """The hops that are allowed; `refused`: there were others, so that a walk over all of them finds more."""

    def __init__(self, hops: Hops[N, T], is_allowed: Callable[[Hop[N, T]], bool]) -> None:
        self._hops = hops
        self._is_allowed = is_allowed
        self.refused = False

    def __call__(self, nodes: Sequence[N]) -> list[Hop[N, T]]:
        every = list(self._hops(nodes))
        allowed = [hop for hop in every if self._is_allowed(hop)]
        self.refused = self.refused or len(allowed) < len(every)
        return allowed


def tie_of(type_: str, *, certain: bool) -> str:
    """How strongly an edge ties its ends: of a column that is not certainly meant only the tables are known."""
    return type_ if certain else TABLE


class EdgeIndex(Generic[E]):
    """The hops between columns and tables on one side of them: out of their sources, or (upstream) of their targets.

    Of `INSERT INTO t SELECT s.a FROM s WHERE s.b > 0` the edges are s.a -> t.a, whose values flow, and s.b -> t, which
    decides over all columns of t.

    `read` gives the edges of some tables on that side; each table is asked for once. A node and the end of an edge
    meet where both are the same column, or either is a whole table. So what is said of every column of a target (a
    filter), or of tables alone, concerns each column, and a walk downstream is the mirror of one upstream: both go
    over the same chains of edges, of which each end meets the next beginning.

    With `rows` an edge also leads on where it does not meet: between the tables alone, whose rows come from there.
    """

    def __init__(self, read: Callable[[list[str]], Iterable[E]], *, upstream: bool, rows: bool = False) -> None:
        self._read = read
        self._read_tables: Callable[[list[str]], Mapping[str, TableEdges[E]]] | None = None
        self._upstream = upstream
        self._rows = rows
        self._added: dict[str, _TableEdges[E]] = {}
        self._known: dict[str, TableEdges[E]] = {}

    @classmethod
    def of(cls, edges: Iterable[E], *, upstream: bool, rows: bool = False) -> EdgeIndex[E]:
        """The index of edges that are all known."""
        given = tuple(edges)
        index = cls(lambda _tables: (), upstream=upstream, rows=rows)
        index._add(given)
        return index

    @classmethod
    def of_tables(cls, read: Callable[[list[str]], Mapping[str, TableEdges[E]]], *, upstream: bool) -> EdgeIndex[E]:
        """The index of what `read` gives of each of some tables, which may make an edge when it is met."""
        index = cls(lambda _tables: (), upstream=upstream)
        index._read_tables = read
        return index

    def edges(self, tables: Iterable[str]) -> list[E]:
        """All edges of some tables on this side."""
        wanted = list(dict.fromkeys(tables))
        self._learn(wanted)
        return [edge for table in wanted for edge in self._known[table].edges]

    def hops(self, nodes: Sequence[ColumnNode]) -> list[Hop[ColumnNode, E]]:
        """The hops out of each of the nodes."""
        self._learn(table for table, _ in nodes)
        if self._rows:
            return [hop for node in nodes for hop in self._rows_of(node)]
        known, upstream = self._known, self._upstream
        return [
            Hop(node, edge.source if upstream else edge.target, edge.type if edge.certain else TABLE, edge)
            for node in nodes
            for edge in known[node[0]].meeting(node[1])
        ]

    def _rows_of(self, node: ColumnNode) -> Iterator[Hop[ColumnNode, E]]:
        table, path = node
        for edge in self._known[table].edges:
            near, far = (edge.target, edge.source) if self._upstream else (edge.source, edge.target)
            tie = tie_of(edge.type, certain=edge.certain)
            if tie != TABLE and (path is None or near[1] is None or near[1] == path):
                yield Hop(node, far, tie, edge)
            elif far[0] != table:  # that a table's rows come from the table itself tells nothing
                yield Hop(node, (far[0], None), TABLE, edge)

    def _learn(self, tables: Iterable[str]) -> None:
        missing = list(dict.fromkeys(table for table in tables if table not in self._known))
        if missing and self._read_tables is not None:
            self._known.update(self._read_tables(missing))
        elif missing:
            self._added.update((table, _TableEdges()) for table in missing)
            self._add(self._read(missing))

    def _add(self, edges: Iterable[E]) -> None:
        added, upstream = self._added, self._upstream
        for edge in edges:
            table, path = edge.target if upstream else edge.source
            if table not in added:
                added[table] = _TableEdges()
            added[table].add(edge, path)
        self._known.update(added)


class TableEdges(Protocol[E]):
    """The edges of one table on one side of it, in their order."""

    @property
    def edges(self) -> list[E]:
        """All of them."""
        ...

    def meeting(self, path: str | None) -> Iterable[E]:
        """Those that a column, or (None) the whole table, meets."""
        ...


def meeting_numbers(numbers: Mapping[str | None, list[int]], path: str) -> list[int]:
    """The numbers of the edges that a column meets, in order: those of its own path, and those of the whole table."""
    own, whole = numbers.get(path, []), numbers.get(None, [])
    return sorted((*own, *whole)) if own and whole else own or whole


class _TableEdges(Generic[E]):
    """The edges of one table, in their order; those of one column are found without a look at the others.

    A table of a thousand columns has a thousand nodes, each of which would look at the edges of all.
    """

    __slots__ = ("_numbers", "edges")

    def __init__(self) -> None:
        self.edges: list[E] = []
        self._numbers: dict[str | None, list[int]] = {}

    def add(self, edge: E, path: str | None) -> None:
        self._numbers.setdefault(path, []).append(len(self.edges))
        self.edges.append(edge)

    def meeting(self, path: str | None) -> Iterable[E]:
        """The edges that a column, or (None) the whole table, meets."""
        if path is None:
            return self.edges
        return map(self.edges.__getitem__, meeting_numbers(self._numbers, path))
