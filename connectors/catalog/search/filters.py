"""Searches narrowed and ordered by what is known of tables: tags, owners, producers, use, age."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TableClause,
    and_,
    case,
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
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.indexes import COLUMN, ENTITY, NAMES_OF, OWNER, PRODUCER, TAG, has_words, words
from connectors.catalog.store.rows import bind_ids, thousands_of
from connectors.catalog.store.schema import attributes, entities, entity_activity, entity_labels, search_names
from ingestion.model.lineage import Json

LABELS = ("tag", "owner", "producer", "service")
COUNTS = ("used", "readers")
AGES = ("new", "stale", "unread")
ORDERS = ("used", "readers", "new", "stale", "name")
_FIELDS = "|".join((*LABELS, *COUNTS, *AGES, "sort"))
_FILTER = re.compile(rf'(?<!\S)(?P<no>-?)(?P<field>{_FIELDS}):(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S*))', re.IGNORECASE)
_COUNT = re.compile(r"(?P<sign>>=|<=|>|<|)(?P<number>\d{1,15})")
_RANGE = re.compile(r"(?P<low>\d{1,15})\.\.(?P<high>\d{1,15})")
_AGE = re.compile(r"(?P<number>\d{1,5})(?P<unit>[hdwmy])", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOUR = 3_600_000
_UNITS = {"h": _HOUR, "d": 24 * _HOUR, "w": 7 * 24 * _HOUR, "m": 30 * 24 * _HOUR, "y": 365 * 24 * _HOUR}
_UNFINISHED = frozenset({"", ">", "<", ">=", "<="})
MAX_FILTERS = 20

ADMITTED = sql_table("search_admitted", sql_column("id"))
LABELLED = sql_table("search_labelled", sql_column("name"), sql_column("column_path"), sql_column("entity_id"))
"""Columns that bear a tag that is asked for."""
BORNE = sql_table(
    *("search_borne", sql_column("bearer"), sql_column("name"), sql_column("column_path"), sql_column("id")),
    sql_column("entity_id"),
)
"""The searched names of what is let through, each with whether an entity or a column bears it, where these are few."""
# cross joins keep the order: of temporary tables it is not known how small they are
_NOTE_NAMES = (
    "insert into search_borne (bearer, name, column_path, id, entity_id) "
    "select '{bearer}', name, column_path, search_names.id, entity_id "
    "from search_admitted cross join search_names on entity_id = search_admitted.id where {condition}"
)
_NOTE_TABLES = text(_NOTE_NAMES.format(bearer=ENTITY, condition="column_path = ''"))
_NOTE_COLUMNS = text(_NOTE_NAMES.format(bearer=COLUMN, condition="column_path <> ''"))
_FEW_TABLES = 2_000
"""Of so many their own names are noted."""
_FEW_WITH_COLUMNS = 300
"""Of so many those of their columns too."""
_MAKE_TABLES = (
    "create temporary table if not exists search_admitted (id text primary key) without rowid",
    "create temporary table if not exists search_labelled "
    "(name text, column_path text, entity_id text, primary key (name, column_path, entity_id)) without rowid",
    "create temporary table if not exists search_borne (bearer text, name text, column_path text, id integer, "
    "entity_id text, primary key (bearer, name, column_path, id)) without rowid",
)
_LABELS = text(
    # one look into the index for each label, not one for each thing that bears it
    "with recursive labels (value) as ("
    "select min(value) from entity_labels where kind = :kind union all "
    "select (select min(value) from entity_labels where kind = :kind and value > labels.value) "
    "from labels where labels.value is not null) select value from labels"
)
_KINDS = {"tag": TAG, "owner": OWNER, "producer": PRODUCER}

_DESCENDING = frozenset({"used", "readers", "new"})
_ORDER_COLUMNS = {
    "used": entity_activity.c.runs,
    "readers": entity_activity.c.readers,
    "stale": entity_activity.c.last_written,
}
_INDEXED_ORDERS = ("used", "stale")
_MOST_SOUGHT = 4_000
"""Of all entities so many that come first are looked at: where enough of them were let through, no others are."""
_ORDER_KEYS = {"used": "runs", "readers": "readers", "new": "appeared", "stale": "lastWritten"}
_APPEARED = (
    select(attributes.c.entity_id, func.min(attributes.c.at))
    .where(attributes.c.name == text("'exists'"), attributes.c.value.is_not(None))
    .group_by(attributes.c.entity_id)
)


# What people type into a search: words of names, and filters such as `tag:PII owner:ann used:>100 stale:30d`.


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A condition on tables: `field` as it was typed in lower case, its `value`, whether it is to be false."""

    field: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class SearchText:
    """A search taken apart: words of names, conditions, and the order of what is found (one of ORDERS, or None)."""

    words: str
    filters: tuple[SearchFilter, ...] = ()
    order: str | None = None


