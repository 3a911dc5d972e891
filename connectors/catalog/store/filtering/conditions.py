"""The tables that the filters of a search let through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    text,
    true,
)
from sqlalchemy import column as sql_column
from sqlalchemy import table as sql_table

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.store.activity import PRODUCER
from connectors.catalog.store.clock import now_millis
from connectors.catalog.store.filtering.query_text import COUNTS, SearchFilter, age, count_range
from connectors.catalog.store.labels import OWNER, TAG
from connectors.catalog.store.name_index import has_words, words
from connectors.catalog.store.schema import attributes, entities, entity_activity, entity_labels
from connectors.catalog.store.search_tables import search_names

ADMITTED = sql_table("search_admitted", sql_column("id"))
BEARING = sql_table("search_bearing", sql_column("entity_id"), sql_column("column_path"))
"""Columns that bear a tag that is asked for."""
_MAKE = (
    "create temporary table if not exists search_admitted (id text primary key) without rowid",
    "create temporary table if not exists search_bearing "
    "(entity_id text, column_path text, primary key (entity_id, column_path)) without rowid",
)
_KINDS = {"tag": TAG, "owner": OWNER, "producer": PRODUCER}


def admit(connection: Connection, filters: Sequence[SearchFilter]) -> ColumnElement[bool]:
    """Puts the tables that all `filters` let through into ADMITTED and answers the condition on searched names.

    Where a tag is asked for, a column has to bear it itself: those are in BEARING. Both are this connection's alone.
    Raises ApiError (400) for a filter that cannot be read.
    """
    for statement in _MAKE:
        connection.execute(text(statement))
    for table in (ADMITTED, BEARING):
        connection.execute(delete(table))
    wanted = []
    for one in filters:
        condition = _condition(connection, one)
        wanted.append(not_(condition) if one.negated else condition)
    # as an expression: an index on types would have every table looked at, with its document
    there = (entities.c.deleted.is_(False), entities.c.type.concat("").in_(LINEAGE_TYPES))
    connection.execute(insert(ADMITTED).from_select(["id"], select(entities.c.id).where(*there, *wanted)))
    admitted = exists(select(1).where(ADMITTED.c.id == search_names.c.entity_id))
    tags = [_labels_like(connection, TAG, one.value) for one in filters if one.field == "tag" and not one.negated]
    if not tags:
        return admitted
    bearing = select(entity_labels.c.entity_id, entity_labels.c.column_path).where(
        entity_labels.c.kind == TAG, entity_labels.c.column_path != ""
    )
    for values in tags:
        bearing = bearing.where(entity_labels.c.value.in_(values))
    connection.execute(insert(BEARING).from_select(["entity_id", "column_path"], bearing.distinct()))
    own = and_(BEARING.c.entity_id == search_names.c.entity_id, BEARING.c.column_path == search_names.c.column_path)
    return and_(admitted, or_(search_names.c.column_path == "", exists(select(1).where(own))))


def _condition(connection: Connection, one: SearchFilter) -> ColumnElement[bool]:
    if one.field in _KINDS:
        values = _labels_like(connection, _KINDS[one.field], one.value)
        bearing = and_(entity_labels.c.kind == _KINDS[one.field], entity_labels.c.value.in_(values))
        return entities.c.id.in_(select(entity_labels.c.entity_id).where(bearing))
    if one.field == "service":
        return entities.c.service_folded == one.value.casefold()
    if one.field in COUNTS:
        low, high = count_range(one)
        column = entity_activity.c.runs if one.field == "used" else entity_activity.c.readers
        most = true() if high is None else not_(_at_least(column, high + 1))
        return and_(_at_least(column, low), most)
    if one.field == "new":
        return entities.c.id.in_(_appeared_since(age(one).before(now_millis())))
    return entities.c.id.in_(_not_written_since(one))


def _labels_like(connection: Connection, kind: str, wanted: str) -> list[str]:
    """The labels that have all words of what is `wanted`, or their beginnings; the same one alone, if there."""
    known = connection.scalars(select(entity_labels.c.value).where(entity_labels.c.kind == kind).distinct()).all()
    same = [value for value in known if value.casefold() == wanted.casefold()]
    asked = words(wanted)
    return same or [value for value in known if has_words(asked, words(value))]


def _at_least(column: ColumnElement[int], number: int) -> ColumnElement[bool]:
    if number <= 0:
        return true()
    return entities.c.id.in_(select(entity_activity.c.entity_id).where(column >= number))


def _appeared_since(moment: int) -> Select[Any]:
    """Entities that were not there before a moment: not those that only came back."""
    appeared = (attributes.c.name == text("'exists'"), attributes.c.value.is_not(None))
    first = select(attributes.c.entity_id).where(*appeared).group_by(attributes.c.entity_id)
    return first.having(func.min(attributes.c.at) >= moment)


def _not_written_since(one: SearchFilter) -> Select[Any]:
    """Entities that are known to have been written, but not lately, seen from the newest observation."""
    given = age(one)
    written = entity_activity.c.last_written
    stale = select(entity_activity.c.entity_id)
    if given.moment is not None:
        return stale.where(written < given.moment)
    newest = select(func.min(func.max(written), now_millis())).scalar_subquery()
    return stale.where(written < newest - given.ago)
