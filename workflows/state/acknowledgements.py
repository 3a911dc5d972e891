"""What a sink has acknowledged: a repeated run sends only what it has not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, select

from connectors.sink import NOT_OURS
from workflows.state.store import VALUES_AT_ONCE, acknowledged, put_rows, written_edges

_NOBODY = json.dumps([])
_ACKNOWLEDGED = ("workflow", "sink", "target", "kind", "digest", "digests")
_WRITTEN_EDGE = ("workflow", "sink", "target", "source", "receipt", "producers")


@dataclass(frozen=True, slots=True, order=True)
class ContributionKey:
    """Who says something of a target, and from which kind of source."""

    kind: str
    key: str
    source: str


@dataclass(frozen=True, slots=True)
class ContributionDigest:
    """What a producer says now, as a digest, and from when to when it ever spoke (seconds since the epoch).

    "" for nothing any more, UNANSWERED for what may be there or not. None where a record had no time. `written`: the
    keys of what stands of it, for a sink that has such.
    """

    digest: str
    first_seen: float | None
    last_seen: float | None
    written: frozenset[str] = frozenset()

    def widen(self, earlier: ContributionDigest) -> ContributionDigest:
        """The same digest, of a producer that has spoken before."""
        first = [time for time in (self.first_seen, earlier.first_seen) if time is not None]
        last = [time for time in (self.last_seen, earlier.last_seen) if time is not None]
        return replace(
            self,
            first_seen=min(first) if len(first) == 2 else None,
            last_seen=max(last) if len(last) == 2 else None,
        )


@dataclass(frozen=True, slots=True)
class WrittenEdge:
    """An edge, the sink's `receipt` for it (NOT_OURS where it has words of others), and who says it, nobody if none.

    Each producer with when it said it last (seconds since the epoch), None where a record had no time.
    """

    receipt: str
    producers: Mapping[ContributionKey, float | None]

    @property
    def is_ours(self) -> bool:
        return self.receipt != NOT_OURS


@dataclass(frozen=True, slots=True)
class PublishedState:
    """Everything that was said of one target, as a digest, and each producer's digest. `kind` is the target's type.

    `edges`: those into it that a sink has given a receipt for, by the id of the source.
    """

    kind: str
    digest: str
    digests: Mapping[ContributionKey, ContributionDigest]
    edges: Mapping[str, WrittenEdge] = field(default_factory=dict)


def acknowledgements(
    connection: Connection, workflow: str, sink: str, targets: Collection[str] | None = None
) -> dict[str, PublishedState]:
    """What `sink` has acknowledged, by the id of the target; of these `targets`, None for all."""
    edges = _edges_of_targets(connection, workflow, sink, targets)
    where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink
    return {
        row.target: PublishedState(
            row.kind,
            row.digest,
            dict(map(_read_entry, json.loads(row.digests))),
            edges.get(row.target, {}),
        )
        for chosen in _choices(acknowledged, targets)
        for row in connection.execute(select(acknowledged).where(*where, *chosen))
    }


def _edges_of_targets(
    connection: Connection, workflow: str, sink: str, targets: Collection[str] | None
) -> dict[str, dict[str, WrittenEdge]]:
    where = written_edges.c.workflow == workflow, written_edges.c.sink == sink
    found: dict[str, dict[str, WrittenEdge]] = {}
    for chosen in _choices(written_edges, targets):
        for row in connection.execute(select(written_edges).where(*where, *chosen)):
            producers = {ContributionKey(*entry[:3]): entry[3] for entry in json.loads(row.producers)}
            found.setdefault(row.target, {})[row.source] = WrittenEdge(row.receipt, producers)
    return found


def _choices(table: Table, targets: Collection[str] | None) -> Iterator[tuple[ColumnElement[bool], ...]]:
    """Conditions that choose the rows of these `targets` (None: of all), so many at once as a store takes."""
    if targets is None:
        yield ()
        return
    ordered = sorted(targets)
    for start in range(0, len(ordered), VALUES_AT_ONCE):
        yield (table.c.target.in_(ordered[start : start + VALUES_AT_ONCE]),)


def acknowledged_targets(connection: Connection, workflow: str, sink: str) -> list[str]:
    """The ids of the targets of which `sink` has acknowledged anything, in order."""
    where = acknowledged.c.workflow == workflow, acknowledged.c.sink == sink
    return sorted(connection.scalars(select(acknowledged.c.target).where(*where)))


def keys_of_other_workflows(
    connection: Connection, workflow: str, sink: str, targets: Collection[str]
) -> dict[str, frozenset[str]]:
    """Under which keys other workflows of this state wrote what stands of these `targets`, by the target's id."""
    where = acknowledged.c.workflow != workflow, acknowledged.c.sink == sink
    found: dict[str, set[str]] = {}
    for chosen in _choices(acknowledged, targets):
        for row in connection.execute(select(acknowledged.c.target, acknowledged.c.digests).where(*where, *chosen)):
            keys = found.setdefault(row.target, set())
            keys.update(*(digest.written for _who, digest in map(_read_entry, json.loads(row.digests))))
    return {target: frozenset(keys) for target, keys in found.items()}