def parse_search(text: str) -> SearchText:
    """Takes a search apart; filters that are still being typed are left out.

    Raises ApiError (400) for an order that there is not, or more than MAX_FILTERS filters.
    """
    filters: list[SearchFilter] = []
    order = None
    for found in _FILTER.finditer(text):
        field = found["field"].lower()
        value = found["quoted"] if found["quoted"] is not None else found["bare"]
        if value in _UNFINISHED:
            continue
        if field == "sort":
            order = _order(value)
        else:
            filters.append(SearchFilter(field, value, bool(found["no"])))
    if len(filters) > MAX_FILTERS:
        raise bad_request(f"a search may have {MAX_FILTERS} filters")
    return SearchText(" ".join(_FILTER.sub(" ", text).split()), tuple(filters), order)


def _order(value: str) -> str:
    if value.lower() not in ORDERS:
        raise bad_request(f"sort:{value}: there is {', '.join(ORDERS)}")
    return value.lower()


def count_range(given: SearchFilter) -> tuple[int, int | None]:
    """The least and the most that `>100`, `<=5`, `10..20` or `100` (at least that) allow. Raises ApiError (400)."""
    if found := _RANGE.fullmatch(given.value):
        return int(found["low"]), int(found["high"])
    found = _COUNT.fullmatch(given.value)
    if found is None:
        raise bad_request(f"{given.field}:{given.value}: give a number as in >100, <5 or 10..20")
    number = int(found["number"])
    return {
        ">": (number + 1, None),
        "<": (0, number - 1),
        "<=": (0, number),
        ">=": (number, None),
        "": (number, None),
    }[found["sign"]]


@dataclass(frozen=True, slots=True)
class Age:
    """So long ago, in milliseconds, or since a moment (milliseconds since the epoch)."""

    ago: int | None
    moment: int | None

    def before(self, now: int) -> int:
        """The moment that it means, seen from `now`."""
        if self.moment is not None:
            return self.moment
        assert self.ago is not None
        return now - self.ago


def age(given: SearchFilter) -> Age:
    """What `30d`, `4w`, `6m`, `1y` or `2026-10-01` (UTC) mean. Raises ApiError (400)."""
    if found := _AGE.fullmatch(given.value.lstrip("<>=")):
        return Age(int(found["number"]) * _UNITS[found["unit"].lower()], None)
    if _DATE.fullmatch(given.value):
        try:
            return Age(None, int(datetime.fromisoformat(given.value).replace(tzinfo=UTC).timestamp() * 1000))
        except ValueError:
            pass
    raise bad_request(
        f"{given.field}:{given.value}: give an age as in 12h, 30d, 4w, 6m, 1y, or a date as in 2026-10-01"
    )


# The tables that the filters of a search let through.


@dataclass(frozen=True, slots=True)
class Admission:
    """What filters let through: the `condition` on entities and searched names.

    `noted`: of what (ENTITY, COLUMN) the names are in BORNE. `labelled`: the columns are those of LABELLED.
    """

    condition: ColumnElement[bool]
    noted: frozenset[str] = frozenset()
    labelled: bool = False

    def bears(self, name: ColumnElement[str], bearer: str) -> ColumnElement[bool]:
        """Whether anything of the kind `bearer` (ENTITY, COLUMN) that is let through bears a name."""
        if bearer in self.noted:
            return exists(select(1).where(BORNE.c.bearer == bearer, BORNE.c.name == name))
        if self.labelled and bearer == COLUMN:
            return exists(select(1).where(LABELLED.c.name == name))
        named = select(1).select_from(search_names).where(search_names.c.name == name, self.condition)
        return exists(named.where(is_of(bearer)))

    def bearers(self, names: Sequence[str], bearer: str) -> Select[Any]:
        """What of the kind `bearer` that is let through bears one of some names: entity, path, name.

        In the order in which searched names are stored, so that a limit takes the same ones wherever they are sought.
        """
        columns = (search_names.c.entity_id, search_names.c.column_path, search_names.c.name)
        order = search_names.c.name, search_names.c.column_path, search_names.c.id
        if bearer in self.noted:
            noted = select(BORNE.c.entity_id, BORNE.c.column_path, BORNE.c.name).where(BORNE.c.bearer == bearer)
            return noted.where(BORNE.c.name.in_(names)).order_by(BORNE.c.name, BORNE.c.column_path, BORNE.c.id)
        if self.labelled and bearer == COLUMN:
            return select(*columns).where(_IS_LABELLED, LABELLED.c.name.in_(names)).order_by(*order)
        return select(*columns).where(search_names.c.name.in_(names), is_of(bearer), self.condition).order_by(*order)


