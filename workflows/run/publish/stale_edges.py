"""Edges that earlier runs wrote and that nothing says any more, where the platform keeps no contributions apart."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from connectors.sink import EdgeRemover, PresentEdge
from ingestion.errors import Rejected, RetryableError
from ingestion.model.contributions import ProducerKind
from ingestion.model.entities import EntityReference
from workflows.config import StaleEdges
from workflows.counts import RunCounts
from workflows.run.remember.checkpoint import LineageResult
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import ContributionKey, PublishedState, WrittenEdge
from workflows.state.journal import SECONDS_A_DAY

_TARGETS_AT_ONCE = 2_000
_SEEN_IN_LOGS = frozenset({ProducerKind.QUERY, ProducerKind.PLAN, ProducerKind.ENGINE})
"""Who says something whenever a log has it; a definition holds until it is another."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run came out, so far: all its `counts`, its `lineage`, and the time of the newest record ever read."""

    counts: RunCounts
    lineage: LineageResult
    newest: float | None
    success_percent: int

    @property
    def doubt(self) -> str:
        """Why what it does not say may be true all the same; "" where it is not."""
        counts = self.counts
        edges = counts.edges
        if counts.edges.rejected:
            return f"{edges.rejected:,} edges were refused in this run"
        if self.lineage.failures:
            return f"{len(self.lineage.failures):,} distinct statements failed in this run"
        if counts.success_percent < self.success_percent:
            return f"{counts.success_percent:.1f} % of the statements of this run succeeded"
        if not counts.records_read or not edges.new + edges.merged + edges.unchanged + edges.replaced:
            return "this run found no lineage"
        return ""


class EdgeMemory(Protocol):
    """What earlier runs wrote (a WorkflowState): the edges that a sink can take back, and who says them."""

    def targets_of_written_edges(self, sink: str) -> list[str]:
        """The targets of such edges, in order."""

    def acknowledged_states(self, sink: str, targets: Collection[str]) -> Mapping[str, PublishedState]:
        """What the sink has acknowledged of these targets."""

    def edges_of_other_workflows(self, sink: str, targets: Collection[str]) -> frozenset[tuple[str, str]]:
        """The edges into these targets that other workflows say too, by the ids of their ends."""

    def forget_edges(self, sink: str, target: str, sources: Collection[str]) -> None:
        """Forgets the edges into a target from these sources. Raises LeaseHeld."""