def targets_of_written_edges(connection: Connection, workflow: str, sink: str) -> list[str]:
    """The ids of the targets of edges that are the workflow's own, in order."""
    where = written_edges.c.workflow == workflow, written_edges.c.sink == sink, written_edges.c.receipt != NOT_OURS
    return sorted(connection.scalars(select(written_edges.c.target).where(*where).distinct()))


def edges_of_other_workflows(
    connection: Connection, workflow: str, sink: str, targets: Collection[str]
) -> frozenset[tuple[str, str]]:
    """The edges into these `targets` that other workflows of this state say too, by the ids of their ends."""
    where = written_edges.c.workflow != workflow, written_edges.c.sink == sink, written_edges.c.producers != _NOBODY
    ends = select(written_edges.c.source, written_edges.c.target)
    return frozenset(
        (row.source, row.target)
        for chosen in _choices(written_edges, targets)
        for row in connection.execute(ends.where(*where, *chosen))
    )


def forget_edges(connection: Connection, workflow: str, sink: str, target: str, sources: Collection[str]) -> None:
    """Forgets what was written into a target of `sink` from these `sources`."""
    key = {"workflow": workflow, "sink": sink, "target": target}
    where = (
        *(written_edges.c[name] == value for name, value in key.items()),
        written_edges.c.source == bindparam("of"),
    )
    connection.execute(delete(written_edges).where(*where), [{"of": source} for source in sorted(sources)])


def acknowledge(connection: Connection, workflow: str, sink: str, done: Mapping[str, PublishedState]) -> None:
    """Keeps what `sink` has acknowledged, by the id of the target, in place of what was kept of these."""
    given = sorted(done.items())
    put_rows(
        connection,
        acknowledged,
        _ACKNOWLEDGED,
        [
            (workflow, sink, target, one.kind, one.digest, json.dumps([_entry(*pair) for pair in one.digests.items()]))
            for target, one in given
        ],
    )
    where = written_edges.c.workflow == workflow, written_edges.c.sink == sink
    for chosen in _choices(written_edges, done):
        connection.execute(delete(written_edges).where(*where, *chosen))
    put_rows(
        connection,
        written_edges,
        _WRITTEN_EDGE,
        [
            (workflow, sink, target, source, edge.receipt, _producers_text(edge))
            for target, one in given
            for source, edge in sorted(one.edges.items())
        ],
    )


def _producers_text(edge: WrittenEdge) -> str:
    return json.dumps([[*astuple(key), edge.producers[key]] for key in sorted(edge.producers)])


def _entry(key: ContributionKey, digest: ContributionDigest) -> list[object]:
    found: list[object] = [key.kind, key.key, key.source, digest.digest, digest.first_seen, digest.last_seen]
    return [*found, sorted(digest.written)] if digest.written else found


def _read_entry(entry: Sequence[Any]) -> tuple[ContributionKey, ContributionDigest]:
    kind, key, source, digest, first, last, *written = entry
    return ContributionKey(kind, key, source), ContributionDigest(digest, first, last, frozenset(*written))


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
