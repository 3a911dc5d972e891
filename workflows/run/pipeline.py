"""The stages of a run in their order, and what each gives the next: statements, templates, lineage, what was
published.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from connectors.dbt.model_statements import DbtProject
from connectors.records import UNSUPPORTED
from connectors.source import OpenSource
from ingestion.analysis.symbolic import Symbolic
from ingestion.model.outcomes import Outcome
from ingestion.parsing.templates import ParsedTemplate, TemplateKey
from workflows.config import RunConfig
from workflows.config.namespaces import source_settings
from workflows.counts import Pointer, RunCounts, RunSummary, Tally, most_frequent
from workflows.run.bind.binding import Binding, texts_in
from workflows.run.group.occurrences import Occurrences, Sessions, occurrences
from workflows.run.parse.tasks import Parsing
from workflows.run.parse.templates import TemplateParsing, Templates
from workflows.run.publish.dbt_project import DbtPublishing
from workflows.run.publish.openlineage_events import EventSink
from workflows.run.publish.publishing import Publishing
from workflows.run.publish.warnings import ahead_of_time, replay_warnings, warnings_of
from workflows.run.read.called_routines import unread_routines
from workflows.run.read.journal_frames import replaced_templates
from workflows.run.read.reader import Reading, Statements, texts_of_the_dead
from workflows.run.read.sources import open_source
from workflows.run.remember.checkpoint import LineageResult, check_dead_letters, checkpoint_of, write_dead_letters
from workflows.run.resolve.resolution import NameResolution
from workflows.run.shards import LineageStages, LogFacts
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import Progress
from workflows.runtime.spark import SparkStart
from workflows.state.lease import Lease
from workflows.state.log_queries import QueryChanges
from workflows.state.runs import last_done
from workflows.state.store import StateStore
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, open_target

# What a run over a Spark history says of what it could make nothing of.

_SHOWN = 5


def history_warnings(statements: Statements, dead: Tally) -> Iterator[str]:
    """The files that are no event logs, and the writes that were not understood, by kind."""
    strays = statements.counts.skipped.get(Outcome.NOT_AN_EVENT_LOG, 0)
    if strays:
        found = (
            statements.frame.where(F.col("skipped") == Outcome.NOT_AN_EVENT_LOG)
            .select("file")
            .orderBy("file")
            .limit(_SHOWN)
        )
        names = ", ".join(row["file"] for row in found.collect())
        others = f", and {strays - _SHOWN:,} more" if strays > _SHOWN else ""
        files = _count_of(strays, "file")
        yield f"{files} beside the event logs {'is' if strays == 1 else 'are'} none: {names}{others}"
    kinds = {reason.removeprefix(UNSUPPORTED): n for reason, n in dead.items() if reason.startswith(UNSUPPORTED)}
    if kinds:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in most_frequent(kinds, len(kinds)))
        yield f"{_count_of(sum(kinds.values()), 'write')} not understood: {listed}"


def _count_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# The stages of a run in their order, and what each gives the next: statements, templates, lineage, what was
# published.


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with: its source, the catalog, and what earlier runs left."""

    spark: SparkStart
    target: RunTarget
    source: OpenSource
    memory: WorkflowState
    project: DbtProject | None = None