@dataclass(frozen=True, slots=True)
class StaleEdgeRemoval:
    """Takes back what nothing says any more of what `sink_name` was given, as `settings` allow.

    An edge goes only where it is as this workflow left it: one that anybody else made or changed stays, and so does one
    that another workflow says too, which found it there and sends it no more.
    """

    settings: StaleEdges
    remover: EdgeRemover
    sink_name: str
    state: EdgeMemory
    options: RunOptions

    def remove(self, end: RunEnd) -> tuple[int, tuple[str, ...]]:
        """How many edges went, and what to warn of. Raises TargetDown, ConfigError, LeaseHeld and Interrupted."""
        written, stale = self._stale_edges(end.newest)
        number = sum(map(len, stale.values()))
        if not number:
            return 0, ()
        if end.doubt:
            return 0, (f"{number:,} edges that nothing says any more stay: {end.doubt}",)
        targets = sorted(stale, key=lambda one: one.id)
        unread: list[str] = []
        present = [edge for target in targets for edge in self._present(target, stale[target], unread)]
        ours = [edge for edge in present if edge.is_ours]
        if len(ours) * 100 > self.settings.most_percent * written:
            return 0, (
                f"{len(ours):,} of {written:,} edges that this workflow wrote are said by nothing any more, and stay: "
                f"that is more than headwater.staleEdges.mostPercent ({self.settings.most_percent}); look at the log",
                *_unread_warning(unread),
            )
        removed, warnings = self._remove_all(present)
        return removed, (*warnings, *_unread_warning(unread))

    def _stale_edges(self, newest: float | None) -> tuple[int, dict[EntityReference, dict[str, str]]]:
        """How many edges were written, and the receipts of those that are stale, by target and source."""
        written, stale = 0, dict[EntityReference, dict[str, str]]()
        days = self.settings.after_days
        since = None if days is None or newest is None else newest - days * SECONDS_A_DAY
        for target, known in self._states():
            own = {source: edge for source, edge in known.edges.items() if edge.is_ours}
            written += len(own)
            found = {source: edge.receipt for source, edge in own.items() if not _is_current(edge, known, since)}
            if found:
                stale[EntityReference(target, known.kind)] = found
        return written, self._without_others(stale)

    def _without_others(self, stale: dict[EntityReference, dict[str, str]]) -> dict[EntityReference, dict[str, str]]:
        """Without the edges that other workflows say."""
        theirs = self.state.edges_of_other_workflows(self.sink_name, [target.id for target in stale]) if stale else ()
        left = {
            target: {source: receipt for source, receipt in found.items() if (source, target.id) not in theirs}
            for target, found in stale.items()
        }
        return {target: found for target, found in left.items() if found}

    def _states(self) -> Iterator[tuple[str, PublishedState]]:
        targets = self.state.targets_of_written_edges(self.sink_name)
        for start in range(0, len(targets), _TARGETS_AT_ONCE):
            yield from self.state.acknowledged_states(self.sink_name, targets[start : start + _TARGETS_AT_ONCE]).items()

    def _present(self, target: EntityReference, receipts: Mapping[str, str], unread: list[str]) -> list[PresentEdge]:
        """Those of the stale edges into a target that are there; of the others nothing is remembered any more.

        Adds to `unread` why those into a target cannot be looked at now: the next run tries again.
        """
        try:
            present = list(self.remover.present_edges(target, receipts))
        except (Rejected, RetryableError) as error:
            unread.append(str(error))
            return []
        self._forget(target.id, *(receipts.keys() - {edge.source.id for edge in present}))
        return present

    def _remove_all(self, present: list[PresentEdge]) -> tuple[int, tuple[str, ...]]:
        removed, kept = 0, []
        for edge in present:
            with self.options.drain.hold():
                reason = self.remover.remove_edge(edge) if edge.is_ours else ""
                self.options.failpoints.reach("stale")
                if reason:
                    kept.append(f"{edge.name}: {reason}")
                    continue
                self._forget(edge.target.id, edge.source.id)
            if edge.is_ours:
                removed += 1
                logger.info("%s: nothing says it any more, it is removed", edge.name)
        others = sum(not edge.is_ours for edge in present)
        changed = (
            (f"{others:,} edges that this workflow says no more stay: others have changed them",) if others else ()
        )
        failed = (f"{len(kept):,} stale edges could not be removed: {kept[0]}",) if kept else ()
        return removed, (*changed, *failed)

    def _forget(self, target: str, *sources: str) -> None:
        if sources:
            self.state.forget_edges(self.sink_name, target, sources)


def _unread_warning(reasons: Sequence[str]) -> tuple[str, ...]:
    """That the edges into some targets could not be looked at, and why not those of the first."""
    return (f"the stale edges of {len(reasons):,} tables could not be looked at: {reasons[0]}",) if reasons else ()


def _is_current(edge: WrittenEdge, known: PublishedState, since: float | None) -> bool:
    """Whether anybody says it still; what logs have not had `since` then is not said any more."""
    return any(_is_recent(producer, last, known, since) for producer, last in edge.producers.items())


def _is_recent(producer: ContributionKey, last: float | None, known: PublishedState, since: float | None) -> bool:
    """`last`: when it said so; a definition that said other things later, and not this, was another by then."""
    digest = known.digests.get(producer)
    if digest is None or not digest.digest:
        return False
    if since is None or last is None or last >= since:
        return True
    return producer.kind not in _SEEN_IN_LOGS and digest.last_seen in (None, last)
