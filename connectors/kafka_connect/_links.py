"""What a connector carries: from tables into topics, from topics into tables; and what of it nobody can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.kafka_connect._documents import CLASS, Connector
from connectors.kafka_connect._messages import MessageFields
from connectors.kafka_connect._transforms import MASK, Message, names_in, pairs_in, pattern_of, transform
from connectors.platforms.connect_classes import (
    CHANGE_EVENTS,
    FILE_SINKS,
    JDBC_SINKS,
    JDBC_SOURCES,
    LAKE_SINKS,
    SQLSERVER,
    TABLE_SINKS,
    TOPIC_MIRRORS,
    WITHOUT_DATA,
    WITHOUT_SCHEMAS,
    TableSink,
)
from connectors.records import UNSUPPORTED
from connectors.stream_names import StreamNames, as_topic, plain_names
from ingestion.model.engine_names import JdbcUrl, jdbc_url
from ingestion.model.lineage import TableName
from ingestion.model.outcomes import Outcome
from ingestion.model.storage_paths import location
from ingestion.model.topics import cluster_of, is_topic_name, topic_name

_NOT_IN_IDENTIFIER = re.compile(r"[^A-Za-z0-9_$]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*\Z")
_TOPIC = "${topic}"
_OF_DATABASES = "database.include.list"
_HOST = re.compile(r"[\w.\[\]:-]+\Z")
_HOST_END = re.compile(r"[/,?#]")
_WORD = re.compile(r"[\w]+\Z")


@dataclass(frozen=True, slots=True)
class Link:
    """What a connector carries out of one relation into another, column by column as far as `fields` tell.

    `subject` tells it from the connector's others; `end`: how it ends where nothing is carried that is known.
    """

    connector: Connector
    subject: str
    source: TableName | None = None
    target: TableName | None = None
    fields: MessageFields = field(default_factory=MessageFields)
    problems: tuple[str, ...] = ()
    end: str = ""


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that a source connector reads: the parts of its name, and the topic before any transform."""

    parts: tuple[str, ...]
    topic: str


def links_of(connectors: Iterable[Connector], names: StreamNames) -> Iterator[Link]:
    """What all connectors carry; what sinks take by a pattern are topics that others fill, or a worker has seen."""
    every = tuple(connectors)
    named = frozenset(topic for one in every if _is_sink(one) for topic in names_in(one.config.get("topics", "")))
    prefixes = Counter(map(_prefix_of, every))  # of two with one prefix nothing tells whose a topic is
    sources = [
        link
        for one in every
        if not _is_sink(one)
        for link in _of_source(one, names, named if prefixes[_prefix_of(one)] == 1 else frozenset())
    ]
    yield from sources
    filled = {link.target.dotted.rpartition("/")[2] for link in sources if link.target is not None}
    for one in every:
        if _is_sink(one):
            yield from _of_sink(one, names, frozenset({*filled, *named, *one.topics}))


def _prefix_of(connector: Connector) -> str:
    return connector.config.get("topic.prefix") or connector.config.get("database.server.name") or ""


def _class_of(connector: Connector) -> str:
    return connector.config.get(CLASS, "").rpartition(".")[2]


def _is_sink(connector: Connector) -> bool:
    return not {"topics", "topics.regex"}.isdisjoint(connector.config) and _class_of(connector) not in TOPIC_MIRRORS


# Sources.


def _of_source(connector: Connector, names: StreamNames, awaited: frozenset[str]) -> Iterator[Link]:
    """What a source fills; `awaited` are topics that sinks take, which tell of tables that a pattern names."""
    kind = _class_of(connector)
    if kind in CHANGE_EVENTS:
        yield from _of_change_events(connector, CHANGE_EVENTS[kind], names, awaited)
    elif kind in JDBC_SOURCES:
        yield from _of_jdbc_source(connector, names)
    elif kind in TOPIC_MIRRORS:
        yield from _of_mirror(connector, names)
    elif kind in WITHOUT_DATA:
        yield Link(connector, "", end=Outcome.NO_LINEAGE)
    else:
        yield _unsupported_link(connector)


def _unsupported_link(connector: Connector) -> Link:
    kind = _class_of(connector)
    return Link(connector, "", end=f"{UNSUPPORTED}{kind if _WORD.match(kind) else 'connector'}")


