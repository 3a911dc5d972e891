"""What lies downstream of a column or an entity, and which entities a column comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import Connection

from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from ingestion.model.lineage import Json

# What lies downstream of a column or an entity: each thing once, by its shortest path, direct and indirect apart.

DIRECT, INDIRECT, TABLE = "DIRECT", "INDIRECT", "TABLE"
# a path is as strong as its weakest hop: values flow, values decide, or only the tables are known to be joined
_STRENGTHS = (DIRECT, INDIRECT, TABLE)
MAX_REACHED = 20_000
MAX_HOPS = 200_000
"""Hops of all paths together: those along a chain grow with the square of its length."""

Node = tuple[str, str | None]  # entity id and column path; None stands for the entity as a whole


@dataclass(frozen=True, slots=True)
class ImpactHop:
    """One step downstream, and what said so."""

    source: Node
    target: Node
    type: str
    subtype: str | None = None
    expression: str | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """Something downstream: how strong the tie is, and the shortest path of that strength."""

    node: Node
    type: str
    path: tuple[ImpactHop, ...]


@dataclass(slots=True)
class Downstream:
    """Walks downstream at one moment; what is read once is kept for the next walk."""

    connection: Connection
    moment: Moment
    truncated: bool = False
    _known: dict[str, list[ContributionView]] = field(default_factory=dict)

    def downstream_of(self, start: Node) -> list[Reached]:
        """Everything downstream of `start`, nearest first, the strongest tie of each."""
        found: dict[Node, Reached] = {}
        for strength in range(len(_STRENGTHS)):
            allowed = frozenset(_STRENGTHS[: strength + 1])
            for node, path in self._walk(start, allowed).items():
                if node not in found and node != start:
                    found[node] = Reached(node, _STRENGTHS[strength], path)
        return sorted(found.values(), key=lambda one: (len(one.path), one.node[0], one.node[1] or ""))

    def _walk(self, start: Node, allowed: frozenset[str]) -> dict[Node, tuple[ImpactHop, ...]]:
        paths: dict[Node, tuple[ImpactHop, ...]] = {start: ()}
        frontier = [start]
        hops = 0
        while frontier and len(paths) <= MAX_REACHED and hops <= MAX_HOPS:
            self._read({entity for entity, _ in frontier})
            following: list[Node] = []
            for node in frontier:
                for hop in self._hops(node):
                    if hop.type in allowed and hop.target not in paths:
                        paths[hop.target] = (*paths[node], hop)
                        following.append(hop.target)
                        hops += len(paths[hop.target])
            frontier = following
        self.truncated = self.truncated or bool(frontier)
        return paths

    def _read(self, wanted: set[str]) -> None:
        missing = wanted - set(self._known)
        if not missing:
            return
        for identifier in missing:
            self._known[identifier] = []
        for edge, views in reads.contributions_around(
            self.connection, missing, upstream=False, moment=self.moment
        ).items():
            self._known[edge[0]] += views

    def _hops(self, node: Node) -> Iterator[ImpactHop]:
        entity, path = node
        for one in self._known[entity]:
            columns = one.content.get("columns") or []
            if not columns:
                yield ImpactHop(node, (one.to_id, None), TABLE)
            for column in columns:
                if path is None or path in column["from"]:
                    yield ImpactHop(
                        node,
                        (one.to_id, column.get("to")),
                        column.get("type", DIRECT) if column.get("certain", True) else TABLE,
                        column.get("subtype"),
                        column.get("expression"),
                    )


def impact(connection: Connection, start: Node, moment: Moment) -> Json:
    """Everything downstream of `start` as clients read it."""
    walk = Downstream(connection, moment)
    reached = walk.downstream_of(start)
    rows = any_rows_of(connection, {start[0]} | {one.node[0] for one in reached})

    def label(node: Node) -> str:
        name: str = rows[node[0]].fqn
        return name if node[1] is None else f"{name}.{node[1]}"

    impacted = [
        {
            "entity": {"id": one.node[0], "type": rows[one.node[0]].type, "fullyQualifiedName": rows[one.node[0]].fqn},
            "column": label(one.node) if one.node[1] is not None else None,
            "type": one.type,
            "depth": len(one.path),
            "path": [label(start), *(label(hop.target) for hop in one.path)],
            "hops": [_hop(hop, label(hop.source), label(hop.target)) for hop in one.path],
        }
        for one in reached
    ]
    counts = {kind.lower(): sum(one.type == kind for one in reached) for kind in _STRENGTHS}
    counts["entities"] = len({one.node[0] for one in reached})
    return {"root": label(start), "impacted": impacted, "counts": counts, "truncated": walk.truncated}


def _hop(hop: ImpactHop, source: str, target: str) -> Json:
    answer: Json = {"from": source, "to": target, "type": hop.type}
    if hop.subtype:
        answer["subtype"] = hop.subtype
    if hop.expression:
        answer["expression"] = hop.expression
    return answer


# The entities that a column comes from, followed column by column: a table's other columns bring nothing in.


def sources_of(connection: Connection, start: Node, moment: Moment, limit: int) -> tuple[list[str], bool]:
    """The ids of the column's own entity and of those upstream of it, nearest first; whether `limit` cut them short.

    The entities of which only the tables are known to be joined with the column's own are among them.
    """
    inside: dict[str, None] = {start[0]: None}
    into: dict[str, list[ContributionView]] = {}
    seen = {start}
    frontier = [start]
    while frontier and len(inside) < limit:
        _read_into({entity for entity, _ in frontier}, into, connection, moment)
        following: list[Node] = []
        for node in frontier:
            for source in _sources(node, into[node[0]]):
                if source not in seen:
                    seen.add(source)
                    following.append(source)
                    inside.setdefault(source[0])
        frontier = following
    joined = [one.from_id for one in into.get(start[0], ()) if not one.content.get("columns")]
    found = list(dict.fromkeys((*inside, *joined)))
    return found[:limit], bool(frontier) or len(found) > limit


def _read_into(
    wanted: set[str], into: dict[str, list[ContributionView]], connection: Connection, moment: Moment
) -> None:
    missing = wanted - set(into)
    into.update({identifier: [] for identifier in missing})
    for edge, views in reads.contributions_around(connection, missing, upstream=True, moment=moment).items():
        into[edge[1]] += views


def _sources(node: Node, views: list[ContributionView]) -> list[Node]:
    return [
        (one.from_id, path)
        for one in views
        for column in one.content.get("columns") or ()
        if column.get("to") in {node[1], None}
        for path in column["from"]
    ]
