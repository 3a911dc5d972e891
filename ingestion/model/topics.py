"""Topics of Kafka as names of relations: `kafka://broker:9092/orders`, or `kafka://events/orders` in a service events.

By OpenLineage's naming of Kafka a cluster goes by the first of its bootstrap servers. A topic has no folders, so that
what stands behind the first slash is its whole name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.model.lineage import TableName
from ingestion.model.storage_paths import location

_SCHEME = "kafka://"
_DEFAULT_PORT = 9092
_ADDRESS = re.compile(r"(?:\w+://)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(\d+))?\Z")
_TOPIC = re.compile(r"[\w.-]{1,249}\Z", re.ASCII)
"""What Kafka takes for a name."""
_ESCAPED = re.compile(r"\\([.\-_$])")
_PLAIN = re.compile(r"[\w.$#@ -]+\Z")
_CHOICE = re.compile(r"(?P<before>[\w.$ -]*)\((?:\?:)?(?P<choice>[\w.$ |-]+)\)(?P<after>[\w.$ -]*)\Z")


def topic_path(cluster: str, topic: str) -> str:
    """The name of a topic; `cluster` is an address of it, or the service that it is in a catalog."""
    return f"{_SCHEME}{cluster}/{topic}"


def topic_name(cluster: str, topic: str) -> TableName:
    """The same as a relation of lineage."""
    return location(topic_path(cluster, topic))


def split_topic(path: str) -> tuple[str, str] | None:
    """The cluster and the topic that a path names, None where it names no topic."""
    if not path.lower().startswith(_SCHEME):
        return None
    cluster, _, topic = path[len(_SCHEME) :].partition("/")
    return (cluster, topic) if cluster and topic else None


def is_topic_name(name: str) -> bool:
    """Whether Kafka can have a topic of this name."""
    return _TOPIC.match(name) is not None and name not in (".", "..")


def cluster_of(bootstrap_servers: str) -> str:
    """The name of a cluster by its bootstrap servers, "" where these name none: `kafka-1:9092,kafka-2:9092`."""
    address = _ADDRESS.match(bootstrap_servers.partition(",")[0].strip())
    return f"{address[1].lower()}:{address[2] or _DEFAULT_PORT}" if address is not None else ""


def plain_names(entry: str) -> Iterator[str] | None:
    """The names that an entry of an include list means; None for a pattern of more than a choice.

    These lists hold regular expressions: `shop\\.orders` and `shop.orders` are one name here, `shop.(a|b)` two.
    """
    bare = _ESCAPED.sub(r"\1", entry)
    if _PLAIN.match(bare):
        return iter((bare,))
    choice = _CHOICE.match(bare)
    if choice is None:
        return None
    return (f"{choice['before']}{one}{choice['after']}" for one in choice["choice"].split("|"))
