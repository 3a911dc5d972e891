"""The options of connectors that decide on a name, each with what its manual says of it: carried out here, or told.

What a configuration has besides, and whose key is about names, is told too: a connector may go by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingestion.dialects.definition import keywords


@dataclass(frozen=True, slots=True)
class NamingOptions:
    """Of one kind of connector, by the key of the option, or with a `*` by how keys begin.

    `read`: they decide on names, and are carried out. `unread_names`: they decide on the name of a table or a topic,
    and are not carried out, unless they have a value of `usual`. `unread_fields`: likewise on names of fields.
    `apart`: keys that are about names, and of something else than what is read and written.
    """

    read: Mapping[str, str]
    unread_names: Mapping[str, str] = field(default_factory=dict)
    unread_fields: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, frozenset[str]] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()


NAMING_WORDS = keywords(
    "topic topics table tables collection collections index indices database databases dataset datasets namespace "
    "catalog keyspace bucket container route routing router naming mapper mapping map prefix suffix delimiter "
    "separator split resource alias rename renames renamer projection whitelist blacklist include exclude"
)
"""A key with one of these words may decide on a name."""

OF_THE_WORKER = keywords(
    "transforms transforms.* predicates predicates.* key.converter* value.converter* header.converter* topics "
    "topics.regex topic.creation.* consumer.* producer.* admin.* errors.* confluent.* config.providers* "
    "offsets.storage.* transaction.* reporter.* schema.registry.* openlineage.* kafka.*"
)
"""What the worker goes by, or other topics than those of the data: dead letters, licences, offsets, history."""

_DEFAULT_STRATEGIES = frozenset(
    f"io.debezium.schema.{one}"
    for one in (
        "DefaultTopicNamingStrategy",
        "SchemaTopicNamingStrategy",
        "DefaultRegexTopicNamingStrategy",
        "SchemaRegexTopicNamingStrategy",
    )
)

CHANGE_EVENT_OPTIONS = NamingOptions(
    read={
        "topic.prefix": "the namespace of the server: all topics begin with it",
        "database.server.name": "the same, until 2.0",
        "topic.delimiter": "what stands between the parts of a topic's name, a dot where it is left out",
        "topic.naming.strategy": "the class that names topics",
        "topic.regex": "of the strategies by a pattern: which names are replaced",
        "topic.replacement": "of the strategies by a pattern: what they are replaced by",
        "database.hostname": "the address of the server",
        "database.port": "its port",
        "database.url": "the whole JDBC URL of the server, in place of host and port",
        "database.dbname": "the database that is read",
        "database.names": "the databases that are read",
        "database.pdb.name": "the pluggable database that is read; database.dbname is the container then",
        "mongodb.connection.string": "the address of the servers",
        "mongodb.hosts": "the same, until 2.2",
        "table.include.list": "patterns of the tables that are read",
        "table.exclude.list": "patterns of the tables that are not",
        "table.whitelist": "as table.include.list, until 1.3",
        "table.blacklist": "as table.exclude.list, until 1.3",
        "collection.include.list": "patterns of the collections that are read",
        "collection.exclude.list": "patterns of the collections that are not",
        "collection.whitelist": "as collection.include.list, until 1.3",
        "collection.blacklist": "as collection.exclude.list, until 1.3",
        "database.include.list": "patterns of the databases that are read",
        "database.exclude.list": "patterns of the databases that are not",
        "database.whitelist": "as database.include.list, until 1.3",
        "database.blacklist": "as database.exclude.list, until 1.3",
        "schema.include.list": "patterns of the schemas that are read",
        "schema.exclude.list": "patterns of the schemas that are not",
        "schema.whitelist": "as schema.include.list, until 1.3",
        "schema.blacklist": "as schema.exclude.list, until 1.3",
        "column.include.list": "patterns of the columns that messages have",
        "column.exclude.list": "patterns of the columns that they have not",
        "column.whitelist": "as column.include.list, until 1.3",
        "column.blacklist": "as column.exclude.list, until 1.3",
        "field.exclude.list": "fields of documents that messages have not",
        "field.blacklist": "the same, until 1.3",
        "column.mask.*": "columns whose values are replaced",
        "column.truncate.*": "columns whose values are cut",
    },
    unread_names={"database.tablename.case.insensitive": "names in lower case, or as they are"},
    unread_fields={
        "field.renames": "fields of documents that get another name",
        "field.name.adjustment.mode": "names of fields are made such as Avro takes",
        "sanitize.field.names": "the same, until 2.0",
    },
    usual={
        "topic.naming.strategy": _DEFAULT_STRATEGIES,
        "field.name.adjustment.mode": frozenset({"none"}),
        "sanitize.field.names": frozenset({"false"}),
        "database.tablename.case.insensitive": frozenset({"false"}),
    },
    apart=keywords(
        "database.* driver.* snapshot.* incremental.snapshot.* signal.* heartbeat.* notification.* topic.heartbeat.* "
        "topic.transaction topic.cache.size schema.history.* include.schema.* include.query include.unknown.datatypes "
        "publication.* slot.* log.mining.* table.ignore.builtin mongodb.* capture.* internal.* column.propagate.* "
        "datatype.propagate.* min.row.count.* custom.metric.tags"
    ),
)

JDBC_SOURCE_OPTIONS = NamingOptions(
    read={
        "connection.url": "the JDBC URL of the database",
        "topic.prefix": "stands before a table's name; with a query it is the whole name of the topic",
        "query": "the query whose rows are read, in place of tables",
        "query.masked": "the same, for one that holds secrets",
        "table.whitelist": "the tables that are read",
        "table.include.list": "patterns of the tables that are read",
        "table.blacklist": "the tables that are not",
        "table.exclude.list": "patterns of the tables that are not",
        "catalog.pattern": "the catalog whose tables are read",
        "schema.pattern": "the schema whose tables are read",
    },
    apart=keywords(
        "table.types table.poll.* table.monitoring.* table.names.qualify numeric.mapping query.suffix "
        "timestamp.columns.mapping incrementing.column.mapping"
    ),
)

JDBC_SINK_OPTIONS = NamingOptions(
    read={
        "connection.url": "the JDBC URL of the database",
        "table.name.format": "the name of the table, ${topic} standing for the topic's",
        "collection.name.format": "the same, with ${source.…} for what an event tells of its source",
        "topics.to.tables.mapping": "tables by topics, before the format",
        "table.name.normalize": "what is no letter, digit or underscore becomes an underscore",
        "fields.whitelist": "the fields that are written; all where it is empty",
        "pk.mode": "where the primary key comes from",
        "pk.fields": "the columns of the primary key",
        "field.include.list": "the fields that are written, with or without their topic",
        "field.exclude.list": "the fields that are not",
        "primary.key.mode": "where the primary key comes from",
        "primary.key.fields": "the columns of the primary key",
    },
    unread_names={
        "table.naming.strategy": "a class that makes the table's name",
        "collection.naming.strategy": "a class that makes the table's name",
    },
    unread_fields={"column.naming.strategy": "a class that makes the columns' names"},
    usual={
        "table.naming.strategy": frozenset({"io.debezium.connector.jdbc.naming.DefaultTableNamingStrategy"}),
        "collection.naming.strategy": frozenset(
            {
                "io.debezium.sink.naming.DefaultCollectionNamingStrategy",
                "io.debezium.connector.jdbc.naming.TemporaryBackwardCompatibleCollectionNamingStrategyProxy",
            }
        ),
        "column.naming.strategy": frozenset({"io.debezium.connector.jdbc.naming.DefaultColumnNamingStrategy"}),
    },
    apart=frozenset({"table.types", "database.time_zone", "hibernate.*", "dialect.*", "connection.*"}),
)

STAGED_OPTIONS = NamingOptions(  # Snowflake's
    read={
        "snowflake.url.name": "the account's address",
        "snowflake.database.name": "the database",
        "snowflake.schema.name": "the schema",
        "snowflake.topic2table.map": "tables by topics, or by patterns of topics",
        "snowflake.enable.schematization": "fields become columns",
    },
    apart=frozenset({"snowflake.*", "behavior.*", "buffer.*", "enable.*"}),
)

DATASET_OPTIONS = NamingOptions(  # BigQuery's
    read={
        "project": "the project",
        "defaultDataset": "the dataset",
        "datasets": "datasets by patterns of topics, until 2.0",
        "topic2TableMap": "tables by topics",
        "topicsToTables": "tables by patterns of topics, until 2.0",
        "sanitizeTopics": "what a table's name may not have becomes an underscore",
    },
    unread_fields={
        "sanitizeFieldNames": "what a column's name may not have becomes an underscore",
        "fieldNameSanitizer": "the same by a class",
    },
    usual={"sanitizeFieldNames": frozenset({"false"})},
    apart=keywords(
        "autoCreateBucket gcsBucketName gcsFolderName tableWriteWait autoCreateTables intermediateTableSuffix "
        "bigQueryMessageTimePartitioning bigQueryPartitionDecorator schemaRegistryLocation"
    ),
)

COLUMN_STORE_OPTIONS = NamingOptions(  # ClickHouse's
    read={
        "hostname": "the server",
        "port": "its port",
        "database": "the database",
        "topic2TableMap": "tables by topics",
        "enableDbTopicSplit": "the database is the first part of the topic's name",
        "dbTopicSplitChar": "what stands between that and the table",
    },
    apart=frozenset({"tableRefreshInterval", "keeperOnCluster", "zkPath", "zkDatabase"}),
)

DOCUMENT_OPTIONS = NamingOptions(  # MongoDB's
    read={
        "connection.uri": "the address of the servers",
        "database": "the database",
        "collection": "the collection; the topic's name where it is left out",
        "topic.override.*": "of one topic, what another option says of all",
        "namespace.mapper": "the class that tells database and collection; by fields of the message, or as they say",
        "namespace.mapper.*": "the fields that tell them",
    },
    unread_fields={
        "field.renamer.mapping": "fields that get another name",
        "field.renamer.regexp": "the same by a pattern",
        "key.projection.list": "fields of the key that are kept, or left out",
        "value.projection.list": "fields that are kept, or left out",
        "post.processor.chain": "classes that change a document before it is written",
    },
    usual={"post.processor.chain": frozenset({"com.mongodb.kafka.connect.sink.processor.DocumentIdAdder"})},
    apart=frozenset({"key.projection.type", "value.projection.type", "timeseries.*", "change.data.capture.*"}),
)

INDEX_OPTIONS = NamingOptions(  # Elasticsearch's and OpenSearch's
    read={
        "connection.url": "the address of the servers",
        "topic.index.map": "indices by topics, until version 11",
        "data.stream.type": "logs or metrics: written is a data stream, by type, dataset and namespace",
        "data.stream.dataset": "the second part of its name",
        "data.stream.namespace": "the third, ${topic} standing for the topic's name",
        "data.stream.enabled": "written is a data stream",
        "data.stream.prefix": "its name is this, a hyphen and the topic's name",
        "external.resource.usage": "what is written is there already, and has the name that a map says",
        "topic.to.external.resource.mapping": "indices, data streams and aliases by topics",
    },
    apart=keywords(
        "topic.schema.ignore topic.key.ignore auto.create.indices.at.start data.stream.timestamp.field "
        "index.write.method external.version.header compact.map.entries elastic.*"
    ),
)

LAKE_OPTIONS = NamingOptions(
    read={
        "iceberg.catalog": "the name of the catalog",
        "iceberg.tables": "the tables",
        "iceberg.tables.dynamic-enabled": "the value of a field names the table",
        "iceberg.tables.route-field": "the field by which messages go to tables",
    },
    unread_names={"iceberg.tables.route-pattern": "how a value becomes a name"},
    apart=frozenset({"iceberg.*"}),
)

FILE_OPTIONS = NamingOptions(
    read={
        "s3.bucket.name": "the bucket",
        "gcs.bucket.name": "the bucket",
        "aws.s3.bucket.name": "the bucket",
        "topics.dir": "the folder above those of topics",
        "aws.s3.prefix": "the beginning of the names of files",
        "aws.s3.prefix.template": "the same with variables",
        "file.name.prefix": "the beginning of the names of files",
        "file.name.template": "the rest of them, {{topic}} standing for the topic's name",
    },
    unread_names={"store.url": "another address than the vendor's"},
    apart=frozenset({"format.*", "partition.*", "path.format", "directory.delim", "file.delim", "s3.*", "gcs.*"}),
)

MIRROR_OPTIONS = NamingOptions(
    read={
        "source.cluster.bootstrap.servers": "the servers that topics are copied from",
        "source.cluster.alias": "what stands before their names",
        "replication.policy.class": "the class that names the copies",
        "replication.policy.separator": "what stands between the alias and the name",
    },
    usual={
        "replication.policy.class": frozenset(
            f"org.apache.kafka.connect.mirror.{one}ReplicationPolicy" for one in ("Default", "Identity")
        )
    },
    apart=keywords(
        "source.* target.* topics.exclude topics.blacklist topic.filter.class config.* group* offset-syncs.* sync.* "
        "refresh.* emit.* heartbeats.* checkpoints.*"
    ),
)
