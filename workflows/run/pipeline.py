"""The stages of a run in their order, and what each gives to those after it: STAGES lists them, and can be printed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar, cast

from pyspark.sql import DataFrame, SparkSession

from connectors.dbt.model_statements import DbtProject
from connectors.sink import EdgeCounts
from connectors.source import OpenSource
from ingestion.analysis.symbolic import Symbolic
from ingestion.dialects import dialect_of
from ingestion.model.outcomes import Outcome
from ingestion.parsing.templates import ParsedTemplate
from workflows.config import RunConfig
from workflows.config.namespaces import dialect_name, source_settings
from workflows.counts import Pointer, RunCounts, RunSummary
from workflows.run.bind.binding import Binding, texts_in
from workflows.run.group.occurrences import Occurrences, Sessions, occurrences
from workflows.run.parse.tasks import Parsing
from workflows.run.parse.templates import TemplateParsing, Templates
from workflows.run.publish.dashboards import AssetFiling, FiledAssets
from workflows.run.publish.dbt_project import DbtPublishing
from workflows.run.publish.gathered_rows import GatheredRows, gathered_rows
from workflows.run.publish.loads import LogLoads, keeps_loads
from workflows.run.publish.openlineage_events import EventSink
from workflows.run.publish.publishing import Publishing
from workflows.run.publish.run_records import OpenStatements, RunRecords, add_writes, keeps_runs
from workflows.run.publish.stale_edges import RunEnd
from workflows.run.publish.value_rows import FilledTables
from workflows.run.publish.warnings import (
    ahead_of_time,
    history_warnings,
    malformed_warnings,
    other_dialect_warnings,
    replay_warnings,
    warnings_of,
    window_warnings,
)
from workflows.run.read.called_routines import unread_routines
from workflows.run.read.journal_frames import replaced_templates
from workflows.run.read.reader import Reading, Statements, texts_of_the_dead
from workflows.run.read.sources import open_source
from workflows.run.remember.checkpoint import LineageResult, check_dead_letters, checkpoint_of, write_dead_letters
from workflows.run.resolve.resolution import NameResolution
from workflows.run.shards import BoundShards, LineageStages, LogFacts, OpenStage, ResolvedShards
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import Progress
from workflows.runtime.spark import SparkStart
from workflows.state.journal import position_of
from workflows.state.lease import Lease
from workflows.state.log_queries import QueryChanges
from workflows.state.runs import last_done
from workflows.state.store import StateStore
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, open_target

logger = logging.getLogger(__name__)

Product = TypeVar("Product")


class _Products:
    """What the stages of a run have made so far, by type."""

    def __init__(self, values: Mapping[type, object] | None = None) -> None:
        self._values = values or {}

    def __getitem__(self, kind: type[Product]) -> Product:
        return cast(Product, self._values[kind])

    def get(self, kind: type[Product]) -> Product | None:
        """One that a stage made only where it was wanted."""
        return cast("Product | None", self._values.get(kind))

    def has(self, kinds: Iterable[type]) -> bool:
        """Whether all of these were made."""
        return all(kind in self._values for kind in kinds)

    def with_products(self, made: Mapping[type, object]) -> _Products:
        """These and others."""
        return _Products({**self._values, **made})

    def taken_by(self, stages: Iterable[_Stage]) -> _Products:
        """Those that these stages take: what no later stage of a run takes is let go."""
        taken = {kind for stage in stages for kind in (*stage.takes, *stage.may_take)}
        return _Products({kind: value for kind, value in self._values.items() if kind in taken})


@dataclass(frozen=True, slots=True)
class _StageResult:
    """What a stage has made, in the order of what it gives, what it counted, and what to warn of."""

    products: tuple[object, ...] = ()
    counts: RunCounts = field(default_factory=RunCounts)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _RunContext:
    """What a run works with: its source, the catalog, and what earlier runs left."""

    spark: SparkStart
    target: RunTarget
    source: OpenSource
    state: WorkflowState
    project: DbtProject | None = None
    dashboards: AssetFiling | None = None
    filed: FiledAssets = field(default_factory=FiledAssets)


@dataclass(frozen=True, slots=True)
class _RunServices:
    """What the stages of one run are made with."""

    config: RunConfig
    options: RunOptions
    context: _RunContext
    names: NameResolution
    reading: Reading
    parsing: TemplateParsing
    lineage: LineageStages
    as_before: RunCounts | None = None
    """Where nothing is to be read, since nothing has changed since the run before: what it found."""

    @classmethod
    def of(cls, config: RunConfig, options: RunOptions, progress: Progress, context: _RunContext) -> _RunServices:
        """Raises ConfigError where nothing says what the SQL of the source is."""
        target, source, state, project = context.target, context.source, context.state, context.project
        probe = options.failpoints.probe
        settings = replace(source_settings(config, source.database), assets=context.filed.entities)
        known = state.templates
        if options.extent.dead:
            known = {key: template for key, template in known.items() if template.symbolic is not None}
        dbt = None
        if project is not None and config.dbt is not None:
            dbt = DbtPublishing(project, config.dbt, config.source.service_name, settings, config.registers_tables)
        names = NameResolution(config, settings, target, probe)
        publishing = Publishing(config, options, target, state, names, dbt)
        publishing.forget_what_is_gone()

        def keep(templates: Sequence[ParsedTemplate]) -> None:
            # Whatever becomes of this run, the next one need not parse them.
            state.remember(templates)
            options.failpoints.reach("parse")

        return cls(
            config,
            options,
            context,
            names,
            Reading(config, settings, target.platform, source, state.past),
            TemplateParsing(
                Parsing(config.limits, config.lineage.threads, config.lineage.parser, probe),
                known,
                keep,
                config.headwater.templates_at_once,
            ),
            LineageStages(
                config,
                progress,
                names,
                Binding(config, settings, source.planner, state.remember, probe),
                publishing,
                EventSink.of(config, options, state, target.platform),
            ),
        )

    def unless_as_before(self) -> _RunServices:
        """The same, but that it has nothing to read where nothing has changed: then a run on schedule costs no JVM."""
        state = self.context.state
        found = None if state.must_rebind else state.records_of_last_run()
        if found is None or not self.reading.has_nothing_new():
            return self
        records, exporters = found
        return replace(self, as_before=RunCounts(records_read_before=records, exporters=exporters))


def _always(_run: _RunServices, _made: _Products) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Stage:
    """A step of a run: what it takes of what those before it made and gives to those after it, by type.

    Where something that it `takes` was not made it has nothing to do, and its own products are not there either; what
    it `may_take` it does without. `wanted`: whether it has anything to do besides.
    """

    name: str
    takes: tuple[type, ...]
    gives: tuple[type, ...]
    work: Callable[[_RunServices, _Products, OpenStage], _StageResult]
    wanted: Callable[[_RunServices, _Products], bool] = _always
    may_take: tuple[type, ...] = ()

    def __str__(self) -> str:
        taken = [kind.__name__ for kind in self.takes] + [f"{kind.__name__}?" for kind in self.may_take]
        given = [kind.__name__ for kind in self.gives]
        return f"{self.name}: {', '.join(taken) or '-'} -> {', '.join(given) or '-'}"

    def has_work(self, run: _RunServices, made: _Products) -> bool:
        """Whether this run has anything for it to do, after what was made."""
        return made.has(self.takes) and self.wanted(run, made)


# Where a log is as the run before left it, one stage tells so in place of those that read it: Spark is not started, and
# whatever takes what it reads is skipped for lack of that.


def _is_as_before(run: _RunServices, _made: _Products) -> bool:
    return run.as_before is not None


def _is_to_be_read(run: _RunServices, _made: _Products) -> bool:
    return run.as_before is None


def _tell_as_before(run: _RunServices, _made: _Products, _opened: OpenStage) -> _StageResult:
    return _StageResult(counts=run.as_before or RunCounts())


def _start_spark(run: _RunServices, _made: _Products, opened: OpenStage) -> _StageResult:
    return _StageResult((opened.kept.enter_context(run.context.spark.session(run.options.drain)),))


def _read(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    statements = opened.kept.enter_context(run.reading.statements(made[SparkSession]))
    counts = statements.counts
    opened.progress.advance(counts.records_read)
    warnings = (
        *ahead_of_time(statements.statistics.ahead),
        *malformed_warnings(statements),
        *history_warnings(statements),
        *window_warnings(run.config, statements),
        *statements.lacking,
    )
    target = run.context.target
    later = not run.options.dry_run and keeps_loads(target) and keeps_runs(target)
    gathered = gathered_rows(statements, run.names.settings.defaults, opened.kept, are_wanted=later)
    return _StageResult((statements, gathered), counts, warnings)


def _has_lineage(run: _RunServices, made: _Products) -> bool:
    return bool(made[Statements].statistics.with_lineage) or run.context.state.must_rebind


def _parse(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    statements, extent = made[Statements], run.options.extent
    texts = texts_of_the_dead(statements.frame, run.context.state.dead_letters) if extent.dead else {}
    expected, advance = statements.statistics.templates, opened.progress.advance
    templates = run.parsing.parse(statements.frame, expected, texts, advance, known_too=extent.full)
    warnings = (*replay_warnings(len(texts)), *other_dialect_warnings(run.config, templates))
    return _StageResult((templates,), warnings=warnings)


def _group(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    statements = made[Statements]
    dialect = dialect_of(dialect_name(run.config))
    sessions = Sessions(run.names.settings.defaults, dialect, statements.session_changes, statements.with_lineage)
    probe, held = run.options.failpoints.probe, run.config.headwater.templates_at_once
    found = occurrences(statements.whole, made[Templates], probe, sessions, held)
    opened.progress.advance(len(found.runs))
    return _StageResult((found,))


def _bind(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    statements, state = made[Statements], run.context.state
    of_routines = statements.statistics.of_routines
    log = LogFacts(
        statements.live_columns,
        texts_in(statements.frame),
        lambda current: replaced_templates(statements.frame, state.past, current, state.window),
        lambda: unread_routines(statements.frame) if of_routines else frozenset[str](),
        run.config.lineage.is_whole and not statements.counts.dead_total,
    )
    spark = statements.frame.sparkSession.sparkContext
    return _StageResult((run.lineage.bind(made[Occurrences], log, spark, opened),))


def _resolve(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    return _StageResult((run.lineage.resolve(made[BoundShards], opened.progress),))


def _publish(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    result = run.lineage.publish(made[ResolvedShards], opened.progress)
    return _StageResult((result,), result.counts, result.warnings)


def _is_kept(run: _RunServices, _made: _Products) -> bool:
    return not run.options.dry_run


def _remove_stale_edges(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    statements, lineage, state = made[Statements], made[LineageResult], run.context.state
    removal = run.lineage.publishing.stale_edges()
    if removal is None:
        return _StageResult()
    last = statements.statistics.last
    newest = max(filter(None, (state.past.newest, last[0] if last is not None else None)), default=None)
    end = RunEnd(statements.counts + lineage.counts, lineage, newest, run.config.workflow_config.success_threshold)
    removed, warnings = removal.remove(end)
    opened.progress.advance(removed)
    return _StageResult((), RunCounts(edges=EdgeCounts(removed=removed)), warnings)


def _has_dashboards(run: _RunServices, _made: _Products) -> bool:
    return run.context.dashboards is not None and not run.options.dry_run


def _delete_gone_dashboards(run: _RunServices, _made: _Products, opened: OpenStage) -> _StageResult:
    if run.context.dashboards is not None:
        opened.progress.advance(run.context.dashboards.delete_gone())
    return _StageResult()


def _known_loads(made: _Products) -> int:
    statistics = made[Statements].statistics
    return statistics.failed_loads + statistics.measured_loads


def _has_loads(run: _RunServices, made: _Products) -> bool:
    if not _known_loads(made):
        return False
    # that a target keeps none is told where there is nothing else to publish
    target = run.context.target
    return keeps_loads(target) or (target.writes and made[Statements].statistics.commits > 0)


def _file_loads(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    if not keeps_loads(run.context.target):
        commits = made[Statements].statistics.commits
        return _StageResult(warnings=(f"{commits} commits are left out: the target keeps no loads of tables",))
    lineage = made.get(LineageResult) or LineageResult()
    probe, target = run.options.failpoints.probe, run.context.target
    loads = LogLoads(run.config, run.names.settings, target, probe, lambda: _symbolic(run, lineage))
    warnings = loads.file(made[GatheredRows].loads(), lineage.templates, run.names.resolver())
    opened.progress.advance(_known_loads(made))
    return _StageResult(warnings=warnings)


def _symbolic(run: _RunServices, lineage: LineageResult) -> Iterator[Symbolic]:
    """What is known of all statements, those of earlier runs too."""
    known = run.context.state.templates
    before_now = (known[key] for key in known if key[0] not in lineage.templates)
    parsed = chain(before_now, lineage.templates.values())
    return (one.statement() for one in parsed if one.symbolic is not None)


def _wants_metrics(run: _RunServices, _made: _Products) -> bool:
    return run.config.lineage.process_entities


def _measure(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    """What the SELECTs of the log measure, once all tables are in the catalog."""
    from workflows.run.publish.log_metrics import LogMetrics

    statements, resolver = made[Statements], run.names.resolver()
    before = run.lineage.binding.schemas_before(statements.live_columns, resolver)()
    symbolic = _symbolic(run, made.get(LineageResult) or LineageResult())
    metrics = LogMetrics(run.config, run.names.settings, run.options, run.context.target, run.context.state)
    queries, warnings = metrics.run(made[SparkSession], statements, symbolic, (before, resolver))
    opened.progress.advance(len(queries.now))
    return _StageResult((queries,), warnings=warnings)


def _wants_reads(run: _RunServices, _made: _Products) -> bool:
    if not run.config.lineage.process_entities:
        return False
    from workflows.run.publish.reads import keeps_reads

    return keeps_reads(run.context.target)


def _file_reads(run: _RunServices, made: _Products, opened: OpenStage) -> _StageResult:
    """Who reads what without writing, once all tables are in the catalog."""
    from workflows.run.publish.reads import LogReads

    statements, lineage = made[Statements], made.get(LineageResult) or LineageResult()
    selects = statements.counts.skipped.get(Outcome.SELECT, 0)

    def parse(queries: DataFrame) -> Mapping[str, ParsedTemplate]:
        return run.parsing.parse(queries, selects, {}, opened.progress.advance).by_fingerprint

    config, target, past = run.config, run.context.target, run.context.state.past
    reads = LogReads(config, run.names.settings, target, past, run.options.failpoints.probe, parse)
    return _StageResult(warnings=reads.file(statements, lineage.templates, run.names.resolver()))


def _remember(run: _RunServices, made: _Products, _opened: OpenStage) -> _StageResult:
    state, failpoints = run.context.state, run.options.failpoints
    lineage = made.get(LineageResult) or LineageResult()
    checkpoint = checkpoint_of(made[Statements], lineage, state, run.options.run_id)
    checkpoint = replace(checkpoint, queries=made.get(QueryChanges))
    failpoints.reach("commit")
    with run.options.drain.hold():
        state.commit(checkpoint)
    failpoints.reach("committed")
    write_dead_letters(run.config.headwater.dead_letters, state.open_dead_letters())
    return _StageResult()


def _keeps_runs(run: _RunServices, _made: _Products) -> bool:
    return not run.options.dry_run and keeps_runs(run.context.target)


def _tell_open_statements(run: _RunServices, made: _Products, _opened: OpenStage) -> _StageResult:
    """What is dead still, and which tables have no source, once all is committed."""
    config, target, state = run.config, run.context.target, run.context.state
    records = RunRecords(config, run.options, target, time.time())
    lineage = made.get(LineageResult) or LineageResult()
    names = run.names.resolver(), run.names.settings.defaults
    filled = FilledTables(config, names[1], lambda: _symbolic(run, lineage)).writes(
        made[GatheredRows].filling(), names[0]
    )
    writes = {key: dict(reasons) for key, reasons in lineage.sourceless.items()}
    add_writes(writes, filled)
    given = OpenStatements(state.open_dead_letters(), writes, whole=not state.past.known)
    return _StageResult(warnings=records.open_statements(given, names))


STAGES = (
    _Stage("as before", (), (), _tell_as_before, _is_as_before),
    _Stage("start spark", (), (SparkSession,), _start_spark, _is_to_be_read),
    _Stage("read", (SparkSession,), (Statements, GatheredRows), _read),
    _Stage("parse", (Statements,), (Templates,), _parse, _has_lineage),
    _Stage("group", (Statements, Templates), (Occurrences,), _group),
    _Stage("bind", (Statements, Occurrences), (BoundShards,), _bind),
    _Stage("resolve", (BoundShards,), (ResolvedShards,), _resolve),
    _Stage("publish", (ResolvedShards,), (LineageResult,), _publish),
    _Stage("stale edges", (Statements, LineageResult), (), _remove_stale_edges, _is_kept),
    _Stage("dashboards", (), (), _delete_gone_dashboards, _has_dashboards),
    _Stage("loads", (Statements, GatheredRows), (), _file_loads, _has_loads, (LineageResult,)),
    _Stage("metrics", (SparkSession, Statements), (QueryChanges,), _measure, _wants_metrics, (LineageResult,)),
    _Stage("reads", (Statements,), (), _file_reads, _wants_reads, (LineageResult,)),
    _Stage("remember", (Statements,), (), _remember, _is_kept, (LineageResult, QueryChanges)),
    _Stage("open statements", (GatheredRows,), (), _tell_open_statements, _keeps_runs, (LineageResult,)),
)
"""A run: what each stage takes, one before it gives."""


def _run_all(run: _RunServices, progress: Progress) -> tuple[RunCounts, tuple[str, ...]]:
    """What became of every statement, and what to warn of, once all STAGES are through.

    Raises ConfigError, TargetDown, LeaseHeld, SparkLost and Interrupted; what was done until then is remembered.
    """
    if not run.options.dry_run:
        check_dead_letters(run.config.headwater.dead_letters)
    counts, made = RunCounts(), _Products()
    warnings: tuple[str, ...] = ()
    with ExitStack() as kept:
        for number, stage in enumerate(STAGES, 1):
            logger.debug("%s", stage)
            if stage.has_work(run, made):
                with progress.stage(stage.name) as of_stage:
                    result = stage.work(run, made, OpenStage(of_stage, kept))
                counts, warnings = counts + result.counts, warnings + result.warnings
                made = made.with_products(dict(zip(stage.gives, result.products, strict=True)))
            made = made.taken_by(STAGES[number:])
    events = run.lineage.events
    if events is not None and counts.statements:
        warnings = (*warnings, *events.conclude(counts))
    return counts, (*warnings, *run.lineage.publishing.gone_warnings())


# One run between its lease and its end.


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
    with (
        open_source(config, begun.project) as source,
        open_target(config, options.run_id, dry_run=options.dry_run) as target,
        RunRecords(config, options, target, begun.started).around() as records,
    ):
        own = _dry_run_config(config) if options.dry_run else config
        state = WorkflowState(begun.store, begun.lease, own, options.extent)
        context = _with_assets(_RunContext(begun.spark, target, source, state, begun.project), config, options)
        summary = _summary(_RunServices.of(config, options, progress, context).unless_as_before(), progress, begun)
        return replace(summary, warnings=(*summary.warnings, *records.file_end(summary)))


def _summary(run: _RunServices, progress: Progress, begun: BegunRun) -> RunSummary:
    """What all stages came to."""
    config, options, target = run.config, run.options, run.context.target
    counts, warnings = _run_all(run, progress)
    counts.check_conservation()
    with begun.store.read() as connection:
        before, position = last_done(connection, config.workflow), position_of(connection, config.workflow)
    return RunSummary(
        run_id=options.run_id,
        workflow=config.origin,
        started=begun.started,
        ended=time.time(),
        counts=counts,
        seconds_by_stage=progress.seconds_by_stage,
        where_to_look=_where_to_look(config, options, target, counts),
        warnings=(
            *warnings_of(config, counts, before),
            *run.context.filed.warnings,
            *warnings,
            *_losses(config, target, counts),
        ),
        dry_run=options.dry_run,
        kind=options.extent.kind,
        read_until=None if position is None else position.newest,
    )


def _losses(config: RunConfig, target: RunTarget, counts: RunCounts) -> Iterable[str]:
    """What the sink could not hold: where it is the catalog, its version tells."""
    settings = config.sink.config
    return (target.platform.features if settings.writes_to_catalog else settings).losses(counts.edges)


def _with_assets(context: _RunContext, config: RunConfig, options: RunOptions) -> _RunContext:
    """The same with the entities of what the source has that is no table. Raises TargetDown and ConfigError."""
    if context.source.assets is None:
        return context
    filing = AssetFiling(config, context.source.assets(), context.target)
    return replace(context, dashboards=filing, filed=filing.file(options.failpoints.probe))


def _dry_run_config(config: RunConfig) -> RunConfig:
    """What a dry run leaves in a shared folder nobody would remove: its state is thrown away."""
    return config.with_value("headwater.state.folder", None)


def _where_to_look(config: RunConfig, options: RunOptions, target: RunTarget, counts: RunCounts) -> tuple[Pointer, ...]:
    if counts.dead_total and not options.dry_run:
        return (*target.where, Pointer("dead letters", str(config.headwater.dead_letters)))
    return target.where