def _of_change_events(connector: Connector, system: str, names: StreamNames, awaited: frozenset[str]) -> Iterator[Link]:
    """The tables of a `system` whose changes are read; those by a pattern as far as topics tell them."""
    config = connector.config
    databases = [*names_in(config.get("database.names", ""))]
    database = config.get("database.dbname") or (databases[0] if len(databases) == 1 else "")
    url = JdbcUrl(system, *_host_and_port(config), "" if system in WITHOUT_SCHEMAS else database)
    prefix = _prefix_of(connector)
    if not _HOST.match(url.host) or "${" in f"{prefix}{url.database}":
        yield Link(connector, "", end=Outcome.TEMPLATED)
        return
    listed = config.get("table.include.list") or config.get("table.whitelist") or ""
    listed = listed or config.get("collection.include.list") or config.get("collection.whitelist") or ""
    tables: dict[str, _Table] = {}
    unlisted = not listed
    for entry in names_in(listed):
        plain = plain_names(entry)
        unlisted |= plain is None
        for name in plain or ():
            several = databases if len(databases) > 1 and name.count(".") < 2 else [""]
            for above in several:
                parts = (above, *name.split(".")) if above else tuple(name.split("."))
                inside = (database, *parts[-2:]) if system == SQLSERVER and databases else parts[-2:]
                topic = as_topic(".".join((prefix, *(parts if above else inside))))
                tables[topic] = _Table(parts, topic)
    if unlisted:
        tables |= _seen_tables(connector, prefix, listed, awaited)
    yield from _links_of_tables(connector, url, tables, names)
    if unlisted and not connector.topics:
        yield Link(connector, "tables", end=Outcome.UNLISTED)


def _seen_tables(connector: Connector, prefix: str, listed: str, awaited: frozenset[str]) -> dict[str, _Table]:
    """The tables by the topics that a worker has seen, else by those that sinks take, where these keep their names.

    Changes of the schema, heartbeats and transactions have topics of their own, which are of no table.
    """
    found = {}
    patterns = [pattern_of(one) for one in (*names_in(listed), *names_in(connector.config.get(_OF_DATABASES, "")))]
    for topic in connector.topics or sorted(awaited):
        inside = topic.removeprefix(f"{prefix}.") if prefix and topic.startswith(f"{prefix}.") else ""
        ends = [".".join(inside.split(".")[first:]) for first in range(2)] + inside.split(".")[:1]
        admitted = not patterns or any(one is not None and one.fullmatch(end) for one in patterns for end in ends)
        kept = transform(Message(topic), connector.config).topic == topic
        if "." in inside and (connector.topics or (kept and admitted)):
            found[topic] = _Table(tuple(inside.split(".")), topic)
    return found


def _links_of_tables(
    connector: Connector, url: JdbcUrl, tables: Mapping[str, _Table], names: StreamNames
) -> Iterator[Link]:
    """What goes out of each of the `tables`, by its columns as far as the connector takes them."""
    for table in tables.values():
        subject = ".".join(table.parts)
        message = _with_columns(Message(table.topic), connector.config, table)
        message = transform(message, connector.config)
        if not is_topic_name(message.topic):
            yield Link(connector, subject, problems=message.problems, end=Outcome.UNLISTED)
            continue
        source, target = names.table(url, table.parts), names.topic(message.topic)
        yield Link(connector, subject, source, target, message.fields, message.problems)


def _with_columns(message: Message, config: Mapping[str, str], table: _Table) -> Message:
    """The message with the columns that the connector takes, and takes the values of."""
    fields, doubts = message.fields, False
    excluded = config.get("column.exclude.list") or config.get("column.blacklist") or ""
    included = config.get("column.include.list") or config.get("column.whitelist") or ""
    for key, text in (("out", excluded), ("in", included), *_masked_columns(config)):
        columns, unclear = _columns_of(text, table)
        doubts |= unclear
        if key == "out":
            fields = fields.without(columns)
        elif key == "in" and columns:
            fields = fields.only(columns)
        elif key == "mask":
            fields = fields.change(columns, MASK)
    changed = Message(message.topic, fields)
    return changed.doubt("columns that a pattern names") if doubts else changed


