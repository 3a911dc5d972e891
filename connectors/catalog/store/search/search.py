"""Finding entities the way the platform's search service does, over SQL: no text of a client becomes syntax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, false, func, not_, or_, select, true

from connectors.catalog.contract.entity_types import BY_INDEX
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import EntityRow, answer
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.schema import entities
from connectors.catalog.store.search import fields
from connectors.catalog.store.search.query_text import condition
from ingestion.model import Json
from ingestion.names.storage_paths import normal_path

MAX_HITS = 1_000
FIELD_HITS = 10  # the platform ignores `size` in a field search and gives its search engine's default
_MAX_NESTING = 20
_MAX_FIELDS = 20
CLAUSES = "bool, term, terms, match, wildcard, prefix, query_string, exists, ids, match_all"
_MAX_CLAUSES = 1_000  # what one statement of SQL is made of in a moment


@dataclass(frozen=True, slots=True)
class Query:
    """A search: everything a client can ask of it."""

    index: str
    text: str = ""
    filter: Json | None = None
    deleted: bool | None = None
    size: int = 10
    start: int = 0
    fields: tuple[str, ...] = ()
    sort: str = "fullyQualifiedName"
    descending: bool = False
    after: str | None = None


def field_search(connection: Connection, query: Query, field: str, pattern: str) -> Json:
    """Entities whose `field` matches a wildcard pattern (`*` also crosses dots), whatever the case."""
    name = field.removesuffix(".keyword")
    if name == "fullPath":
        admitted = _path_condition(pattern)
    else:
        admitted = and_(fields.matches(f"{name}.keyword", pattern), _last_part(name, pattern.casefold()))
    where = and_(scope(query), admitted)
    rows = connection.execute(select(entities).where(where).order_by(entities.c.fqn).limit(FIELD_HITS)).all()
    return _hits(connection, list(rows), len(rows), query)


def search(connection: Connection, query: Query) -> Json:
    """Entities of an index that a filter admits, sorted by a field and then by name, paged by `search_after`.

    What has nothing in the field comes last. Raises ApiError (400) for a field that is none.
    """
    where = scope(query)
    if query.filter is not None:
        where = and_(where, filter_condition(query.filter))
    where = and_(where, condition(query.text))
    total = connection.scalar(select(func.count()).select_from(entities).where(where)) or 0
    value = fields.sort_value(query.sort)
    if value is None:
        raise bad_request(f"sort_field {query.sort} is no field")
    order = [one.desc() if query.descending else one.asc() for one in (value, entities.c.fqn)]
    if query.after is not None:
        where = and_(where, _comes_after(connection, query, value))
    size = max(0, min(query.size, MAX_HITS))
    sorted_rows = select(entities).where(where).order_by(order[0].nulls_last(), order[1])
    rows = connection.execute(sorted_rows.limit(size).offset(query.start)).all()
    return _hits(connection, list(rows), total, query)


def _comes_after(connection: Connection, query: Query, value: ColumnElement[Any]) -> ColumnElement[bool]:
    """That an entity comes after the one of this name, whose place may have been taken away meanwhile."""

    def later(one: ColumnElement[Any], than: Any) -> ColumnElement[bool]:
        return one.__lt__(than) if query.descending else one.__gt__(than)

    behind = later(entities.c.fqn, query.after)
    if query.sort.removesuffix(".keyword") == "fullyQualifiedName":
        return behind
    last = connection.execute(select(value).where(scope(query), entities.c.fqn == query.after).limit(1)).one_or_none()
    if last is None:
        raise bad_request("search_after names nothing that is found")
    if last[0] is None:
        return and_(value.is_(None), behind)
    return or_(value.is_(None), later(value, last[0]), and_(value == last[0], behind))


def filter_condition(given: Json) -> ColumnElement[bool]:
    """What a filter as clients send it means. Raises ApiError (400) for one of another kind."""
    return _compile_filter(given.get("query", given))


def _compile_filter(clause: object, depth: int = 0) -> ColumnElement[bool]:
    """The condition that a filter of the supported subset means. Raises ApiError (400) for anything else."""
    if not isinstance(clause, dict) or len(clause) != 1 or depth > _MAX_NESTING:
        raise bad_request(f"query_filter holds a clause that is not one of {CLAUSES}")
    ((kind, body),) = clause.items()
    if kind == "match_all":
        return true()
    if not isinstance(body, dict):
        raise bad_request(f"the {kind} clause of query_filter needs an object")
    if kind == "bool":
        return _bool(body, depth)
    if kind == "exists":
        return fields.exists(str(body.get("field", "")))
    if kind == "query_string":
        return _text(body)
    if kind == "ids":
        return entities.c.id.in_([str(value) for value in _list(body.get("values"))])
    if kind in {"term", "terms", "match", "wildcard", "prefix"}:
        body = {name: value for name, value in body.items() if name != "boost"}
        if len(body) != 1:
            raise bad_request(f"the {kind} clause of query_filter needs one field")
        ((name, value),) = body.items()
        if kind != "terms" and isinstance(value, dict):
            value = value.get("value", value.get("query"))
        return _on_field(kind, name, value)
    raise bad_request(f"query_filter holds a clause that is not one of {CLAUSES}")


def _on_field(kind: str, name: str, value: Any) -> ColumnElement[bool]:
    if kind == "match":
        return or_(false(), *(fields.is_word(name, word) for word in str(value).split()[:_MAX_FIELDS]))
    if kind in {"wildcard", "prefix"}:
        return fields.matches(
            f"{name.removesuffix('.keyword')}.keyword", f"{value}*" if kind == "prefix" else str(value)
        )
    return fields.is_one_of(name, _list(value) if kind == "terms" else [value])


def _bool(body: Json, depth: int) -> ColumnElement[bool]:
    def clauses(key: str) -> list[ColumnElement[bool]]:
        return [_compile_filter(clause, depth + 1) for clause in _list(body.get(key))]

    required = clauses("must") + clauses("filter")
    excluded = [not_(func.coalesce(clause, false())) for clause in clauses("must_not")]
    options = clauses("should")
    if options and (not required or body.get("minimum_should_match")):
        required.append(or_(*options))
    return and_(true(), *required, *excluded)


def _text(body: Json) -> ColumnElement[bool]:
    """What a query_string clause means: a query's text, its words sought in some fields."""
    names = [name.partition("^")[0] for name in _list(body.get("fields")) if isinstance(name, str)][:_MAX_FIELDS]
    return condition(str(body.get("query", "")), names)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def scope(query: Query) -> ColumnElement[bool]:
    """The condition that an entity is of the types that a search is about."""
    types = [BY_INDEX[name].type for name in query.index.split(",") if name in BY_INDEX]
    if query.index in {"all", "dataAsset"}:
        types = [kind.type for kind in BY_INDEX.values()]
    where = and_(entities.c.type.in_(types), entities.c.purged.is_(False))
    return where if query.deleted is None else and_(where, entities.c.deleted.is_(query.deleted))


