"""The neighbours of an entity as a list: searched, in order of use or of name, page by page."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.filtering.measures import measures
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.name_index import has_words, words
from connectors.catalog.store.queries.window import Window
from ingestion.model import Json

USE, NAME = "used", "name"


@dataclass(frozen=True, slots=True)
class NeighbourPage:
    """Which neighbours to list: the side, words of their names, the order (USE or NAME), and which of them."""

    upstream: bool
    words: str = ""
    order: str = USE
    start: int = 0
    limit: int = 50


def neighbours(connection: Connection, row: EntityRow, page: NeighbourPage, window: Window) -> Json:
    """A page of the entities that `row` reads or is read by, with how much each is used itself."""
    pairs = reads.neighbours(connection, {row.id}, upstream=page.upstream, moment=window.moment)
    found = {pair[0 if page.upstream else 1] for pair in pairs} - {row.id}
    return {"total": len(found), **entity_page(connection, found, page)}


def entity_page(connection: Connection, identifiers: set[str], page: NeighbourPage) -> Json:
    """A page of these entities: how many have the words, and those of the page with their measures."""
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
    shown = rows[page.start : page.start + page.limit]
    return {
        "found": len(rows),
        "entities": [
            {"entity": {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn}, "use": known[row.id]}
            for row in shown
        ],
    }