def _masked_columns(config: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in config.items():
        if key.startswith("column.mask."):
            yield "mask", value


def _columns_of(text: str, table: _Table) -> tuple[list[str], bool]:
    """The columns of a table in a list of columns, and whether a pattern in it may mean more of them."""
    found: list[str] = []
    unclear = False
    for entry in names_in(text):
        plain = plain_names(entry)
        unclear |= plain is None
        for name in plain or ():
            above, _, column = name.rpartition(".")
            if above and tuple(above.split("."))[-2:] == table.parts[-2:]:
                found.append(column)
    return found, unclear


def _host_and_port(config: Mapping[str, str]) -> tuple[str, int | None]:
    host, port = config.get("database.hostname", ""), config.get("database.port", "")
    address = config.get("mongodb.connection.string") or config.get("mongodb.hosts") or ""
    if address and not host:
        written = address if "://" in address else address.rpartition("/")[2]  # the name of a replica set before it
        host, _, port = _authority(written).partition(":")
    return host or "localhost", int(port) if port.isdigit() else None


def _of_jdbc_source(connector: Connector, names: StreamNames) -> Iterator[Link]:
    config = connector.config
    url, prefix = jdbc_url(config.get("connection.url", "")), config.get("topic.prefix", "")
    if url is None or "${" in f"{url.host}{url.database}{prefix}":
        yield Link(connector, "", end=Outcome.TEMPLATED)
        return
    if config.get("query"):
        yield Link(connector, "query", end=f"{UNSUPPORTED}query")
        return
    listed = [*names_in(config.get("table.whitelist") or config.get("table.include.list") or "")]
    tables = {name: _Table(tuple(name.split(".")), f"{prefix}{name.rpartition('.')[2]}") for name in listed}
    if not listed:
        seen = {topic: topic.removeprefix(prefix) for topic in connector.topics if topic.startswith(prefix)}
        tables = {topic: _Table((name,), topic) for topic, name in seen.items()}
    if not tables:
        yield Link(connector, "tables", end=Outcome.UNLISTED)
    yield from _links_of_tables(connector, url, tables, names)


# Sinks.


def _of_sink(connector: Connector, names: StreamNames, known: frozenset[str]) -> Iterator[Link]:
    config = connector.config
    topics = dict.fromkeys(names_in(config.get("topics", "")))
    pattern = config.get("topics.regex")
    if pattern:
        compiled = pattern_of(pattern)
        matching = [one for one in sorted(known) if compiled is not None and compiled.fullmatch(one)]
        topics = dict.fromkeys(matching)
        if not matching:
            yield Link(connector, "topics", end=Outcome.UNLISTED)
    for topic in topics:
        if not is_topic_name(topic):
            yield Link(connector, "topic", end=Outcome.TEMPLATED)
            continue
        message = transform(Message(topic), config)
        yield from _into(connector, topic, message, names)


def _into(connector: Connector, topic: str, message: Message, names: StreamNames) -> Iterator[Link]:
    """What goes from a topic into the place that a sink has for it."""
    kind = _class_of(connector)
    source = names.topic(topic)
    if kind in LAKE_SINKS:
        targets, fields = _lake_tables(connector.config, names), message.fields
    elif kind in JDBC_SINKS:
        targets, fields = _jdbc_table(connector.config, message, names), _jdbc_fields(connector.config, message)
    elif kind in TABLE_SINKS:
        sink = TABLE_SINKS[kind]
        targets = _sink_table(sink, connector.config, message, names)
        spread = not sink.spread_by or connector.config.get(sink.spread_by, "").lower() == "true"
        fields = message.fields if spread else message.fields.leave_unfollowed()
    elif kind in FILE_SINKS:
        targets, fields = _file_folder(connector.config, kind, message), message.fields
    else:
        yield _unsupported_link(connector)
        return
    if targets is None:
        yield Link(connector, topic, problems=message.problems, end=Outcome.UNLISTED)
    for target in targets or ():
        # of several tables none tells which of them a message goes to
        known = fields if len(targets or ()) == 1 else fields.leave_unfollowed()
        yield Link(
            connector, f"{topic}>{target}" if len(targets or ()) > 1 else topic, source, target, known, message.problems
        )


def _jdbc_table(config: Mapping[str, str], message: Message, names: StreamNames) -> list[TableName] | None:
    url = jdbc_url(config.get("connection.url", ""))
    debezium = ".debezium." in config.get(CLASS, "")
    own = "collection.name.format" if "collection.name.format" in config else "table.name.format"
    topic = message.topic.replace(".", "_") if debezium else message.topic
    name = config.get(own, _TOPIC).replace(_TOPIC, topic)
    if url is None or not topic or "${" in f"{name}{url.host}{url.database}":
        return None
    return [names.table(url, tuple(part.strip('"`[]') for part in name.split(".")))]


def _jdbc_fields(config: Mapping[str, str], message: Message) -> MessageFields:
    """The columns that a JDBC sink fills: those of the key are columns of the row too."""
    allowed = [*names_in(config.get("fields.whitelist", ""))]
    if not allowed:
        return message.fields
    keys = names_in(config.get("pk.fields", "")) if config.get("pk.mode") in ("record_key", "record_value") else ()
    return message.fields.only([*allowed, *keys])


def _sink_table(
    sink: TableSink, config: Mapping[str, str], message: Message, names: StreamNames
) -> list[TableName] | None:
    """The table of a `sink` of one system: by its map, by its one table, else by the topic's name."""
    levels = [config.get(key, "") for key in sink.levels]
    mapped = dict(pairs_in(config.get(sink.tables, "").replace("=", ":"))) if sink.tables else {}
    table = mapped.get(message.topic) or config.get(sink.table, "") or _table_of_topic(sink, message.topic)
    host, port = _address(config.get(sink.address, ""))
    port = port or (int(given) if (given := config.get(sink.port, "")).isdigit() else None)
    if not message.topic or not table or "${" in f"{host}{''.join(levels)}{table}":
        return None
    parts = (*levels, *table.split(".")[-1:]) if mapped else (*levels, table)
    return [names.table(JdbcUrl(sink.system, host or "localhost", port), tuple(part for part in parts if part))]


def _table_of_topic(sink: TableSink, topic: str) -> str:
    """What a sink calls the table of a topic that its map does not have."""
    if sink.tables.startswith(f"{sink.system}.") and not _IDENTIFIER.match(topic):
        # names that are no identifiers get a number that tells them apart: Java's hash of the topic
        return f"{_NOT_IN_IDENTIFIER.sub('_', topic)}_{abs(_java_hash(topic))}" if topic else ""
    return topic if sink.levels else topic.lower()


def _java_hash(text: str) -> int:
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def _authority(written: str) -> str:
    """The first `host:port` of a URL. All before its last @ is no host: a password may hold what ends one."""
    rest = written.partition("://")[2] or written
    return _HOST_END.split(rest.rpartition("@")[2], maxsplit=1)[0]


def _address(written: str) -> tuple[str, int | None]:
    """The host and the port of a URL, of several the first, without who logs in."""
    host, _, port = _authority(written).partition(":")
    return host, int(port) if port.isdigit() and port not in ("443", "80") else None


def _lake_tables(config: Mapping[str, str], names: StreamNames) -> list[TableName] | None:
    """The tables of Iceberg that a sink names; which of them a message goes to, a field of it may say."""
    catalog = config.get("iceberg.catalog", "iceberg")
    tables = [*names_in(config.get("iceberg.tables", ""))]
    if not tables or any("${" in one for one in tables):
        return None
    found = []
    for table in tables:
        parts = (catalog, *table.split("."))
        placed = names.rules.table(parts)
        found.append(TableName(placed or (catalog, catalog, *parts[-2:]), table))
    return found


def _file_folder(config: Mapping[str, str], kind: str, message: Message) -> list[TableName] | None:
    sink = FILE_SINKS[kind]
    bucket, folder = config.get(sink.bucket, ""), config.get(sink.folder, sink.usual).strip("/")
    if not bucket or not message.topic or "${" in f"{bucket}{folder}":
        return None
    return [location(f"{sink.scheme}://{'/'.join(part for part in (bucket, folder, message.topic) if part)}")]


def _of_mirror(connector: Connector, names: StreamNames) -> Iterator[Link]:
    """The topics that MirrorMaker copies out of another cluster, where their names are listed."""
    config = connector.config
    cluster = cluster_of(config.get("source.cluster.bootstrap.servers", ""))
    for topic in names_in(config.get("topics", "")):
        if not is_topic_name(topic) or not cluster:
            yield Link(connector, "topics", end=Outcome.UNLISTED)
            continue
        separator = config.get("replication.policy.separator", ".")
        alias = config.get("source.cluster.alias", "")
        same = "Identity" in config.get("replication.policy.class", "")
        target = topic if same or not alias else f"{alias}{separator}{topic}"
        yield Link(connector, topic, topic_name(cluster, topic), names.topic(target))
