"""The tables of the store, and those in which names are searched.

Truth is append-only: `attributes`, `name_events`, `versions`, `sightings`, `contribution_jobs`, `endings` and
`corrections` are events that nothing rewrites; in `version_slots` days only join. `entities` holds each entity as it is
now, `intervals` is the projection of the events that reads use.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = 2
"""Another one whenever a table changes: a store of another version is refused, and none is ever rewritten."""

metadata = MetaData()

meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", BigInteger, nullable=False))

entities = Table(
    "entities",
    metadata,
    Column("id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("fqn", Text, nullable=False),
    Column("fqn_folded", Text, nullable=False),
    Column("name_folded", Text, nullable=False),
    Column("parent_id", Text, ForeignKey("entities.id")),
    Column("service_folded", Text, nullable=False),
    Column("table_type", Text),
    Column("path", Text),  # of a container or an external table, normalised
    Column("checksum", Text),
    Column("processed", Boolean, nullable=False, default=False),
    Column("has_definition", Boolean, nullable=False, default=False),
    Column("deleted", Boolean, nullable=False, default=False),
    Column("purged", Boolean, nullable=False, default=False),  # hard-deleted: only the past knows it
    Column("version", Float, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("document", Text, nullable=False),
    UniqueConstraint("type", "fqn"),
    Index("entities_fqn_folded", "type", "fqn_folded"),
    Index("entities_name_folded", "type", "name_folded"),
    # with what is told of all that lies in a schema
    Index("entities_held", "parent_id", "type", "deleted", "fqn", "id"),
    Index("entities_path", "path"),
    Index("entities_checksum", "checksum"),
    # with what lists tell of entities: a row has a document of kilobytes
    Index("entities_listed", "id", "parent_id", "type", "deleted", "fqn", "fqn_folded"),
)

query_uses = Table(
    "query_uses",
    metadata,
    Column("entity_id", Text, primary_key=True),
    Column("query_id", Text, ForeignKey("entities.id"), primary_key=True),
    sqlite_with_rowid=False,
)

pipeline_runs = Table(
    "pipeline_runs",
    metadata,
    Column("pipeline", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("document", Text, nullable=False),
)

load_outcomes = Table(
    "load_outcomes",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("at", BigInteger, primary_key=True),
    Column("run", Text, primary_key=True),  # tells runs of one moment apart
    Column("status", Text, nullable=False),  # complete, failed
    Column("rows", BigInteger),  # that it wrote; null: not told
    Column("job", Text, nullable=False),
    sqlite_with_rowid=False,
)

statement_loads = Table(
    "statement_loads",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("at", BigInteger, primary_key=True),
    Column("run", Text, primary_key=True),  # tells runs of one moment apart
    Column("status", Text, nullable=False),  # complete, failed
    Column("rows", BigInteger),  # that it wrote; null: not told
    Column("error", Text, nullable=False),  # its code; "" where none is known
    Column("statement", Text, nullable=False),  # its fingerprint, which is the key of what it says of lineage
    Column("job", Text, nullable=False),
    sqlite_with_rowid=False,
)

read_columns = Table(
    "read_columns",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("column_path", Text, primary_key=True),  # "" for the table: its rows, or whichever columns it has
    Column("how", Text, primary_key=True),  # named, star, rows, unknown
    Column("reader", Text, primary_key=True),  # who ran the query; "" where the log does not say
    Column("source", Text, primary_key=True),  # the workflow whose log tells it
    Column("last", BigInteger, nullable=False),
    Column("undated", Boolean, nullable=False),  # some of it at a time that the log does not tell
    sqlite_with_rowid=False,
)
"""What queries read of tables that wrote nothing, which is no lineage: who did, and when last."""

reading_spans = Table(
    "reading_spans",
    metadata,
    Column("source", Text, primary_key=True),
    Column("part", Text, primary_key=True),  # what had been read before: filed again, it takes its own place
    Column("service", Text, nullable=False),
    Column("first", BigInteger),
    Column("last", BigInteger),
    Column("counts", Text, nullable=False),  # JSON: how many statements of each kind
    Column("days", Text, nullable=False),  # JSON: on which any statement ran, days since the epoch
    sqlite_with_rowid=False,
)
"""Of which stretch of a log the readers are told, and how many statements in it are readers of something unknown."""

written_runs = Table(
    "written_runs",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("run", Text, primary_key=True),  # of the record, the same however often it is read
    Column("at", BigInteger, nullable=False),
    Column("statement", Text, nullable=False),  # its fingerprint
    Column("writer", Text, nullable=False),
    Column("job", Text, nullable=False),
    Column("seconds", Float),
    Column("bytes", BigInteger),
    Column("credits", Float),
    Index("written_runs_at", "at"),
    sqlite_with_rowid=False,
)
"""The single runs that filled tables, and what each took; null is what the log does not tell."""

dead_statements = Table(
    "dead_statements",
    metadata,
    Column("workflow", Text, primary_key=True),
    Column("number", Integer, primary_key=True),  # in the order of their locations
    Column("run_id", Text, nullable=False),
    Column("document", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""The statements that workflows gave up on, until a later run succeeds with them; masked."""

