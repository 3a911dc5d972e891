"""Where a sink connector puts what it takes from topics: tables, indices, folders; and what of it nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.kafka_connect._carried import Link, class_of, first_value, unsupported_link, with_doubts
from connectors.kafka_connect._documents import CLASS, Connector
from connectors.kafka_connect._messages import MessageFields
from connectors.kafka_connect._transforms import (
    Message,
    Settings,
    names_in,
    pairs_in,
    pattern_of,
    replacement_for,
    transform,
)
from connectors.platforms.connect_classes import (
    FILE_SINKS,
    FILE_TEMPLATE,
    JDBC_SINKS,
    LAKE_SINKS,
    TABLE_SINKS,
    TOPIC_MIRRORS,
    FileSink,
    TableNaming,
    TableSink,
)
from connectors.stream_names import StreamNames, authority
from ingestion.dialects.unfilled_templates import is_unfilled
from ingestion.model.engine_names import JdbcUrl, jdbc_url
from ingestion.model.lineage import TableName
from ingestion.model.outcomes import Outcome
from ingestion.model.storage_paths import location
from ingestion.model.topics import is_topic_name

_NOT_IN_IDENTIFIER = re.compile(r"[^A-Za-z0-9_$]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*\Z")
_NOT_IN_WORD = re.compile(r"[^A-Za-z0-9_]")
_TOPIC = "${topic}"
_OF_EVENT = "${source."
"""How the variables begin that Debezium's sink fills in by each event."""
_TOPIC_VARIABLE = re.compile(r"\{\{\s*topic\s*\}\}")
_NOT_FIRST_IN_INDEX = ("-", "_", "+")
_LONGEST_INDEX, _LONGEST_NAMESPACE = 255, 100


def is_sink(connector: Connector) -> bool:
    """Whether a connector takes from topics what it writes elsewhere."""
    return not {"topics", "topics.regex"}.isdisjoint(connector.config) and class_of(connector) not in TOPIC_MIRRORS


@dataclass(frozen=True, slots=True)
class _Targets:
    """The relations that a message goes to, with its fields there; none: a value of the message tells, or nothing.

    `doubted`: of several, the message may go to another one of them. `templated`: nobody has filled in a name.
    """

    tables: tuple[TableName, ...] = ()
    fields: MessageFields = field(default_factory=MessageFields)
    doubted: bool = False
    templated: bool = False


def links_of_sink(connector: Connector, names: StreamNames, known: frozenset[str]) -> Iterator[Link]:
    """What goes from topics into the targets that a sink has for them; `known` are topics that a pattern may mean."""
    return with_doubts(connector, _of_sink(connector, names, known))


def _of_sink(connector: Connector, names: StreamNames, known: frozenset[str]) -> Iterator[Link]:
    targets = _targets_of(connector)
    topics = dict.fromkeys(names_in(connector.config.get("topics", "")))
    pattern = connector.config.get("topics.regex")
    if pattern:
        compiled = pattern_of(pattern)
        topics = dict.fromkeys(one for one in sorted(known) if compiled is not None and compiled.fullmatch(one))
        if not topics:
            yield Link(connector, "topics", end=Outcome.UNLISTED)
    for topic in topics:
        if not is_topic_name(topic):
            yield Link(connector, "topic", end=Outcome.TEMPLATED)
            continue
        if targets is None:
            yield unsupported_link(connector)
            continue
        message = transform(Message(topic), connector.config)
        found = targets(message, names) if message.topic else _Targets()
        yield from _links(connector, topic, message, found, names)


def _links(connector: Connector, topic: str, message: Message, targets: _Targets, names: StreamNames) -> Iterator[Link]:
    tables = targets.tables
    if not tables:
        end = Outcome.TEMPLATED if targets.templated else Outcome.UNLISTED
        yield Link(connector, topic, problems=message.problems, end=end)
    for table in tables:
        subject = f"{topic}>{table}" if len(tables) > 1 else topic
        doubted = targets.doubted or message.doubted
        yield Link(connector, subject, names.topic(topic), table, targets.fields, message.problems, doubted=doubted)