_IS_ADMITTED = exists(select(1).where(ADMITTED.c.id == search_names.c.entity_id))
_IS_LABELLED = and_(
    LABELLED.c.entity_id == search_names.c.entity_id, LABELLED.c.column_path == search_names.c.column_path
)


def is_of(bearer: str) -> ColumnElement[bool]:
    """Whether a searched name is that of an entity (ENTITY), or of a column (COLUMN)."""
    path = search_names.c.column_path
    return path == "" if bearer == ENTITY else path != ""


UnreadTables = Callable[[Connection, int], Collection[str]]
"""The tables (by id) that nobody read in so many days before the newest record of the logs."""


def no_readers(_connection: Connection, _days: int) -> Collection[str]:
    """Raises ApiError (400): where nothing tells who reads."""
    raise bad_request("unread: is not known here; `ingest unused` tells it")


def admit(
    connection: Connection,
    filters: Sequence[SearchFilter],
    *,
    named: bool = True,
    unread: UnreadTables = no_readers,
) -> Admission:
    """Puts the tables that all `filters` let through into ADMITTED.

    `named`: names are to be searched among what is let through. `unread` finds what nobody reads. Where a tag is asked
    for, a column has to bear it itself: those are in LABELLED. All is this connection's alone.
    Raises ApiError (400) for a filter that cannot be read.
    """
    _clear_tables(connection)
    _note_admitted(connection, filters, unread)
    tags = [_labels_like(connection, TAG, one.value) for one in filters if one.field == "tag" and not one.negated]
    noted = _note_names(connection, columns=not tags) if named else frozenset[str]()
    if not tags:
        return Admission(_IS_ADMITTED, noted)
    _note_labelled(connection, tags)
    bears_tag = exists(select(1).where(LABELLED.c.name == search_names.c.name, _IS_LABELLED))
    return Admission(and_(_IS_ADMITTED, or_(is_of(ENTITY), bears_tag)), noted, labelled=True)


def _clear_tables(connection: Connection) -> None:
    """Makes the tables that a search notes things in; of a connection that was used before they are emptied."""
    for statement in _MAKE_TABLES:
        connection.execute(text(statement))
    for table in (ADMITTED, LABELLED, BORNE):
        connection.execute(delete(table))


def _note_admitted(connection: Connection, filters: Sequence[SearchFilter], unread: UnreadTables) -> None:
    """Puts the tables that all filters let through into ADMITTED."""
    # one filter finds the tables, the others are tried on those: each for itself would gather all that it lets through
    first = next((one for one in filters if one.field in _KINDS and not one.negated), None)
    wanted = []
    for one in filters:
        condition: ColumnElement[bool]
        if one.field == "unread":
            condition = entities.c.id.in_(_unread_ids(connection, one, unread))
        else:
            condition = _condition(connection, one, tried=first is not None and one is not first)
        wanted.append(not_(condition) if one.negated else condition)
    # as an expression: an index on types would have every table looked at, with its document
    there = (entities.c.deleted.is_(False), entities.c.type.concat("").in_(LINEAGE_TYPES))
    let_through = select(entities.c.id).where(*there, *wanted).order_by(entities.c.id)  # each is filed after the last
    connection.execute(insert(ADMITTED).from_select(["id"], let_through))


def _note_names(connection: Connection, *, columns: bool) -> frozenset[str]:
    """Puts the names of the tables in ADMITTED into BORNE, and those of their `columns`, where these are few.

    Gives of what (ENTITY, COLUMN) it did.
    """
    admitted = _count(connection, ADMITTED)
    noted = set[str]()
    if admitted <= _FEW_TABLES:
        connection.execute(_NOTE_TABLES)
        noted.add(ENTITY)
    if columns and admitted <= _FEW_WITH_COLUMNS:
        connection.execute(_NOTE_COLUMNS)
        noted.add(COLUMN)
    return frozenset(noted)


def _note_labelled(connection: Connection, tags: Sequence[Sequence[str]]) -> None:
    """Puts the columns of ADMITTED that bear a tag of each of these into LABELLED."""
    path, entity = entity_labels.c.column_path, entity_labels.c.entity_id
    stored = select(search_names.c.name).where(search_names.c.entity_id == entity, search_names.c.column_path == path)
    # the path of a column that is in no other, and has neither dots nor quotes, is its name; without a stored name no
    # word finds the column, but its tag alone does: it stands here under its path
    is_name = and_(*(func.instr(path, sign) == 0 for sign in (".", '"')))
    name = case((is_name, path), else_=func.coalesce(stored.correlate(entity_labels).scalar_subquery(), path))
    labelled = select(name.label("name"), path, entity).where(entity_labels.c.kind == TAG, path != "")
    for values in tags:
        labelled = labelled.where(entity_labels.c.value.in_(_value_rows(values)))
    # as an expression: the labels are looked at, not those of each table that was let through
    labelled = labelled.where(entity.concat("").in_(select(ADMITTED.c.id)))
    in_order = labelled.order_by(text("1"), path, entity)  # each is filed after the last
    names = [column.name for column in LABELLED.columns]
    connection.execute(insert(LABELLED).prefix_with("or ignore").from_select(names, in_order))


