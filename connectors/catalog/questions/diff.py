"""What changed between two moments, in schemas and in lineage, and what each change reaches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Connection, and_, or_, select, union

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.graph import CatalogGraph
from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.contracts import BoundContracts, ChangedName, ContractReport, Happening
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.database import loads, now_millis
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from connectors.catalog.store.lineage.recency import with_unseen
from connectors.catalog.store.rows import thousands_of
from connectors.catalog.store.schema import attributes, corrections, intervals, name_events
from ingestion.model.lineage import Json
from ingestion.model.moments import Unseen, latest_unseen
from ingestion.walk import DIRECT, TABLE, ColumnNode

_MOST_CHANGES = 2_000
_MOST_NAMED = 100
_EXPRESSION_CHANGED = "columnEdgeChanged"
_UNSEEN = "columnEdgeUnseen"
_CUT = "there are more changes: ask of a shorter time"
_BREAKING = frozenset({"columnDropped", "columnRetyped", "columnRenamed", "entityDropped", "entityRenamed"})
_ColumnKey = tuple[str, str, str, str | None]
_State = tuple[str | None, int]  # value and when it was taken


@dataclass(frozen=True, slots=True)
class ChangeReach:
    """What a change reaches downstream: how many columns and tables, so many of them directly, and the nearest."""

    count: int
    direct: int
    named: tuple[tuple[str, str], ...]

    def to_json(self) -> Json:
        """The same as JSON."""
        named = [{"name": name, "type": strength} for name, strength in self.named]
        return {"count": self.count, "direct": self.direct, "named": named}


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A change of an entity, or with its full name the `column` of it. `breaking`: something downstream needs it."""

    kind: str
    entity: Json
    column: str
    at: int
    reaches: ChangeReach
    breaking: bool
    before: Json | str | None = None
    after: Json | str | None = None

    @property
    def name(self) -> str:
        return self.column or str(self.entity["fullyQualifiedName"])

    @property
    def new_name(self) -> str:
        """That of an entity that was renamed."""
        return self.after if self.kind == "entityRenamed" and isinstance(self.after, str) else ""

    def to_json(self) -> Json:
        """The same as JSON."""
        optional = {"before": self.before, "after": self.after}
        return {
            "kind": self.kind,
            "entity": self.entity,
            "column": self.column or None,
            "at": self.at,
            "reaches": self.reaches.to_json(),
            "breaking": self.breaking,
        } | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ColumnEnds:
    """The full names of the columns of an edge; "" is every column of the target."""

    source: str
    target: str
    type: str
    subtype: str | None

    def to_json(self) -> Json:
        """The same as JSON."""
        ends = {"fromColumn": self.source, "toColumn": self.target or None}
        return {**ends, "type": self.type, "subtype": self.subtype}


@dataclass(frozen=True, slots=True)
class LineageChange:
    """A change of an edge between entities, or with its `columns` between those; expressions `before` and `after`.

    `unseen`: it stands, and was not seen any more since a newer statement came.
    """

    kind: str
    from_entity: str
    to_entity: str
    reaches: ChangeReach
    columns: ColumnEnds | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    unseen: Unseen | None = None

    @property
    def source(self) -> str:
        return self.columns.source if self.columns is not None else self.from_entity

    @property
    def target(self) -> str:
        return (self.columns.target if self.columns is not None else "") or self.to_entity

    def to_json(self) -> Json:
        """The same as JSON."""
        found: Json = {"kind": self.kind, "from": self.from_entity, "to": self.to_entity}
        if self.columns is not None:
            found |= self.columns.to_json()
        if self.kind == _EXPRESSION_CHANGED:
            found |= {"before": list(self.before), "after": list(self.after)}
        if self.unseen is not None:
            found["notSeen"] = self.unseen.to_json()
        return found | {"reaches": self.reaches.to_json()}


@dataclass(frozen=True, slots=True)
class CatalogDiff:
    """The changes after `start` and up to `end` (milliseconds; `now`: it was left open), the oldest ones first.

    `left_out`: of other entities than those that lineage can touch, how many changed of each type; none where all
    were asked for. `contracts`: what the changes do to those, None where none were given.
    """

    start: int
    end: int
    schema: tuple[SchemaChange, ...]
    lineage: tuple[LineageChange, ...]
    now: bool = False
    left_out: tuple[tuple[str, int], ...] = ()
    contracts: ContractReport | None = None

    @property
    def breaking(self) -> bool:
        """Whether something downstream needs what has changed, or a contract promises it."""
        broken = self.contracts is not None and self.contracts.breaking
        return broken or any(change.breaking for change in self.schema)

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            "from": self.start,
            "to": self.end,
            "schemaChanges": [change.to_json() for change in self.schema],
            "lineageChanges": [change.to_json() for change in self.lineage],
            "breaking": self.breaking,
            "leftOut": dict(self.left_out),
        } | ({"contracts": self.contracts.to_json()} if self.contracts is not None else {})


