"""Finding entities the way the platform's search service does, over SQL: no text of a client becomes syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, distinct, false, func, literal, not_, or_, select, true

from connectors.catalog.contract.entity_types import BY_INDEX
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import EntityRow, answer
from connectors.catalog.store.indexes import OWNER, TAG
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.schema import entities, entity_labels
from ingestion.model.lineage import Json
from ingestion.model.storage_paths import normal_path

_COLUMNS: dict[str, ColumnElement[Any]] = {
    "service.name": entities.c.service_folded,
    "tableType": func.lower(entities.c.table_type),
    "fullyQualifiedName": entities.c.fqn_folded,
    "name": entities.c.name_folded,
    "entityType": func.lower(entities.c.type),
    "checksum": entities.c.checksum,
    "_id": entities.c.id,
    "id": entities.c.id,
}
_SORTED_AS_STORED: dict[str, ColumnElement[Any]] = {
    "fullyQualifiedName": entities.c.fqn,
    "updatedAt": entities.c.updated_at,
    "version": entities.c.version,
}
_FLAGS: dict[str, ColumnElement[Any]] = {
    "deleted": entities.c.deleted,
    "processedLineage": entities.c.processed,
}
_LABELS = {"tags.tagFQN": TAG, "owners.name": OWNER, "owners.displayName": OWNER}
"""What has an index of its own; a tag of a column counts for what has the column."""
_PATH = re.compile(r"[A-Za-z]\w{0,63}(\.[A-Za-z]\w{0,63}){0,5}")
_TREE = ("key", "atom", "type", "fullkey", "path")
_SEPARATORS = " ._-/:@"

_MAX_WORDS, _MAX_NESTING = 64, 20
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<open>\() | (?P<close>\))
      | (?P<field>[A-Za-z_][\w.]*):(?=\S)
      | "(?P<quoted>(?:[^"\\]|\\.)*)"
      | (?P<word>(?:\\.|[^\s()"])+)
    )""",
    re.VERBOSE,
)
_SAME = ("OR", "||")

MAX_HITS = 1_000
FIELD_HITS = 10  # the platform ignores `size` in a field search and gives its search engine's default
_MAX_QUERY_NESTING = 20
_MAX_FIELDS = 20
CLAUSES = "bool, term, terms, match, wildcard, prefix, query_string, exists, ids, match_all"
_MAX_CLAUSES = 1_000  # what one statement of SQL is made of in a moment

_MAX_BUCKETS = 1_000


# The fields that searches name, as conditions on stored entities.


def is_one_of(field: str, values: list[Any]) -> ColumnElement[bool]:
    """That a field is one of some values, whatever the case; never, where no entity has the field."""
    name = field.removesuffix(".keyword")
    if name in _FLAGS:
        return _FLAGS[name].in_([str(value).lower() == "true" for value in values])
    texts = [str(value).casefold() for value in values]
    if name in _COLUMNS:
        return _COLUMNS[name].in_(texts)
    return _inside(name, lambda value: value.in_(texts))


def _matches(field: str, pattern: str) -> ColumnElement[bool]:
    """That a field matches a wildcard pattern; or, where that has no wildcard and is no keyword, has it as a word."""
    name = field.removesuffix(".keyword")
    if name in _FLAGS:
        return is_one_of(name, [pattern])
    folded = pattern.casefold()
    plain = not any(character in "*?" for character in folded)

    def condition(value: ColumnElement[Any]) -> ColumnElement[bool]:
        if not plain:
            return value.op("GLOB")(glob(folded))
        return value == folded if name != field else or_(value == folded, _has_word(value, folded))

    return condition(_COLUMNS[name]) if name in _COLUMNS else _inside(name, condition)


def _is_word(field: str, word: str) -> ColumnElement[bool]:
    """That a field is a word or has it among others."""
    name = field.removesuffix(".keyword")

    def condition(value: ColumnElement[Any]) -> ColumnElement[bool]:
        return or_(value == word.casefold(), _has_word(value, word.casefold()))

    return condition(_COLUMNS[name]) if name in _COLUMNS else _inside(name, condition)


def _contains(field: str, text: str) -> ColumnElement[bool]:
    """That a field has a text somewhere."""
    name = field.removesuffix(".keyword")
    if name in _COLUMNS:
        return func.instr(_COLUMNS[name], text.casefold()) > 0
    return _inside(name, lambda value: func.instr(value, text.casefold()) > 0)


def _exists(field: str) -> ColumnElement[bool]:
    """That an entity has something in a field."""
    name = field.removesuffix(".keyword")
    if name == "schemaDefinition":
        return entities.c.has_definition.is_(True)
    if name == "processedLineage":
        return entities.c.processed.is_(True)
    if name in _COLUMNS:
        return _COLUMNS[name].is_not(None)
    if _PATH.fullmatch(name) is None:
        return false()
    whole = func.json_type(entities.c.document, f"$.{name}").is_not(None)
    return or_(whole, _inside(name, lambda _: true()))


