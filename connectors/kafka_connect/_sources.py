"""What a source connector fills: topics, out of tables, queries and other topics; and what of it nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.kafka_connect._carried import Link, class_of, first_value, unsupported_link, with_doubts
from connectors.kafka_connect._documents import Connector
from connectors.kafka_connect._queries import parsed_queries, with_tables
from connectors.kafka_connect._transforms import (
    CHANGED,
    MASK,
    Message,
    Settings,
    names_in,
    pattern_of,
    route_by_pattern,
    transform,
)
from connectors.platforms.connect_classes import (
    CHANGE_EVENTS,
    JDBC_SOURCES,
    SQLSERVER,
    TOPIC_MIRRORS,
    UPPER_CASE,
    WITHOUT_DATA,
    WITHOUT_SCHEMAS,
)
from connectors.records import UNSUPPORTED
from connectors.stream_names import StreamNames, as_topic, authority
from ingestion.dialects.unfilled_templates import is_unfilled
from ingestion.model.engine_names import JdbcUrl, jdbc_url
from ingestion.model.lineage import StatementLineage
from ingestion.model.outcomes import Outcome
from ingestion.model.topics import cluster_of, is_topic_name, plain_names, topic_name

_HOST = re.compile(r"[\w.\[\]:-]+\Z")
_LISTS = {
    level: tuple(f"{level}.{list_}" for list_ in ("include.list", "whitelist"))
    for level in ("table", "collection", "schema", "database")
}


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that a source connector reads: the parts of its name, and the topic before any transform."""

    parts: tuple[str, ...]
    topic: str


def prefix_of(connector: Connector) -> str:
    """What stands before the topics of a connector."""
    return first_value(connector.config, "topic.prefix", "database.server.name")


def links_of_source(connector: Connector, names: StreamNames, awaited: frozenset[str]) -> Iterator[Link]:
    """What a source fills; `awaited` are topics that sinks take, which tell of tables that a pattern names."""
    kind = class_of(connector)
    if kind in CHANGE_EVENTS:
        links = _of_change_events(_ChangeStream(connector, CHANGE_EVENTS[kind], awaited), names)
    elif kind in JDBC_SOURCES:
        links = _of_jdbc_source(connector, names)
    elif kind in TOPIC_MIRRORS:
        links = _of_mirror(connector, names)
    elif kind in WITHOUT_DATA:
        links = iter([Link(connector, "", end=Outcome.NO_LINEAGE)])
    else:
        links = iter([unsupported_link(connector)])
    return with_doubts(connector, links)


# Changes of a database's tables.


@dataclass(frozen=True, slots=True)
class _ChangeStream:
    """A connector that reads the changes of a `system`; `awaited`: topics that others take."""

    connector: Connector
    system: str
    awaited: frozenset[str] = field(default_factory=frozenset)

    @property
    def config(self) -> Settings:
        """What it is configured by."""
        return self.connector.config

    @property
    def databases(self) -> list[str]:
        """The databases that it reads, of a server with several."""
        return [*names_in(self.config.get("database.names", ""))]

    @property
    def database(self) -> str:
        """The one database that it reads, "" where there are several, or none is said."""
        one = self.databases[0] if len(self.databases) == 1 else ""
        return first_value(self.config, "database.pdb.name", "database.dbname") or one

    @property
    def delimiter(self) -> str:
        """What stands between the parts of a topic's name."""
        return self.config.get("topic.delimiter") or "."

    @property
    def address(self) -> JdbcUrl:
        """Where its server is."""
        database = "" if self.system in WITHOUT_SCHEMAS else self.database
        written = jdbc_url(self.config.get("database.url", ""))
        if written is not None and not self.config.get("database.hostname"):
            return JdbcUrl(self.system, written.host, written.port, database or written.database)
        return JdbcUrl(self.system, *_host_and_port(self.config), database)

    @property
    def listed(self) -> str:
        """The tables that it reads, as its configuration lists them."""
        return first_value(self.config, *_LISTS["table"], *_LISTS["collection"])

    def topic_of(self, parts: tuple[str, ...]) -> str:
        """The topic of a table, before any transform; "" where a class of the user's names it."""
        topic = as_topic(self.delimiter.join((prefix_of(self.connector), *parts)))
        if "Regex" in self.config.get("topic.naming.strategy", ""):
            topic = route_by_pattern(
                topic, self.config.get("topic.regex", ""), self.config.get("topic.replacement", "")
            )
        return topic

    def table(self, name: str, database: str) -> _Table:
        """A table by its name in a list; one of a system that writes names in capitals has them in its topic's."""
        parts = (database, *name.split(".")) if database else tuple(name.split("."))
        one_database = (self.database,) if self.system == SQLSERVER and self.databases else ()
        inside = parts if database else (*one_database, *parts[-2:])
        topic = self.topic_of(inside)
        known = topic in self.awaited or topic in self.connector.topics
        if self.system in UPPER_CASE and name == name.lower() and not known:
            return self.table(name.upper(), database)
        return _Table(parts, topic)


