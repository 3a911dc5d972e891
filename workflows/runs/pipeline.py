"""The steps of a run: read, parse, group, bind, resolve, publish, remember."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that every PySpark user knows

from connectors.postgres import PostgresDatabase
from connectors.sink import target_batches
from connectors.spark_history import TRUNCATION_ADVICE
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError
from ingestion.isolation import Failure, Isolation
from ingestion.model import ProblemKind
from ingestion.resolution.resolver import Resolver
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.control.options import RunOptions
from workflows.control.progress import Progress
from workflows.lineage.entity_resolution import NameResolution
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.planner import settled_templates, texts_in
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.schema_files import read_schemas
from workflows.lineage.schema_provider import catalog_schemas
from workflows.lineage.table_entities import RelationEntities
from workflows.publishing.ddl_events import publish_ddl_events
from workflows.publishing.delivery import Publisher, PublishResult
from workflows.publishing.openlineage_events import EventSink
from workflows.publishing.query_records import file_log_queries
from workflows.publishing.warnings import ahead_of_time, lost, schemaless
from workflows.reading.called_routines import unread_routines
from workflows.reading.journal_frames import replaced_templates, segments
from workflows.reading.live_sources import live_definitions, spark_catalog
from workflows.reading.reader import Statements, files_done, read_statements
from workflows.report.counts import RunCounts, total
from workflows.runs.counting import fate_counts, name_counts, parse_counts
from workflows.runs.dead_letters import DeadLetterWriter, check_dead_letters, read_again, write_dead_letters
from workflows.runs.spark_history import history_warnings
from workflows.runtime.spark import spark_session
from workflows.state.workflow_state import RunCheckpoint, WorkflowState
from workflows.target import RunTarget, sink_name
from workflows.templates.grouping import OccurrenceGroup, groups, with_namespace
from workflows.templates.names import names_of
from workflows.templates.parsing import ParsedTemplate, Parsing, TemplateKey, given_up, parse_templates

_DEFAULT_DATABASE = "default"
_TEMPLATES_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class _LineageResult:
    """What came of the statements: counts, and the fates of their templates (by fingerprint)."""

    counts: RunCounts = field(default_factory=RunCounts)
    templates: Mapping[str, ParsedTemplate] = field(default_factory=dict)
    dead: Mapping[str, str] = field(default_factory=dict)  # with the reason
    failures: Mapping[str, Failure] = field(default_factory=dict)  # of those that were parsed
    settled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with: the catalog, the live database where there is one, and what earlier runs left."""

    target: RunTarget
    database: PostgresDatabase | None
    memory: WorkflowState


def _dialect(config: RunConfig) -> str:
    if config.source.dialect is None:
        raise ConfigError(f"{config.origin}: set source.serviceConnection.config.type, which says what the SQL is")
    return config.source.dialect


