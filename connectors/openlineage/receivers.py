"""What the receivers of events take: how much in one event, which events, and which signs in a namespace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_SNOWFLAKE = "snowflakecomputing.com"


@dataclass(frozen=True, slots=True)
class EventLimits:
    """What one event may hold, None for any number: bytes of JSON, links of an input with an output, edges of columns.

    `pairs`: the receiver links every input of an event with every output, so that outputs of other inputs go apart.
    `outcome`: it takes events without inputs and outputs, such as that of the workflow's own run.
    """

    size: int | None = None
    links: int | None = None
    columns: int | None = None
    pairs: bool = False
    outcome: bool = True

    def with_limits(self, other: EventLimits) -> EventLimits:
        """What both take."""
        return EventLimits(
            _least(self.size, other.size),
            _least(self.links, other.links),
            _least(self.columns, other.columns),
            self.pairs or other.pairs,
            self.outcome and other.outcome,
        )


_BY_TRANSPORT: Mapping[str, EventLimits] = {
    "amazon_datazone_api": EventLimits(size=300_000),
    "gcplineage": EventLimits(size=5_000_000, links=1_000, pairs=True),
}
_SNOWFLAKES = EventLimits(columns=15_000, pairs=True, outcome=False)


def limits_of(transport: Mapping[str, Any]) -> EventLimits:
    """What the receiver of a transport takes; of a transport over several what all of them do."""
    limits = _BY_TRANSPORT.get(str(transport.get("type")), EventLimits())
    host = urlsplit(str(transport.get("url") or "")).hostname or ""
    if host == _SNOWFLAKE or host.endswith(f".{_SNOWFLAKE}"):
        limits = limits.with_limits(_SNOWFLAKES)
    for inner in _inner(transport):
        limits = limits.with_limits(limits_of(inner))
    return limits


_DEFAULT_ENDPOINT = "api/v1/lineage"
_REWRITTEN = re.compile(r"[^a-zA-Z0-9:/_.@+-]")
"""What Marquez has `_` for, in namespaces: its OpenLineageDao.formatNamespaceName."""


def rewritten_namespaces(transport: Mapping[str, Any], namespaces: Iterable[str]) -> tuple[str, ...]:
    """Of these namespaces those that Marquez calls otherwise, as far as a transport may lead to one."""
    is_http = transport.get("type") == "http" and limits_of(transport) == EventLimits()
    if is_http and str(transport.get("endpoint") or _DEFAULT_ENDPOINT).strip("/") == _DEFAULT_ENDPOINT:
        return tuple(sorted({namespace for namespace in namespaces if _REWRITTEN.search(namespace)}))
    return tuple(sorted({one for inner in _inner(transport) for one in rewritten_namespaces(inner, namespaces)}))


def _inner(transport: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The transports that one is made of: of `composite` a list or a mapping, of `transform` one."""
    several = transport.get("transports") or ()
    found = [*(several.values() if isinstance(several, Mapping) else several), transport.get("transport")]
    yield from (one for one in found if isinstance(one, Mapping))


def _least(one: int | None, other: int | None) -> int | None:
    known = [limit for limit in (one, other) if limit is not None]
    return min(known, default=None)
