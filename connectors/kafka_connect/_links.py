"""What all connectors carry: from tables into topics, from topics into tables, whose configurations tell of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from connectors.kafka_connect._carried import Link
from connectors.kafka_connect._documents import Connector
from connectors.kafka_connect._sinks import is_sink, links_of_sink
from connectors.kafka_connect._sources import links_of_source, prefix_of
from connectors.kafka_connect._transforms import names_in
from connectors.stream_names import StreamNames


def links_of(connectors: Iterable[Connector], names: StreamNames) -> Iterator[Link]:
    """What all connectors carry; what sinks take by a pattern are topics that others fill, or a worker has seen."""
    every = tuple(connectors)
    named = frozenset(topic for one in every if is_sink(one) for topic in names_in(one.config.get("topics", "")))
    prefixes = Counter(map(prefix_of, every))  # of two with one prefix nothing tells whose a topic is
    sources = [
        link
        for one in every
        if not is_sink(one)
        for link in links_of_source(one, names, named if prefixes[prefix_of(one)] == 1 else frozenset())
    ]
    yield from sources
    filled = {link.target.dotted.rpartition("/")[2] for link in sources if link.target is not None}
    for one in every:
        if is_sink(one):
            yield from links_of_sink(one, names, frozenset({*filled, *named, *one.topics}))
