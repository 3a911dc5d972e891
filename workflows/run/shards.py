"""The lineage of a log, shard by shard: what hangs together is bound, resolved and published together, then let go.

What one shard leaves for the next pass is in a file; what all shards have in common is done between the passes: what
the target lacks is registered when all were bound, what several say of one target is sent at once, what nothing is said
of any more is withdrawn and names are moved when all was published. A log of few templates is one shard, in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from pyspark import SparkContext

from connectors.sink import EdgeCounts
from connectors.source import Schemas
from connectors.spark.history import TRUNCATION_ADVICE
from ingestion.binding.timeline import SchemaEvents
from ingestion.resolution import Resolver
from workflows.config import RunConfig
from workflows.counts import loss_warnings
from workflows.run._large_shards import LargeShard, bind_large
from workflows.run._summaries import LineageSummary, PublishedShard, ShardSums, parse_counts
from workflows.run.bind.binding import Binding, Texts
from workflows.run.execution import DriverExecutor, Executor, Result, executor_for
from workflows.run.group.components import MentionedNames, doubtful_names_by, is_one_shard, most_of_several, shards_of
from workflows.run.group.occurrences import Occurrences
from workflows.run.passes import (
    AfterRegistration,
    BoundShard,
    Listener,
    NamesMet,
    PassContext,
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
from workflows.runtime.progress import Progress, StageProgress
from workflows.runtime.spill import SpillList
from workflows.state.acknowledgements import PublishedState

# Which shards a log is worked on in: those that are bound at once, and those that are too large for that.


@dataclass(frozen=True, slots=True)
class _ShardPlan:
    """The occurrences of each shard, by their numbers; a `large` one goes on in parts of `most` templates."""

    found: Occurrences
    small: Sequence[Sequence[int]]
    large: Sequence[Sequence[int]]
    most: int

    @property
    def expected(self) -> int:
        """About how many shards go on once all are bound."""
        return len(self.small) + sum(1 + len(_templates(self.found, one)) // self.most for one in self.large)

    def unbound(self) -> Iterator[UnboundShard]:
        """The shards that are bound at once."""
        templates = self.found.templates.by_fingerprint
        for numbers in self.small:
            groups = self.found.runs.occurrences(numbers)
            yield UnboundShard({key: templates[key] for key in {one.template for one in groups}}, groups)

    def unbound_large(self) -> Iterator[LargeShard]:
        """The others, whose templates are read as they are needed."""
        for numbers in self.large:
            yield LargeShard(self.found.templates.by_fingerprint, self.found.runs.occurrences(numbers), self.most)


def _plan_of(found: Occurrences, shards: Sequence[Sequence[int]], at_once: int, *, parts: bool) -> _ShardPlan:
    """The plan for `shards` of what a log was `found` to have, which is one shard if it has `at_once` templates.

    `parts`: what hangs together may be bound in parts.
    """
    most = most_of_several(at_once)
    if not parts or is_one_shard(found.runs, at_once):
        return _ShardPlan(found, shards, (), most)
    large = [len(_templates(found, one)) > most for one in shards]
    return _ShardPlan(
        found,
        [one for one, is_large in zip(shards, large, strict=True) if not is_large],
        [one for one, is_large in zip(shards, large, strict=True) if is_large],
        most,
    )


def _templates(found: Occurrences, numbers: Sequence[int]) -> set[str]:
    return {found.runs.templates[number] for number in numbers}


# The stages that go shard by shard.


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What else a log tells: the columns of live databases, and what must be asked of its records.

    `texts` are those of templates, `replaced` the templates that are no more with those of their records now (given
    those that are), `unread` the routines of which not every statement could be read. `whole`: all that the source
    says was read in this run, and what it does not say is not true any more.
    """

    live_columns: Schemas
    texts: Texts
    replaced: Callable[[Collection[str]], Mapping[str, frozenset[str]]]
    unread: Callable[[], frozenset[str]]
    whole: bool = False


@dataclass(slots=True)
class _DriverListener:
    """What is told of a pass goes to the state, and to the progress of the stage that is at work."""

    publishing: Publishing
    progress: StageProgress | None = None

    def on_sending(self, states: Mapping[str, PublishedState]) -> None:
        self.on_acknowledged(states)

    def on_acknowledged(self, states: Mapping[str, PublishedState]) -> None:
        self.publishing.acknowledge(states)

    def on_progress(self, count: int) -> None:
        if self.progress is not None:
            self.progress.advance(count)