def _of_change_events(stream: _ChangeStream, names: StreamNames) -> Iterator[Link]:
    """The tables whose changes are read; those by a pattern as far as topics tell them."""
    connector, url = stream.connector, stream.address
    if not _HOST.match(url.host) or is_unfilled(f"{prefix_of(connector)} {url.database} {stream.delimiter}"):
        yield Link(connector, "", end=Outcome.TEMPLATED)
        return
    tables: dict[str, _Table] = {}
    unlisted = not stream.listed
    for entry in names_in(stream.listed):
        if is_unfilled(entry):
            yield Link(connector, "tables", end=Outcome.TEMPLATED)
            continue
        plain = plain_names(entry)
        unlisted |= plain is None
        for name in plain or ():
            several = stream.databases if len(stream.databases) > 1 and name.count(".") < 2 else [""]
            for database in several:
                table = stream.table(name, database)
                tables[".".join(table.parts).casefold()] = table
    if unlisted:
        tables |= _seen_tables(stream)
    yield from _links_of_tables(connector, url, tables, names)
    if unlisted and not connector.topics:
        yield Link(connector, "tables", end=Outcome.UNLISTED)


def _seen_tables(stream: _ChangeStream) -> dict[str, _Table]:
    """The tables by the topics that a worker has seen, else by those that sinks take, where these keep their names.

    Changes of the schema, heartbeats and transactions have topics of their own, which are of no table.
    """
    found = {}
    connector, start = stream.connector, f"{prefix_of(stream.connector)}{stream.delimiter}"
    for topic in connector.topics or sorted(stream.awaited):
        inside = topic.removeprefix(start) if start != stream.delimiter and topic.startswith(start) else ""
        parts = tuple(inside.split(stream.delimiter))
        kept = stream.topic_of(parts) == topic and transform(Message(topic), connector.config).topic == topic
        if len(parts) > 1 and (connector.topics or (kept and _is_admitted(parts, stream))):
            found[".".join(parts).casefold()] = _Table(parts, topic)
    return found


def _is_admitted(parts: tuple[str, ...], stream: _ChangeStream) -> bool:
    """Whether the lists of a connector let a table through; a pattern that cannot be told lets none through."""
    table = {".".join(parts[first:]) for first in range(max(1, len(parts) - 1))}
    schema = {parts[-2], ".".join(parts[:-1])}
    for level, ends in (("table", table), ("collection", table), ("schema", schema), ("database", {parts[0]})):
        allowed = [pattern_of(one) for one in names_in(first_value(stream.config, *_LISTS[level]))]
        if allowed and not any(one is not None and any(map(one.fullmatch, ends)) for one in allowed):
            return False
        refused = names_in(first_value(stream.config, f"{level}.exclude.list", f"{level}.blacklist"))
        if any(one is None or any(map(one.fullmatch, ends)) for one in map(pattern_of, refused)):
            return False
    return True


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
        yield Link(connector, subject, source, target, message.fields, message.problems, doubted=message.doubted)