def _values_of(field: str) -> tuple[Any, Any] | None:
    """Where the values of a field stand: a table to join, or None, and the value. None for what is no field."""
    name = field.removesuffix(".keyword")
    if name in _COLUMNS:
        return None, _COLUMNS[name]
    if _PATH.fullmatch(name) is None:
        return None
    head, _, _ = name.partition(".")
    tree = func.json_tree(entities.c.document, f"$.{head}").table_valued(*_TREE, name="found")
    return tree, tree.c.atom


def _sort_value(field: str) -> ColumnElement[Any] | None:
    """What a search is sorted by for a field, texts whatever their case, numbers by their size; None for no field."""
    name = field.removesuffix(".keyword")
    if name == "_score":
        return literal(1.0)  # as good as any other: what is found is not weighed
    if name in _SORTED_AS_STORED:
        return _SORTED_AS_STORED[name]
    if name in _COLUMNS or name in _FLAGS:
        return _COLUMNS.get(name, _FLAGS.get(name))
    if _PATH.fullmatch(name) is None:
        return None
    value = func.json_extract(entities.c.document, f"$.{name}")
    return func.iif(func.typeof(value) == "text", func.lower(value), value)


def _stands_at(tree: Any, field: str) -> ColumnElement[bool]:
    """That a node of a document's tree is a value of a field: under its last key, at its path, or in the list there."""
    name = field.removesuffix(".keyword")
    path = f"$.{name}"
    return or_(tree.c.key == name.rpartition(".")[2], tree.c.fullkey == path, tree.c.path == path)


def _inside(name: str, condition: Any) -> ColumnElement[bool]:
    """That something in the document, at this path, whatever lists lie on the way, is as `condition` has it."""
    if name in _LABELS:
        fits = (entity_labels.c.kind == _LABELS[name], condition(func.lower(entity_labels.c.value)))
        return entities.c.id.in_(select(entity_labels.c.entity_id).where(*fits))
    if _PATH.fullmatch(name) is None:
        return false()
    head, _, _ = name.partition(".")
    tree = func.json_tree(entities.c.document, f"$.{head}").table_valued(*_TREE, name="tree")
    truth = {"true": "true", "false": "false"}
    text = func.lower(func.coalesce(func.iif(tree.c.type.in_(truth), tree.c.type, tree.c.atom), ""))
    return (
        select(1)
        .where(and_(_stands_at(tree, name), tree.c.type.not_in(("object", "array", "null")), condition(text)))
        .exists()
    )


def _has_word(value: ColumnElement[Any], word: str) -> ColumnElement[bool]:
    text: ColumnElement[Any] = value
    for character in _SEPARATORS:
        text = func.replace(text, character, "_")
    wanted = word
    for character in _SEPARATORS:
        wanted = wanted.replace(character, "_")
    return func.instr(literal("_").concat(text).concat("_"), f"_{wanted}_") > 0


def glob(pattern: str) -> str:
    """SQLite's GLOB for a search engine's wildcard pattern: only `*` and `?` are special, a backslash takes it away."""
    out: list[str] = []
    escaped = False
    for character in pattern:
        if escaped or character == "[":
            out.append(f"[{character}]" if character in "*?[" else character)
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            out.append(character)
    return "".join(out)


# The text of a search as people and clients write it: words, `field:value`, AND, OR, NOT, brackets, quotes.


@dataclass(frozen=True, slots=True)
class _QueryToken:
    """A part of a query: its kind (a group of the pattern) and its text."""

    kind: str
    text: str


def _condition(text: str, names: Sequence[str] = ()) -> ColumnElement[bool]:
    """What a query's text means; words without a field are sought in `names`, or in all of a fully qualified name.

    Raises ApiError (400) for a text that is too long, or nested too deeply.
    """
    tokens = [_QueryToken(str(match.lastgroup), match[str(match.lastgroup)]) for match in _TOKEN.finditer(text)]
    if len(tokens) > _MAX_WORDS:
        raise bad_request(f"q has more than {_MAX_WORDS} words")
    return _SearchReader(tokens, names).whole()


