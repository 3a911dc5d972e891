"""The stages of a run in their order, and what each gives the next: statements, templates, lineage, what was published.

| stage | room | takes | gives |
|---|---|---|---|
| read | `reading` | the source | Statements |
| parse, group | `templates` | Statements | Templates, the groups of their runs |
| bind, resolve | `lineage` | these | LineageSource, ResolvedNames, of both a SourceLineage |
| publish, events | `publishing` | SourceLineage | PublishedLineage |
| remember | `state` | all of them | RunCheckpoint, dead letters |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from connectors.dbt.model_statements import DbtProject
from connectors.postgres import PostgresDatabase
from connectors.spark_history import TRUNCATION_ADVICE
from ingestion.model import ProblemKind
from workflows.config import RunConfig
from workflows.config.namespaces import source_settings
from workflows.control.options import RunOptions
from workflows.control.progress import Progress
from workflows.lineage.entity_resolution import NameResolution, ResolvedNames
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.outcomes import StatementStatus
from workflows.lineage.source_lineage import SourceLineage, lineage_of
from workflows.lineage.stage import Binding
from workflows.publishing.dbt.project import DbtPublishing
from workflows.publishing.name_warnings import name_warnings
from workflows.publishing.openlineage_events import EventSink
from workflows.publishing.stage import PublishedLineage, Publishing
from workflows.publishing.warnings import ahead_of_time, replay_warnings
from workflows.reading.called_routines import unread_routines
from workflows.reading.dbt_definitions import main_database
from workflows.reading.journal_frames import replaced_templates
from workflows.reading.reader import Statements
from workflows.reading.stage import Reading, texts_of_the_dead
from workflows.report.counts import RunCounts, total
from workflows.report.losses import loss_warnings
from workflows.runs.checkpoint import LineageResult, checkpoint_of
from workflows.runs.counting import agreement_counts, name_counts, parse_counts, statement_counts
from workflows.runs.dead_letters import check_dead_letters, write_dead_letters
from workflows.runs.spark_history import history_warnings
from workflows.runtime.spark import spark_session
from workflows.state.log_queries import QueryChanges
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget
from workflows.templates.grouping import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate, Parsing, TemplateKey
from workflows.templates.stage import Sessions, TemplateParsing, Templates, occurrences

Groups = tuple[OccurrenceGroup, ...]


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with: the catalog, the live database where there is one, and what earlier runs left."""

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
        if options.extent.dead:
            known = {key: template for key, template in known.items() if template.symbolic is not None}
        parsing = Parsing(config.limits, config.threads, config.parser, probe)
        self._config, self._options, self._progress = config, options, progress
        self._target, self._memory = target, memory
        self._names = NameResolution(config, settings, target, probe)
        self._reading = Reading(config, settings, target.platform, context.project or database, memory.past)
        self._parsing = TemplateParsing(parsing, known, self._keep)
        self._binding = Binding(config, settings, database, memory.remember, probe)
        dbt = None
        if context.project is not None and config.dbt is not None:
            registers = config.registers_tables
            dbt = DbtPublishing(context.project, config.dbt, config.source.service, settings, registers)
        self._publishing = Publishing(config, options, target, memory, self._names, dbt)
        self._events = EventSink.of(config, options, memory)

    def carry_out(self) -> tuple[RunCounts, tuple[str, ...]]:
        """What became of every statement, and what to warn of.

        Raises ConfigError, TargetDown, LeaseHeld, SparkLost and Interrupted; what was done until then is remembered.
        """
        if not self._options.dry_run:
            check_dead_letters(self._config.dead_letters)
        with ExitStack() as kept:
            with self._progress.stage("start spark"):
                spark = kept.enter_context(spark_session(self._config.spark, self._options.drain))
            with self._progress.stage("read") as stage:
                statements = kept.enter_context(self._reading.statements(spark))
                stage.advance(statements.counts.records_read)
            lineage = LineageResult()
            if statements.survey.bearing or self._memory.must_rebind:
                lineage = self._lineage(statements)
            counts = statements.counts + lineage.counts
            warnings = (*ahead_of_time(statements.survey.ahead), *lineage.warnings)
            warnings += tuple(history_warnings(statements, counts.dead))
            queries, doubts = self._measure(spark, statements, lineage) if self._config.steps.entities else (None, ())
            warnings += doubts
            if not self._options.dry_run:
                self._remember(statements, lineage, queries)
        if self._events is not None and counts.statements:
            self._events.conclude(counts)
        return counts, warnings

    def _lineage(self, statements: Statements) -> LineageResult:
        texts = texts_of_the_dead(statements.frame, self._memory.letters) if self._options.extent.dead else {}
        templates, groups = self._group(statements, self._parse(statements, texts))
        source, names = self._bind(statements, templates, groups)
        lineage, published = self._publish(statements, source, names)
        warnings = (
            *replay_warnings(len(texts)),
            *name_warnings(names, source.log, self._names.settings),
            *self._send_events(lineage, published, names),
            *loss_warnings("routines could not be filed", names.routines.failures.values()),
            *self._file_others(statements, lineage, published, names),
            *([TRUNCATION_ADVICE] if source.problems()[ProblemKind.INCOMPLETE] else []),
        )
        dead = {one.group.template: one.reason for one in published.outcomes if one.status is StatementStatus.DEAD}
        met = {group.template for group in groups if group.fresh}
        counts = (
            parse_counts(templates.by_fingerprint, met, templates.parsed),
            statement_counts(published.outcomes),
            RunCounts(edges=published.counts),
            name_counts(names.entities, names.registered),
            agreement_counts(lineage.requests),
        )
        return LineageResult(
            counts=total(counts),
            warnings=warnings,
            templates=templates.by_fingerprint,
            dead=dead,
            failures={**templates.failures, **lineage.template_failures},
            succeeded=frozenset(group.template for group in groups) - set(dead),
        )

    def _keep(self, templates: Sequence[ParsedTemplate]) -> None:
        """Remembers what was parsed: whatever becomes of this run, the next one need not parse it."""
        self._memory.remember(templates)
        self._options.failpoints.reach("parse")

    def _parse(self, statements: Statements, texts: Mapping[TemplateKey, str]) -> Templates:
        with self._progress.stage("parse") as stage:
            expected, known_too = statements.survey.templates, self._options.extent.full
            return self._parsing.parse(statements.frame, expected, texts, stage.advance, known_too=known_too)

    def _group(self, statements: Statements, templates: Templates) -> tuple[Templates, Groups]:
        with self._progress.stage("group") as stage:
            sessions = Sessions(self._names.settings.defaults, statements.session_changes, statements.bearing)
            left, groups = occurrences(statements.whole, templates, self._options.failpoints.probe, sessions)
            stage.advance(len(groups))
        return left, groups

    def _bind(
        self, statements: Statements, templates: Templates, groups: Groups
    ) -> tuple[LineageSource, ResolvedNames]:
        resolver = self._names.resolver()
        with self._progress.stage("bind") as stage:
            before = self._binding.schemas_before(statements.live_columns, resolver)
            source = self._binding.bind(templates.by_fingerprint, groups, before, statements.frame)
            stage.advance(len(source.flows))
        with self._progress.stage("resolve") as stage:
            names = self._names.resolve(source, resolver)
            stage.advance(len(names.entities.statuses))
        return source, names

    def _publish(
        self, statements: Statements, source: LineageSource, names: ResolvedNames
    ) -> tuple[SourceLineage, PublishedLineage]:
        past, window = self._memory.past, self._memory.window
        replaced = replaced_templates(statements.frame, past, source.templates, window)
        with self._progress.stage("publish") as stage:
            lineage = lineage_of(source, names.entities, names.routines)
            stage.expect(len(lineage.requests))
            return lineage, self._publishing.publish(lineage, replaced, stage.advance)

    def _send_events(
        self, lineage: SourceLineage, published: PublishedLineage, names: ResolvedNames
    ) -> tuple[str, ...]:
        if self._events is None:
            return ()
        with self._progress.stage("events") as stage:
            entities = {entity.id: entity for entity in names.entities.resolved.values()}
            stood = [one for one in lineage.requests if not published.edges[one.edge.key].overruled]
            sent, failures = self._events.send(stood, entities)
            stage.advance(sent)
        return loss_warnings("events could not be made or sent", failures)

    def _file_others(
        self, statements: Statements, lineage: SourceLineage, published: PublishedLineage, names: ResolvedNames
    ) -> tuple[str, ...]:
        if not self._target.writes:
            return ()
        unread = unread_routines(statements.frame) if statements.survey.of_routines else frozenset[str]()
        return self._publishing.file_others(lineage, published, names, unread)

    def _measure(
        self, spark: SparkSession, statements: Statements, lineage: LineageResult
    ) -> tuple[QueryChanges, tuple[str, ...]]:
        """What the SELECTs of the log measure, once all tables are in the catalog."""
        from workflows.entity_lineage.log.stage import LogMetrics

        with self._progress.stage("metrics") as stage:
            resolver = self._names.resolver()
            before = self._binding.schemas_before(statements.live_columns, resolver)
            parsed = {**{one.fingerprint: one for one in self._memory.templates.values()}, **lineage.templates}
            symbolic = [one.symbolic for one in parsed.values() if one.symbolic is not None]
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