def _with_columns(message: Message, config: Mapping[str, str], table: _Table) -> Message:
    """The message with the columns that the connector takes, and takes the values of."""
    fields, doubts = message.fields, False
    excluded = first_value(config, "column.exclude.list", "column.blacklist")
    included = first_value(config, "column.include.list", "column.whitelist")
    documents = first_value(config, "field.exclude.list", "field.blacklist")
    for key, text in (("out", excluded), ("out", documents), ("in", included), *_changed_columns(config)):
        columns, unclear = _columns_of(text, table)
        doubts |= unclear
        if key == "out":
            fields = fields.without(columns)
        elif key == "in" and columns:
            fields = fields.only(columns)
        elif key in _CHANGES:
            fields = fields.change(columns, _CHANGES[key])
    changed = replace(message, fields=fields)
    return changed.doubt("columns that a pattern names") if doubts else changed


_CHANGES = {"column.mask.": MASK, "column.truncate.": CHANGED}


def _changed_columns(config: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in config.items():
        yield from ((start, value) for start in _CHANGES if key.startswith(start))


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
    address = first_value(config, "mongodb.connection.string", "mongodb.hosts")
    if address and not host:
        written = address if "://" in address else address.rpartition("/")[2]  # the name of a replica set before it
        host, _, port = authority(written).partition(":")
    return host or "localhost", int(port) if port.isdigit() else None


# Tables and queries over JDBC.


def _of_jdbc_source(connector: Connector, names: StreamNames) -> Iterator[Link]:
    config = connector.config
    url, prefix = jdbc_url(config.get("connection.url", "")), config.get("topic.prefix", "")
    if url is None or is_unfilled(f"{url.host} {url.database} {prefix}"):
        yield Link(connector, "", end=Outcome.TEMPLATED)
        return
    query = first_value(config, "query", "query.masked")
    if query:
        yield _link_of_query(connector, url, query, names)
        return
    yield from _links_of_jdbc_tables(connector, url, prefix, names)


def _links_of_jdbc_tables(connector: Connector, url: JdbcUrl, prefix: str, names: StreamNames) -> Iterator[Link]:
    config = connector.config
    written = [*names_in(first_value(config, "table.whitelist", "table.include.list"))]
    if any(map(is_unfilled, written)):
        yield Link(connector, "tables", end=Outcome.TEMPLATED)
        return
    entries = [plain_names(one) for one in written]
    listed = [name for one in entries if one is not None for name in one]
    tables = {name: _Table(_levels(config, name), f"{prefix}{name.rpartition('.')[2]}") for name in listed}
    if not tables or None in entries:
        seen = {topic: topic.removeprefix(prefix) for topic in connector.topics if topic.startswith(prefix)}
        tables |= {name: _Table(_levels(config, name), topic) for topic, name in seen.items() if name not in tables}
    if not tables or (None in entries and not connector.topics):
        yield Link(connector, "tables", end=Outcome.UNLISTED)
    yield from _links_of_tables(connector, url, tables, names)


def _levels(config: Mapping[str, str], name: str) -> tuple[str, ...]:
    """The parts of a table's name, with the catalog and the schema that are read where it has none."""
    parts = tuple(name.split("."))
    above = (config.get("catalog.pattern", ""), config.get("schema.pattern", ""))
    plain = tuple(one if "%" not in one and one != "null" else "" for one in above)
    return (*plain[len(parts) - 1 :], *parts) if len(parts) < 3 and any(plain[len(parts) - 1 :]) else parts


def _link_of_query(connector: Connector, url: JdbcUrl, query: str, names: StreamNames) -> Link:
    """A query, whose rows go to the topic that the prefix is the whole name of."""
    parsed = parsed_queries([(query, url.kind)])[query, url.kind]
    sources = _with_names(parsed, url, names) if isinstance(parsed, StatementLineage) else None
    if sources is None or not sources.sources:
        return Link(connector, "query", end=f"{UNSUPPORTED}query")
    message = transform(Message(connector.config.get("topic.prefix", "")), connector.config)
    if not is_topic_name(message.topic):
        return Link(connector, "query", problems=message.problems, end=Outcome.UNLISTED)
    return Link(
        connector,
        "query",
        sources.sources[0],
        names.topic(message.topic),
        message.fields,
        (*(f"{one.kind}: {one.subject}" for one in sources.problems), *message.problems),
        query=sources,
        doubted=message.doubted,
    )


def _with_names(query: StatementLineage, url: JdbcUrl, names: StreamNames) -> StatementLineage:
    return with_tables(query, lambda table: names.table(url, table.parts))


# Topics of another cluster.


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
