"""The fields that searches name, as conditions on stored entities: no text of a client becomes syntax."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, literal, or_, select, true

from connectors.catalog.store.labels import OWNER, TAG
from connectors.catalog.store.schema import entities
from connectors.catalog.store.search_tables import entity_labels

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


def is_one_of(field: str, values: list[Any]) -> ColumnElement[bool]:
    """That a field is one of some values, whatever the case; never, where no entity has the field."""
    name = field.removesuffix(".keyword")
    if name in _FLAGS:
        return _FLAGS[name].in_([str(value).lower() == "true" for value in values])
    texts = [str(value).casefold() for value in values]
    if name in _COLUMNS:
        return _COLUMNS[name].in_(texts)
    return _inside(name, lambda value: value.in_(texts))


def matches(field: str, pattern: str) -> ColumnElement[bool]:
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


def is_word(field: str, word: str) -> ColumnElement[bool]:
    """That a field is a word or has it among others."""
    name = field.removesuffix(".keyword")

    def condition(value: ColumnElement[Any]) -> ColumnElement[bool]:
        return or_(value == word.casefold(), _has_word(value, word.casefold()))

    return condition(_COLUMNS[name]) if name in _COLUMNS else _inside(name, condition)


def contains(field: str, text: str) -> ColumnElement[bool]:
    """That a field has a text somewhere."""
    name = field.removesuffix(".keyword")
    if name in _COLUMNS:
        return func.instr(_COLUMNS[name], text.casefold()) > 0
    return _inside(name, lambda value: func.instr(value, text.casefold()) > 0)


def exists(field: str) -> ColumnElement[bool]:
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


def values_of(field: str) -> tuple[Any, Any] | None:
    """Where the values of a field stand: a table to join, or None, and the value. None for what is no field."""
    name = field.removesuffix(".keyword")
    if name in _COLUMNS:
        return None, _COLUMNS[name]
    if _PATH.fullmatch(name) is None:
        return None
    head, _, _ = name.partition(".")
    tree = func.json_tree(entities.c.document, f"$.{head}").table_valued(*_TREE, name="found")
    return tree, tree.c.atom


def sort_value(field: str) -> ColumnElement[Any] | None:
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


def stands_at(tree: Any, field: str) -> ColumnElement[bool]:
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
        .where(and_(stands_at(tree, name), tree.c.type.not_in(("object", "array", "null")), condition(text)))
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
