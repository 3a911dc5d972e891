"""What lies downstream of a column or an entity: each thing once, by its shortest path, direct and indirect apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph, StoredWay, unseen_on
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.contracts import BoundContracts, PromisedName
from connectors.catalog.questions.file import asked_window, named_node, open_catalog
from connectors.catalog.questions.impact_filter import FacetCounts, ImpactFilter, Labelled, facet_counts, fits
from connectors.catalog.questions.tables import LocalTables, owners_in, tags_in
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.columns import of_document, shown_name, walk
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.indexes import has_labels
from connectors.catalog.store.lineage.window import Window
from ingestion.model.lineage import Json
from ingestion.model.moments import Unseen
from ingestion.model.witnesses import Verdict, Witness
from ingestion.walk import DIRECT, STRENGTHS, ColumnNode

_VIEWS = frozenset({"View", "MaterializedView"})
_CUT = "the walk was cut short: ask of one column, or of what is nearer"


class ImpactHop(NamedTuple):
    """One step downstream by full names, and how it is made.

    `verdict`: who says so and who tells otherwise, None where one witness alone speaks of the target.
    """

    source: str
    target: str
    type: str
    subtype: str = ""
    expression: str = ""
    verdict: Verdict | None = None

    def to_json(self) -> Json:
        """The same as JSON."""
        optional = {"subtype": self.subtype, "expression": self.expression}
        written: Json = {"from": self.source, "to": self.target, "type": self.type}
        written |= {key: value for key, value in optional.items() if value}
        return written | (self.verdict.to_json() if self.verdict is not None else {})


class ReachedNode(NamedTuple):
    """Something downstream, and the shortest of the strongest ways there: an entity, or by its full name a `column`.

    `strength` is that of the weakest hop. `unseen`: every way there has one that was not seen since a newer one came.
    `tags` are those of the column where it is one, `entity_tags` those of what it is a column of.
    """

    id: str
    kind: str
    table: str
    column: str
    strength: str
    hops: tuple[ImpactHop, ...]
    unseen: Unseen | None = None
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entity_tags: tuple[str, ...] = ()
    is_view: bool = False

    @property
    def name(self) -> str:
        return self.column or self.table

    @property
    def labelled(self) -> Labelled:
        """What it can be chosen by."""
        every = tuple(dict.fromkeys((*self.tags, *self.entity_tags)))
        kind = "view" if self.is_view else self.kind
        return Labelled(self.table, kind, len(self.hops), self.strength.lower(), self.owners, every)

    @property
    def disputed_by(self) -> tuple[Witness, ...]:
        """Who tells otherwise of a hop on the way."""
        against = {one for hop in self.hops if hop.verdict is not None for one in hop.verdict.not_by}
        return tuple(one for one in Witness if one in against)

    @property
    def path(self) -> tuple[str, ...]:
        """The names on the way, from what was asked about on."""
        return (self.hops[0].source, *(hop.target for hop in self.hops))

    def to_json(self, hops: Mapping[int, Json]) -> Json:
        """The same as JSON, with its hops as they are written by their identity."""
        return {
            "entity": {"id": self.id, "type": self.kind, "fullyQualifiedName": self.table},
            "column": self.column or None,
            "type": self.strength,
            "depth": len(self.hops),
            "path": list(self.path),
            "hops": [hops[id(hop)] for hop in self.hops],
            **({"owners": list(self.owners)} if self.owners else {}),
            **({"tags": list(self.tags)} if self.tags else {}),
            **({"entityTags": list(self.entity_tags)} if self.entity_tags else {}),
        } | ({"notSeen": self.unseen.to_json()} if self.unseen is not None else {})


@dataclass(frozen=True, slots=True)
class ReachedTable:
    """An entity downstream: how many of its columns get values, how many other things of it depend, how near it is."""

    name: str
    kind: str
    direct: int
    others: int
    hops: int
    owners: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything downstream of `root`, the nearest first, what stands apart last, as seen through the `window`.

    `promises`: which contracts promise any of it, None where none were given. So many are `left_out` that are not
    `asked` for. `facets`: how many there are of each value that can be asked for.
    """

    root: str
    reached: tuple[ReachedNode, ...]
    window: Window
    promises: tuple[PromisedName, ...] | None = None
    left_out: int = 0
    asked: ImpactFilter = field(default_factory=ImpactFilter)
    facets: FacetCounts = field(default_factory=dict)

    def kinds(self) -> dict[str, int]:
        """How many entities of each kind are downstream."""
        return Counter(kind for _id, kind in {(one.id, one.kind) for one in self.reached})

    def counts(self) -> dict[str, int]:
        """How many are tied how strongly, and of how many entities they are; what stands apart is counted by itself."""
        seen = [one for one in self.reached if one.unseen is None]
        counts = {kind.lower(): sum(one.strength == kind for one in seen) for kind in STRENGTHS}
        counts |= {"entities": len({one.id for one in self.reached})}
        return counts | ({"notSeen": len(self.reached) - len(seen)} if len(seen) < len(self.reached) else {})

    def only(self, asked: ImpactFilter) -> Impact:
        """Only what is asked for, with how many there are of each value, whatever is asked of that facet."""
        labelled = [one.labelled for one in self.reached]
        counted = Counter(labelled)
        fitting = {one for one in counted if fits(one, asked)}
        kept = tuple(one for one, known in zip(self.reached, labelled, strict=True) if known in fitting)
        facets = facet_counts(counted, asked)
        return replace(self, reached=kept, left_out=len(self.reached) - len(kept), asked=asked, facets=facets)

    def by_table(self) -> tuple[ReachedTable, ...]:
        """What is downstream by entity, the nearest first."""
        tables: dict[str, list[ReachedNode]] = {}
        for one in self.reached:
            tables.setdefault(one.id, []).append(one)
        return tuple(map(_reached_table, tables.values()))

    def to_json(self) -> Json:
        """The same as JSON."""
        return self.page(0, None)

    def page(self, start: int, limit: int | None) -> Json:
        """The same as JSON, with so many of what is downstream (None: the rest) from a place on."""
        shown = self.reached[start:] if limit is None else self.reached[start : start + limit]
        # the ways share hops, up to 200,000 in all: each is written once
        hops = {key: hop.to_json() for key, hop in {id(hop): hop for one in shown for hop in one.hops}.items()}
        impacted = [one.to_json(hops) for one in shown]
        promised = {} if self.promises is None else {"contracts": [one.to_json() for one in self.promises]}
        whole: Json = {"root": self.root, "impacted": impacted, "counts": self.counts(), "window": self.window.answer()}
        whole |= promised | ({"leftOut": self.left_out} if self.left_out else {})
        facets = {
            facet.value: [{"value": value, "count": count} for value, count in counts.items()]
            for facet, counts in self.facets.items()
        }
        return whole | ({"total": len(self.reached), "facets": facets} if facets else {})


