"""What a log says goes to the sink, and what else is filed beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.openmetadata.client import Platform, rejected_edges
from connectors.sink import EdgeCounts, EdgeRemover, KeyedSink, TargetBatch, target_batches
from ingestion.binding.timeline import SchemaEvents
from ingestion.model.entities import EntityReference
from ingestion.model.isolation import Failure, Probe
from ingestion.model.requests import AddLineageRequest, Replacement, request_of
from workflows.config import RunConfig
from workflows.run.bind.binding import LineageSource
from workflows.run.publish._ddl_events import moments_of_targets, publish_events_of_shards
from workflows.run.publish._written_keys import keys_of, without_keys
from workflows.run.publish.dbt_project import DbtPublishing
from workflows.run.publish.delivery import (
    Publisher,
    PublishResult,
    published_states,
    requests_at_once,
    unanswered_states,
)
from workflows.run.publish.query_records import LogQueries
from workflows.run.publish.stale_edges import StaleEdgeRemoval
from workflows.run.resolve.contributions import EdgeKey
from workflows.run.resolve.lineage import (
    EdgeOutcome,
    EdgeOutcomes,
    SourceLineage,
    StatementOutcome,
    overruled_outcomes,
    statement_outcomes,
)
from workflows.run.resolve.resolution import NameResolution
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import CompleteScope, PublishedState
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, catalog_identity

_WITHDRAWN_AT_ONCE = 2_000
"""Targets whose acknowledged state is looked at together."""


# Targets of which several shards of a log say something: a target takes all that is said of it at once.


@dataclass(frozen=True, slots=True)
class SharedLineage:
    """What became of the edges into such targets, by the id of each, and the `requests` that were made for them."""

    edges: Mapping[str, EdgeOutcomes] = field(default_factory=dict)
    counts: EdgeCounts = field(default_factory=EdgeCounts)
    requests: tuple[AddLineageRequest, ...] = ()

    def within(self, targets: Collection[str]) -> SharedLineage:
        """What became of the edges into those of these targets (by id) that are shared, and no more than that."""
        return SharedLineage({target: self.edges[target] for target in targets if target in self.edges})


def _merged_targets(
    lineages: Iterable[SourceLineage], shared: frozenset[str]
) -> tuple[list[TargetBatch], Mapping[EdgeKey, Failure]]:
    """What all these say of the `shared` targets, as one log would; and the edges that some could not speak of."""
    edges: dict[EdgeKey, list[AddLineageRequest]] = {}
    views: dict[EntityReference, Replacement] = {}
    given_up: dict[EdgeKey, Failure] = {}
    for lineage in lineages:
        given_up.update({key: failure for key, failure in lineage.given_up.items() if key[1] in shared})
        for request in lineage.requests:
            if request.to_entity.id in shared:
                edges.setdefault(request.key, []).append(request)
        for one in lineage.replacements:
            if one.to_entity.id in shared:
                known = views.get(one.to_entity, one)
                views[one.to_entity] = replace(one, whole=one.whole and known.whole)
    requests = [_merge(found) for key, found in sorted(edges.items()) if key not in given_up]
    replacements = sorted(views.values(), key=lambda one: one.to_entity.id)
    return target_batches(requests, replacements), given_up


def _merge(found: list[AddLineageRequest]) -> AddLineageRequest:
    first = found[0]
    contributions = [contribution for request in found for contribution in request.contributions]
    return request_of(first.from_entity, first.to_entity, contributions)


# One shard's lineage, and what is sent and filed once for a run.


@dataclass(frozen=True, slots=True)
class PublishedLineage:
    """What became of the edges of a shard, by their ends, and of its statements.

    `requests` are those into targets of which no other shard says anything.
    """

    edges: EdgeOutcomes
    outcomes: tuple[StatementOutcome, ...]
    counts: EdgeCounts
    requests: tuple[AddLineageRequest, ...]


@dataclass(frozen=True, slots=True)
class PublishOrder:
    """What to know for publishing a shard: what the target has `acknowledged` of its targets, by their ids.

    `scope`: what the run knows the whole of, as far as these targets were told of it; `shared`: what became of the
    edges into those of its targets that other shards speak of too. `tells_requests`: the driver shows them, or sends
    events of them. `elsewhere`, `states`: as of a Publisher.
    """

    acknowledged: Mapping[str, PublishedState]
    scope: CompleteScope
    shared: SharedLineage
    tells_requests: bool = False
    elsewhere: Mapping[str, frozenset[str]] = field(default_factory=dict)
    states: Mapping[str, PublishedState] = field(default_factory=dict)

    def unanswered_states(self) -> dict[str, PublishedState]:
        """What may stand of the shard's targets, by their ids, from when it is sent until they answer."""
        return unanswered_states(self.states, self.acknowledged)