class Pipeline:
    """One run over one source, into one target."""

    def __init__(self, config: RunConfig, options: RunOptions, progress: Progress, world: RunContext) -> None:
        self._config = config
        self._options = options
        self._progress = progress
        self._target, self._database, self._memory = world.target, world.database, world.memory
        self._events = EventSink.of(config, options, world.memory)
        self._dialect = _dialect(config)
        known = dialect_of(self._dialect)
        live = self._database.name if self._database is not None else None
        self._settings = SourceSettings(
            default_database=config.default_database or live or _DEFAULT_DATABASE,
            default_schema=config.default_schema or known.default_schema,
            two_level=known.two_level,
            views=config.steps.views,
            queries=config.steps.queries,
            override_views=config.steps.override_views,
            fold_temporary=config.steps.temp_tables,
        )
        self._probe = options.failpoints.probe
        self._names = NameResolution(config, self._settings, self._target, self._probe)

    def carry_out(self) -> tuple[RunCounts, tuple[str, ...]]:
        """What became of every statement, and what to warn of.

        Raises ConfigError, TargetDown, LeaseHeld, SparkLost and Interrupted; what was done until then is remembered.
        """
        if not self._options.dry_run:
            check_dead_letters(self._config.dead_letters)
        with ExitStack() as kept:
            with self._progress.stage("start spark"):
                spark = kept.enter_context(spark_session(self._config.spark, self._options.drain))
            statements = kept.enter_context(self._read(spark))
            lineage = _LineageResult()
            warnings = ahead_of_time(statements.survey.ahead)
            if statements.survey.bearing or self._memory.must_rebind:
                lineage, more = self._lineage(statements)
                warnings += more
            counts = statements.counts + lineage.counts
            warnings = (*warnings, *history_warnings(statements, counts.dead))
            if not self._options.dry_run:
                self._remember(statements, lineage)
        if self._events is not None and counts.statements:
            self._events.conclude(counts)
        return counts, warnings

    def _lineage(self, statements: Statements) -> tuple[_LineageResult, tuple[str, ...]]:
        stage = self._progress.stage
        texts = self._texts_of_the_dead(statements)
        templates, parsed = self._parse(statements, texts)
        with stage("group") as grouping:
            analysis = Isolation[str](self._probe)
            occurrences = self._group(statements, templates, analysis)
            templates = given_up(templates, analysis.failures)
            grouping.advance(len(occurrences))
        with stage("bind") as binding:
            source, resolver = self._bind(statements, templates, occurrences)
            binding.advance(len(source.flows))
        entities, registered = self._names.resolve(source, resolver, self._progress)
        routine_entities = self._names.routines()
        routines = routine_entities.resolve(source.routine_statements(), self._config.filters)
        replaced = replaced_templates(statements.frame, self._memory.past, templates, self._memory.window)
        delivery = self._publish(source, entities, routines, replaced)
        warnings = [*delivery.warnings, *lost("routines could not be filed", routines.failures.values())]
        if self._target.writes:
            warnings += publish_ddl_events(self._target, source.log.events, self._names.resolver(), self._probe)
            unread = unread_routines(statements.frame) if statements.survey.of_routines else frozenset[str]()
            settled = source.routines_settled(delivery.edges, entities) - unread
            routine_entities.mark_processed(routines, settled)
        warnings += file_log_queries(self._target, source, entities, delivery.edges, self._config.source.service)
        fates = list(source.fates(delivery.edges))
        dead = {group.template: reason for group, fate, reason in fates if fate == "dead"}
        met = {group.template for group in occurrences if group.fresh}
        counts = [parse_counts(templates, met, parsed), fate_counts(fates), RunCounts(edges=delivery.counts)]
        lineage = _LineageResult(
            counts=total([*counts, name_counts(entities, registered)]),
            templates=templates,
            dead=dead,
            failures={**analysis.failures, **source.failures},
            settled=frozenset(group.template for group in occurrences) - set(dead),
        )
        if source.problems()[ProblemKind.INCOMPLETE]:
            warnings.append(TRUNCATION_ADVICE)
        return lineage, (*self._gone_from_the_log(texts), *schemaless(entities, source.log, routines), *warnings)

    def _remember(self, statements: Statements, lineage: _LineageResult) -> None:
        with self._progress.stage("remember"):
            memory, counts = self._memory, lineage.counts
            unsettled = counts.edges.rejected + counts.unresolved + counts.ambiguous
            there = [file.path for file in statements.listing.there]
            checkpoint = RunCheckpoint(settled=lineage.settled, unsettled=unsettled, files_there=there)
            if statements.listing.to_read:
                checkpoint = replace(checkpoint, files_read=files_done(statements))
            if statements.counts.statements:
                checkpoint = self._checkpoint(statements, lineage, checkpoint)
            self._options.failpoints.passed("commit")
            with self._options.drain.hold():
                memory.commit(checkpoint)
            self._options.failpoints.passed("committed")
            write_dead_letters(self._config.dead_letters, memory.open_letters())

    def _checkpoint(self, statements: Statements, lineage: _LineageResult, checkpoint: RunCheckpoint) -> RunCheckpoint:
        frame, last = statements.frame, statements.survey.last
        letters = DeadLetterWriter(self._options.run_id, lineage.templates, self._memory.parsing, lineage.failures)
        any_dead = lineage.dead or statements.counts.dead
        return replace(
            checkpoint,
            segments=segments(frame),
            newest=last[0] if last is not None else None,
            source_id=last[1] if last is not None else "",
            letters=letters.letters(frame, lineage.dead) if any_dead else (),
            read_again=read_again(frame, {letter.place[0] for letter in self._memory.letters}),
        )

    def _texts_of_the_dead(self, statements: Statements) -> dict[TemplateKey, str]:
        """For a replay: the masked texts of dead templates of which the log has no statement any more."""
        if not self._options.extent.dead:
            return {}
        masked = {
            (letter.fingerprint, str(letter.details["dialect"])): str(letter.details["masked"])
            for letter in self._memory.letters
            if letter.fingerprint and letter.details.get("masked")
        }
        here = statements.frame.where(F.col("fingerprint").isin([key[0] for key in masked]))
        found = {row["fingerprint"] for row in here.select("fingerprint").distinct().toLocalIterator()}
        return {key: text for key, text in masked.items() if key[0] not in found}

    @staticmethod
    def _gone_from_the_log(texts: Mapping[TemplateKey, str]) -> tuple[str, ...]:
        if not texts:
            return ()
        return (f"the log has the records of {len(texts)} dead templates no more: their masked text was replayed",)

    @contextmanager
    def _read(self, spark: SparkSession) -> Iterator[Statements]:
        with ExitStack() as kept:
            with self._progress.stage("read") as stage:
                catalog = spark_catalog(self._config, spark, self._settings.default_database)
                live = self._database or catalog
                self._live_definitions = live_definitions(self._config, self._dialect, self._target.platform, live)
                statements = kept.enter_context(
                    read_statements(spark, self._config, self._settings, self._live_definitions, self._memory.past)
                )
                stage.advance(statements.counts.records_read)
            yield statements

    def _parse(
        self, statements: Statements, texts: Mapping[TemplateKey, str]
    ) -> tuple[dict[str, ParsedTemplate], Collection[str]]:
        """All templates that are known by now, by fingerprint, and which of them were parsed just now."""
        parsing = Parsing(self._config.limits, self._config.threads, self._config.parser, self._probe)
        extent, known = self._options.extent, self._memory.templates
        if extent.dead:
            known = {key: template for key, template in known.items() if template.symbolic is not None}
        parsed: list[ParsedTemplate] = []
        waiting: list[ParsedTemplate] = []
        with self._progress.stage("parse") as stage:
            expected = statements.survey.templates
            for template in parse_templates(statements.frame, parsing, expected, () if extent.full else known, texts):
                waiting.append(template)
                if len(waiting) == _TEMPLATES_AT_ONCE:
                    parsed += self._kept(waiting)
                    waiting = []
                stage.advance()
            parsed += self._kept(waiting)
        new = {template.fingerprint: template for template in parsed}
        return {**{template.fingerprint: template for template in known.values()}, **new}, new.keys()

    def _kept(self, templates: list[ParsedTemplate]) -> list[ParsedTemplate]:
        """The templates, remembered: whatever becomes of this run, the next one need not parse them."""
        if templates:
            self._memory.remember(templates)
            self._options.failpoints.passed("parse")
        return templates

    def _group(
        self, statements: Statements, templates: Mapping[str, ParsedTemplate], analysis: Isolation[str]
    ) -> list[OccurrenceGroup]:
        names = names_of(templates.values(), analysis)
        return list(groups(with_namespace(statements.whole, statements.session_changes), names))

    def _bind(
        self, statements: Statements, templates: Mapping[str, ParsedTemplate], occurrences: Sequence[OccurrenceGroup]
    ) -> tuple[LineageSource, Resolver]:
        resolver = self._names.resolver()
        live = self._live_definitions.columns
        files = read_schemas(self._config.schema_files, self._dialect, self._settings, self._config.limits)
        before = catalog_schemas((files, live), resolver, registers=self._config.registers_tables)
        source = LineageSource(templates, occurrences, self._settings, before, self._probe)
        if self._database is not None:
            settled = settled_templates(source, templates, texts_in(statements.frame), self._database)
            if settled:
                self._memory.remember(settled.values())
                source = LineageSource({**templates, **settled}, occurrences, self._settings, before, self._probe)
        return source, resolver

    def _publish(
        self,
        source: LineageSource,
        entities: RelationEntities,
        routines: RoutineEntities,
        replaced: Mapping[str, frozenset[str]],
    ) -> PublishResult:
        with self._progress.stage("publish") as stage:
            requests = list(source.requests(entities, routines))
            stage.expect(len(requests))
            if self._options.show is not None:
                for request in requests:
                    self._options.show(request.to_json())
            sink, memory = sink_name(self._config.target, self._target.platform), self._memory
            deliverer = Publisher(
                self._target.sink,
                memory.acknowledged(sink),
                lambda done: memory.acknowledge(sink, done),
                self._config.batch_size,
                self._options,
            )
            batches = target_batches(requests, source.replacements(entities))
            delivery = deliverer.deliver(batches, memory.rebound(source.rebound(entities), replaced), stage.advance)
            delivery.edges.update(source.failed_edges)
        if self._events is not None:
            with self._progress.stage("events") as stage:
                found = {entity.id: entity for entity in entities.resolved.values()}
                sent, failures = self._events.send(requests, found)
                stage.advance(sent)
                delivery.warnings += lost("events could not be made or sent", failures)
        return delivery
