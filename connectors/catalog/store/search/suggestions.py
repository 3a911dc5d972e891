"""What a search might go on with: names that begin so, and the values that a field has, by how many have them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, distinct, func, select, true

from connectors.catalog.store.entities.entities import answer
from connectors.catalog.store.schema import entities
from connectors.catalog.store.search import fields
from connectors.catalog.store.search.query_text import condition
from connectors.catalog.store.search.search import Query, scope
from ingestion.model import Json

_MAX_BUCKETS = 1_000


def suggestions(connection: Connection, query: Query) -> list[Json]:
    """Entities whose name begins with the text of a query, in the order of their names."""
    begins = fields.matches("name.keyword", f"{_literal(query.text)}*") if query.text else true()
    where = and_(scope(query), entities.c.deleted.is_(False), begins)
    order = (entities.c.name_folded, entities.c.fqn)
    rows = connection.execute(select(entities).where(where).order_by(*order).limit(query.size)).all()
    options = []
    for row in rows:
        document = answer(row) | {"entityType": row.type}
        hit: Json = {"_index": query.index, "_id": row.id, "_score": 1.0, "_source": document}
        options.append({"text": document["name"], **hit})
    return options


def buckets(connection: Connection, query: Query, field: str, prefix: str = "") -> list[Json]:
    """The values of a field among what a search finds, those of the most entities first."""
    place = fields.values_of(field)
    if place is None:
        return []
    tree, value = place
    many = func.count(distinct(entities.c.id))
    found = select(value.label("key"), many.label("many")).select_from(entities)
    where: list[Any] = [scope(query), entities.c.deleted.is_(False), condition(query.text), value.is_not(None)]
    if tree is not None:
        found = found.join(tree, true())
        where.append(fields.stands_at(tree, field))
    if prefix:
        where.append(func.lower(value).op("GLOB")(f"{fields.glob(_literal(prefix.casefold()))}*"))
    ranked = found.where(*where).group_by(value).order_by(many.desc(), value).limit(min(query.size, _MAX_BUCKETS))
    return [{"key": row.key, "doc_count": row.many} for row in connection.execute(ranked)]


def _literal(text: str) -> str:
    """A text as a pattern that means nothing but it."""
    return "".join(f"\\{character}" if character in "*?\\" else character for character in text)
