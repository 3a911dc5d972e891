"""What is done with a shard of a log, pass by pass: one function each, the same in the driver and in a task of
Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from ingestion.binding.binder import BoundLog, BoundStatement, Schema
from ingestion.binding.temporary_tables import FlowSources
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.lineage import Flow, StatementKind, StatementLineage
from ingestion.parsing.templates import ParsedTemplate
from ingestion.resolution import Resolver
from workflows.config import RunConfig
from workflows.run._summaries import LineageSummary, PublishedShard, lineage_summary, published_shard
from workflows.run.bind.binding import Binding, LineageSource, Texts
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.publish.delivery import Publisher, requests_at_once
from workflows.run.publish.publishing import PublishOrder, publish_shard
from workflows.run.resolve.lineage import SourceLineage, lineage_of
from workflows.run.resolve.resolution import NameResolution, NamesBefore, RegisteredNames, RelationFacts, ResolvedNames
from workflows.run.resolve.routines import RoutineEntities
from workflows.runtime.options import RunOptions
from workflows.runtime.spill import Packed, pack
from workflows.state.acknowledgements import PublishedState
from workflows.target import RunTarget

# What a shard takes along from one pass to the next, where it waits outside of memory or crosses to another process.
#
# Of a bound statement that is a small part: once it is bound, its form and its columns are in the flows that it
# makes; once these are resolved, their columns are in the requests.


def _resolvable(source: LineageSource) -> LineageSource:
    """What resolving needs of a bound shard, and what comes after it: no statement's form, none of its columns."""
    if source.outlined:  # it was packed before
        return source
    log = source.log
    return replace(
        source,
        definitions=None,
        templates={key: replace(template, symbolic=None) for key, template in source.templates.items()},
        log=replace(log, statements=tuple(map(_outline, log.statements)), schemas=_schemas_in_force(log)),
        outlined=True,
    )


def publishable(lineage: SourceLineage) -> SourceLineage:
    """What publishing needs of a resolved shard: its columns are those of the requests."""
    source = _resolvable(lineage.source)
    flows = tuple(replace(flow, content=_ends(flow.content)) for flow in source.flows)
    return replace(lineage, source=replace(source, flows=flows, log=replace(source.log, schemas={})))


def _outline(statement: BoundStatement) -> BoundStatement:
    """What a statement is, what it writes and changes, when it ran, and what was wrong with it."""
    lineage, ran = statement.lineage, statement.occurrence
    outline = StatementLineage(
        lineage.kind,
        tuple([Flow(flow.target, ()) for flow in lineage.flows]),
        lineage.changes,
        problems=lineage.problems,
        witness=lineage.witness,
        doubted=lineage.doubted,
    )
    occurrence = Occurrence(ran.template, _nothing_of(lineage.kind), ran.namespace, ran.order)
    return BoundStatement(occurrence, outline, statement.meaning, statement.columns_at)


@lru_cache
def _nothing_of(kind: StatementKind) -> StatementLineage:
    return StatementLineage(kind)


def _schemas_in_force(log: BoundLog) -> dict[int, Schema]:
    """The schemas of what took the place of another."""
    names = {relation.key for relation in log.relations if relation.superseded}
    return {n: schema for n, schema in log.schemas.items() if log.relations[n].key in names} if names else {}


def _ends(content: FlowSources) -> FlowSources:
    return FlowSources({}, frozenset(), content.sources, frozenset(), content.via, content.depth)


# The passes.
#
# A pass takes what the one before it left of the shard and what the driver knows of all shards; it gives what it
# leaves for the next pass, and what it tells the driver.


class Listener(Protocol):
    """Is told of a pass while it is at work on a shard."""

    def on_sending(self, states: Mapping[str, PublishedState]) -> None:
        """Keeps what may stand from now on, by the id of the target."""

    def on_acknowledged(self, states: Mapping[str, PublishedState]) -> None:
        """Keeps what the target has acknowledged, by its id."""

    def on_progress(self, count: int) -> None:
        """So many more requests are done."""


@dataclass(frozen=True, slots=True)
class PassContext:
    """What passes need, in one process.

    `before` gives what stood before the log; `resolver` has not seen what this run registers.
    """

    config: RunConfig
    options: RunOptions
    target: RunTarget
    names: NameResolution
    binding: Binding
    before: Callable[[], SchemaProvider]
    resolver: Resolver
    texts: Texts
    listener: Listener