def _targets_of(connector: Connector) -> Callable[[Message, StreamNames], _Targets] | None:
    """What tells where a connector of this class puts a message, None for a class that is not known."""
    kind, config = class_of(connector), connector.config
    if kind in LAKE_SINKS:
        return lambda message, names: _lake_tables(config, message, names)
    if kind in JDBC_SINKS:
        return lambda message, names: _jdbc_table(config, message, names)
    if kind in TABLE_SINKS:
        return lambda message, names: _sink_table(TABLE_SINKS[kind], config, message, names)
    files = FILE_SINKS.get(config.get(CLASS, "")) or FILE_SINKS.get(kind)
    if files is not None:
        return lambda message, _names: _file_folder(files, config, message)
    return None


# Tables over JDBC.


def _jdbc_table(config: Settings, message: Message, names: StreamNames) -> _Targets:
    url = jdbc_url(config.get("connection.url", ""))
    mapped = dict(pairs_in(config.get("topics.to.tables.mapping", ""))).get(message.topic)
    name = mapped or _table_by_format(config, message.topic)
    if url is None or is_unfilled(f"{name} {url.host} {url.database}"):
        own = name.replace(_OF_EVENT, "")
        return _Targets(templated=is_unfilled(own) or is_unfilled(config.get("connection.url", "")))
    table = names.table(url, tuple(part.strip('"`[]') for part in name.split(".")))
    return _Targets((table,), _jdbc_fields(config, message))


def _table_by_format(config: Settings, topic: str) -> str:
    """The table of a topic by the format: `mart.${topic}_raw`."""
    if ".debezium." in config.get(CLASS, ""):
        topic = topic.replace(".", "_")
    own = first_value(config, "collection.name.format", "table.name.format") or _TOPIC
    if config.get("table.name.normalize", "").lower() == "true":
        return _NOT_IN_WORD.sub("_", own.replace(_TOPIC, topic)) if not is_unfilled(own.replace(_TOPIC, "")) else own
    return own.replace(_TOPIC, topic)


def _jdbc_fields(config: Settings, message: Message) -> MessageFields:
    """The columns that a JDBC sink fills: those of the key are columns of the row too."""
    fields = message.fields
    allowed = [*names_in(config.get("fields.whitelist", "")), *_of_topic(config, "field.include.list", message.topic)]
    fields = fields.without(_of_topic(config, "field.exclude.list", message.topic))
    if not allowed:
        return fields
    of_key = first_value(config, "pk.mode", "primary.key.mode") in ("record_key", "record_value")
    keys = names_in(first_value(config, "pk.fields", "primary.key.fields")) if of_key else ()
    return fields.only([*allowed, *keys])


def _of_topic(config: Settings, key: str, topic: str) -> list[str]:
    """The fields of a list that are of a topic, or of any: `orders:total,note`."""
    parts = (one.rpartition(":") for one in names_in(config.get(key, "")))
    return [name for above, _colon, name in parts if above in ("", topic)]


# Tables of one system.


def _sink_table(sink: TableSink, config: Settings, message: Message, names: StreamNames) -> _Targets:
    """The table of a `sink` of one system: by its map, by its one table, else by the topic's name."""
    parts = _NAMING[sink.naming](sink, config, message.topic)
    host, port = _address(config.get(sink.address, "") or sink.usual)
    port = port or (int(given_port) if (given_port := config.get(sink.port, "")).isdigit() else None)
    if not parts or not parts[-1] or is_unfilled(f"{host} {' '.join(parts)}"):
        return _Targets(templated=is_unfilled(f"{host} {' '.join(parts or ())}"))
    spread = not sink.spread_by or config.get(sink.spread_by, "").lower() == "true"
    table = names.table(JdbcUrl(sink.system, host or "localhost", port), tuple(part for part in parts if part))
    return _Targets((table,), message.fields if spread else message.fields.leave_unfollowed(), doubted=not host)