class _SearchReader:
    """Reads tokens from the left; what cannot be right is left out, as a search engine does."""

    def __init__(self, tokens: Sequence[_QueryToken], names: Sequence[str]) -> None:
        self._tokens = list(reversed(tokens))
        self._names = names

    def whole(self) -> ColumnElement[bool]:
        """All of the text."""
        found = [self._any(0)]
        while self._tokens:
            self._tokens.pop()  # a bracket that nothing opened
            found.append(self._any(0))
        return and_(true(), *found)

    def _any(self, depth: int) -> ColumnElement[bool]:
        if depth > _MAX_NESTING:
            raise bad_request("q is nested too deeply")
        options = [self._all(depth)]
        while self._tokens and self._is_word(*_SAME):
            self._tokens.pop()
            options.append(self._all(depth))
        return options[0] if len(options) == 1 else or_(*options)

    def _all(self, depth: int) -> ColumnElement[bool]:
        found: list[ColumnElement[bool]] = []
        while self._tokens and self._tokens[-1].kind != "close" and not self._is_word(*_SAME):
            if self._is_word("AND", "&&"):
                self._tokens.pop()
            elif (one := self._one(depth)) is not None:
                found.append(one)
        return and_(true(), *found)

    def _one(self, depth: int) -> ColumnElement[bool] | None:
        token = self._tokens.pop()
        if token.kind == "word" and token.text in {"NOT", "!"}:
            inner = self._one(depth) if self._tokens and self._tokens[-1].kind != "close" else None
            return None if inner is None else not_(func.coalesce(inner, False))
        if token.kind == "open":
            inner = self._any(depth + 1)
            if self._tokens:
                self._tokens.pop()
            return inner
        if token.kind == "field":
            return self._of_field(token.text)
        return self._word(token)

    def _of_field(self, name: str) -> ColumnElement[bool] | None:
        if not self._tokens or self._tokens[-1].kind not in {"word", "quoted"}:
            return None
        token = self._tokens.pop()
        if token.kind == "quoted":
            return is_one_of(name, [_unescape(token.text)])
        return _exists(name) if token.text == "*" else _matches(name, token.text)

    def _word(self, token: _QueryToken) -> ColumnElement[bool] | None:
        word = token.text.casefold()
        if token.kind == "word":
            word = word.removeprefix("+").replace("*", " ").strip()
        parts = [_unescape(part) for part in word.split()] if token.kind == "word" else [_unescape(word)]
        if not any(parts):
            return None
        if not self._names:
            return and_(true(), *(func.instr(entities.c.fqn_folded, part) > 0 for part in parts))
        return or_(*(and_(*(_contains(name, part) for part in parts)) for name in self._names))

    def _is_word(self, *words: str) -> bool:
        token = self._tokens[-1]
        return token.kind == "word" and token.text in words


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


# The two searches of the contract: by one field, and by a query with its filter.


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
        admitted = and_(_matches(f"{name}.keyword", pattern), _last_part(name, pattern.casefold()))
    where = and_(_scope(query), admitted)
    rows = connection.execute(select(entities).where(where).order_by(entities.c.fqn).limit(FIELD_HITS)).all()
    return _hits(connection, list(rows), len(rows), query)


def search(connection: Connection, query: Query) -> Json:
    """Entities of an index that a filter admits, sorted by a field and then by name, paged by `search_after`.

    What has nothing in the field comes last. Raises ApiError (400) for a field that is none.
    """
    where = _scope(query)
    if query.filter is not None:
        where = and_(where, filter_condition(query.filter))
    where = and_(where, _condition(query.text))
    total = connection.scalar(select(func.count()).select_from(entities).where(where)) or 0
    value = _sort_value(query.sort)
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
    last = connection.execute(select(value).where(_scope(query), entities.c.fqn == query.after).limit(1)).one_or_none()
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
    if not isinstance(clause, dict) or len(clause) != 1 or depth > _MAX_QUERY_NESTING:
        raise bad_request(f"query_filter holds a clause that is not one of {CLAUSES}")
    ((kind, body),) = clause.items()
    if kind == "match_all":
        return true()
    if not isinstance(body, dict):
        raise bad_request(f"the {kind} clause of query_filter needs an object")
    if kind == "bool":
        return _bool(body, depth)
    if kind == "exists":
        return _exists(str(body.get("field", "")))
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
        return or_(false(), *(_is_word(name, word) for word in str(value).split()[:_MAX_FIELDS]))
    if kind in {"wildcard", "prefix"}:
        return _matches(f"{name.removesuffix('.keyword')}.keyword", f"{value}*" if kind == "prefix" else str(value))
    return is_one_of(name, _list(value) if kind == "terms" else [value])


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
    return _condition(str(body.get("query", "")), names)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _scope(query: Query) -> ColumnElement[bool]:
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
        return func.lower(entities.c.path).op("GLOB")(glob(pattern.casefold()))
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


# What a search might go on with: names that begin so, and the values that a field has, by how many have them.


def suggestions(connection: Connection, query: Query) -> list[Json]:
    """Entities whose name begins with the text of a query, in the order of their names."""
    begins = _matches("name.keyword", f"{_literal(query.text)}*") if query.text else true()
    where = and_(_scope(query), entities.c.deleted.is_(False), begins)
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
    values = _values_of(field)
    if values is None:
        return []
    tree, value = values
    many = func.count(distinct(entities.c.id))
    found = select(value.label("key"), many.label("many")).select_from(entities)
    where: list[Any] = [_scope(query), entities.c.deleted.is_(False), _condition(query.text), value.is_not(None)]
    if tree is not None:
        found = found.join(tree, true())
        where.append(_stands_at(tree, field))
    if prefix:
        where.append(func.lower(value).op("GLOB")(f"{glob(_literal(prefix.casefold()))}*"))
    ranked = found.where(*where).group_by(value).order_by(many.desc(), value).limit(min(query.size, _MAX_BUCKETS))
    return [{"key": row.key, "doc_count": row.many} for row in connection.execute(ranked)]


def _literal(text: str) -> str:
    """A text as a pattern that means nothing but it."""
    return "".join(f"\\{character}" if character in "*?\\" else character for character in text)