def publish_shard(
    lineage: SourceLineage,
    order: PublishOrder,
    publisher: Publisher,
    platform: Platform,
    advance: Callable[[int], None],
) -> PublishedLineage:
    """Sends what the target has not acknowledged of a shard; `advance` is told of every so many requests.

    Raises as the `publisher`, and TargetDown where the `platform` does not tell which edges a person rejected; what was
    acknowledged until then is noted.
    """
    own = _own_batches(lineage, order)
    requests = tuple(request for batch in own for request in batch.requests)
    result = publisher.deliver(own, order.scope, advance)
    given_up = {key: EdgeOutcome(failure.reason) for key, failure in lineage.given_up.items()}
    shared = {key: outcome for outcomes in order.shared.edges.values() for key, outcome in outcomes.items()}
    found = {**shared, **result.edges, **given_up}
    edges = overruled_outcomes(found, rejected_edges(platform))
    return PublishedLineage(edges, statement_outcomes(lineage, edges), result.counts, requests)


def _own_batches(lineage: SourceLineage, order: PublishOrder) -> list[TargetBatch]:
    """Of the targets of which no other shard says anything."""
    batches = target_batches(lineage.requests, lineage.replacements)
    return [batch for batch in batches if batch.target.id not in order.shared.edges]


def states_of_shard(lineage: SourceLineage) -> dict[str, PublishedState | None]:
    """What to remember of each target that a shard speaks of, by its id, where no other shard speaks of it."""
    return published_states(target_batches(lineage.requests, lineage.replacements))


