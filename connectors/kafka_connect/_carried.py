"""A connector's way from one relation into another, and what of its configuration is about names and not understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.kafka_connect._documents import CLASS, Connector
from connectors.kafka_connect._messages import MessageFields
from connectors.platforms.connect_classes import options_of
from connectors.platforms.connect_options import NAMING_WORDS, OF_THE_WORKER, NamingOptions
from connectors.records import UNSUPPORTED
from ingestion.model.lineage import StatementLineage, TableName

_PARTS_OF_KEY = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_WORD = re.compile(r"[\w]+\Z")


@dataclass(frozen=True, slots=True)
class Link:
    """What a connector carries out of one relation into another, column by column as far as `fields` tell.

    `subject` tells it from the connector's others; `end`: how it ends where nothing is carried that is known. Where
    rows come by a `query`, `fields` are those of its result. `doubted`: the target may be another.
    """

    connector: Connector
    subject: str
    source: TableName | None = None
    target: TableName | None = None
    fields: MessageFields = field(default_factory=MessageFields)
    problems: tuple[str, ...] = ()
    end: str = ""
    query: StatementLineage | None = None
    doubted: bool = False


def class_of(connector: Connector) -> str:
    """The class without its package."""
    return connector.config.get(CLASS, "").rpartition(".")[2]


def unsupported_link(connector: Connector) -> Link:
    """A connector of another kind."""
    kind = class_of(connector)
    return Link(connector, "", end=f"{UNSUPPORTED}{kind if _WORD.match(kind) else 'connector'}")


@dataclass(frozen=True, slots=True)
class _Doubts:
    """What of a configuration is not understood: `names` may be others then, `fields` not be called as they were."""

    names: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def about(self, link: Link) -> Link:
        """The link, as far as it is still known."""
        if link.end or not (self.names or self.fields):
            return link
        return replace(
            link,
            fields=link.fields.leave_unfollowed(),
            problems=(*link.problems, *self.names, *self.fields),
            doubted=link.doubted or bool(self.names),
        )


def _doubts_of(connector: Connector) -> _Doubts:
    """What of a connector's options decides on names and is not carried out here.

    A key of a user's own is not told: there are keys that hold a secret, as `column.mask.hash.….salt.…` does.
    """
    options = options_of(class_of(connector))
    if options is None:
        return _Doubts()
    names, fields = [], []
    for key, value in connector.config.items():
        if not value or value in options.usual.get(key, ()) or _is_in(key, OF_THE_WORKER):
            continue
        if key in options.unread_names or key in options.usual.keys() & options.read.keys():
            names.append(f"option {key}: {options.unread_names.get(key) or options.read[key]}")
        elif key in options.unread_fields:
            fields.append(f"option {key}: {options.unread_fields[key]}")
        elif not _is_known(key, options) and (words := NAMING_WORDS & _words(key)):
            names.append(f"an option that is not known: about {', '.join(sorted(words))}")
    return _Doubts(tuple(dict.fromkeys(names)), tuple(fields))


def _words(key: str) -> frozenset[str]:
    return frozenset(one.lower() for one in _PARTS_OF_KEY.findall(key))


def _is_known(key: str, options: NamingOptions) -> bool:
    return _is_in(key, options.read) or _is_in(key, options.apart)


def _is_in(key: str, keys: Iterable[str]) -> bool:
    """Whether a key is one of these, of which some tell how it begins: `transforms.*`."""
    return key in keys or any(one.endswith("*") and key.startswith(one[:-1]) for one in keys)


def first_value(config: Mapping[str, str], *keys: str) -> str:
    """The value of the first of these options that is there."""
    return next((found for key in keys if (found := config.get(key, ""))), "")


def with_doubts(connector: Connector, links: Iterable[Link]) -> Iterator[Link]:
    """The links of a connector, each with what of its options is not understood."""
    doubts = _doubts_of(connector)
    yield from map(doubts.about, links)