_Parts = tuple[str, ...] | None
"""The levels of a table's name; None where a value of the message tells them."""


def _levels(sink: TableSink, config: Settings) -> tuple[str, ...]:
    return tuple(config.get(key, "") for key in sink.levels)


def _table_in_map(sink: TableSink, config: Settings, topic: str) -> str:
    """What a sink's map has for a topic, "" where it has nothing."""
    written = config.get(sink.tables, "") if sink.tables else ""
    return dict(pairs_in(written, sink.mark)).get(topic, "")


def _by_topic(sink: TableSink, config: Settings, topic: str) -> _Parts:
    return (*_levels(sink, config), _table_in_map(sink, config, topic) or topic)


def _by_identifier(sink: TableSink, config: Settings, topic: str) -> _Parts:
    """A map by topics, or by patterns of them; a topic that is no identifier gets a number: Java's hash of its name."""
    found = _table_in_map(sink, config, topic) or _first_match(pairs_in(config.get(sink.tables, "")), topic)
    if not found:
        plain = _IDENTIFIER.match(topic)
        found = topic if plain else f"{_NOT_IN_IDENTIFIER.sub('_', topic)}_{abs(_java_hash(topic))}"
    return (*_levels(sink, config), found)


def _first_match(pairs: Iterator[tuple[str, str]], topic: str) -> str:
    """What the first pattern that a topic matches has."""
    for key, value in pairs:
        pattern = pattern_of(key)
        if pattern is not None and pattern.fullmatch(topic):
            return value
    return ""


def _by_dataset(sink: TableSink, config: Settings, topic: str) -> _Parts:
    """`datasets` and `topicsToTables` have patterns of topics; a router may have put the dataset before the table."""
    project, dataset = _levels(sink, config)
    dataset = dataset or _first_match(pairs_in(config.get("datasets", ""), "="), topic)
    routed, colon, table = topic.rpartition(":")
    if colon:
        dataset = routed
    mapped = _table_in_map(sink, config, topic) or _replaced_by_match(config.get("topicsToTables", ""), topic)
    table = mapped or table
    if config.get("sanitizeTopics", "").lower() == "true" and not mapped:
        table = _NOT_IN_WORD.sub("_", table)
    return (project, dataset, table) if dataset else None


def _replaced_by_match(written: str, topic: str) -> str:
    """What the first pattern that a topic matches makes of it: `kafka-(.*)=$1`."""
    for key, value in pairs_in(written, "="):
        pattern = pattern_of(key)
        found = pattern.fullmatch(topic) if pattern is not None else None
        if found is not None:
            return replacement_for(found, value) or ""
    return ""


def _by_split(sink: TableSink, config: Settings, topic: str) -> _Parts:
    """`shop_orders` is orders of shop, where a topic's name has its database."""
    found, mark = _table_in_map(sink, config, topic), config.get("dbTopicSplitChar", "")
    if config.get("enableDbTopicSplit", "").lower() == "true" and mark:
        database, _mark, table = topic.partition(mark)
        return (database, found or table) if table else None
    return (*_levels(sink, config), found or topic)


def _by_override(sink: TableSink, config: Settings, topic: str) -> _Parts:
    """`topic.override.orders.collection` goes before `collection`; a class may take both from fields of the message."""

    def value_of(key: str) -> str:
        return config.get(f"topic.override.{topic}.{key}") or config.get(key, "")

    mapper = value_of("namespace.mapper").rpartition(".")[2]
    if mapper not in ("", "DefaultNamespaceMapper"):
        return None
    return (*(value_of(key) for key in sink.levels), value_of(sink.table) or topic)


