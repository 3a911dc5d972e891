"""What lies downstream of a column or an entity: each thing once, by its shortest path, direct and indirect apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph, StoredWay
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.file import named_node, open_catalog
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.lineage.window import Window, window
from ingestion.model.lineage import Json
from ingestion.walk import STRENGTHS, ColumnNode

_CUT = "the walk was cut short: ask of one column, or of what is nearer"


@dataclass(frozen=True, slots=True)
class ImpactHop:
    """One step downstream by full names, and how it is made."""

    source: str
    target: str
    type: str
    subtype: str = ""
    expression: str = ""

    def to_json(self) -> Json:
        """The same as JSON."""
        optional = {"subtype": self.subtype, "expression": self.expression}
        return {"from": self.source, "to": self.target, "type": self.type} | {k: v for k, v in optional.items() if v}


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """Something downstream, and the shortest of the strongest ways there: an entity, or by its full name a `column`.

    `strength` is that of the weakest hop.
    """

    id: str
    kind: str
    table: str
    column: str
    strength: str
    hops: tuple[ImpactHop, ...]

    @property
    def name(self) -> str:
        return self.column or self.table

    @property
    def path(self) -> tuple[str, ...]:
        """The names on the way, from what was asked about on."""
        return (self.hops[0].source, *(hop.target for hop in self.hops))

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "entity": {"id": self.id, "type": self.kind, "fullyQualifiedName": self.table},
            "column": self.column or None,
            "type": self.strength,
            "depth": len(self.hops),
            "path": list(self.path),
            "hops": [hop.to_json() for hop in self.hops],
        }


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything downstream of `root`, the nearest first, as seen through the `window`."""

    root: str
    reached: tuple[ReachedNode, ...]
    window: Window

    def counts(self) -> dict[str, int]:
        """How many are tied how strongly, and of how many entities they are."""
        counts = {kind.lower(): sum(one.strength == kind for one in self.reached) for kind in STRENGTHS}
        return counts | {"entities": len({one.id for one in self.reached})}

    def to_json(self) -> Json:
        """The same as JSON."""
        impacted = [one.to_json() for one in self.reached]
        return {"root": self.root, "impacted": impacted, "counts": self.counts(), "window": self.window.answer()}


def impact_in_file(file: Path, name: str, when: When) -> Answer[Impact]:
    """Everything downstream of a table or column. Raises ConfigError for a name that is not there, or not just one."""
    with open_catalog(file) as connection:
        row, path = named_node(connection, name)
        return impact(connection, (row.id, path), window(connection, when.as_of, when.days))


def impact(connection: Connection, start: ColumnNode, span: Window) -> Answer[Impact]:
    """The same of the node `start` of an open catalog, as it is within the window `span`."""
    graph = CatalogGraph(connection, span.moment)
    ways = graph.reached_from(start)
    rows = any_rows_of(connection, {start[0]} | {way.node[0] for way in ways})
    found = Impact(_name(start, rows), tuple(_reached_node(way, rows) for way in ways), span)
    return Answer(found, (_CUT,) if graph.truncated else ())


def _reached_node(way: StoredWay, rows: Mapping[str, EntityRow]) -> ReachedNode:
    row = rows[way.node[0]]
    hops = tuple(
        ImpactHop(_name(hop.start, rows), _name(hop.end, rows), hop.strength, hop.edge.subtype, hop.edge.expression)
        for hop in way.hops
    )
    column = _name(way.node, rows) if way.node[1] is not None else ""
    return ReachedNode(row.id, row.type, row.fqn, column, way.strength, hops)


def _name(node: ColumnNode, rows: Mapping[str, EntityRow]) -> str:
    name: str = rows[node[0]].fqn
    return name if node[1] is None else f"{name}.{node[1]}"
