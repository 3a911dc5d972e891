"""The lineage of a log, batch by batch: what hangs together is bound, resolved and published together, and then let go.

What one batch leaves for the next pass is in a file; what all batches have in common is done between the passes: what
the target lacks is registered when all were bound, what several say of one target is sent at once, what nothing is said
of any more is withdrawn and names are moved when all was published. A log of few templates is one batch, in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from connectors.spark_history import TRUNCATION_ADVICE
from ingestion.binding.name_events import DdlEvents
from workflows.config import RunConfig
from workflows.control.progress import Progress
from workflows.control.shelf import Shelf
from workflows.lineage.entity_resolution import NameResolution, NameSurvey, RegisteredNames, ResolvedNames
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.planner import Texts
from workflows.lineage.registration import RelationFacts
from workflows.lineage.schema_files import Schemas
from workflows.lineage.source_lineage import SourceLineage, lineage_of
from workflows.lineage.stage import Binding
from workflows.publishing.openlineage_events import EventSink
from workflows.publishing.query_records import LogQueries
from workflows.publishing.shared_targets import SharedLineage
from workflows.publishing.stage import PublishedLineage, Publishing
from workflows.report.losses import loss_warnings
from workflows.runs.batch_sums import BatchSums
from workflows.runs.checkpoint import LineageResult
from workflows.runs.counting import parse_counts
from workflows.state.acknowledgements import CompleteScope
from workflows.templates.components import MentionedNames, batches_of, doubtful_names_by
from workflows.templates.stage import Occurrences

ResolvedLineage = tuple[SourceLineage, ResolvedNames]


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What else a log tells: the columns of live databases, and what must be asked of its records.

    `texts` are those of templates, `replaced` the templates that are no more with those of their records now (given
    those that are), `unread` the routines of which not every statement could be read.
    """

    live_columns: Schemas
    texts: Texts
    replaced: Callable[[Collection[str]], Mapping[str, frozenset[str]]]
    unread: Callable[[], frozenset[str]]


@dataclass(frozen=True, slots=True)
class LineageStages:
    """What a batch goes through, and what is told of its course."""

    config: RunConfig
    progress: Progress
    names: NameResolution
    binding: Binding
    publishing: Publishing
    events: EventSink | None

    def carry_out(self, found: Occurrences, log: LogFacts) -> LineageResult:
        """What came of all occurrences. Raises as the stages do; what was acknowledged until then is remembered."""
        return _LineageRun(self, found, log).carry_out()