writes_without_source = Table(
    "writes_without_source",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("workflow", Text, primary_key=True),
    Column("reason", Text, primary_key=True),  # a code of an outcome
    Column("document", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Why statements that fill a table tell nothing of what it is made of."""

attributes = Table(
    "attributes",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("entity_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("column_path", Text, nullable=False),  # "" for the entity itself
    Column("name", Text, nullable=False),
    Column("value", Text),  # JSON; null = gone
    Column("at", BigInteger, nullable=False),
    Index("attributes_entity", "entity_id", "column_path", "name", "at"),
    Index("attributes_at", "at"),
)

entity_versions = Table(
    "entity_versions",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("version", Float, primary_key=True),
    Column("answer", Text, nullable=False),  # what a client read before the next version took its place
    sqlite_with_rowid=False,
)

attachments = Table(
    "attachments",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("part", Text, primary_key=True),
    Column("document", Text, nullable=False),
    sqlite_with_rowid=False,
)

usage_counts = Table(
    "usage_counts",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("day", Integer, primary_key=True),  # proleptic Gregorian, as datetime.date counts them
    Column("type", Text, nullable=False),
    Column("count", BigInteger, nullable=False),
    Index("usage_counts_type", "type", "day"),
    sqlite_with_rowid=False,
)

column_events = Table(
    "column_events",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("at", BigInteger, primary_key=True),
    Column("other", Text, primary_key=True),  # "" for a drop
    sqlite_with_rowid=False,
)

usage_records = Table(
    "usage_records",
    metadata,
    Column("entity_id", Text, ForeignKey("entities.id"), primary_key=True),
    Column("digest", BigInteger, primary_key=True),
    Column("at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

name_events = Table(
    "name_events",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("kind", Text, nullable=False),  # create, replace, drop, rename, swap
    Column("entity_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("other_id", Text, ForeignKey("entities.id"), nullable=False),  # itself where no other takes part
    Column("at", BigInteger, nullable=False),
    UniqueConstraint("kind", "entity_id", "other_id", "at"),
    Index("name_events_other", "other_id"),
    Index("name_events_entity", "entity_id"),
)

batches = Table(
    "batches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("answer", Text, nullable=False),
)

contributions = Table(
    "contributions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("from_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("to_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("source", Text, nullable=False),
    UniqueConstraint("from_id", "to_id", "kind", "key", "source"),
    Index("contributions_to", "to_id", "from_id"),
)

versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("contribution_id", Integer, ForeignKey("contributions.id"), nullable=False),
    Column("digest", Text, nullable=False),
    Column("pipeline_id", Text),
    Column("column_edges", Integer, nullable=False),
    Column("content", Text, nullable=False),
    UniqueConstraint("contribution_id", "digest"),
    Index("versions_pipeline", "pipeline_id"),
)

statement_texts = Table(
    "statement_texts",
    metadata,
    Column("digest", Text, primary_key=True),  # by which the content of versions names it
    Column("text", Text, nullable=False),
)
"""The masked texts of statements, each once: one that reads thousands of tables has as many edges."""

sightings = Table(
    "sightings",
    metadata,
    Column("version_id", Integer, ForeignKey("versions.id"), primary_key=True),
    Column("batch", Text, primary_key=True),
    Column("first_seen", BigInteger, primary_key=True),
    Column("last_seen", BigInteger, primary_key=True),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)

records = Table(
    "records",
    metadata,
    Column("contribution_id", Integer, ForeignKey("contributions.id"), primary_key=True),
    Column("digest", BigInteger, primary_key=True),
    sqlite_with_rowid=False,
)

contribution_jobs = Table(
    "contribution_jobs",
    metadata,
    Column("contribution_id", Integer, ForeignKey("contributions.id"), primary_key=True),
    Column("job", Text, primary_key=True),
    sqlite_with_rowid=False,
)

version_slots = Table(
    "version_slots",
    metadata,
    Column("version_id", Integer, ForeignKey("versions.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),
    Column("days", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

endings = Table(
    "endings",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("filed_at", BigInteger, nullable=False),  # a whole truth filed anew takes the old one's place
    Column("from_id", Text),
    Column("to_id", Text),
    Column("kind", Text),
    Column("key", Text),
    Column("source", Text),
    Column("pipeline_id", Text),
    Column("batch", Text, nullable=False),
    Column("manual", Boolean, nullable=False),  # whether manual contributions end too
    Index("endings_to", "to_id"),
    Index("endings_pipeline", "pipeline_id"),
)

corrections = Table(
    "corrections",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("verdict", Text, nullable=False),  # added, confirmed, rejected; undone: takes back another one
    Column("from_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("to_id", Text, ForeignKey("entities.id"), nullable=False),
    Column("from_path", Text, nullable=False),  # "" for the entity as a whole
    Column("to_path", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("undoes", Integer, ForeignKey("corrections.id")),
    Index("corrections_to", "to_id"),
    Index("corrections_from", "from_id"),
)

intervals = Table(
    "intervals",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("from_id", Text, nullable=False),
    Column("to_id", Text, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger),
    Column("last_seen", BigInteger, nullable=False),
    # what its contribution and its version have too: theirs are the largest rows of the store
    Column("kind", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("column_edges", Integer, nullable=False),
    # the numbers (see `holder_number`) of what both entities lie in, which their names say once and for all
    Column("from_holder", BigInteger, nullable=False),
    Column("to_holder", BigInteger, nullable=False),
    # with all that tells which edges there are at a moment
    Index("intervals_from", "from_id", "end", "kind", "last_seen", "start", "to_id"),
    Index("intervals_to", "to_id", "end", "kind", "last_seen", "start", "from_id", "source", "column_edges"),
    Index(
        "intervals_holders", "from_holder", "to_holder", "kind", "last_seen", "end", sqlite_where=text('"end" is null')
    ),
    Index("intervals_version", "version_id"),
    Index("intervals_start", "start"),
    Index("intervals_end", "end"),
)

edge_counts = Table(
    "edge_counts",
    metadata,
    Column("from_holder", BigInteger, primary_key=True),
    Column("to_holder", BigInteger, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("edges", Integer, nullable=False),
    Column("oldest", BigInteger, nullable=False),  # when the one was last seen that was not seen for longest
    sqlite_with_rowid=False,
)
"""How many intervals of now lead from what lies in one holder into what lies in another: see `edge_counts.py`."""

dated_versions = intervals.join(versions, versions.c.id == intervals.c.version_id)
dated_contributions = dated_versions.join(contributions, contributions.c.id == versions.c.contribution_id)
"""What is said of edges, and when it held."""


# The tables of the store in which names are searched, and `entity_labels` and `entity_activity`, that narrow it.

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
