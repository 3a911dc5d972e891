"""The tables that the filters of a search let through."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TableClause,
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
from connectors.catalog.store.name_index import COLUMN, ENTITY, has_words, words
from connectors.catalog.store.schema import attributes, entities
from connectors.catalog.store.search_tables import entity_activity, entity_labels, search_names

ADMITTED = sql_table("search_admitted", sql_column("id"))
BEARING = sql_table("search_bearing", sql_column("entity_id"), sql_column("column_path"))
"""Columns that bear a tag that is asked for."""
BORNE = sql_table("search_borne", sql_column("bearer"), sql_column("name"))
"""The names of what is let through, each with whether an entity or a column bears it, where these are few."""
# cross joins keep the order: of temporary tables it is not known how small they are
_NAMES_OF_TABLES = (
    f"select '{ENTITY}', name from search_admitted cross join search_names on entity_id = search_admitted.id "
    "where column_path = ''"
)
_NAMES_OF_COLUMNS = (
    f"select '{COLUMN}', name from search_admitted cross join search_names on entity_id = search_admitted.id "
    "where column_path <> ''"
)
_NAMES_OF_BEARING = (
    f"select '{COLUMN}', name from search_bearing cross join search_names using (entity_id, column_path) "
    "where entity_id in (select id from search_admitted)"
)
_FEW_TABLES = 300
_FEW_COLUMNS = 20_000
_MAKE = (
    "create temporary table if not exists search_admitted (id text primary key) without rowid",
    "create temporary table if not exists search_bearing "
    "(entity_id text, column_path text, primary key (entity_id, column_path)) without rowid",
    "create temporary table if not exists search_borne "
    "(bearer text, name text, primary key (bearer, name)) without rowid",
)
_LABELS = text(
    # one look into the index for each label, not one for each thing that bears it
    "with recursive labels (value) as ("
    "select min(value) from entity_labels where kind = :kind union all "
    "select (select min(value) from entity_labels where kind = :kind and value > labels.value) "
    "from labels where labels.value is not null) select value from labels"
)
_KINDS = {"tag": TAG, "owner": OWNER, "producer": PRODUCER}


@dataclass(frozen=True, slots=True)
class Admission:
    """What filters let through: the `condition` on entities and searched names; `few`: their names are in BORNE."""

    condition: ColumnElement[bool]
    few: bool = False

    def bears(self, name: ColumnElement[str], bearer: ColumnElement[str]) -> ColumnElement[bool]:
        """Whether anything of the kind `bearer` (ENTITY, COLUMN) that is let through bears a name."""
        if self.few:
            return exists(select(1).where(BORNE.c.bearer == bearer, BORNE.c.name == name))
        of_kind = (search_names.c.column_path == "") == (bearer == ENTITY)
        return exists(select(1).select_from(search_names).where(search_names.c.name == name, of_kind, self.condition))


def admit(connection: Connection, filters: Sequence[SearchFilter], *, named: bool = True) -> Admission:
    """Puts the tables that all `filters` let through into ADMITTED.

    `named`: names are to be searched among what is let through. Where a tag is asked for, a column has to bear it
    itself: those are in BEARING. All is this connection's alone.
    Raises ApiError (400) for a filter that cannot be read.
    """
    for statement in _MAKE:
        connection.execute(text(statement))
    for table in (ADMITTED, BEARING, BORNE):
        connection.execute(delete(table))
    # one filter finds the tables, the others are tried on those: each for itself would gather all that it lets through
    first = next((one for one in filters if one.field in _KINDS and not one.negated), None)
    wanted = []
    for one in filters:
        condition = _condition(connection, one, tried=first is not None and one is not first)
        wanted.append(not_(condition) if one.negated else condition)
    # as an expression: an index on types would have every table looked at, with its document
    there = (entities.c.deleted.is_(False), entities.c.type.concat("").in_(LINEAGE_TYPES))
    connection.execute(insert(ADMITTED).from_select(["id"], select(entities.c.id).where(*there, *wanted)))
    admitted = exists(select(1).where(ADMITTED.c.id == search_names.c.entity_id))
    tags = [_labels_like(connection, TAG, one.value) for one in filters if one.field == "tag" and not one.negated]
    if not tags:
        few = named and _count(connection, ADMITTED) <= _FEW_TABLES
        if few:
            _note_names(connection, _NAMES_OF_COLUMNS)
        return Admission(admitted, few)
    bearing = select(entity_labels.c.entity_id, entity_labels.c.column_path).where(
        entity_labels.c.kind == TAG, entity_labels.c.column_path != ""
    )
    for values in tags:
        bearing = bearing.where(entity_labels.c.value.in_(_value_rows(values)))
    connection.execute(insert(BEARING).from_select(["entity_id", "column_path"], bearing.distinct()))
    own = and_(BEARING.c.entity_id == search_names.c.entity_id, BEARING.c.column_path == search_names.c.column_path)
    condition = and_(admitted, or_(search_names.c.column_path == "", exists(select(1).where(own))))
    few = named and _count(connection, BEARING) <= _FEW_COLUMNS
    if few:
        _note_names(connection, _NAMES_OF_BEARING)
    return Admission(condition, few)


def _note_names(connection: Connection, columns: str) -> None:
    """Puts the names that the admitted tables bear into BORNE, and those of their columns as `columns` selects them."""
    for query in (_NAMES_OF_TABLES, columns):
        connection.execute(text(f"insert or ignore into search_borne {query}"))


def _count(connection: Connection, table: TableClause) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0


def _condition(connection: Connection, one: SearchFilter, *, tried: bool) -> ColumnElement[bool]:
    """What a filter says of entities: to find them by, or to be `tried` on some that are found already."""
    if one.field in _KINDS:
        return _bears_label(_KINDS[one.field], _labels_like(connection, _KINDS[one.field], one.value), tried=tried)
    if one.field == "service":
        return entities.c.service_folded == one.value.casefold()
    if one.field in COUNTS:
        low, high = count_range(one)
        column = entity_activity.c.runs if one.field == "used" else entity_activity.c.readers
        most = true() if high is None else not_(_at_least(column, high + 1, tried=tried))
        return and_(_at_least(column, low, tried=tried), most)
    if one.field == "new":
        return entities.c.id.in_(_appeared_since(age(one).before(now_millis())))
    return _has_activity(_is_stale(one), tried=tried)


def _bears_label(kind: str, values: Sequence[str], *, tried: bool) -> ColumnElement[bool]:
    if not tried:
        bearing = and_(entity_labels.c.kind == kind, entity_labels.c.value.in_(_value_rows(values)))
        return entities.c.id.in_(select(entity_labels.c.entity_id).where(bearing))
    # as expressions: the labels of one entity are looked at, not one place in the index for each value
    one_of = entity_labels.c.value.concat("").in_(_value_rows(values))
    own = and_(entity_labels.c.entity_id == entities.c.id, entity_labels.c.kind.concat("") == kind, one_of)
    return exists(select(1).select_from(entity_labels).where(own).correlate(entities))


def _has_activity(condition: ColumnElement[bool], *, tried: bool) -> ColumnElement[bool]:
    if not tried:
        return entities.c.id.in_(select(entity_activity.c.entity_id).where(condition))
    own = and_(entity_activity.c.entity_id == entities.c.id, condition)
    return exists(select(1).select_from(entity_activity).where(own).correlate(entities))


def _labels_like(connection: Connection, kind: str, wanted: str) -> list[str]:
    """The labels that have all words of what is `wanted`, or their beginnings; the same one alone, if there."""
    known = [value for (value,) in connection.execute(_LABELS, {"kind": kind}) if value is not None]
    same = [value for value in known if value.casefold() == wanted.casefold()]
    asked = words(wanted)
    return same or [value for value in known if _may_have(asked, value) and has_words(asked, words(value))]


def _may_have(asked: Sequence[str], label: str) -> bool:
    """Whether it is worth taking a label apart: one of plain letters has its words as they are."""
    return not label.isascii() or all(one in label.lower() for one in asked)


def _value_rows(values: Sequence[str]) -> Select[Any]:
    """The values as one parameter, however many they are."""
    return select(func.json_each(json.dumps(list(values))).table_valued("value").c.value)


def _at_least(column: ColumnElement[int], number: int, *, tried: bool) -> ColumnElement[bool]:
    return true() if number <= 0 else _has_activity(column >= number, tried=tried)


def _appeared_since(moment: int) -> Select[Any]:
    """Entities that were not there before a moment: not those that only came back."""
    appeared = (attributes.c.name == text("'exists'"), attributes.c.value.is_not(None))
    first = select(attributes.c.entity_id).where(*appeared).group_by(attributes.c.entity_id)
    return first.having(func.min(attributes.c.at) >= moment)


def _is_stale(one: SearchFilter) -> ColumnElement[bool]:
    """Whether an entity is known to have been written, but not lately, seen from the newest observation."""
    given = age(one)
    written = entity_activity.c.last_written
    if given.moment is not None:
        return written < given.moment
    activity = entity_activity.alias()
    newest = select(func.min(func.max(activity.c.last_written), now_millis())).scalar_subquery()
    return written < newest - given.ago
