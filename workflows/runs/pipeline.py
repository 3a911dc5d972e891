"""The stages of a run in their order, and what each gives the next: statements, templates, lineage, what was published.

| stage | room | takes | gives |
|---|---|---|---|
| read | `reading` | the source | Statements |
| parse, group | `templates` | Statements | Templates, the groups of their runs |
| bind, resolve | `lineage` | these, in batches | LineageSource, ResolvedNames, of both a SourceLineage |
| publish, events | `publishing` | SourceLineage, in batches | PublishedLineage |
| loads | `loads` | Statements, Templates | what was filed of single loads |
| remember | `state` | all of them | RunCheckpoint, dead letters |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain

from pyspark.sql import SparkSession

from connectors.dbt.model_statements import DbtProject
from connectors.postgres import PostgresDatabase
from ingestion.symbolic import Symbolic
from workflows.config import RunConfig
from workflows.config.namespaces import source_settings
from workflows.control.options import RunOptions
from workflows.control.progress import Progress
from workflows.lineage.entity_resolution import NameResolution
from workflows.lineage.planner import texts_in
from workflows.lineage.stage import Binding
from workflows.publishing.dbt.project import DbtPublishing
from workflows.publishing.openlineage_events import EventSink
from workflows.publishing.stage import Publishing
from workflows.publishing.warnings import ahead_of_time, replay_warnings
from workflows.reading.called_routines import unread_routines
from workflows.reading.dbt_definitions import main_database
from workflows.reading.journal_frames import replaced_templates
from workflows.reading.reader import Statements
from workflows.reading.stage import Reading, texts_of_the_dead
from workflows.report.counts import RunCounts
from workflows.runs.batches import LineageStages, LogFacts
from workflows.runs.checkpoint import LineageResult, checkpoint_of
from workflows.runs.dead_letters import check_dead_letters, write_dead_letters
from workflows.runs.spark_history import history_warnings
from workflows.runtime.spark import SparkStart
from workflows.state.log_queries import QueryChanges
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget
from workflows.templates.parsing import ParsedTemplate, Parsing, TemplateKey
from workflows.templates.stage import Occurrences, Sessions, TemplateParsing, Templates, occurrences


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with: the catalog, the live database where there is one, and what earlier runs left."""

    spark: SparkStart
    target: RunTarget
    database: PostgresDatabase | None
    memory: WorkflowState
    project: DbtProject | None = None


class Pipeline:
    """One run over one source, into one target."""

    def __init__(self, config: RunConfig, options: RunOptions, progress: Progress, context: RunContext) -> None:
        """Raises ConfigError where nothing says what the SQL of the source is."""
        target, database, memory = context.target, context.database, context.memory
        probe = options.failpoints.probe
        live = database.name if database is not None else main_database(context.project)
        settings = source_settings(config, live)
        known = memory.templates
        held = config.templates_at_once
        if options.extent.dead:
            known = {key: template for key, template in known.items() if template.symbolic is not None}
        parsing = Parsing(config.limits, config.threads, config.parser, probe)
        self._config, self._options, self._progress = config, options, progress
        self._spark, self._target, self._memory = context.spark, target, memory
        self._names = NameResolution(config, settings, target, probe)
        self._reading = Reading(config, settings, target.platform, context.project or database, memory.past)
        self._parsing = TemplateParsing(parsing, known, self._keep, held)
        binding = Binding(config, settings, database, memory.remember, probe)
        dbt = None
        if context.project is not None and config.dbt is not None:
            registers = config.registers_tables
            dbt = DbtPublishing(context.project, config.dbt, config.source.service, settings, registers)
        publishing = Publishing(config, options, target, memory, self._names, dbt)
        self._events = EventSink.of(config, options, memory)
        self._stages = LineageStages(config, progress, self._names, binding, publishing, self._events)

    def carry_out(self) -> tuple[RunCounts, tuple[str, ...]]:
        """What became of every statement, and what to warn of.

        Raises ConfigError, TargetDown, LeaseHeld, SparkLost and Interrupted; what was done until then is remembered.
        """
        if not self._options.dry_run:
            check_dead_letters(self._config.dead_letters)
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
            queries, doubts = self._measure(spark, statements, lineage) if self._config.steps.entities else (None, ())
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
            probe, held = self._options.failpoints.probe, self._config.templates_at_once
            found = occurrences(statements.whole, templates, probe, sessions, held)
            stage.advance(len(found.runs))
        return found

    def _file_loads(self, statements: Statements, lineage: LineageResult) -> tuple[str, ...]:
        """Files which loads failed, and how many rows others wrote; what to warn of."""
        known = statements.survey.failed_loads + statements.survey.measured_loads
        if not known:
            return ()
        from workflows.loads.stage import LogLoads

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
        from workflows.entity_lineage.log.stage import LogMetrics

        with self._progress.stage("metrics") as stage:
            resolver = self._names.resolver()
            before = self._stages.binding.schemas_before(statements.live_columns, resolver)()
            symbolic = self._symbolic(lineage)
            metrics = LogMetrics(self._config, self._names.settings, self._options, self._target, self._memory)
            queries, warnings = metrics.carry_out(spark, statements, symbolic, (before, resolver))
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
            write_dead_letters(self._config.dead_letters, self._memory.open_letters())
