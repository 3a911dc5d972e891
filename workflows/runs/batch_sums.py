"""What is kept of the batches of a log once they are gone: counts, and what can only be told of all of them."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.sink import EdgeCounts
from ingestion.isolation import Failure
from workflows.batches.counting import agreement_counts, name_counts
from workflows.batches.summaries import LineageSummary, PublishedSummary
from workflows.config.namespaces import SourceSettings
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.table_entities import EntityStatus
from workflows.publishing.name_warnings import DoubtfulNames
from workflows.publishing.shared_targets import SharedLineage
from workflows.report.counts import RunCounts


class BatchSums:
    """Sums over batches, told of each as it goes by.

    `complete`: the templates (by fingerprint) and routines of which the log says all there is; `targets`: the ids of
    the entities that something is said of, `shared` those that several batches speak of, and `sharing` the numbers of
    these batches; `met`: the templates that this run's statements have; `dead` and `failures`: why templates are dead,
    by fingerprint.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._counts = RunCounts()
        self._batches = 0
        self._counted: set[bytes] = set()
        self.doubtful = DoubtfulNames(settings)
        self.routines = RoutineEntities()
        self.processed: frozenset[str] = frozenset()
        self.complete: set[str] = set()
        self.targets: set[str] = set()
        self._first_batches: dict[str, int] = {}
        self.shared: set[str] = set()
        self.sharing: set[int] = set()
        self.requests = 0
        self.met: set[str] = set()
        self.dead: dict[str, str] = {}
        self.failures: dict[str, Failure] = {}
        self.event_failures: tuple[Failure, ...] = ()
        self.incomplete = 0

    def add_registered(self, made: int) -> None:
        """So many tables and containers were made."""
        self._counts += RunCounts(tables_registered=made)

    def add_lineage(self, summary: LineageSummary) -> None:
        """What a batch says, before it is published."""
        self._counts += name_counts(summary.names, self._new_statuses(summary))
        self.doubtful.merge(summary.doubtful)
        self.routines = _both(self.routines, summary.routines)
        self.complete |= summary.complete
        self.failures |= summary.failures
        self.incomplete += summary.incomplete
        self.met |= summary.met
        self.requests += summary.requests
        self.targets |= summary.targets
        # an edge that one batch gives up is not to be sent as another alone would have it
        for target in summary.targets | summary.given_up:
            first = self._first_batches.setdefault(target, self._batches)
            if first != self._batches:
                self.shared.add(target)
                self.sharing |= {first, self._batches}
        self._batches += 1

    def add_shared(self, shared: SharedLineage) -> None:
        """What became of what several batches say."""
        self._counts += RunCounts(edges=shared.counts) + agreement_counts(shared.requests)

    def add_published(self, summary: PublishedSummary) -> None:
        """What became of a batch."""
        self._counts += summary.counts
        self.dead |= summary.dead
        self.processed |= summary.processed

    def add_withdrawn(self, counts: EdgeCounts) -> None:
        """What became of what nothing is said of any more."""
        self._counts += RunCounts(edges=counts)

    def counts(self) -> RunCounts:
        """All counts."""
        return self._counts

    def _new_statuses(self, summary: LineageSummary) -> Iterator[EntityStatus]:
        """The statuses of relations that no other batch named."""
        for relation, status in summary.statuses:
            if relation not in self._counted:
                self._counted.add(relation)
                yield status


def _both(one: RoutineEntities, other: RoutineEntities) -> RoutineEntities:
    return RoutineEntities(
        {**one.references, **other.references},
        one.filtered | other.filtered,
        {**one.failures, **other.failures},
        (*one.unplaced, *other.unplaced),
    )
