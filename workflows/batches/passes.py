"""What is done with a batch of a log, pass by pass: one function each, the same in the driver and in a task of Spark.

A pass takes what the one before it left of the batch and what the driver knows of all batches; it gives what it leaves
for the next pass, and what it tells the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ingestion.binding.name_events import SchemaEvents
from ingestion.binding.timeline import SchemaProvider
from ingestion.entities import TableEntity
from ingestion.lineage_request import AddLineageRequest
from ingestion.resolution.resolver import Resolver
from workflows.batches.packing import publishable, resolvable
from workflows.batches.summaries import LineageSummary, PublishedSummary, lineage_summary, published_summary
from workflows.config import RunConfig
from workflows.control.options import RunOptions
from workflows.lineage.entity_resolution import NameResolution, NameSurvey, RegisteredNames, ResolvedNames
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.planner import Texts
from workflows.lineage.registration import RelationFacts
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.source_lineage import SourceLineage, lineage_of
from workflows.lineage.stage import Binding
from workflows.publishing.delivery import Publisher
from workflows.publishing.query_records import RepeatedQuery, queries_behind
from workflows.publishing.stage import PublishOrder, publish_batch
from workflows.state.acknowledgements import PublishedState
from workflows.target import RunTarget
from workflows.templates.occurrences import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate


class Course(Protocol):
    """Is told of a pass while it is at work on a batch."""

    def note(self, done: Mapping[str, PublishedState]) -> None:
        """Keeps what the target has acknowledged, by its id."""

    def advance(self, count: int) -> None:
        """So many more requests are done."""


@dataclass(frozen=True, slots=True)
class BatchStages:
    """What the batches of a log go through, in one process.

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
    course: Course


@dataclass(frozen=True, slots=True)
class UnboundBatch:
    """Occurrences that hang together, and their templates by fingerprint."""

    templates: Mapping[str, ParsedTemplate]
    groups: tuple[OccurrenceGroup, ...]


@dataclass(frozen=True, slots=True)
class BoundBatch:
    """What a batch says of relations, and their entities before anything is registered."""

    source: LineageSource
    survey: NameSurvey

    def __reduce__(self) -> tuple[type[BoundBatch], tuple[LineageSource, NameSurvey]]:
        """Packed, it has what resolving it needs."""
        return BoundBatch, (resolvable(self.source), self.survey)


@dataclass(frozen=True, slots=True)
class ResolvedBatch:
    """What a batch says of entities."""

    lineage: SourceLineage
    names: ResolvedNames

    def __reduce__(self) -> tuple[type[ResolvedBatch], tuple[SourceLineage, ResolvedNames]]:
        """Packed, it has what publishing it needs."""
        return ResolvedBatch, (publishable(self.lineage), self.names)


@dataclass(frozen=True, slots=True)
class NamesMet:
    """What is known of the relations of a batch that may be registered, and the masked statements of its routines.

    `flows` and `relations` are how many it has.
    """

    flows: int
    relations: int
    facts: tuple[RelationFacts, ...]
    routines: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a batch, and what is filed beside its edges: queries by their masked text, DDL.

    `requests` and, by their ids, the `entities` at their ends only where these are asked for; `stood` are the requests
    whose edges no person rejected.
    """

    summary: PublishedSummary
    queries: Mapping[str, RepeatedQuery]
    ddl: SchemaEvents
    requests: tuple[AddLineageRequest, ...] = ()
    stood: tuple[AddLineageRequest, ...] = ()
    entities: Mapping[str, TableEntity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AfterRegistration:
    """What was registered for all batches, and the entities of the batch's own routines."""

    registered: RegisteredNames
    routines: RoutineEntities


@dataclass(frozen=True, slots=True)
class Publication:
    """How to publish a batch; `tells_requests`: the driver shows them, or sends events of them."""

    order: PublishOrder
    tells_requests: bool


def bind_batch(stages: BatchStages, batch: UnboundBatch, _given: None) -> tuple[BoundBatch, NamesMet]:
    """A `batch` bound, and its names looked up. Raises TargetDown."""
    return survey_batch(stages, stages.binding.bind(batch.templates, batch.groups, stages.before(), stages.texts))


def survey_batch(stages: BatchStages, source: LineageSource) -> tuple[BoundBatch, NamesMet]:
    """What is bound, with its names looked up. Raises TargetDown."""
    survey = stages.names.survey(source, stages.resolver)
    met = NamesMet(len(source.flows), len(survey.entities.statuses), survey.facts, source.routine_statements())
    return BoundBatch(source, replace(survey, facts=())), met


def resolve_batch(
    stages: BatchStages, bound: BoundBatch, given: AfterRegistration
) -> tuple[ResolvedBatch, LineageSummary]:
    """What a `bound` batch says of entities, once all that the target lacked was registered. Raises TargetDown."""
    names = stages.names.resolve_batch(bound.source, bound.survey, given.registered, given.routines)
    lineage = lineage_of(bound.source, names.entities, names.routines)
    return ResolvedBatch(lineage, names), lineage_summary(lineage, names, stages.names.settings)


def send_batch(stages: BatchStages, resolved: ResolvedBatch, given: Publication) -> tuple[None, Published]:
    """A `resolved` batch published. Raises TargetDown and ConfigError; what was acknowledged until then is noted."""
    lineage, names = resolved.lineage, resolved.names
    known, chunk = given.order.acknowledged, stages.config.batch_size
    publisher = Publisher(stages.target.sink, known, stages.course.note, chunk, stages.options)
    published = publish_batch(lineage, given.order, publisher, stages.target.platform, stages.course.advance)
    edges = published.edges
    summary = Published(
        published_summary(lineage, published),
        queries_behind(lineage, names.entities, edges),
        lineage.source.log.ddl_events,
    )
    if given.tells_requests:
        stood: Sequence[AddLineageRequest] = [one for one in lineage.requests if not edges[one.edge.key].overruled]
        entities = {entity.id: entity for entity in names.entities.resolved.values()}
        summary = replace(summary, requests=published.requests, stood=tuple(stood), entities=entities)
    return None, summary
