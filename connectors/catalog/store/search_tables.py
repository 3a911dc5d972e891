"""The tables of the store in which names are searched, and `entity_labels` and `entity_activity`, that narrow it."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from connectors.catalog.store.schema import metadata

search_names = Table(
    "search_names",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entity_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("column_path", Text, nullable=False),  # "" for the entity itself
    Column("name", Text, nullable=False),
    UniqueConstraint("entity_id", "column_path"),
)

search_vocabulary = Table(
    "search_vocabulary",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", Text, nullable=False),  # entity, column: of what it is the name
    Column("name", Text, nullable=False),
    UniqueConstraint("name", "kind"),
)

search_spellings = Table(
    "search_spellings",
    metadata,
    Column("word", Text, primary_key=True),
    Column("backwards", Text, nullable=False),
    sqlite_with_rowid=False,
)

entity_labels = Table(
    "entity_labels",
    metadata,
    Column("kind", Text, primary_key=True),  # tag, owner, producer
    Column("value", Text, primary_key=True),
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("column_path", Text, primary_key=True),  # "" for the entity itself
    Index("entity_labels_entity", "entity_id"),
    sqlite_with_rowid=False,
)

entity_activity = Table(
    "entity_activity",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("runs", Integer, nullable=False),
    Column("readers", Integer, nullable=False),
    Column("last_written", BigInteger),
    sqlite_with_rowid=False,
)