def _reached_table(nodes: Sequence[ReachedNode]) -> ReachedTable:
    direct = sum(one.strength == DIRECT for one in nodes)
    tags = tuple(sorted({tag for one in nodes for tag in one.tags}))
    nearest = min(len(one.hops) for one in nodes)
    first = nodes[0]
    return ReachedTable(first.table, first.kind, direct, len(nodes) - direct, nearest, first.owners, tags)


def impact_in_file(file: Path, name: str, when: When, contracts: Path | None = None) -> Answer[Impact]:
    """Everything downstream of a table or column, and which `contracts` promise it where any are given.

    Raises ConfigError for a name that is not there, or not just one.
    """
    with open_catalog(file) as connection:
        row, path = named_node(connection, name)
        span = asked_window(connection, when)
        found = impact(connection, (row.id, path), span)
        if contracts is None:
            return found
        bound = BoundContracts.of(contracts, LocalTables(connection, span.moment))
        names = dict.fromkeys((found.content.root, *(one.name for one in found.content.reached)))
        content = replace(found.content, promises=tuple(bound.promised_names(names)))
        doubts = bound.doubts((row.fqn, *(one.table for one in found.content.reached)))
        missing = (*(f"contract not read: {one}" for one in bound.unread), *(f"contract: {one}" for one in doubts))
        return Answer(content, (*found.cut, *missing))


def impact(connection: Connection, start: ColumnNode, span: Window) -> Answer[Impact]:
    """The same of the node `start` of an open catalog, as it is within the window `span`."""
    graph = CatalogGraph(connection, span.moment, judged=True, with_statements=False)
    ways = graph.reached_from(start)
    rows = any_rows_of(connection, {start[0]} | {way.node[0] for way in ways})
    labelled = {key: _read_labels(row) for key, row in rows.items()}
    names = _NodeNames(labelled)
    hops: dict[int, ImpactHop] = {}
    for way in ways:
        for hop in reversed(way.hops):
            if id(hop) in hops:  # then those before it are known too: a walk goes to each node by one way
                break
            how = hop.strength, hop.edge.subtype, hop.edge.expression
            hops[id(hop)] = ImpactHop(names[hop.start], names[hop.end], *how, hop.edge.verdict)
    reached = (_reached_node(way, labelled[way.node[0]], names[way.node], hops) for way in ways)
    found = Impact(names[start], tuple(sorted(reached, key=lambda one: one.unseen is not None)), span)
    return Answer(found, (_CUT,) if graph.truncated else ())


class _LabelledEntity(NamedTuple):
    """An entity, who owns it, and the tags of it (at None) and of its columns by their paths."""

    id: str
    kind: str
    name: str
    is_view: bool
    owners: tuple[str, ...] = ()
    tags: Mapping[str | None, tuple[str, ...]] = MappingProxyType({})


def _read_labels(row: EntityRow) -> _LabelledEntity:
    bare = _LabelledEntity(row.id, row.type, row.fqn, row.table_type in _VIEWS)
    if not has_labels(row.document):
        return bare
    document = loads(row.document)
    columns = walk(of_document(document))
    tags: dict[str | None, tuple[str, ...]] = {path: tags_in(column) for path, _position, column in columns}
    tags[None] = tags_in(document)
    return bare._replace(owners=owners_in(document), tags=tags)


class _NodeNames(dict[ColumnNode, str]):
    """What people read of each node, made when it is asked for."""

    def __init__(self, labelled: Mapping[str, _LabelledEntity]) -> None:
        self._entities = labelled

    def __missing__(self, node: ColumnNode) -> str:
        entity = self._entities[node[0]]
        name = self[node] = shown_name(entity.kind, entity.name, node[1])
        return name


def _reached_node(way: StoredWay, entity: _LabelledEntity, name: str, hops: Mapping[int, ImpactHop]) -> ReachedNode:
    path = way.node[1]
    whole = entity.tags.get(None, ())
    return ReachedNode(
        entity.id,
        entity.kind,
        entity.name,
        name if path is not None else "",
        way.strength,
        tuple([hops[id(hop)] for hop in way.hops]),
        unseen_on(way),
        entity.owners,
        entity.tags.get(path, ()),
        whole if path is not None else (),
        entity.is_view,
    )