def _by_index(sink: TableSink, config: Settings, topic: str) -> _Parts:
    """An index, or a data stream by its type, dataset and namespace; what is there already has the name of a map."""
    if config.get("external.resource.usage", "DISABLED").upper() != "DISABLED":
        found = dict(pairs_in(config.get("topic.to.external.resource.mapping", ""))).get(topic)
        return (found,) if found else None
    kind, dataset = config.get("data.stream.type", "").lower(), config.get("data.stream.dataset", "").lower()
    if kind not in ("", "none") and dataset:
        namespace = (config.get("data.stream.namespace") or _TOPIC).replace(_TOPIC, topic).lower()
        return (f"{kind}-{dataset.replace(_TOPIC, topic.lower())}-{namespace[:_LONGEST_NAMESPACE]}",)
    mapped, prefix = _table_in_map(sink, config, topic), config.get("data.stream.prefix", "")
    if config.get("data.stream.enabled", "").lower() == "true":
        return (f"{prefix}-{topic}".lower() if prefix else topic.lower(),)
    name = mapped or topic.lower()[:_LONGEST_INDEX]
    return (name if mapped or not name.startswith(_NOT_FIRST_IN_INDEX) else name[1:],)


_NAMING: Mapping[TableNaming, Callable[[TableSink, Settings, str], _Parts]] = {
    TableNaming.TOPIC: _by_topic,
    TableNaming.IDENTIFIER: _by_identifier,
    TableNaming.DATASET: _by_dataset,
    TableNaming.SPLIT: _by_split,
    TableNaming.OVERRIDE: _by_override,
    TableNaming.INDEX: _by_index,
}


def _java_hash(text: str) -> int:
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def _address(written: str) -> tuple[str, int | None]:
    """The host and the port of a URL, of several the first, without who logs in."""
    host, _, port = authority(written).partition(":")
    return host, int(port) if port.isdigit() and port not in ("443", "80") else None


# Open tables, and files.


def _lake_tables(config: Settings, message: Message, names: StreamNames) -> _Targets:
    """The tables of Iceberg that a sink names: each has all messages, unless a field of them says which."""
    catalog = config.get("iceberg.catalog", "iceberg")
    tables = [*names_in(config.get("iceberg.tables", ""))]
    by_value = config.get("iceberg.tables.dynamic-enabled", "").lower() == "true"
    if not tables or by_value or any(map(is_unfilled, (catalog, *tables))):
        return _Targets(templated=any(map(is_unfilled, (catalog, *tables))))
    found = []
    for table in tables:
        parts = (catalog, *table.split("."))
        placed = names.rules.table(parts)
        found.append(TableName(placed or (catalog, catalog, *parts[-2:]), table))
    fields = message.fields if len(found) == 1 else message.fields.leave_unfollowed()
    topics = [*names_in(config.get("topics", ""))]
    chosen = bool(config.get("iceberg.tables.route-field")) and len(found) > 1 and len(topics) != 1
    return _Targets(tuple(found), fields, doubted=chosen)


def _file_folder(sink: FileSink, config: Settings, message: Message) -> _Targets:
    """The folder of a topic in its bucket, or as far as names of files have no variable but the topic's."""
    bucket = config.get(sink.bucket, "")
    folder = first_value(config, *sink.folder) or sink.usual
    if sink.template:
        written = f"{folder}{config.get(sink.template) or FILE_TEMPLATE}"
        named = _TOPIC_VARIABLE.sub(lambda _one: message.topic, written)
        folder = named.partition("{{")[0].rpartition("/")[0]
    else:
        folder = f"{folder.strip('/')}/{message.topic}"
    if not bucket or is_unfilled(f"{bucket} {folder}"):
        return _Targets(templated=is_unfilled(f"{bucket} {folder}"))
    path = "/".join(part for part in (bucket, folder.strip("/")) if part)
    return _Targets((location(f"{sink.scheme}://{path}"),), message.fields)