def _unread_ids(connection: Connection, one: SearchFilter, unread: UnreadTables) -> Select[tuple[str]]:
    """The ids as rows: there may be more than a statement can bind."""
    days = max(1, round((now_millis() - age(one).before(now_millis())) / _UNITS["d"]))
    found = sorted(unread(connection, days))
    return select(func.json_each(json.dumps(found)).table_valued("value").c.value)


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
        labelled = and_(entity_labels.c.kind == kind, entity_labels.c.value.in_(_value_rows(values)))
        return entities.c.id.in_(select(entity_labels.c.entity_id).where(labelled))
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
    known = [value for value in connection.scalars(_LABELS, {"kind": kind}).all() if value is not None]
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


# How much entities are used, and how old they are: what searches are ordered by and people choose by.


def measures(connection: Connection, identifiers: Sequence[str]) -> dict[str, Json]:
    """Of each entity the runs that read it, the tables that read it, when it appeared and was last written."""
    found: dict[str, Json] = {identifier: {"runs": 0, "readers": 0} for identifier in identifiers}
    columns = (entity_activity.c.entity_id, *_ORDER_COLUMNS.values())
    for some in thousands_of(sorted(found)):
        for row in connection.execute(select(*columns).where(entity_activity.c.entity_id.in_(some))):
            found[row.entity_id].update(runs=row.runs, readers=row.readers)
            if row.last_written is not None:
                found[row.entity_id]["lastWritten"] = row.last_written
        own = (attributes.c.entity_id.in_(some), attributes.c.column_path == "")
        for identifier, at in connection.execute(_APPEARED.where(*own)):
            found[identifier]["appeared"] = at
    return found


def identifiers_in_order(connection: Connection, order: str, limit: int) -> list[str]:
    """The admitted entities in an order (one of ORDERS), as many as are wanted; what is not known comes last."""
    if order in _INDEXED_ORDERS:
        found = _among_first(connection, order, limit)
        if found is not None:
            return found
    query = select(ADMITTED.c.id).join(entities, entities.c.id == ADMITTED.c.id)
    if order == "name":
        return list(connection.scalars(query.order_by(entities.c.name_folded, entities.c.fqn).limit(limit)))
    if order == "new":
        appeared = _APPEARED.subquery()
        value = appeared.c[1]
        query = query.outerjoin(appeared, appeared.c.entity_id == ADMITTED.c.id)
    else:
        value = _ORDER_COLUMNS[order]
        query = query.outerjoin(entity_activity, entity_activity.c.entity_id == ADMITTED.c.id)
    known = func.coalesce(value, 0) if order in {"used", "readers"} else value
    first = known.desc() if order in _DESCENDING else known.asc()
    return list(connection.scalars(query.order_by(first.nulls_last(), entities.c.fqn).limit(limit)))


def _among_first(connection: Connection, order: str, limit: int) -> list[str] | None:
    """The same, where so many are among those that come first of all that there are; None where they are not."""
    value, sign = _ORDER_COLUMNS[order], -1 if order in _DESCENDING else 1
    in_order = select(entity_activity.c.entity_id, value.label("value")).order_by(value.desc() if sign < 0 else value)
    known = in_order.where(value > 0 if sign < 0 else value.is_not(None))
    sought = known.limit(_MOST_SOUGHT).subquery()
    admitted = exists(select(1).where(ADMITTED.c.id == sought.c.entity_id))
    rows = sorted((sign * row[1], row[0]) for row in connection.execute(select(sought).where(admitted)).all())
    next_value = connection.scalar(known.with_only_columns(value).offset(_MOST_SOUGHT).limit(1))
    if not 0 < limit <= len(rows) or (next_value is not None and rows[limit - 1][0] == sign * next_value):
        return None  # others come before some of these, or as soon
    ranks = {identifier: rank for rank, identifier in rows if rank <= rows[limit - 1][0]}
    names: dict[str, str] = {}
    for some in thousands_of(list(ranks)):
        names.update((row[0], row[1]) for row in connection.execute(NAMES_OF, bind_ids(some)).all())
    return sorted(names, key=lambda one: (ranks[one], names[one]))[:limit]


def order_key(order: str, known: Json, name: str) -> tuple[bool, int, str]:
    """What puts an entity with these measures in the place that `order` gives it."""
    value = known.get(_ORDER_KEYS.get(order, ""))
    if order == "name" or value is None:
        return order != "name", 0, name
    return False, -value if order in _DESCENDING else value, name