@dataclass(frozen=True, slots=True)
class UnboundShard:
    """Occurrences that hang together, and their templates by fingerprint."""

    templates: Mapping[str, ParsedTemplate]
    groups: tuple[OccurrenceGroup, ...]


@dataclass(frozen=True, slots=True)
class BoundShard:
    """What a shard says of relations, and their entities before anything is registered."""

    source: LineageSource
    names: NamesBefore

    def __reduce__(self) -> tuple[type[BoundShard], tuple[LineageSource, NamesBefore]]:
        """Packed, it has what resolving it needs."""
        return BoundShard, (_resolvable(self.source), self.names)


@dataclass(frozen=True, slots=True)
class ResolvedShard:
    """What a shard says of entities."""

    lineage: SourceLineage
    names: ResolvedNames

    def __reduce__(self) -> tuple[type[ResolvedShard], tuple[SourceLineage, ResolvedNames]]:
        """Packed, it has what publishing it needs."""
        return ResolvedShard, (publishable(self.lineage), self.names)


@dataclass(frozen=True, slots=True)
class NamesMet:
    """What is known of the relations of a shard that may be registered, and the masked statements of its routines.

    `flows`: how many it has. `locations`: those in which it can be that something is registered.
    """

    flows: int
    facts: tuple[RelationFacts, ...] | Packed[tuple[RelationFacts, ...]]
    locations: frozenset[str]
    routines: Mapping[str, tuple[str, ...]]

    def __reduce__(self) -> tuple[type[NamesMet], tuple[object, ...]]:
        """Packed, its facts are bytes by themselves: the driver keeps them so until all shards are bound."""
        facts = self.facts if isinstance(self.facts, Packed) else pack(self.facts)
        return NamesMet, (self.flows, facts, self.locations, self.routines)


@dataclass(frozen=True, slots=True)
class AfterRegistration:
    """What was registered for all shards, and the entities of the shard's own routines."""

    registered: RegisteredNames
    routines: RoutineEntities


def bind_shard(context: PassContext, shard: UnboundShard, _given: None) -> tuple[BoundShard, NamesMet]:
    """A `shard` bound, and its names looked up. Raises TargetDown."""
    return look_up_shard(context, context.binding.bind(shard.templates, shard.groups, context.before(), context.texts))


def look_up_shard(context: PassContext, source: LineageSource) -> tuple[BoundShard, NamesMet]:
    """What is bound, with its names looked up. Raises TargetDown."""
    names, facts = context.names.look_up(source, context.resolver)
    locations = frozenset(one.location for one in facts if one.tells)
    return BoundShard(source, names), NamesMet(len(source.flows), facts, locations, source.routine_statements())


def resolve_shard(
    context: PassContext, bound: BoundShard, given: AfterRegistration
) -> tuple[ResolvedShard, LineageSummary]:
    """What a `bound` shard says of entities, once all that the target lacked was registered. Raises TargetDown."""
    names = context.names.resolve(bound.source, bound.names, given.registered, given.routines)
    lineage = lineage_of(bound.source, names.entities, names.routines)
    return ResolvedShard(lineage, names), lineage_summary(lineage, names, context.names.settings)


def send_shard(context: PassContext, resolved: ResolvedShard, order: PublishOrder) -> tuple[None, PublishedShard]:
    """A `resolved` shard published. Raises TargetDown and ConfigError; what was acknowledged until then is noted."""
    lineage, names = resolved.lineage, resolved.names
    chunk = requests_at_once(context.config.sink.config, context.target.platform)
    listener = context.listener
    publisher = Publisher(
        context.target.sink,
        order.acknowledged,
        listener.on_sending,
        listener.on_acknowledged,
        chunk,
        context.options,
        order.elsewhere,
        order.states,
    )
    published = publish_shard(lineage, order, publisher, context.target.platform, context.listener.on_progress)
    shard = published_shard(lineage, names, published)
    if order.tells_requests:
        stood = tuple(one for one in lineage.requests if not published.edges[one.key].overruled)
        entities = {entity.id: entity for entity in names.entities.resolved.values()}
        shard = replace(shard, requests=published.requests, stood=stood, entities=entities)
    return None, shard
