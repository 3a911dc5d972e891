"""Ways between columns, each as strong as its weakest hop: values flow, values decide, or only rows come through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.policies.values import ColumnNode

DIRECT, INDIRECT, TABLE = "DIRECT", "INDIRECT", "TABLE"
STRENGTHS = (DIRECT, INDIRECT, TABLE)


@dataclass(frozen=True, slots=True)
class ColumnWay:
    """The shortest of the strongest ways from a node down to where the search began; `ties` are those of its hops."""

    nodes: tuple[ColumnNode, ...]
    ties: tuple[str, ...] = ()

    @property
    def strength(self) -> str:
        """That of the weakest hop."""
        return max(self.ties, key=STRENGTHS.index, default=DIRECT)

    @property
    def hops(self) -> int:
        return len(self.nodes) - 1


class UpstreamPaths:
    """Walks against the flow of data; the walk from each node is made once."""

    def __init__(self, edges: Iterable[ColumnDependency]) -> None:
        self._into: dict[str, list[ColumnDependency]] = defaultdict(list)
        for edge in sorted(set(edges), key=_order):
            if edge.source[0] != edge.target[0]:
                self._into[edge.target[0]].append(edge)
        self._known: dict[ColumnNode, dict[ColumnNode, ColumnWay]] = {}

    def upstream_of(self, start: ColumnNode) -> dict[ColumnNode, ColumnWay]:
        """Every node with a say in `start`, itself among them."""
        if start not in self._known:
            found: dict[ColumnNode, ColumnWay] = {}
            for strength in range(len(STRENGTHS)):
                for node, way in self._walk(start, frozenset(STRENGTHS[: strength + 1])).items():
                    found.setdefault(node, way)
            self._known[start] = found
        return self._known[start]

    def tables_upstream_of(self, start: ColumnNode) -> dict[str, ColumnWay]:
        """The best way from each table."""
        best: dict[str, ColumnWay] = {}
        for (table, _), way in self.upstream_of(start).items():
            if table not in best or _rank(way) < _rank(best[table]):
                best[table] = way
        return best

    def _walk(self, start: ColumnNode, allowed: frozenset[str]) -> dict[ColumnNode, ColumnWay]:
        ways = {start: ColumnWay((start,))}
        frontier = [start]
        while frontier:
            following = []
            for node in frontier:
                for source, strength in self._hops(node):
                    if strength in allowed and source not in ways:
                        ways[source] = ColumnWay((source, *ways[node].nodes), (strength, *ways[node].ties))
                        following.append(source)
            frontier = following
        return ways

    def _hops(self, node: ColumnNode) -> Iterator[tuple[ColumnNode, str]]:
        table, path = node
        for edge in self._into.get(table, ()):
            if edge.type == TABLE or not edge.certain:
                yield (edge.source[0], None), TABLE
            elif path is None or edge.target[1] == path:
                yield edge.source, edge.type
            elif edge.target[1] is None:
                yield edge.source, INDIRECT
            else:
                yield (edge.source[0], None), TABLE


def _rank(way: ColumnWay) -> tuple[int, int]:
    return STRENGTHS.index(way.strength), way.hops


def _order(edge: ColumnDependency) -> tuple[str, ...]:
    return tuple(str(part) for part in (*edge.source, *edge.target, edge.type, edge.subtype, edge.expression))
