"""Search by names and by what is known of tables together, with the values that there are to narrow by."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from connectors.catalog.store.activity import PRODUCER
from connectors.catalog.store.filtering.conditions import ADMITTED, BEARING, admit
from connectors.catalog.store.filtering.measures import identifiers_in_order, measures, order_key
from connectors.catalog.store.filtering.query_text import parse_search
from connectors.catalog.store.labels import OWNER, TAG
from connectors.catalog.store.queries import name_search
from connectors.catalog.store.search_tables import entity_labels
from ingestion.model import Json

_MOST_ORDERED = 800
"""Hits by name, the best ones, that an order is made among."""
_MOST_VALUES = 200


def search(connection: Connection, wanted: str, limit: int) -> Json:
    """What `wanted` finds: words of names, filters, or both, best first or in the order that it says.

    Each result has the measures of its table: runs and tables that read it, when it appeared and was last written.
    Raises ApiError (400) for a filter that cannot be read.
    """
    asked = parse_search(wanted)
    if not asked.filters and not asked.order:
        hits = name_search.find(connection, asked.words, limit)
        return _answer(connection, hits)
    if not asked.words:
        admit(connection, asked.filters, named=False)
        return _answer(connection, _tables_and_columns(connection, asked.order or "used", limit))
    admission = admit(connection, asked.filters) if asked.filters else None
    if not asked.order:
        return _answer(connection, name_search.find(connection, asked.words, limit, admission))
    hits = name_search.find(connection, asked.words, _MOST_ORDERED, admission)
    known = measures(connection, [hit["entity"]["id"] for hit in hits])
    order = asked.order

    def place(hit: Json) -> tuple[bool, bool, int, str]:
        entity = hit["entity"]
        return hit["kind"] != "entity", *order_key(order, known[entity["id"]], entity["fullyQualifiedName"])

    return _answer(connection, sorted(hits, key=place)[:limit], known)


def _tables_and_columns(connection: Connection, order: str, limit: int) -> list[Json]:
    """The tables that were let through, and the columns that bear the tag that was asked for."""
    bearing = select(BEARING).where(BEARING.c.entity_id.in_(select(ADMITTED.c.id)))
    rows = connection.execute(bearing.order_by(BEARING.c.entity_id, BEARING.c.column_path).limit(limit))
    columns = name_search.columns_at(connection, [(row.entity_id, row.column_path) for row in rows])
    room = limit - min(len(columns), limit // 4)
    tables = name_search.tables_named(connection, identifiers_in_order(connection, order, room))
    return tables + columns[: limit - len(tables)]


def _answer(connection: Connection, hits: list[Json], known: dict[str, Json] | None = None) -> Json:
    if known is None:
        known = measures(connection, [hit["entity"]["id"] for hit in hits])
    return {"results": [{**hit, "use": known[hit["entity"]["id"]]} for hit in hits]}


def search_values(connection: Connection) -> Json:
    """The tags, owners and producers that one can narrow by, the most frequent first, with how often each is there."""
    labels = {}
    for name, kind in (("tags", TAG), ("owners", OWNER), ("producers", PRODUCER)):
        times = func.count(entity_labels.c.entity_id.distinct())
        known = select(entity_labels.c.value, times).where(entity_labels.c.kind == kind)
        rows = connection.execute(known.group_by(entity_labels.c.value).order_by(times.desc(), entity_labels.c.value))
        labels[name] = [{"value": value, "count": count} for value, count in rows.fetchmany(_MOST_VALUES)]
    return labels
