"""The fourth stage of a run: what a log says goes to the sink, and what else is filed beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from connectors.openmetadata.entities.corrections import rejected_edges
from connectors.sink import EdgeCounts, target_batches
from ingestion.isolation import Probe
from ingestion.lineage_request import AddLineageRequest
from workflows.config import RunConfig
from workflows.control.options import RunOptions
from workflows.lineage.entity_resolution import NameResolution, ResolvedNames
from workflows.lineage.outcomes import (
    EdgeOutcome,
    EdgeOutcomes,
    StatementOutcome,
    overruled_outcomes,
    processed_routines,
    statement_outcomes,
)
from workflows.lineage.source_lineage import SourceLineage
from workflows.publishing.dbt.project import DbtPublishing
from workflows.publishing.ddl_events import publish_ddl_events
from workflows.publishing.delivery import Publisher
from workflows.publishing.query_records import file_log_queries
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, sink_name


@dataclass(frozen=True, slots=True)
class PublishedLineage:
    """What became of the edges of a lineage, by their ends, and of its statements."""

    edges: EdgeOutcomes
    outcomes: tuple[StatementOutcome, ...]
    counts: EdgeCounts


@dataclass(frozen=True, slots=True)
class Publishing:
    """Takes a SourceLineage, gives what became of it; `memory` keeps what the target has acknowledged.

    `names` resolve what is filed beside the edges, once these are there.
    """

    config: RunConfig
    options: RunOptions
    target: RunTarget
    memory: WorkflowState
    names: NameResolution
    dbt: DbtPublishing | None = None

    def publish(
        self, lineage: SourceLineage, replaced: Mapping[str, frozenset[str]], advance: Callable[[int], None]
    ) -> PublishedLineage:
        """Sends what the target has not acknowledged; `advance` is told of every so many requests.

        `replaced`: the templates (by fingerprint) that are no more, each with those of its records now. Raises
        TargetDown, ConfigError, LeaseHeld and Interrupted; what was acknowledged until then is remembered.
        """
        self._show(lineage.requests)
        sink, memory = sink_name(self.config.target, self.target.platform), self.memory
        publisher = Publisher(
            self.target.sink,
            memory.acknowledged_states(sink),
            lambda done: memory.acknowledge(sink, done),
            self.config.batch_size,
            self.options,
        )
        batches = target_batches(lineage.requests, lineage.replacements)
        removed = self.dbt.removed_models(publisher.acknowledged) if self.dbt is not None else frozenset[str]()
        result = publisher.deliver(batches, memory.complete_scope(lineage.complete | removed, replaced), advance)
        given_up = {key: EdgeOutcome(failure.reason) for key, failure in lineage.given_up.items()}
        edges = overruled_outcomes({**result.edges, **given_up}, rejected_edges(self.target.platform))
        return PublishedLineage(edges, statement_outcomes(lineage, edges), result.counts)

    def file_others(
        self, lineage: SourceLineage, published: PublishedLineage, names: ResolvedNames, unread: frozenset[str]
    ) -> tuple[str, ...]:
        """Files changes of names and the queries behind the edges, and marks the routines that are done.

        `unread`: routines (by key) of which not every statement could be read. What to warn of where something could
        not be filed. Raises TargetDown and ConfigError.
        """
        warnings = publish_ddl_events(self.target, lineage.source.log.events, self.names.resolver(), self._probe)
        processed = processed_routines(lineage, published.outcomes, published.edges) - unread
        self.names.routines().mark_processed(names.routines, processed)
        service = self.config.source.service
        if self.dbt is not None:
            warnings = (
                *warnings,
                *self.dbt.warnings(lineage.source),
                *self.dbt.describe(self.target.platform, self._probe),
            )
        return (*warnings, *file_log_queries(self.target, lineage, names.entities, published.edges, service))

    def _show(self, requests: tuple[AddLineageRequest, ...]) -> None:
        if self.options.show is not None:
            for request in requests:
                self.options.show(request.to_json())

    @property
    def _probe(self) -> Probe:
        return self.options.failpoints.probe
