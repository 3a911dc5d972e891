"""The neighbours of an entity as a list: searched, in order of use or of name, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlalchemy import Connection

from connectors.catalog.explorer.both_moments import BothMoments, by_end
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.filtering.measures import measures
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.name_index import has_words, words
from connectors.catalog.store.queries.window import Window
from ingestion.model import Json

USE, NAME, CHANGE = "used", "name", "changed"
_NO_CHANGES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NeighbourPage:
    """Which neighbours to list: the side, words of their names, the order (USE, NAME or CHANGE), and which of them."""

    upstream: bool
    words: str = ""
    order: str = USE
    start: int = 0
    limit: int = 50


def neighbours(
    connection: Connection, row: EntityRow, page: NeighbourPage, window: Window, base: Window | None = None
) -> Json:
    """A page of the entities that `row` reads or is read by, with how much each is used itself.

    Those of the moment of `base` too, where there is one: each that differs between both with its change.
    """
    changes: dict[str, str] = {}
    if base is None:
        pairs = reads.neighbours(connection, {row.id}, upstream=page.upstream, moment=window.moment)
    else:
        both = BothMoments(connection, base.moment, window.moment)
        pairs = both.neighbours({row.id}, upstream=page.upstream)
        changes = by_end(both.changes(pairs, upstream=page.upstream), upstream=page.upstream)
    found = {pair[0 if page.upstream else 1] for pair in pairs} - {row.id}
    return {"total": len(found), "changed": len(changes), **entity_page(connection, found, page, changes)}


def entity_page(
    connection: Connection, identifiers: set[str], page: NeighbourPage, changes: Mapping[str, str] = _NO_CHANGES
) -> Json:
    """A page of these entities: how many have the words, and those of the page with their measures and `changes`."""
    asked = words(page.words)
    rows = [
        row
        for row in any_rows_of(connection, identifiers).values()
        if not page.words.strip() or has_words(asked, words(row.fqn)) or page.words.casefold() in row.fqn_folded
    ]
    known = measures(connection, [row.id for row in rows])
    if page.order == NAME:
        rows.sort(key=lambda row: row.fqn)
    else:
        rows.sort(key=lambda row: (-known[row.id]["runs"], -known[row.id]["readers"], row.fqn))
    if page.order == CHANGE:
        rows.sort(key=lambda row: row.id not in changes)
    shown = rows[page.start : page.start + page.limit]
    return {"found": len(rows), "entities": [_entity(row, known[row.id], changes) for row in shown]}


def _entity(row: EntityRow, use: Json, changes: Mapping[str, str]) -> Json:
    answer: Json = {"entity": {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn}, "use": use}
    return answer | ({"change": changes[row.id]} if row.id in changes else {})
