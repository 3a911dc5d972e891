"""Who owns entities, and which tags they and their columns bear: searches may not open a million documents."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import Connection, delete, insert, or_, select, text
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.schema import entities, meta
from connectors.catalog.store.search_tables import entity_labels
from ingestion.model import Json
from ingestion.names import fqn

TAG, OWNER = "tag", "owner"
_FILLED = "labels"
_MARKS = ('"tagFQN"', '"owners"')
_INDEXES = (
    # of a table's events those that say it appeared are one in fifty
    "create index if not exists attributes_exists on attributes (entity_id, at, value) where name = 'exists'",
)


def prepare_labels(connection: Connection) -> None:
    """Makes the indexes that searches narrow by, and fills the labels of a store that was made without them."""
    for statement in _INDEXES:
        connection.execute(text(statement))
    if connection.scalar(select(meta.c.value).where(meta.c.key == _FILLED)) is not None:
        return
    marked = or_(*(entities.c.document.contains(mark) for mark in _MARKS))
    for identifier, document in connection.execute(select(entities.c.id, entities.c.document).where(marked)):
        rows = label_rows(identifier, json.loads(document))
        if rows:
            connection.execute(upsert(entity_labels).on_conflict_do_nothing(), rows)
    connection.execute(insert(meta).values(key=_FILLED, value=1))


def index_labels(connection: Connection, identifier: str, document: Json, before: str) -> None:
    """Files the tags and owners of an entity's `document`; `before` is the text of the document that it replaces."""
    forget_labels(connection, identifier, before)
    rows = label_rows(identifier, document)
    if rows:
        connection.execute(upsert(entity_labels).on_conflict_do_nothing(), rows)


def forget_labels(connection: Connection, identifier: str, before: str) -> None:
    """Takes away the tags and owners of an entity, where the text of its document `before` has any."""
    if has_labels(before):
        ours = entity_labels.c.entity_id == identifier, entity_labels.c.kind.in_((TAG, OWNER))
        connection.execute(delete(entity_labels).where(*ours))


def has_labels(document_text: str) -> bool:
    """Whether the text of an entity's document may name tags or owners, told without a look at each column."""
    return any(mark in document_text for mark in _MARKS)


def label_rows(identifier: str, document: Json) -> list[dict[str, str]]:
    """The rows of the tags and owners of an entity's `document`."""
    return [
        {"kind": kind, "value": value, "entity_id": identifier, "column_path": path}
        for path, kind, value in _labels(document, "")
    ]


def _labels(part: Json, path: str) -> Iterator[tuple[str, str, str]]:
    """The labels of an entity or a column, and of all columns in it: path, kind, value."""
    for tag in part.get("tags") or ():
        yield path, TAG, tag["tagFQN"]
    for owner in part.get("owners") or ():
        for name in {owner.get("name"), owner.get("displayName")} - {None}:
            yield path, OWNER, name
    columns = part.get("columns") or (part.get("dataModel") or {}).get("columns") or part.get("children") or ()
    for column in columns:
        if isinstance(column, dict) and "dataType" in column:  # a container's children are containers
            yield from _labels(column, fqn.join(path, column["name"]))