@dataclass(frozen=True, slots=True)
class _NamesOfShards:
    """What each shard tells of the relations that may be registered, and of its routines; `shards`: how many do.

    That by the location in which something would be registered.
    """

    facts: SpillList[tuple[RelationFacts, ...]]
    routines: SpillList[Mapping[str, tuple[str, ...]]]
    shards: Counter[str] = field(default_factory=Counter)

    def add(self, summary: NamesMet) -> None:
        """Takes in those of a shard."""
        self.facts.append(summary.facts)
        self.routines.append(summary.routines)
        self.shards.update(summary.locations)

    def register(self, names: NameResolution) -> RegisteredNames:
        """Has those of all shards registered, where the target lacks them."""
        shared = {location for location, count in self.shards.items() if count > 1}
        return names.register(self.facts, shared)

    def outcomes_of(self, registered: RegisteredNames, names: NameResolution) -> Iterator[AfterRegistration]:
        """What each shard is told of that."""
        all_facts = self.facts if registered.refused else repeat(())
        for facts, routines in zip(all_facts, self.routines, strict=False):
            yield AfterRegistration(registered.within(facts), names.resolve_routines(routines))


@dataclass(frozen=True, slots=True)
class OpenStage:
    """A stage that is at work: what is told of its progress, and what is `kept` open until the run ends."""

    progress: StageProgress
    kept: ExitStack


@dataclass(frozen=True, slots=True)
class ShardWork:
    """What the stages share: what a log was `found` to have, what else it tells, and where passes run.

    `expected`: about how many shards there are.
    """

    found: Occurrences
    log: LogFacts
    executor: Executor
    listener: _DriverListener
    expected: int

    def spill(self) -> SpillList[Any]:
        """For what a pass leaves to the next one: in memory where there is but one shard."""
        return SpillList(1 if self.expected <= 1 else 0)


@dataclass(frozen=True, slots=True)
class BoundShards:
    """All shards, bound, and what they name."""

    work: ShardWork
    shards: SpillList[BoundShard]
    names: _NamesOfShards


@dataclass(frozen=True, slots=True)
class ResolvedShards:
    """All shards, resolved; `states`: what to remember of the targets of each, by id, `events`: the DDL of each."""

    work: ShardWork
    shards: SpillList[ResolvedShard]
    states: SpillList[Mapping[str, PublishedState | None]]
    events: SpillList[SchemaEvents]
    sums: ShardSums