class _LineageRun:
    def __init__(self, stages: LineageStages, found: Occurrences, log: LogFacts) -> None:
        self._stages = stages
        self._found = found
        self._log = log
        self._resolver = stages.names.resolver()
        self._batches: Sequence[Sequence[int]] = ()
        self._sums = BatchSums(stages.names.settings)

    def carry_out(self) -> LineageResult:
        sources = self._bind()
        lineages = self._resolve(sources)
        del sources
        queries = LogQueries(len(self._batches))
        events: Shelf[DdlEvents] = self._shelf()
        self._publish(lineages, queries, events)
        return self._result(self._file_others(lineages, queries, events))

    def _bind(self) -> Shelf[LineageSource]:
        stages, runs = self._stages, self._found.runs
        templates = self._found.templates.by_fingerprint
        with stages.progress.stage("bind") as stage:
            before = stages.binding.schemas_before(self._log.live_columns, self._resolver)
            self._batches = self._plan()
            sources: Shelf[LineageSource] = self._shelf()
            for numbers in self._batches:
                groups = runs.occurrences(numbers)
                own = {fingerprint: templates[fingerprint] for fingerprint in {group.template for group in groups}}
                source = stages.binding.bind(own, groups, before(), self._log.texts)
                stage.advance(len(source.flows))
                sources.append(source)
        return sources

    def _plan(self) -> Sequence[Sequence[int]]:
        stages, runs = self._stages, self._found.runs
        whole = stages.publishing.dbt is not None  # what a project and a log say is compared as a whole
        most = len(runs) if whole else stages.config.templates_at_once
        # What a planner settles shows columns of what it is written into.
        plans = self._found.plans if stages.binding.database is None else None
        mentioned = MentionedNames(self._found.names, plans)
        return batches_of(runs, mentioned, most, doubtful_names_by(self._resolver), stages.names.settings.defaults)

    def _resolve(self, sources: Shelf[LineageSource]) -> Shelf[ResolvedLineage]:
        names = self._stages.names
        with self._stages.progress.stage("resolve") as stage:
            surveys: Shelf[NameSurvey] = self._shelf()
            facts: Shelf[tuple[RelationFacts, ...]] = self._shelf()
            for source in sources:
                survey = names.survey(source, self._resolver)
                facts.append(survey.facts)
                surveys.append(replace(survey, facts=()))
                stage.advance(len(survey.entities.statuses))
            registration = names.register(facts)
            self._sums.add_registered(registration.made)
            return self._lineages(sources, surveys, registration)

    def _lineages(
        self, sources: Shelf[LineageSource], surveys: Shelf[NameSurvey], registration: RegisteredNames
    ) -> Shelf[ResolvedLineage]:
        lineages: Shelf[ResolvedLineage] = self._shelf()
        for source, survey in zip(sources, surveys, strict=True):
            resolved = self._stages.names.resolve_batch(source, survey, registration)
            lineage = lineage_of(source, resolved.entities, resolved.routines)
            self._sums.add_lineage(lineage, resolved)
            lineages.append((lineage, resolved))
        return lineages

    def _publish(self, lineages: Shelf[ResolvedLineage], queries: LogQueries, events: Shelf[DdlEvents]) -> None:
        publishing, sums = self._stages.publishing, self._sums
        replaced = self._log.replaced(self._found.templates.by_fingerprint.keys())
        with self._stages.progress.stage("publish") as stage:
            stage.expect(sums.requests)
            scope = publishing.scope(frozenset(sums.complete), replaced)
            several = (lineage for lineage, _names in lineages) if sums.shared else iter(())
            shared = publishing.publish_shared(several, frozenset(sums.shared), scope)
            sums.add_shared(shared)
        for lineage, names in lineages:
            published = self._publish_batch(lineage, scope, shared)
            sums.add_published(lineage, published)
            self._send_events(lineage, published, names)
            queries.add(lineage, names.entities, published.edges)
            events.append(lineage.source.log.ddl_events)
        with self._stages.progress.stage("publish"):
            sums.add_withdrawn(publishing.withdraw(sums.targets, scope))

    def _publish_batch(self, lineage: SourceLineage, scope: CompleteScope, shared: SharedLineage) -> PublishedLineage:
        with self._stages.progress.stage("publish") as stage:
            stage.expect(self._sums.requests)
            return self._stages.publishing.publish(lineage, scope, stage.advance, shared)

    def _send_events(self, lineage: SourceLineage, published: PublishedLineage, names: ResolvedNames) -> None:
        sink = self._stages.events
        if sink is not None:
            with self._stages.progress.stage("events") as stage:
                entities = {entity.id: entity for entity in names.entities.resolved.values()}
                stood = [one for one in lineage.requests if not published.edges[one.edge.key].overruled]
                sent, failures = sink.send(stood, entities)
                stage.advance(sent)
            self._sums.event_failures += failures

    def _file_others(
        self, lineages: Shelf[ResolvedLineage], queries: LogQueries, events: Shelf[DdlEvents]
    ) -> tuple[str, ...]:
        """Files what stands beside the edges; what to warn of where something could not be filed."""
        publishing, sums = self._stages.publishing, self._sums
        if not publishing.target.writes:
            return ()
        warnings = publishing.file_events(events)
        self._stages.names.routines().mark_processed(sums.routines, sums.processed - self._log.unread())
        for lineage, _names in lineages if publishing.dbt is not None else ():
            warnings += publishing.file_project(lineage.source)
        return (*warnings, *publishing.file_queries(queries))

    def _result(self, filed: tuple[str, ...]) -> LineageResult:
        sums, templates = self._sums, self._found.templates
        warnings = (
            *sums.doubtful.warnings(),
            *loss_warnings("events could not be made or sent", sums.event_failures),
            *loss_warnings("routines could not be filed", sums.routines.failures.values()),
            *filed,
            *([TRUNCATION_ADVICE] if sums.incomplete else []),
        )
        return LineageResult(
            counts=sums.counts() + parse_counts(templates, sums.met),
            warnings=warnings,
            templates=templates.by_fingerprint,
            dead=sums.dead,
            failures={**templates.failures, **sums.failures},
            succeeded=frozenset(self._found.runs.templates) - sums.dead.keys(),
        )

    def _shelf(self) -> Shelf[Any]:
        """For what a pass leaves to the next one: in memory where there is but one batch."""
        return Shelf(1 if len(self._batches) <= 1 else 0)