class Pipeline:
    """One run over one source, into one target."""

    def __init__(self, config: RunConfig, options: RunOptions, progress: Progress, context: RunContext) -> None:
        """Raises ConfigError where nothing says what the SQL of the source is."""
        target, source, memory = context.target, context.source, context.memory
        probe = options.failpoints.probe
        settings = source_settings(config, source.database)
        known = memory.templates
        held = config.headwater.templates_at_once
        if options.extent.dead:
            known = {key: template for key, template in known.items() if template.symbolic is not None}
        parsing = Parsing(config.limits, config.lineage.threads, config.lineage.parser, probe)
        self._config, self._options, self._progress = config, options, progress
        self._spark, self._target, self._memory = context.spark, target, memory
        self._names = NameResolution(config, settings, target, probe)
        self._reading = Reading(config, settings, target.platform, source, memory.past)
        self._parsing = TemplateParsing(parsing, known, self._keep, held)
        binding = Binding(config, settings, source.planner, memory.remember, probe)
        dbt = None
        if context.project is not None and config.dbt is not None:
            registers = config.registers_tables
            dbt = DbtPublishing(context.project, config.dbt, config.source.service_name, settings, registers)
        publishing = Publishing(config, options, target, memory, self._names, dbt)
        self._events = EventSink.of(config, options, memory)
        self._stages = LineageStages(config, progress, self._names, binding, publishing, self._events)

    def carry_out(self) -> tuple[RunCounts, tuple[str, ...]]:
        """What became of every statement, and what to warn of.

        Raises ConfigError, TargetDown, LeaseHeld, SparkLost and Interrupted; what was done until then is remembered.
        """
        if not self._options.dry_run:
            check_dead_letters(self._config.headwater.dead_letters)
        with ExitStack() as kept:
            with self._progress.stage("start spark"):
                spark = kept.enter_context(self._spark.session(self._options.drain))
            with self._progress.stage("read") as stage:
                statements = kept.enter_context(self._reading.statements(spark))
                stage.advance(statements.counts.records_read)
            lineage = LineageResult()
            if statements.survey.bearing or self._memory.must_rebind:
                lineage = self._lineage(statements)
            counts = statements.counts + lineage.counts
            warnings = (*ahead_of_time(statements.survey.ahead), *lineage.warnings)
            warnings += tuple(history_warnings(statements, counts.dead))
            warnings += self._file_loads(statements, lineage)
            queries, doubts = (
                self._measure(spark, statements, lineage) if self._config.lineage.process_entities else (None, ())
            )
            warnings += doubts
            if not self._options.dry_run:
                self._remember(statements, lineage, queries)
        if self._events is not None and counts.statements:
            self._events.conclude(counts)
        return counts, warnings

    def _lineage(self, statements: Statements) -> LineageResult:
        texts = texts_of_the_dead(statements.frame, self._memory.letters) if self._options.extent.dead else {}
        found = self._group(statements, self._parse(statements, texts))
        result = self._stages.carry_out(found, self._facts(statements), statements.frame.sparkSession.sparkContext)
        return replace(result, warnings=(*replay_warnings(len(texts)), *result.warnings))

    def _facts(self, statements: Statements) -> LogFacts:
        """What else the log tells, as far as it is asked."""
        past, window = self._memory.past, self._memory.window
        of_routines = statements.survey.of_routines
        return LogFacts(
            statements.live_columns,
            texts_in(statements.frame),
            lambda current: replaced_templates(statements.frame, past, current, window),
            lambda: unread_routines(statements.frame) if of_routines else frozenset[str](),
        )

    def _keep(self, templates: Sequence[ParsedTemplate]) -> None:
        """Remembers what was parsed: whatever becomes of this run, the next one need not parse it."""
        self._memory.remember(templates)
        self._options.failpoints.reach("parse")

    def _parse(self, statements: Statements, texts: Mapping[TemplateKey, str]) -> Templates:
        with self._progress.stage("parse") as stage:
            expected, known_too = statements.survey.templates, self._options.extent.full
            return self._parsing.parse(statements.frame, expected, texts, stage.advance, known_too=known_too)

    def _group(self, statements: Statements, templates: Templates) -> Occurrences:
        with self._progress.stage("group") as stage:
            sessions = Sessions(self._names.settings.defaults, statements.session_changes, statements.bearing)
            probe, held = self._options.failpoints.probe, self._config.headwater.templates_at_once
            found = occurrences(statements.whole, templates, probe, sessions, held)
            stage.advance(len(found.runs))
        return found

    def _file_loads(self, statements: Statements, lineage: LineageResult) -> tuple[str, ...]:
        """Files which loads failed, and how many rows others wrote; what to warn of."""
        known = statements.survey.failed_loads + statements.survey.measured_loads
        if not known:
            return ()
        from workflows.run.publish.loads import LogLoads

        probe = self._options.failpoints.probe
        loads = LogLoads(self._config, self._names.settings, self._target, probe, lambda: self._symbolic(lineage))
        if not loads.wanted:
            return ()
        with self._progress.stage("loads") as stage:
            warnings = loads.carry_out(statements, lineage.templates, self._names.resolver())
            stage.advance(known)
        return warnings

    def _symbolic(self, lineage: LineageResult) -> Iterator[Symbolic]:
        """What is known of all statements, those of earlier runs too."""
        known = self._memory.templates
        before_now = (known[key] for key in known if key[0] not in lineage.templates)
        parsed = chain(before_now, lineage.templates.values())
        return (one.statement() for one in parsed if one.symbolic is not None)

    def _measure(
        self, spark: SparkSession, statements: Statements, lineage: LineageResult
    ) -> tuple[QueryChanges, tuple[str, ...]]:
        """What the SELECTs of the log measure, once all tables are in the catalog."""
        from workflows.run.publish.log_metrics import LogMetrics

        with self._progress.stage("metrics") as stage:
            resolver = self._names.resolver()
            before = self._stages.binding.schemas_before(statements.live_columns, resolver)()
            symbolic = self._symbolic(lineage)
            metrics = LogMetrics(self._config, self._names.settings, self._options, self._target, self._memory)
            queries, warnings = metrics.run(spark, statements, symbolic, (before, resolver))
            stage.advance(len(queries.now))
        return queries, warnings

    def _remember(self, statements: Statements, lineage: LineageResult, queries: QueryChanges | None) -> None:
        with self._progress.stage("remember"):
            checkpoint = checkpoint_of(statements, lineage, self._memory, self._options.run_id)
            checkpoint = replace(checkpoint, queries=queries)
            self._options.failpoints.reach("commit")
            with self._options.drain.hold():
                self._memory.commit(checkpoint)
            self._options.failpoints.reach("committed")
            write_dead_letters(self._config.headwater.dead_letters, self._memory.open_letters())