@dataclass(frozen=True, slots=True)
class _Change:
    """One change of a schema: `path` "" concerns the entity."""

    kind: str
    entity: str
    path: str
    at: int
    before: Json | str | None = None
    after: Json | str | None = None


@dataclass(frozen=True, slots=True)
class _EdgeChange:
    """One change of an edge, by ids of entities; `key` None concerns the edge as a whole."""

    kind: str
    edge: tuple[str, str]
    key: _ColumnKey | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    unseen: Unseen | None = None

    @property
    def node(self) -> ColumnNode:
        """What changed with it."""
        return self.edge[1], (self.key[1] or None) if self.key is not None else None


def diff_of_file(
    file: Path, start: int, end: int | None, contracts: Path | None = None, *, everything: bool = False
) -> Answer[CatalogDiff]:
    """The changes in a catalog's file, held against `contracts` where any are given.

    Raises ConfigError where there is no such file.
    """
    with open_catalog(file) as connection:
        found = diff(connection, start, end, everything=everything)
        if contracts is None:
            return found
        bound = BoundContracts.of(contracts, LocalTables(connection, Moment(end)))
        report = bound.report(_changed_names(found.content))
        return replace(found, content=replace(found.content, contracts=report))


def _changed_names(found: CatalogDiff) -> Iterator[ChangedName]:
    """What happened to tables and columns, and (what may break by it) to what is downstream of them."""
    for change in found.schema:
        if change.kind not in _BREAKING:
            continue
        if change.kind == "columnRetyped":
            old, new = (str(one.get("dataType") or "") if isinstance(one, dict) else "" for one in _both(change))
            yield ChangedName(change.name, Happening.RETYPED, f"{change.kind}: {old} -> {new}", type=new)
            continue
        yield ChangedName(change.name, Happening.GONE, change.kind)
        for downstream, strength in change.reaches.named:
            why = f"{change.kind}: {change.name}"
            yield ChangedName(downstream, Happening.GONE, why, certain=change.breaking and strength != TABLE)


def _both(change: SchemaChange) -> tuple[Json | str | None, Json | str | None]:
    return change.before, change.after


def diff(connection: Connection, start: int, end: int | None, *, everything: bool = False) -> Answer[CatalogDiff]:
    """The changes after `start` and up to `end` (milliseconds; None: now), each with what it reaches downstream.

    Of entities that lineage cannot touch (services, schemas, queries: on a new catalog as many as there are tables)
    only how many changed, unless `everything` is asked for.
    """
    until = now_millis() if end is None else end
    schema, lineage = _schema_changes(connection, start, until), _lineage_changes(connection, start, until)
    types = {key: row.type for key, row in any_rows_of(connection, {change.entity for change in schema}).items()}
    others = {} if everything else {key: type_ for key, type_ in types.items() if type_ not in LINEAGE_TYPES}
    left_out = Counter(others[change.entity] for change in schema if change.entity in others)
    schema = [change for change in schema if change.entity not in others]
    many = max(len(schema), len(lineage)) > _MOST_CHANGES
    sides = _Sides(connection, CatalogGraph(connection, Moment(start)), CatalogGraph(connection, Moment(until)))
    changes = tuple(sides.schema(schema[:_MOST_CHANGES])), tuple(sides.lineage(lineage[:_MOST_CHANGES]))
    found = CatalogDiff(start, until, *changes, now=end is None, left_out=tuple(sorted(left_out.items())))
    return Answer(found, (_CUT,) if many or sides.before.truncated or sides.after.truncated else ())


