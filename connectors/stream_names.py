"""What tables, files and topics are called that configurations speak of: by the rules of the run, else by address."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connectors.platforms.connect_classes import PORTS, SERVICE_TYPES, WITHOUT_SCHEMAS
from ingestion.dialects.dataset_namespaces import ServiceAddress
from ingestion.model.engine_names import EngineNameRules, JdbcUrl
from ingestion.model.lineage import TableName
from ingestion.model.topics import topic_name

_HOST_END = re.compile(r"[/,?#]")
_NOT_IN_TOPIC = re.compile(r"[^\w.-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class StreamNames:
    """Names by the `rules` of the run, whose own service is the Kafka that the connectors work for."""

    rules: EngineNameRules

    def topic(self, topic: str) -> TableName:
        """A topic of the run's own Kafka."""
        return topic_name(self.rules.service, topic)

    def table(self, url: JdbcUrl, parts: tuple[str, ...]) -> TableName:
        """A table behind an address: its database (where it is said), schema and name.

        Where no rule says whose it is, it is of a service that is called as OpenLineage calls the address.
        """
        written = ".".join(part for part in parts if part)
        placed = self.rules.over_jdbc(parts, url)
        if placed is None:
            database, schema, table = ("", "", *parts)[-3:]
            if url.kind in WITHOUT_SCHEMAS:
                database, schema = "", schema or url.database
            placed = (_namespace_of(url), database or url.database * (url.kind not in WITHOUT_SCHEMAS), schema, table)
        return TableName(placed, written)


def _namespace_of(url: JdbcUrl) -> str:
    """What OpenLineage calls the system at an address."""
    port = url.port or PORTS.get(url.kind)
    address = f"{url.host}:{port}" if port else url.host
    known = ServiceAddress(SERVICE_TYPES.get(url.kind, url.kind), {"hostPort": address, "account": url.host})
    return next(iter(known.namespaces()), f"{known.naming.scheme}://{address}")


def authority(written: str) -> str:
    """The first `host:port` of a URL. All before its last @ is no host: a password may hold what ends one."""
    rest = written.partition("://")[2] or written
    return _HOST_END.split(rest.rpartition("@")[2], maxsplit=1)[0]


def as_topic(name: str) -> str:
    """A name as Debezium makes a topic's of it."""
    return _NOT_IN_TOPIC.sub("_", name)
