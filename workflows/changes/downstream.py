"""What lies downstream of a table or a column, in the catalog and in the scripts, after a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.policies.values import ColumnNode
from workflows.changes.differences import Sides

Path = tuple[ColumnDependency, ...]

STRENGTHS = ("DIRECT", "INDIRECT", "TABLE")
"""A path is as strong as its weakest hop: values flow, values decide, or it is not certain which columns are meant."""


@dataclass(slots=True)
class DownstreamPaths:
    """Shortest paths downstream; what the change writes anew is not followed by what it said before."""

    sides: Sides
    _out: dict[str, list[ColumnDependency]] = field(default_factory=dict)

    def paths(
        self, start: ColumnNode, follows: Callable[[ColumnDependency], bool] = lambda _one: True
    ) -> dict[ColumnNode, tuple[str, Path]]:
        """For everything downstream the strongest tie and its shortest path, over what `follows` takes.

        Of a whole table what is certain is that it is read: the first hop's columns do not matter.
        """
        found: dict[ColumnNode, tuple[str, Path]] = {}
        for strength in range(len(STRENGTHS)):
            allowed = frozenset(STRENGTHS[: strength + 1])
            for node, path in self._walk(start, allowed, follows).items():
                if node != start:
                    found.setdefault(node, (STRENGTHS[strength], path))
        return found

    def readers(self, name: str) -> list[ColumnDependency]:
        """The dependencies out of a table."""
        self._read([name])
        return self._out[name]

    def _walk(
        self, start: ColumnNode, allowed: frozenset[str], follows: Callable[[ColumnDependency], bool]
    ) -> dict[ColumnNode, Path]:
        paths: dict[ColumnNode, Path] = {start: ()}
        frontier = [start]
        while frontier:
            self._read(node[0] for node in frontier)
            following = []
            for node in frontier:
                whole = node == start and node[1] is None
                for hop in self._out[node[0]]:
                    tied = hop.source[1] is None or node[1] is None or hop.source[1] == node[1]
                    strong = (hop.type if hop.certain else "TABLE") in allowed or (whole and len(allowed) > 1)
                    if tied and strong and hop.target not in paths and follows(hop):
                        paths[hop.target] = (*paths[node], hop)
                        following.append(hop.target)
            frontier = following
        return paths

    def _read(self, names: Iterable[str]) -> None:
        missing = [name for name in dict.fromkeys(names) if name not in self._out]
        if not missing:
            return
        rewritten = self.sides.rewritten_tables()
        found = [one for one in self.sides.tables.dependencies(missing) if one.target[0] not in rewritten]
        wanted = frozenset(missing)
        for script, skipped in ((self.sides.before, rewritten), (self.sides.after, frozenset[str]())):
            for target, dependencies in script.dependencies.items():
                if target not in skipped and self._stands(target):
                    found += [one for one in dependencies if one.source[0] in wanted]
        for name in missing:
            self._out[name] = []
        for one in dict.fromkeys(found):
            self._out[one.source[0]].append(one)

    def _stands(self, name: str) -> bool:
        state = self.sides.state_before(name)
        return state is not None and state.exists