def _last_part(field: str, pattern: str) -> ColumnElement[bool]:
    """The pattern's plain last part is the entity's name: lets the index on names answer."""
    last = pattern.rsplit(".", 1)[-1]
    if field != "fullyQualifiedName" or "." not in pattern or any(character in '*?\\"' for character in last):
        return true()
    return entities.c.name_folded == last


def _path_condition(pattern: str) -> ColumnElement[bool]:
    if any(character in "*?" for character in pattern):
        return func.lower(entities.c.path).op("GLOB")(fields.glob(pattern.casefold()))
    return entities.c.path == normal_path(pattern)


def _hits(connection: Connection, rows: list[EntityRow], total: int, query: Query) -> Json:
    wanted = {one.split(".")[0] for one in query.fields}
    upstream = _upstream(connection, rows) if "upstreamLineage" in wanted else {}
    hits = []
    for row in rows:
        source = answer(row)
        source["entityType"] = row.type
        if "upstreamLineage" in wanted:
            source["upstreamLineage"] = upstream.get(row.id, [])
        if wanted:
            source = {key: value for key, value in source.items() if key in wanted}
        hits.append({"_index": query.index, "_id": row.id, "_score": 1.0, "_source": source, "sort": [row.fqn]})
    return {"hits": {"total": {"relation": "eq", "value": total}, "hits": hits}}


def _upstream(connection: Connection, rows: list[EntityRow]) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for source, target in reads.contributions_around(connection, [row.id for row in rows], upstream=True):
        found.setdefault(target, []).append({"fromEntity": {"id": source}})
    return found


def parse_filter(text: str | None) -> Json | None:
    """The filter in a query parameter. Raises ApiError (400) when it is not a JSON object."""
    if not text:
        return None
    if text.count("{") > _MAX_CLAUSES:
        raise bad_request(f"query_filter has more than {_MAX_CLAUSES} clauses")
    try:
        value = loads(text)
    except (ValueError, RecursionError) as error:
        raise bad_request("query_filter is not JSON") from error
    if not isinstance(value, dict):
        raise bad_request("query_filter must be a JSON object")
    return value
