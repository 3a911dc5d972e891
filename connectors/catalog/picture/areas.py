"""The picture from farther away: schemas or services as cards, with how many edges there are between their tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from connectors.catalog.contract.entity_types import LINEAGE_TYPES, SERVICE_TYPES
from connectors.catalog.contract.errors import not_found
from connectors.catalog.picture.neighbourhood import NeighbourPage, entity_page
from connectors.catalog.store.edge_counts import edges_between_holders
from connectors.catalog.store.entities.entities import lies_under
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.lineage.window import Window
from connectors.catalog.store.rows import IDS, bind_ids, holder_number, thousands_of
from connectors.catalog.store.schema import entities, entity_activity, intervals
from ingestion.model import fqn
from ingestion.model.lineage import Json

SCHEMAS, SERVICES = "schemas", "services"
_MOST_SCHEMAS = 60
"""More schemas than these are first shown as their services."""
_MOST_AREAS = 400
_MOST_LINKS = 200
_FEW_AREAS = 50
"""Of so few the most used tables are looked for among the most used of all."""
_MOST_USED = 2_000
"""So many of all tables are looked at then."""
_SHOWN_TABLES = 5
"""Rows of a card: its most used tables."""


_NAMED = (
    select(entities.c.id, entities.c.type, entities.c.fqn)
    .where(entities.c.type.in_(("databaseSchema", *SERVICE_TYPES)), entities.c.fqn.in_(IDS))
    .where(entities.c.deleted.is_(False))
    .order_by(entities.c.id)
)
_IS_TABLE = entities.c.type.in_(LINEAGE_TYPES)
_TABLES = select(entities.c.id, entities.c.parent_id, entities.c.fqn).where(
    entities.c.id.in_(IDS), entities.c.deleted.is_(False), _IS_TABLE
)


@dataclass(frozen=True, slots=True)
class _Area:
    """A schema or a service with what lies in it."""

    row: Any
    parents: frozenset[str]
    tables: int


def areas(connection: Connection, level: str | None, service: str | None, window: Window) -> Json:
    """The areas of a level (SCHEMAS, SERVICES; None: whichever can be taken in) as a graph, largest first.

    `service` leaves the schemas of one service and those that its tables read from or write to.
    """
    holders = _holders(connection)
    if level is None:
        schemas = {holder for holder, row in holders.items() if row.type == "databaseSchema"}
        level = SCHEMAS if len(schemas) <= _MOST_SCHEMAS else SERVICES
    found = _areas(connection, holders, level)
    if service is None:
        kept = _largest(found, found)
        between = _pairs(connection, _area_of(found, kept), window)
    else:
        pairs = _pairs(connection, _area_of(found, found), window)
        kept = _largest(found, _of_service(found, pairs, service))
        shown = set(kept)
        between = {pair: kinds for pair, kinds in pairs.items() if shown.issuperset(pair)}
    tables = _most_used_tables(connection, _area_of(found, kept))
    return {
        "level": level,
        "areas": len(found),
        "truncated": len(kept) < len(found) and service is None,
        "roots": [],
        "window": window.answer(),
        "nodes": [_node(found[one], tables.get(one, [])) for one in kept],
        "links": len(between),
        "edges": [_edge(pair, between[pair]) for pair in _strongest(between)],
    }


def area_tables(connection: Connection, name: str, page: NeighbourPage) -> Json:
    """A page of the tables in a schema or service. Raises ApiError (404) when it is not there."""
    if not _by_name(connection, {name}):
        raise not_found("entity", name)
    under = and_(*lies_under(name))
    held = select(entities.c.id).where(under, entities.c.deleted.is_(False), entities.c.type.in_(LINEAGE_TYPES))
    found = set(connection.scalars(held))
    return {"total": len(found), **entity_page(connection, found, page)}


def _holders(connection: Connection) -> dict[str, Any]:
    """What tables and other ends of lineage lie in, by id, with how many are in it."""
    counted = (
        select(entities.c.parent_id, func.count().label("tables"))
        .where(entities.c.deleted.is_(False), _IS_TABLE, entities.c.parent_id.is_not(None))
        .group_by(entities.c.parent_id)
        .subquery()
    )
    columns = (entities.c.id, entities.c.type, entities.c.fqn, entities.c.deleted, counted.c.tables)
    rows = connection.execute(select(*columns).join(counted, counted.c.parent_id == entities.c.id))
    return {row.id: row for row in rows.all()}


def _areas(connection: Connection, holders: Mapping[str, Any], level: str) -> dict[str, _Area]:
    """The areas by id: of each holder the nearest one above it that is of the level."""
    parents: dict[str, set[str]] = defaultdict(set)
    names = {holder: _area_name(row, level) for holder, row in holders.items()}
    # of a thousand schemas each would be looked up by its name
    schemas = (row for row in holders.values() if row.type == "databaseSchema" and not row.deleted)
    known = {row.fqn: row for row in schemas if names[row.id] == row.fqn}
    known |= _by_name(connection, set(names.values()) - known.keys())
    for holder, name in names.items():
        if name in known:
            parents[name].add(holder)
    return {
        known[name].id: _Area(known[name], frozenset(some), sum(holders[one].tables for one in some))
        for name, some in parents.items()
    }


def _area_name(row: Any, level: str) -> str:
    return row.fqn if level == SCHEMAS and row.type == "databaseSchema" else fqn.split(row.fqn)[0]


def _by_name(connection: Connection, names: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for some in thousands_of(sorted(names)):
        found |= {row.fqn: row for row in connection.execute(_NAMED, bind_ids(some))}
    return found


def _pairs(connection: Connection, area_of: Mapping[str, str], window: Window) -> dict[tuple[str, str], dict[str, int]]:
    """How many edges of each kind of producer lead from one area into another."""
    numbers = {holder_number(parent): area for parent, area in area_of.items()}
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for start, end, kind, number in _edges_between_holders(connection, window.moment):
        source, target = numbers.get(start), numbers.get(end)
        if source is not None and target is not None and source != target:
            found[source, target][kind] += number
    return found


def _edges_between_holders(connection: Connection, moment: Moment) -> Iterable[tuple[int, int, str, int]]:
    """How many edges of each kind of producer lead at a moment from one holder into another, by their numbers."""
    if moment.as_of is None:
        return edges_between_holders(connection, moment.since)
    kinds = (intervals.c.from_holder, intervals.c.to_holder, intervals.c.kind)
    rows = connection.execute(select(*kinds, func.count()).where(moment.holds()).group_by(*kinds)).all()
    return ((start, end, kind, number) for start, end, kind, number in rows)


def _area_of(found: Mapping[str, _Area], some: Iterable[str]) -> dict[str, str]:
    """The area of each parent that lies in one of some."""
    return {parent: area for area in some for parent in found[area].parents}


def _of_service(found: Mapping[str, _Area], pairs: Iterable[tuple[str, str]], service: str) -> set[str]:
    """The areas of one service, and those that an edge ties to one of them."""
    own = {one for one, area in found.items() if fqn.split(area.row.fqn)[0] == service}
    return own | {end for pair in pairs if set(pair) & own for end in pair}


def _largest(found: Mapping[str, _Area], wanted: Iterable[str]) -> list[str]:
    return sorted(wanted, key=lambda one: (-found[one].tables, found[one].row.fqn))[:_MOST_AREAS]


def _strongest(pairs: Mapping[tuple[str, str], Mapping[str, int]]) -> list[tuple[str, str]]:
    """The pairs with the most edges: of more than these nobody could follow one."""
    return nsmallest(_MOST_LINKS, pairs, key=lambda pair: (-sum(pairs[pair].values()), pair))


def _most_used_tables(connection: Connection, area_of: Mapping[str, str]) -> dict[str, list[tuple[str, int]]]:
    """The names of the most used tables of each area, each with its runs."""
    found: dict[str, list[tuple[str, int]]] = {}
    if len(set(area_of.values())) <= _FEW_AREAS:
        found = _among_most_used(connection, area_of)
    others: dict[str, list[tuple[str, int]]] = defaultdict(list)
    left = {parent: area for parent, area in area_of.items() if area not in found}
    for parent, used in connection.execute(_most_used_first(), bind_ids(list(left))).all():
        others[left[parent]] += ((name, runs) for name, runs in json.loads(used))
    return found | {area: _first(some) for area, some in others.items() if some}


def _among_most_used(connection: Connection, area_of: Mapping[str, str]) -> dict[str, list[tuple[str, int]]]:
    """The same of those areas that have them among what is used most of all."""
    used = select(entity_activity.c.entity_id, entity_activity.c.runs).order_by(entity_activity.c.runs.desc())
    runs: dict[str, int] = {row[0]: row[1] for row in connection.execute(used.limit(_MOST_USED)).all()}
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for some in thousands_of(list(runs)):
        for identifier, parent, name in connection.execute(_TABLES, bind_ids(some)).all():
            if parent in area_of:
                found[area_of[parent]].append((name, runs[identifier]))
    least = min(runs.values(), default=0)  # another may be used as much
    first = {area: _first(some) for area, some in found.items()}
    return {area: some for area, some in first.items() if len(some) == _SHOWN_TABLES and some[-1][1] > least}


@cache
def _most_used_first() -> Select[Any]:
    """Some parents, each with the names and the runs of its most used tables as JSON: a row for each of these would be
    looked up once more.
    """
    parent, table, used = IDS.subquery(), entities.alias(), entity_activity.alias()
    held = select(table.c.fqn, used.c.runs).join_from(table, used, used.c.entity_id == table.c.id)
    held = held.where(table.c.parent_id == parent.c.value, table.c.deleted.is_(False), table.c.type.in_(LINEAGE_TYPES))
    # the first of each parent are kept while its tables are read: a rank of all would be a sort of all
    first = held.order_by(used.c.runs.desc(), table.c.fqn).limit(_SHOWN_TABLES).correlate(parent).subquery()
    each = func.json_group_array(func.json_array(first.c.fqn, first.c.runs))
    return select(parent.c.value, select(each).correlate(parent).scalar_subquery())


def _first(tables: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(tables, key=lambda one: (-one[1], one[0]))[:_SHOWN_TABLES]


def _node(area: _Area, tables: list[tuple[str, int]]) -> Json:
    parts = fqn.split(area.row.fqn)
    return {
        "id": area.row.id,
        "type": area.row.type,
        "name": parts[-1],
        "fullyQualifiedName": area.row.fqn,
        "service": parts[0],
        "database": ".".join(parts[1:-1]) or None,
        "tables": area.tables,
        "hidden": {"upstream": 0, "downstream": 0},
        "columns": [_table_row(area.row.fqn, name, runs) for name, runs in tables],
    }


def _table_row(area: str, name: str, runs: int) -> Json:
    text = f"{runs:,} run{'' if runs == 1 else 's'}"
    return {"path": name[len(area) + 1 :], "name": fqn.split(name)[-1], "dataType": text}


def _edge(pair: tuple[str, str], kinds: Mapping[str, int]) -> Json:
    contributed = [
        {"producer": {"kind": kind, "key": ""}, "source": "", "count": number, "columns": []}
        for kind, number in sorted(kinds.items())
    ]
    return {"from": pair[0], "to": pair[1], "contributions": contributed}
