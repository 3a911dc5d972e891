"""The lineage of a log, shard by shard: what hangs together is bound, resolved and published together, and then let
go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any

from pyspark import SparkContext

from connectors.spark.history import TRUNCATION_ADVICE
from ingestion.binding.timeline import SchemaEvents
from workflows.config import RunConfig
from workflows.counts import loss_warnings
from workflows.run._large_shards import LargeShard, bind_large
from workflows.run._summaries import LineageSummary, ShardSums, parse_counts
from workflows.run.bind.binding import Binding, Texts
from workflows.run.bind.schemas import Schemas
from workflows.run.execution import InDriver, Place, place_of
from workflows.run.group.components import MentionedNames, doubtful_names_by, is_one_shard, most_of_several, shards_of
from workflows.run.group.occurrences import Occurrences
from workflows.run.passes import (
    AfterRegistration,
    BoundShard,
    NamesMet,
    PassContext,
    Publication,
    PublishedShard,
    ResolvedShard,
    UnboundShard,
    bind_shard,
    resolve_shard,
    send_shard,
)
from workflows.run.publish.openlineage_events import EventSink
from workflows.run.publish.publishing import Publishing
from workflows.run.publish.query_records import LogQueries
from workflows.run.remember.checkpoint import LineageResult
from workflows.run.resolve.resolution import NameResolution, RegisteredNames, RelationFacts
from workflows.runtime.progress import Progress, Stage
from workflows.runtime.spill import SpillList
from workflows.state.acknowledgements import PublishedState

# Which batches a log is worked on in: those that are bound at once, and those that are too large for that.


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The occurrences of each batch, by their numbers; a `large` one goes on in parts of `most` templates."""

    found: Occurrences
    small: Sequence[Sequence[int]]
    large: Sequence[Sequence[int]]
    most: int

    @property
    def expected(self) -> int:
        """About how many batches go on once all are bound."""
        return len(self.small) + sum(1 + len(_templates(self.found, one)) // self.most for one in self.large)

    def unbound(self) -> Iterator[UnboundShard]:
        """The batches that are bound at once."""
        templates = self.found.templates.by_fingerprint
        for numbers in self.small:
            groups = self.found.runs.occurrences(numbers)
            yield UnboundShard({key: templates[key] for key in {one.template for one in groups}}, groups)

    def unbound_large(self) -> Iterator[LargeShard]:
        """The others, whose templates are read as they are needed."""
        for numbers in self.large:
            yield LargeShard(self.found.templates.by_fingerprint, self.found.runs.occurrences(numbers), self.most)


def plan_of(found: Occurrences, batches: Sequence[Sequence[int]], at_once: int, *, parts: bool) -> ShardPlan:
    """The plan for `batches` of what a log was `found` to have, which is one batch if it has `at_once` templates.

    `parts`: what hangs together may be bound in parts.
    """
    most = most_of_several(at_once)
    if not parts or is_one_shard(found.runs, at_once):
        return ShardPlan(found, batches, (), most)
    large = [len(_templates(found, one)) > most for one in batches]
    return ShardPlan(
        found,
        [one for one, is_large in zip(batches, large, strict=True) if not is_large],
        [one for one, is_large in zip(batches, large, strict=True) if is_large],
        most,
    )


def _templates(found: Occurrences, numbers: Sequence[int]) -> set[str]:
    return {found.runs.templates[number] for number in numbers}


# The lineage of a log, batch by batch: what hangs together is bound, resolved and published together, and then let
# go.
#
# What one shard leaves for the next pass is in a file; what all shards have in common is done between the passes:
# what the target lacks is registered when all were bound, what several say of one target is sent at once, what
# nothing is said of any more is withdrawn and names are moved when all was published. A log of few templates is one
# shard, in memory.


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

    def carry_out(self, found: Occurrences, log: LogFacts, spark: SparkContext | None = None) -> LineageResult:
        """What came of all occurrences, by the tasks of `spark` where that is given and can do it.

        Raises as the stages do; what was acknowledged until then is remembered.
        """
        return _LineageRun(self, found, log, spark).carry_out()


@dataclass(slots=True)
class _DriverCourse:
    """What is told of a pass goes to the state, and to the stage that is at work."""

    publishing: Publishing
    stage: Stage | None = None

    def note(self, done: Mapping[str, PublishedState]) -> None:
        self.publishing.acknowledge(done)

    def advance(self, count: int) -> None:
        if self.stage is not None:
            self.stage.advance(count)


@dataclass(frozen=True, slots=True)
class _NamesOfBatches:
    """What each batch tells of the relations that may be registered, and of its routines; `places`: in how many."""

    facts: SpillList[tuple[RelationFacts, ...]]
    routines: SpillList[Mapping[str, tuple[str, ...]]]
    places: Counter[str] = field(default_factory=Counter)

    def add(self, summary: NamesMet) -> None:
        """Takes in those of a batch."""
        self.facts.append(summary.facts)
        self.routines.append(summary.routines)
        self.places.update({one.place for one in summary.facts if one.tells})

    def register(self, names: NameResolution) -> RegisteredNames:
        """Has those of all batches registered, where the target lacks them."""
        shared = {place for place, count in self.places.items() if count > 1}
        return names.register(self.facts, shared)

    def outcomes_of(self, registered: RegisteredNames, names: NameResolution) -> Iterator[AfterRegistration]:
        """What each batch is told of that."""
        all_facts = self.facts if registered.refused else repeat(())
        for facts, routines in zip(all_facts, self.routines, strict=False):
            yield AfterRegistration(registered.within(facts), names.resolve_routines(routines))


class _LineageRun:
    def __init__(self, stages: LineageStages, found: Occurrences, log: LogFacts, spark: SparkContext | None) -> None:
        self._stages = stages
        self._found = found
        self._log = log
        self._spark = spark
        self._resolver = stages.names.resolver()
        self._sums = ShardSums(stages.names.settings)
        self._course = _DriverCourse(stages.publishing)
        self._kept = ExitStack()
        self._plan: ShardPlan
        self._place: Place

    def carry_out(self) -> LineageResult:
        with self._kept:
            bound, met = self._bind()
            lineages, targets = self._resolve(bound, met)
            del bound, met
            queries = LogQueries(len(lineages))
            events: SpillList[SchemaEvents] = self._shelf()
            self._publish(lineages, targets, (queries, events))
        return self._result(self._file_others(lineages, queries, events))

    def _bind(self) -> tuple[SpillList[BoundShard], _NamesOfBatches]:
        with self._stages.progress.stage("bind") as stage:
            stated = self._stages.binding.stated_schemas(self._log.live_columns)
            self._plan = self._batch_plan()
            driver = self._driver_with(stated)
            self._place = self._place_of(driver, stated)
            bound: SpillList[BoundShard] = self._shelf()
            met = _NamesOfBatches(self._shelf(), self._shelf())

            def take(summary: NamesMet) -> None:
                stage.advance(summary.flows)
                met.add(summary)

            self._place.carry_out(bind_shard, (self._plan.unbound(), repeat(None)), bound, take)
            for batch in self._plan.unbound_large():
                bind_large(batch, (self._place, driver), bound, take)
        return bound, met

    def _driver_with(self, stated: tuple[Schemas, ...]) -> InDriver:
        """This process as a place for the passes, given what was `stated` of the schemas before the log."""
        stages = self._stages
        here = PassContext(
            config=stages.config,
            options=stages.publishing.options,
            target=stages.publishing.target,
            names=stages.names,
            binding=stages.binding,
            before=stages.binding.providers(stated, self._resolver),
            resolver=self._resolver,
            texts=self._log.texts,
            course=self._course,
        )
        return InDriver(here)

    def _place_of(self, driver: InDriver, stated: tuple[Schemas, ...]) -> Place:
        """Where the passes are carried out."""
        if self._spark is None:
            return driver
        return self._kept.enter_context(place_of(driver, self._spark, self._plan.expected, stated))

    def _batch_plan(self) -> ShardPlan:
        stages, runs = self._stages, self._found.runs
        whole = stages.publishing.dbt is not None  # what a project and a log say is compared as a whole
        most = len(runs) if whole else stages.config.headwater.templates_at_once
        # What a planner settles shows columns of what it is written into.
        plans = self._found.plans if stages.binding.planner is None else None
        mentioned = MentionedNames(self._found.names, plans)
        doubtful = doubtful_names_by(self._resolver)
        batches = shards_of(runs, mentioned, most, doubtful, stages.names.settings.defaults)
        return plan_of(self._found, batches, most, parts=stages.binding.planner is None)

    def _resolve(
        self, bound: SpillList[BoundShard], met: _NamesOfBatches
    ) -> tuple[SpillList[ResolvedShard], SpillList[frozenset[str]]]:
        """The lineage of all batches, and the ids of the entities that each speaks of."""
        names = self._stages.names
        lineages: SpillList[ResolvedShard] = self._shelf()
        targets: SpillList[frozenset[str]] = self._shelf()
        with self._stages.progress.stage("resolve") as stage:
            registered = met.register(names)
            self._sums.add_registered(registered.made)
            given = met.outcomes_of(registered, names)

            def take(summary: LineageSummary) -> None:
                stage.advance(len(summary.statuses))
                self._sums.add_lineage(summary)
                targets.append(summary.targets)

            self._place.carry_out(resolve_shard, (bound, given), lineages, take)
        return lineages, targets

    def _publish(
        self,
        lineages: SpillList[ResolvedShard],
        targets: SpillList[frozenset[str]],
        beside: tuple[LogQueries, SpillList[SchemaEvents]],
    ) -> None:
        publishing, sums = self._stages.publishing, self._sums
        replaced = self._log.replaced(self._found.templates.by_fingerprint.keys())
        with self._stages.progress.stage("publish") as stage:
            stage.expect(sums.requests)
            self._course.stage = stage
            scope = publishing.scope(frozenset(sums.complete), replaced)
            several = (lineages[number].lineage for number in sorted(sums.sharing))
            shared = publishing.publish_shared(several, frozenset(sums.shared), scope)
            sums.add_shared(shared)
            tells = self._stages.events is not None or publishing.options.dry_run
            given = (Publication(publishing.order(one, scope, shared), tells) for one in targets)
            take = partial(self._take_published, beside)
            self._place.carry_out(send_shard, (lineages, given), SpillList[None](0), take)
            sums.add_withdrawn(publishing.withdraw(sums.targets, scope))

    def _take_published(self, beside: tuple[LogQueries, SpillList[SchemaEvents]], summary: PublishedShard) -> None:
        queries, events = beside
        self._sums.add_published(summary.summary)
        self._stages.publishing.show(summary.requests)
        self._send_events(summary)
        queries.add(summary.queries)
        events.append(summary.ddl)

    def _send_events(self, summary: PublishedShard) -> None:
        sink = self._stages.events
        if sink is not None:
            with self._stages.progress.stage("events") as stage:
                sent, failures = sink.send(summary.stood, summary.entities)
                stage.advance(sent)
            self._sums.event_failures += failures

    def _file_others(
        self, lineages: SpillList[ResolvedShard], queries: LogQueries, events: SpillList[SchemaEvents]
    ) -> tuple[str, ...]:
        """Files what stands beside the edges; what to warn of where something could not be filed."""
        publishing, sums = self._stages.publishing, self._sums
        if not publishing.target.writes:
            return ()
        warnings = publishing.file_events(events)
        self._stages.names.routines().mark_processed(sums.routines, sums.processed - self._log.unread())
        for batch in lineages if publishing.dbt is not None else ():
            warnings += publishing.file_project(batch.lineage.source)
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

    def _shelf(self) -> SpillList[Any]:
        """For what a pass leaves to the next one: in memory where there is but one batch."""
        return SpillList(1 if self._plan.expected <= 1 else 0)