@dataclass(frozen=True, slots=True)
class LineageStages:
    """Takes what a log was found to have, gives what became of it, in three stages."""

    config: RunConfig
    progress: Progress
    names: NameResolution
    binding: Binding
    publishing: Publishing
    events: EventSink | None

    def bind(self, found: Occurrences, log: LogFacts, spark: SparkContext | None, opened: OpenStage) -> BoundShards:
        """All occurrences, bound, and from now on worked on by the tasks of `spark`, if these can do it.

        Raises TargetDown and ConfigError.
        """
        stated = self.binding.stated_schemas(log.live_columns)
        resolver = self.names.resolver()
        plan = self._plan(found, resolver)
        listener = _DriverListener(self.publishing)
        driver = self._driver(stated, resolver, log.texts, listener)
        executor: Executor = driver
        if spark is not None:
            executor = opened.kept.enter_context(executor_for(driver, spark, plan.expected, stated))
        work = ShardWork(found, log, executor, listener, plan.expected)
        bound = BoundShards(work, work.spill(), _NamesOfShards(work.spill(), work.spill()))

        def on_result(result: Result[BoundShard, NamesMet]) -> None:
            bound.shards.append(result.left)
            bound.names.add(result.summary)
            opened.progress.advance(result.summary.flows)

        executor.map(bind_shard, plan.unbound(), repeat(None), on_result)
        for large in plan.unbound_large():
            bind_large(large, executor, driver, on_result)
        return bound

    def _driver(
        self, stated: tuple[Schemas, ...], resolver: Resolver, texts: Texts, listener: Listener
    ) -> DriverExecutor:
        """This process as the one that passes run in, given what was `stated` of the schemas before the log."""
        return DriverExecutor(
            PassContext(
                config=self.config,
                options=self.publishing.options,
                target=self.publishing.target,
                names=self.names,
                binding=self.binding,
                before=self.binding.providers(stated, resolver),
                resolver=resolver,
                texts=texts,
                listener=listener,
            )
        )

    def _plan(self, found: Occurrences, resolver: Resolver) -> _ShardPlan:
        runs, planner = found.runs, self.binding.planner
        whole = self.publishing.dbt is not None  # what a project and a log say is compared as a whole
        most = len(runs) if whole else self.config.headwater.templates_at_once
        # What a planner settles shows columns of what it is written into.
        mentioned = MentionedNames(found.names, found.plans if planner is None else None)
        shards = shards_of(runs, mentioned, most, doubtful_names_by(resolver), self.names.settings.defaults)
        return _plan_of(found, shards, most, parts=planner is None)

    def resolve(self, bound: BoundShards, progress: StageProgress) -> ResolvedShards:
        """What all shards say of entities, once what the target lacks was registered. Raises TargetDown."""
        work, sums = bound.work, ShardSums(self.names.settings)
        resolved = ResolvedShards(work, work.spill(), work.spill(), work.spill(), sums)
        registered = bound.names.register(self.names)
        sums.add_registered(registered.made)

        def on_result(result: Result[ResolvedShard, LineageSummary]) -> None:
            resolved.shards.append(result.left)
            resolved.states.append(result.summary.states)
            resolved.events.append(result.summary.ddl)
            sums.add_lineage(result.summary)
            progress.advance(len(result.summary.statuses))

        given = bound.names.outcomes_of(registered, self.names)
        work.executor.map(resolve_shard, bound.shards, given, on_result)
        return resolved

    def publish(self, resolved: ResolvedShards, progress: StageProgress) -> LineageResult:
        """What became of all that was said, and of what is filed beside it.

        Raises TargetDown, ConfigError, LeaseHeld and Interrupted; what was acknowledged until then is remembered.
        """
        work, sums, publishing = resolved.work, resolved.sums, self.publishing
        queries = LogQueries(len(resolved.shards))
        replaced = work.log.replaced(work.found.templates.by_fingerprint.keys())
        progress.expect(sums.requests)
        work.listener.progress = progress
        # of a list that is whole all is ended that it says no more, but not what it says and was given up on
        everything = work.log.whole and not work.found.templates.failures and not sums.failures
        complete = frozenset(sums.complete - sums.failures.keys()) | (
            publishing.published_keys() if everything else frozenset()
        )
        scope = publishing.scope(complete, replaced, resolved.events)
        several = (resolved.shards[number].lineage for number in sorted(sums.sharing))
        shared = publishing.publish_shared(several, frozenset(sums.shared), scope)
        sums.add_shared(shared)
        tells = self.events is not None or publishing.options.dry_run
        orders = (publishing.order(one, scope, shared, tells_requests=tells) for one in resolved.states)

        def on_result(result: Result[None, PublishedShard]) -> None:
            published = result.summary
            sums.add_published(published)
            publishing.show(published.requests)
            self._send_events(published, sums)
            queries.add(published.queries)

        work.executor.map(send_shard, resolved.shards, orders, on_result)
        sums.add_edges(publishing.withdraw(sums.targets, scope))
        return _lineage_result(work.found, sums, self._file_others(resolved, queries))

    def _send_events(self, published: PublishedShard, sums: ShardSums) -> None:
        if self.events is not None:
            with self.progress.stage("events") as progress:
                report = self.events.send(published.stood, published.entities)
                progress.advance(report.sent)
            sums.events += report

    def _file_others(self, resolved: ResolvedShards, queries: LogQueries) -> tuple[str, ...]:
        """Files what stands beside the edges; what to warn of where something could not be filed."""
        publishing, sums = self.publishing, resolved.sums
        if not publishing.target.writes:
            return ()
        warnings = publishing.file_events(resolved.events)
        unmarked = self.names.routines().mark_processed(sums.routines, sums.processed - resolved.work.log.unread())
        sums.add_edges(EdgeCounts(unmarked=unmarked))
        for shard in resolved.shards if publishing.dbt is not None else ():
            warnings += publishing.file_project(shard.lineage.source)
        return (*warnings, *publishing.file_queries(queries))


def _lineage_result(found: Occurrences, sums: ShardSums, filed: tuple[str, ...]) -> LineageResult:
    templates = found.templates
    warnings = (
        *sums.doubtful.warnings(),
        *sums.events.warnings(),
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
        succeeded=frozenset(found.runs.templates) - sums.dead.keys(),
        sourceless=sums.sourceless,
    )