@dataclass(frozen=True, slots=True)
class Publishing:
    """Takes a SourceLineage, gives what became of it; `state` keeps what the target has acknowledged.

    `names` resolve what is filed beside the edges, once these are there.
    """

    config: RunConfig
    options: RunOptions
    target: RunTarget
    state: WorkflowState
    names: NameResolution
    dbt: DbtPublishing | None = None
    _gone: set[str] = field(default_factory=set)

    def forget_what_is_gone(self) -> None:
        """Of what others have taken away from a sink nothing is acknowledged. Raises LeaseHeld."""
        sink = self.target.sink
        if not isinstance(sink, KeyedSink):
            return
        known = self.state.acknowledged_targets(self._sink_name)
        for start in range(0, len(known), _WITHDRAWN_AT_ONCE):
            states = self.state.acknowledged_states(self._sink_name, known[start : start + _WITHDRAWN_AT_ONCE])
            missing = {target: sink.missing_keys(keys_of(state)) for target, state in states.items()}
            gone = {target: without_keys(states[target], keys) for target, keys in missing.items() if keys}
            if gone:
                self.state.say_again(self._sink_name, gone)
                self._gone.update(*missing.values())

    def gone_warnings(self) -> Iterator[str]:
        """What others had taken away, and how much of it the run has not written again."""
        sink = self.target.sink
        if self._gone and isinstance(sink, KeyedSink):
            left = len(sink.missing_keys(frozenset(self._gone)))
            file = self.config.sink.config.location
            yield (
                f"{len(self._gone):,} rows that earlier runs wrote were not in {file} any more: "
                f"{len(self._gone) - left:,} are written again"
                + (f", {left:,} are of statements that this run has not read" if left else "")
            )

    def scope(
        self, complete: frozenset[str], replaced: Mapping[str, frozenset[str]], shards: Iterable[SchemaEvents]
    ) -> CompleteScope:
        """What the run knows the whole of: the templates and routines that are `complete` in all its `shards`.

        `replaced`: the templates (by fingerprint) that are no more, each with those of its records now.
        """
        removed = frozenset[str]()
        if self.dbt is not None:
            removed = self.dbt.removed_models(self.state.acknowledged_states(self._sink_name))
        known = self.state.acknowledged_targets(self._sink_name)
        moved = moments_of_targets(self.target, shards, self.names.resolver(), known) if known else {}
        return replace(self.state.complete_scope(complete | removed, replaced), moved=moved)

    def published_keys(self) -> frozenset[str]:
        """The keys of all producers of which anything was published."""
        published = self.state.acknowledged_states(self._sink_name).values()
        return frozenset(key.key for state in published for key in state.digests)

    def publish_shared(
        self, lineages: Iterable[SourceLineage], shared: frozenset[str], scope: CompleteScope
    ) -> SharedLineage:
        """Sends what several shards say of `shared` targets (by id), put together. Raises as `publish_shard`."""
        if not shared:
            return SharedLineage()
        batches, given_up = _merged_targets(lineages, shared)
        requests = tuple(request for batch in batches for request in batch.requests)
        self.show(requests)
        result = self._deliver(batches, scope, lambda _count: None)
        outcomes = {key: EdgeOutcome(failure.reason) for key, failure in given_up.items()}
        edges: dict[str, dict[EdgeKey, EdgeOutcome]] = {target: {} for target in shared}
        for key, outcome in (result.edges | outcomes).items():
            edges[key[1]][key] = outcome
        return SharedLineage(edges, result.counts, requests)

    def order(
        self,
        states: Mapping[str, PublishedState | None],
        scope: CompleteScope,
        shared: SharedLineage,
        *,
        tells_requests: bool,
    ) -> PublishOrder:
        """What to know for publishing a shard, given the `states_of_shard`."""
        own = [target for target in states if target not in shared.edges]
        known_states = {target: now for target in own if (now := states[target]) is not None}
        known = self.state.acknowledged_states(self._sink_name, own)
        keys = {one.key for published in known.values() for one in published.digests}
        moved = {target: scope.moved[target] for target in own if target in scope.moved}
        own_scope = replace(scope, templates=scope.templates & keys, ended=scope.ended & keys, moved=moved)
        return PublishOrder(known, own_scope, shared.within(states), tells_requests, self._elsewhere(own), known_states)

    def acknowledge(self, done: Mapping[str, PublishedState]) -> None:
        """Keeps what the target has acknowledged (by its id), or may have. Raises LeaseHeld."""
        self.state.acknowledge(self._sink_name, done)

    def withdraw(self, published: Collection[str], scope: CompleteScope) -> EdgeCounts:
        """Ends what was said of targets of which nothing is said any more: all but those `published` (by id)."""
        here = set(published)
        others = [target for target in self.state.acknowledged_targets(self._sink_name) if target not in here]
        counts = EdgeCounts()
        for start in range(0, len(others), _WITHDRAWN_AT_ONCE):
            some = others[start : start + _WITHDRAWN_AT_ONCE]
            counts += self._publisher(some).deliver((), scope, lambda _count: None).counts
        return counts

    def _deliver(
        self, batches: Sequence[TargetBatch], scope: CompleteScope, advance: Callable[[int], None]
    ) -> PublishResult:
        return self._publisher([batch.target.id for batch in batches]).deliver(batches, scope, advance)

    def _publisher(self, targets: Collection[str]) -> Publisher:
        known = self.state.acknowledged_states(self._sink_name, targets)
        chunk = requests_at_once(self.config.sink.config, self.target.platform)
        elsewhere = self._elsewhere(targets)
        return Publisher(self.target.sink, known, self.acknowledge, self.acknowledge, chunk, self.options, elsewhere)

    def _elsewhere(self, targets: Collection[str]) -> Mapping[str, frozenset[str]]:
        """What other workflows say of these targets, for a sink with keys."""
        if not isinstance(self.target.sink, KeyedSink):
            return {}
        return self.state.keys_of_other_workflows(self._sink_name, targets)

    def stale_edges(self) -> StaleEdgeRemoval | None:
        """What takes back edges that nothing says any more; None where there is none, or the sink cannot tell them."""
        sink = self.target.sink
        if not isinstance(sink, EdgeRemover) or not self.state.targets_of_written_edges(self._sink_name):
            return None
        return StaleEdgeRemoval(self.config.headwater.stale_edges, sink, self._sink_name, self.state, self.options)

    def file_events(self, shards: Sequence[SchemaEvents]) -> tuple[str, ...]:
        """Files changes of names and types, of all shards; what to warn of where some could not be filed."""
        return publish_events_of_shards(self.target, shards, self.names.resolver(), self._probe)

    def file_project(self, source: LineageSource) -> tuple[str, ...]:
        """Files what a dbt project says beside its lineage; what to warn of. Raises TargetDown and ConfigError."""
        if self.dbt is None:
            return ()
        return (*self.dbt.warnings(source), *self.dbt.describe(self.target.platform, self._probe))

    def file_queries(self, queries: LogQueries) -> tuple[str, ...]:
        """Files the queries behind the edges; what to warn of where some could not be filed."""
        return queries.file(self.target, self.config.source.service_name, self._probe)

    def show(self, requests: Iterable[AddLineageRequest]) -> None:
        """Shows the requests of a dry run."""
        if self.options.show is not None:
            for request in requests:
                self.options.show(request.to_json())

    @property
    def _sink_name(self) -> str:
        catalog = catalog_identity(self.config.target, self.target.platform)
        return self.config.sink.config.identity(catalog)

    @property
    def _probe(self) -> Probe:
        return self.options.failpoints.probe
