"""What a sink has acknowledged: a repeated run sends only what it has not."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, delete, insert, select

from workflows.state.store import VALUES_AT_ONCE, acknowledged

_KEY = ("workflow", "sink", "target")
_FORGET = delete(acknowledged).where(*(acknowledged.c[name] == bindparam(f"of_{name}") for name in _KEY))
UNANSWERED = "?"
"""In place of the digest of what was sent and not answered for: no digest is the same."""


@dataclass(frozen=True, slots=True, order=True)
class ContributionKey:
    """Who says something of a target, and from which kind of source."""

    kind: str
    key: str
    source: str


@dataclass(frozen=True, slots=True)
class ContributionDigest:
    """What a producer says now, as a digest, and from when to when it ever spoke (seconds since the epoch).

    "" for nothing any more, UNANSWERED for what may be there or not. None where a record had no time.
    """

    digest: str
    first_seen: float | None
    last_seen: float | None

    def widen(self, earlier: ContributionDigest) -> ContributionDigest:
        """The same digest, of a producer that has spoken before."""
        first = [time for time in (self.first_seen, earlier.first_seen) if time is not None]
        last = [time for time in (self.last_seen, earlier.last_seen) if time is not None]
        return ContributionDigest(
            self.digest, min(first) if len(first) == 2 else None, max(last) if len(last) == 2 else None
        )


@dataclass(frozen=True, slots=True)
class PublishedState:
    """Everything that was said of one target, as a digest, and each producer's digest. `kind` is the target's type."""

    kind: str
    digest: str
    digests: Mapping[ContributionKey, ContributionDigest]


def acknowledgements(
    connection: Connection, workflow: str, sink: str, targets: Collection[str] | None = None
) -> dict[str, PublishedState]:
    """What `sink` has acknowledged, by the id of the target; of these `targets`, None for all."""
    where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink
    if targets is None:
        queries = [select(acknowledged).where(*where)]
    else:
        ordered = sorted(targets)
        some = (ordered[start : start + VALUES_AT_ONCE] for start in range(0, len(ordered), VALUES_AT_ONCE))
        queries = [select(acknowledged).where(*where, acknowledged.c.target.in_(part)) for part in some]
    return {
        row.target: PublishedState(
            row.kind,
            row.digest,
            {ContributionKey(*entry[:3]): ContributionDigest(*entry[3:]) for entry in json.loads(row.digests)},
        )
        for query in queries
        for row in connection.execute(query)
    }


def acknowledged_targets(connection: Connection, workflow: str, sink: str) -> list[str]:
    """The ids of the targets of which `sink` has acknowledged anything, in order."""
    where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink
    return sorted(connection.scalars(select(acknowledged.c.target).where(*where)))


def acknowledge(connection: Connection, workflow: str, sink: str, done: Mapping[str, PublishedState]) -> None:
    """Keeps what `sink` has acknowledged, by the id of the target, in place of what was kept of these."""
    rows = [
        {"workflow": workflow, "sink": sink, "target": target, "kind": one.kind, "digest": one.digest}
        | {"digests": json.dumps([_entry(*pair) for pair in one.digests.items()])}
        for target, one in sorted(done.items())
    ]
    if rows:
        connection.execute(_FORGET, [{f"of_{name}": row[name] for name in _KEY} for row in rows])
        connection.execute(insert(acknowledged), rows)


def _entry(key: ContributionKey, digest: ContributionDigest) -> list[str | float | None]:
    return [key.kind, key.key, key.source, digest.digest, digest.first_seen, digest.last_seen]


@dataclass(frozen=True, slots=True)
class CompleteScope:
    """What this run knows the whole of: these templates, as far as they were first seen at `since` or later.

    `since` None: however early. No statement that was seen since `window` (None: ever) has one of the `ended`
    templates any more: what those said then, however early they began, is said under another key or is not true.
    `moved`: when what stood under the names of targets lost them, in order, by the target's id.
    """

    templates: frozenset[str] = frozenset()
    since: float | None = None
    ended: frozenset[str] = frozenset()
    window: float | None = None
    moved: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def covers(self, contribution_key: ContributionKey, digest: ContributionDigest) -> bool:
        """Whether all that a producer ever said is said again now, or is not true any more."""
        if contribution_key.key in self.ended:
            return self.window is None or (digest.last_seen is not None and digest.last_seen >= self.window)
        if contribution_key.key not in self.templates:
            return False
        return self.since is None or (digest.first_seen is not None and digest.first_seen >= self.since)

    def held_until(self, target: str, contribution_key: ContributionKey, digest: ContributionDigest) -> float | None:
        """When a target's name went from what a producer filled, which says nothing of it any more; None if it did not.

        What was said before `DROP TABLE t` or `ALTER TABLE t SWAP WITH n` was true until then. What an earlier reading
        of a statement said (`ended`) never was.
        """
        if contribution_key.key in self.ended or digest.last_seen is None:
            return None
        last = digest.last_seen
        return next((moment for moment in self.moved.get(target, ()) if moment > last), None)