# One run between its lease and its end: everything it works with is opened, and its stages are carried out.


@dataclass(frozen=True, slots=True)
class BegunRun:
    """What stands when a run has begun, at `started` (seconds since the epoch): Spark may be starting still."""

    started: float
    store: StateStore
    lease: Lease
    spark: SparkStart
    project: DbtProject | None


def run_stages(config: RunConfig, options: RunOptions, progress: Progress, begun: BegunRun) -> RunSummary:
    """What became of every statement of a run that has `begun`, until now.

    Raises what the stages raise, and Unaccounted where the counts do not add up.
    """
    store, lease = begun.store, begun.lease
    with (
        open_source(config, begun.project) as source,
        open_target(config, options.run_id, dry_run=options.dry_run) as target,
    ):
        memory = WorkflowState(store, lease, _dry_run_config(config) if options.dry_run else config, options.extent)
        context = RunContext(begun.spark, target, source, memory, begun.project)
        counts, warnings = Pipeline(config, options, progress, context).carry_out()
    counts.check_conservation()
    with store.read() as connection:
        before = last_done(connection, config.workflow)
    return RunSummary(
        run_id=options.run_id,
        workflow=config.origin,
        started=begun.started,
        ended=time.time(),
        counts=counts,
        seconds_by_stage=progress.seconds_by_stage,
        where_to_look=_where_to_look(config, options, target, counts),
        warnings=(*warnings_of(config, counts, before), *warnings),
        dry_run=options.dry_run,
    )


def _dry_run_config(config: RunConfig) -> RunConfig:
    """What a dry run leaves in a shared folder nobody would remove: its state is thrown away."""
    return config.with_value("headwater.state.folder", None)


def _where_to_look(config: RunConfig, options: RunOptions, target: RunTarget, counts: RunCounts) -> tuple[Pointer, ...]:
    if counts.dead_total and not options.dry_run:
        return (*target.where, Pointer("dead letters", str(config.headwater.dead_letters)))
    return target.where