@dataclass(frozen=True, slots=True)
class _Sides:
    """The lineage at both moments: what is gone reached something before, what came reaches something after."""

    connection: Connection
    before: CatalogGraph
    after: CatalogGraph
    known: dict[tuple[bool, ColumnNode], ChangeReach] = field(default_factory=dict)

    def schema(self, changes: Sequence[_Change]) -> Iterator[SchemaChange]:
        rows = any_rows_of(self.connection, {change.entity for change in changes})
        for one in changes:
            row = rows[one.entity]
            graph = self.after if one.kind in {"columnAdded", "entityAdded"} else self.before
            reaches = self._reach(graph, (one.entity, one.path or None))
            entity = {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn}
            column = f"{row.fqn}.{one.path}" if one.path else ""
            breaking = one.kind in _BREAKING and reaches.count > 0
            yield SchemaChange(one.kind, entity, column, one.at, reaches, breaking, one.before, one.after)

    def lineage(self, changes: Sequence[_EdgeChange]) -> Iterator[LineageChange]:
        rows = any_rows_of(self.connection, {end for change in changes for end in change.edge})
        for one in changes:
            graph = self.before if one.kind.endswith("Removed") else self.after
            source, target = (str(rows[end].fqn) for end in one.edge)
            columns = None if one.key is None else _named_columns(source, target, one.key)
            reaches = self._reach(graph, one.node, itself=True)
            yield LineageChange(one.kind, source, target, reaches, columns, one.before, one.after, one.unseen)

    def _reach(self, graph: CatalogGraph, node: ColumnNode, *, itself: bool = False) -> ChangeReach:
        """What a node reaches; a table that came with its edges is asked for by each of them, and followed once."""
        key = graph is self.after, node
        if key not in self.known:
            self.known[key] = self._follow(graph, node)
        found = self.known[key]
        if not itself:
            return found
        own = self._names([(node, DIRECT)])
        return ChangeReach(found.count + 1, found.direct + 1, (*own, *found.named[: _MOST_NAMED - 1]))

    def _follow(self, graph: CatalogGraph, node: ColumnNode) -> ChangeReach:
        nodes = [(way.node, way.strength) for way in graph.reached_from(node)]
        direct = sum(strength == DIRECT for _, strength in nodes)
        return ChangeReach(len(nodes), direct, self._names(nodes[:_MOST_NAMED]))

    def _names(self, nodes: Sequence[tuple[ColumnNode, str]]) -> tuple[tuple[str, str], ...]:
        rows = any_rows_of(self.connection, {entity for (entity, _), _ in nodes})
        return tuple(
            (rows[entity].fqn if path is None else f"{rows[entity].fqn}.{path}", strength)
            for (entity, path), strength in nodes
        )


def _named_columns(source: str, target: str, key: _ColumnKey) -> ColumnEnds:
    path, to, type_, subtype = key
    return ColumnEnds(f"{source}.{path}", f"{target}.{to}" if to else "", type_, subtype)


def _schema_changes(connection: Connection, start: int, end: int) -> list[_Change]:
    touched = select(attributes.c.entity_id, attributes.c.column_path).where(
        attributes.c.at > start, attributes.c.at <= end, attributes.c.name.in_(("shape", "exists"))
    )
    pairs = {(row[0], row[1]) for row in connection.execute(touched.distinct())}
    before, after = _states(connection, pairs, start), _states(connection, pairs, end)
    renamed = _renames(connection, start, end)
    old_names = {(entity, old) for (entity, _), (old, _) in renamed.items()}
    changes = []
    for entity, path in sorted(pairs):
        old, new = before.get((entity, path)), after.get((entity, path))
        was, at = (old[0] if old else None), (new[1] if new else start)
        now = new[0] if new else None
        # the end of something that nothing was known of before is news too
        ended = old is None and new is not None and now is None
        if (entity, path) in old_names or (was == now and not ended):
            continue
        if (entity, path) in renamed:
            name, at = renamed[entity, path]
            changes.append(_Change("columnRenamed", entity, name, at, name, path))
        elif path == "":
            changes.append(_Change("entityDropped" if now is None else "entityAdded", entity, "", at))
        elif (change := _column_change(entity, path, was, now, at)) is not None and (entity, "") not in pairs:
            changes.append(change)
    return _with_names(connection, changes, start, end)


def _column_change(entity: str, path: str, was: str | None, now: str | None, at: int) -> _Change | None:
    if was is None and now is not None:
        return _Change("columnAdded", entity, path, at, None, loads(now))
    if was is None or now is None:
        return _Change("columnDropped", entity, path, at, loads(was) if was is not None else None, None)
    old, new = loads(was), loads(now)
    if old["dataType"] == new["dataType"]:
        return None  # moved only
    return _Change("columnRetyped", entity, path, at, old, new)


def _states(connection: Connection, pairs: set[tuple[str, str]], moment: int) -> dict[tuple[str, str], _State]:
    found: dict[tuple[str, str], _State] = {}
    for some in thousands_of(sorted({entity for entity, _ in pairs})):
        where = and_(
            attributes.c.entity_id.in_(some),
            attributes.c.name.in_(("shape", "exists")),
            attributes.c.at <= moment,
        )
        for row in connection.execute(select(attributes).where(where).order_by(attributes.c.at, attributes.c.seq)):
            if (row.entity_id, row.column_path) in pairs:
                found[row.entity_id, row.column_path] = (row.value, row.at)
    return found


