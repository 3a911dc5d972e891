"""What is kept of the batches of a log once they are gone: counts, and what can only be told of all of them."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.sink import EdgeCounts
from ingestion.isolation import Failure
from ingestion.model import ProblemKind
from ingestion.names.namespaces import RelationKey
from workflows.config.namespaces import SourceSettings
from workflows.lineage.entity_resolution import ResolvedNames
from workflows.lineage.outcomes import StatementStatus, processed_routines
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.source_lineage import SourceLineage
from workflows.lineage.table_entities import EntityStatus
from workflows.publishing.name_warnings import DoubtfulNames
from workflows.publishing.shared_targets import SharedLineage
from workflows.publishing.stage import PublishedLineage
from workflows.report.counts import RunCounts
from workflows.runs.counting import agreement_counts, name_counts, statement_counts


class BatchSums:
    """Sums over batches, told of each as it goes by.

    `complete`: the templates (by fingerprint) and routines of which the log says all there is; `targets`: the ids of
    the entities that something is said of, `shared` those that several batches speak of;
    `met`: the templates that this run's statements have; `dead` and `failures`: why templates are dead, by fingerprint.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._counts = RunCounts()
        self._batches = 0
        self._counted: set[RelationKey] = set()
        self.doubtful = DoubtfulNames(settings)
        self.routines = RoutineEntities()
        self.processed: frozenset[str] = frozenset()
        self.complete: set[str] = set()
        self.targets: set[str] = set()
        self._first_batches: dict[str, int] = {}
        self.shared: set[str] = set()
        self.requests = 0
        self.met: set[str] = set()
        self.dead: dict[str, str] = {}
        self.failures: dict[str, Failure] = {}
        self.event_failures: tuple[Failure, ...] = ()
        self.incomplete = 0

    def add_registered(self, made: int) -> None:
        """So many tables and containers were made."""
        self._counts += RunCounts(tables_registered=made)

    def add_lineage(self, lineage: SourceLineage, names: ResolvedNames) -> None:
        """What a batch says, before it is published."""
        self._counts += name_counts(names.entities, self._new_statuses(lineage, names))
        self.doubtful.add(names, lineage.source.log)
        self.routines = _both(self.routines, names.routines)
        self.complete |= lineage.complete
        self.failures |= lineage.template_failures
        self.incomplete += lineage.source.problems()[ProblemKind.INCOMPLETE]
        self.met.update(group.template for group in lineage.source.groups if group.fresh)
        self.requests += len(lineage.requests)
        targets = {request.edge.to_entity.id for request in lineage.requests}
        targets |= {one.to_entity.id for one in lineage.replacements}
        self.targets |= targets
        # an edge that one batch gives up is not to be sent as another alone would have it
        for target in targets | {target for _source, target in lineage.given_up}:
            if self._first_batches.setdefault(target, self._batches) != self._batches:
                self.shared.add(target)
        self._batches += 1

    def add_shared(self, shared: SharedLineage) -> None:
        """What became of what several batches say."""
        self._counts += RunCounts(edges=shared.counts) + agreement_counts(shared.requests)

    def add_published(self, lineage: SourceLineage, published: PublishedLineage) -> None:
        """What became of a batch."""
        outcomes = published.outcomes
        self._counts += statement_counts(outcomes) + RunCounts(edges=published.counts)
        self._counts += agreement_counts(published.requests)
        self.dead |= {one.group.template: one.reason for one in outcomes if one.status is StatementStatus.DEAD}
        self.processed |= processed_routines(lineage, outcomes, published.edges)

    def add_withdrawn(self, counts: EdgeCounts) -> None:
        """What became of what nothing is said of any more."""
        self._counts += RunCounts(edges=counts)

    def counts(self) -> RunCounts:
        """All counts."""
        return self._counts

    def _new_statuses(self, lineage: SourceLineage, names: ResolvedNames) -> Iterator[EntityStatus]:
        """The statuses of relations that no other batch named: what the log makes, only one batch names."""
        for number, status in names.entities.statuses.items():
            relation = lineage.source.log.relations[number]
            if relation.creator is None:
                if relation.born in self._counted:
                    continue
                self._counted.add(relation.born)
            yield status


def _both(one: RoutineEntities, other: RoutineEntities) -> RoutineEntities:
    return RoutineEntities(
        {**one.references, **other.references},
        one.filtered | other.filtered,
        {**one.failures, **other.failures},
        (*one.unplaced, *other.unplaced),
    )
