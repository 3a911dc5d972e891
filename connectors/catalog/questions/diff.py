"""What changed between two moments, in schemas and in lineage, and what each change reaches."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, and_, or_, select, union

from connectors.catalog.graph import CatalogGraph
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from connectors.catalog.store.rows import chunks_of
from connectors.catalog.store.schema import attributes, corrections, intervals, name_events
from ingestion.model.lineage import Json
from ingestion.walk import DIRECT, ColumnNode

MAX_CHANGES = 2_000
MAX_NAMED = 100
_BREAKING = frozenset({"columnDropped", "columnRetyped", "columnRenamed", "entityDropped", "entityRenamed"})
_ColumnKey = tuple[str, str, str, str | None]
_State = tuple[str | None, int]  # value and when it was taken


@dataclass(frozen=True, slots=True)
class _SchemaChange:
    """One change of a schema: `path` "" concerns the entity."""

    kind: str
    entity: str
    path: str
    at: int
    before: Json | str | None = None
    after: Json | str | None = None


def diff(connection: Connection, start: int, end: int) -> Json:
    """The changes after `start` and up to `end` (milliseconds), each with what it reaches downstream."""
    schema = _schema_changes(connection, start, end)
    lineage = _lineage_changes(connection, start, end)
    truncated = max(len(schema), len(lineage)) > MAX_CHANGES
    schema, lineage = schema[:MAX_CHANGES], lineage[:MAX_CHANGES]
    before = CatalogGraph(connection, Moment(start))
    after = CatalogGraph(connection, Moment(end))
    rows = any_rows_of(connection, {change.entity for change in schema})
    changes = []
    for change in schema:
        graph = after if change.kind in {"columnAdded", "entityAdded"} else before
        changes.append(_answer(connection, change, rows[change.entity], graph))
    for item in lineage:
        graph = before if item["kind"].endswith("Removed") else after
        item["reaches"] = _reaches(connection, graph, item.pop("node"), itself=True)
    return {
        "from": start,
        "to": end,
        "schemaChanges": changes,
        "lineageChanges": lineage,
        "breaking": any(change["breaking"] for change in changes),
        "truncated": truncated or before.truncated or after.truncated,
    }


def _answer(connection: Connection, change: _SchemaChange, row: EntityRow, graph: CatalogGraph) -> Json:
    node: ColumnNode = (change.entity, change.path or None)
    reaches = _reaches(connection, graph, node)
    answer: Json = {
        "kind": change.kind,
        "entity": {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn},
        "column": f"{row.fqn}.{change.path}" if change.path else None,
        "at": change.at,
        "reaches": reaches,
        "breaking": change.kind in _BREAKING and reaches["count"] > 0,
    }
    if change.before is not None:
        answer["before"] = change.before
    if change.after is not None:
        answer["after"] = change.after
    return answer


def _reaches(connection: Connection, graph: CatalogGraph, node: ColumnNode, *, itself: bool = False) -> Json:
    nodes = [(way.node, way.strength) for way in graph.reached_from(node)]
    if itself:
        nodes.insert(0, (node, DIRECT))
    rows = any_rows_of(connection, {entity for (entity, _), _ in nodes[:MAX_NAMED]})
    named = [
        {"name": rows[entity].fqn if path is None else f"{rows[entity].fqn}.{path}", "type": kind}
        for (entity, path), kind in nodes[:MAX_NAMED]
    ]
    return {"count": len(nodes), "direct": sum(kind == DIRECT for _, kind in nodes), "named": named}


def _schema_changes(connection: Connection, start: int, end: int) -> list[_SchemaChange]:
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
            changes.append(_SchemaChange("columnRenamed", entity, name, at, name, path))
        elif path == "":
            changes.append(_SchemaChange("entityDropped" if now is None else "entityAdded", entity, "", at))
        elif (change := _column_change(entity, path, was, now, at)) is not None and (entity, "") not in pairs:
            changes.append(change)
    return _with_names(connection, changes, start, end)


def _column_change(entity: str, path: str, was: str | None, now: str | None, at: int) -> _SchemaChange | None:
    if was is None and now is not None:
        return _SchemaChange("columnAdded", entity, path, at, None, loads(now))
    if was is None or now is None:
        return _SchemaChange("columnDropped", entity, path, at, loads(was) if was is not None else None, None)
    old, new = loads(was), loads(now)
    if old["dataType"] == new["dataType"]:
        return None  # moved only
    return _SchemaChange("columnRetyped", entity, path, at, old, new)


def _states(connection: Connection, pairs: set[tuple[str, str]], moment: int) -> dict[tuple[str, str], _State]:
    found: dict[tuple[str, str], _State] = {}
    for chunk in chunks_of(sorted({entity for entity, _ in pairs})):
        where = and_(
            attributes.c.entity_id.in_(chunk),
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


def _with_names(connection: Connection, changes: list[_SchemaChange], start: int, end: int) -> list[_SchemaChange]:
    """Entities that were renamed, instead of dropped."""
    where = (name_events.c.kind == "rename", name_events.c.at > start, name_events.c.at <= end)
    events = list(connection.execute(select(name_events).where(*where).order_by(name_events.c.at)))
    others = any_rows_of(connection, {event.other_id for event in events})
    renamed = {
        event.entity_id: _SchemaChange("entityRenamed", event.entity_id, "", event.at, None, others[event.other_id].fqn)
        for event in events
    }
    kept = [change for change in changes if not (change.kind == "entityDropped" and change.entity in renamed)]
    return sorted([*kept, *renamed.values()], key=lambda change: (change.at, change.entity, change.path))


def _lineage_changes(connection: Connection, start: int, end: int) -> list[Json]:
    began = and_(intervals.c.start > start, intervals.c.start <= end)
    ended = and_(intervals.c.end > start, intervals.c.end <= end)
    pairs = select(intervals.c.from_id, intervals.c.to_id).where(or_(began, ended))
    corrected = select(corrections.c.from_id, corrections.c.to_id)
    corrected = corrected.where(corrections.c.at > start, corrections.c.at <= end)
    touched = sorted({(row[0], row[1]) for row in connection.execute(union(pairs, corrected))})[: MAX_CHANGES + 1]
    targets = {target for _, target in touched}
    before = reads.contributions_around(connection, targets, upstream=True, moment=Moment(start))
    after = reads.contributions_around(connection, targets, upstream=True, moment=Moment(end))
    rows = any_rows_of(connection, {identifier for edge in touched for identifier in edge})
    changes: list[Json] = []
    for edge in touched:
        old, new = _expressions(before.get(edge, ())), _expressions(after.get(edge, ()))
        if bool(before.get(edge)) != bool(after.get(edge)):
            kind = "edgeAdded" if after.get(edge) else "edgeRemoved"
            changes.append({**_named_edge(kind, edge, rows), "node": (edge[1], None)})
        else:
            for key in sorted(old.keys() ^ new.keys(), key=str):
                kind = "columnEdgeAdded" if key in new else "columnEdgeRemoved"
                changes.append(_column_edge(kind, edge, key, rows))
            for key in sorted((one for one in old.keys() & new.keys() if old[one] != new[one]), key=str):
                texts = {"before": sorted(old[key]), "after": sorted(new[key])}
                changes.append(_column_edge("columnEdgeChanged", edge, key, rows) | texts)
    return changes


def _expressions(views: Iterable[ContributionView]) -> dict[_ColumnKey, set[str]]:
    """The column edges of an edge, each with the expressions that make it; "" is the column as it is."""
    found: dict[_ColumnKey, set[str]] = {}
    for one in views:
        for column in one.content.get("columns") or ():
            for source in column["from"]:
                key = source, column.get("to") or "", column.get("type", "DIRECT"), column.get("subtype")
                found.setdefault(key, set()).add(column.get("expression") or "")
    return found


def _named_edge(kind: str, edge: tuple[str, str], rows: dict[str, EntityRow]) -> Json:
    return {"kind": kind, "from": rows[edge[0]].fqn, "to": rows[edge[1]].fqn}


def _column_edge(kind: str, edge: tuple[str, str], key: _ColumnKey, rows: dict[str, EntityRow]) -> Json:
    source, target, strength, subtype = key
    change = _named_edge(kind, edge, rows)
    change["fromColumn"] = f"{change['from']}.{source}"
    change["toColumn"] = f"{change['to']}.{target}" if target else None
    change["type"] = strength
    change["subtype"] = subtype
    change["node"] = (edge[1], target or None)
    return change