def _renames(connection: Connection, start: int, end: int) -> dict[tuple[str, str], tuple[str, int]]:
    where = (attributes.c.name == "renamedFrom", attributes.c.at > start, attributes.c.at <= end)
    return {
        (row.entity_id, row.column_path): (str(json.loads(row.value)), row.at)
        for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at))
    }


def _with_names(connection: Connection, changes: list[_Change], start: int, end: int) -> list[_Change]:
    """Entities that were renamed, instead of dropped."""
    where = (name_events.c.kind == "rename", name_events.c.at > start, name_events.c.at <= end)
    events = list(connection.execute(select(name_events).where(*where).order_by(name_events.c.at)))
    others = any_rows_of(connection, {event.other_id for event in events})
    renamed = {
        event.entity_id: _Change("entityRenamed", event.entity_id, "", event.at, None, others[event.other_id].fqn)
        for event in events
    }
    kept = [change for change in changes if not (change.kind == "entityDropped" and change.entity in renamed)]
    return sorted([*kept, *renamed.values()], key=lambda change: (change.at, change.entity, change.path))


def _lineage_changes(connection: Connection, start: int, end: int) -> list[_EdgeChange]:
    began = and_(intervals.c.start > start, intervals.c.start <= end)
    ended = and_(intervals.c.end > start, intervals.c.end <= end)
    pairs = select(intervals.c.from_id, intervals.c.to_id).where(or_(began, ended))
    corrected = select(corrections.c.from_id, corrections.c.to_id)
    corrected = corrected.where(corrections.c.at > start, corrections.c.at <= end)
    touched = sorted({(row[0], row[1]) for row in connection.execute(union(pairs, corrected))})[: _MOST_CHANGES + 1]
    targets = {target for _, target in touched}
    before, after = (
        with_unseen(connection, reads.contributions_around(connection, targets, upstream=True, moment=moment), moment)
        for moment in (Moment(start), Moment(end))
    )
    changes: list[_EdgeChange] = []
    for edge in touched:
        old, new = _expressions(before.get(edge, ())), _expressions(after.get(edge, ()))
        if bool(before.get(edge)) != bool(after.get(edge)):
            changes.append(_EdgeChange("edgeAdded" if after.get(edge) else "edgeRemoved", edge))
            continue
        changes += (
            _EdgeChange("columnEdgeAdded" if key in new else "columnEdgeRemoved", edge, key)
            for key in sorted(old.keys() ^ new.keys(), key=str)
        )
        changes += (
            _EdgeChange(_EXPRESSION_CHANGED, edge, key, tuple(sorted(old[key])), tuple(sorted(new[key])))
            for key in sorted((one for one in old.keys() & new.keys() if old[one] != new[one]), key=str)
        )
    for edge, views in sorted(after.items()):
        changes += _unseen_changes(edge, before.get(edge, ()), views)
    return changes


def _unseen_changes(
    edge: tuple[str, str], before: Sequence[ContributionView], after: Sequence[ContributionView]
) -> Iterator[_EdgeChange]:
    """The column edges of an edge that stood and were seen `before`, and are not seen any more `after`."""
    unseen = _unseen(after)
    if unseen:
        gone = unseen.keys() & (_expressions(before).keys() - _unseen(before).keys())
        yield from (_EdgeChange(_UNSEEN, edge, key, unseen=unseen[key]) for key in sorted(gone, key=str))


def _unseen(views: Iterable[ContributionView]) -> dict[_ColumnKey, Unseen]:
    """The column edges of an edge that nothing says any more since a newer statement came."""
    found: dict[_ColumnKey, list[Unseen | None]] = {}
    for one in views:
        for key, _expression in _column_edges(one):
            found.setdefault(key, []).append(one.unseen.get(key[1] or None))
    return {key: unseen for key, several in found.items() if (unseen := latest_unseen(several)) is not None}


def _expressions(views: Iterable[ContributionView]) -> dict[_ColumnKey, set[str]]:
    """The column edges of an edge, each with the expressions that make it; "" is the column as it is."""
    found: dict[_ColumnKey, set[str]] = {}
    for one in views:
        for key, expression in _column_edges(one):
            found.setdefault(key, set()).add(expression)
    return found


def _column_edges(view: ContributionView) -> Iterator[tuple[_ColumnKey, str]]:
    """Each with the expression that makes it."""
    for column in view.content.get("columns") or ():
        for source in column["from"]:
            key = source, column.get("to") or "", column.get("type", DIRECT), column.get("subtype")
            yield key, column.get("expression") or ""
