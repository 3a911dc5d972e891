"""One run: from the log to published lineage, every statement accounted for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from pyspark.sql import SparkSession

from connectors.openmetadata.registration import register
from connectors.postgres import PostgresDatabase
from connectors.sink import WriteReport
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError
from ingestion.naming import TWO_LEVEL_DIALECTS
from ingestion.resolution import Resolver, Scope
from workflows.before import before_of
from workflows.config import RunConfig, SourceKind
from workflows.dead_letters import write_dead_letters
from workflows.evidence import EdgeKey
from workflows.lineage_source import LineageSource, Published, SourceSettings
from workflows.occurrences import Group, groups, with_namespace
from workflows.options import RunOptions
from workflows.progress import Progress
from workflows.publication import Target, open_target
from workflows.reading import Statements, read_statements
from workflows.registration import Registrar
from workflows.relation_entities import EntityFate, RelationEntities, relations_in, resolve_relations
from workflows.routine_entities import RoutineEntities, RoutineResolver
from workflows.schema_files import read_schemas
from workflows.spark import spark_session
from workflows.status import Pointer, RunCounts, RunSummary, total
from workflows.surroundings import open_database, surroundings_of
from workflows.template_names import names_of
from workflows.templates import Parsing, Template, parse_templates

_DEFAULT_DATABASE = "default"
_ANY_SERVICE = "CustomDatabase"
_NO_LOG = (
    "there is no log of statements: only definitions were read; set queryLogFilePath, or install pg_stat_statements"
)


def run_workflow(config: RunConfig, options: RunOptions, progress: Progress) -> RunSummary:
    """Carries out one workflow and tells what became of every statement.

    Raises ConfigError, TargetDown, and Unaccounted where the counts do not add up.
    """
    started = time.time()
    with (
        open_database(config) as database,
        open_target(config, options.run_id, dry_run=options.dry_run) as target,
    ):
        run = _Run(config, options, progress, target, database)
        counts, warnings = run.carry_out()
        counts.check_conservation()
        return RunSummary(
            run_id=options.run_id,
            workflow=config.origin,
            started=started,
            ended=time.time(),
            counts=counts,
            seconds_by_stage=progress.seconds_by_stage,
            where_to_look=run.where_to_look(counts),
            warnings=warnings,
            dry_run=options.dry_run,
        )


def _dialect(config: RunConfig) -> str:
    if config.source.dialect is None:
        raise ConfigError(f"{config.origin}: set source.serviceConnection.config.type, which says what the SQL is")
    return config.source.dialect


class _Run:
    def __init__(
        self,
        config: RunConfig,
        options: RunOptions,
        progress: Progress,
        target: Target,
        database: PostgresDatabase | None,
    ) -> None:
        self._config = config
        self._options = options
        self._progress = progress
        self._target = target
        self._database = database
        self._dialect = _dialect(config)
        known = dialect_of(self._dialect)
        live = database.name if database is not None else None
        self._settings = SourceSettings(
            default_database=config.default_database or live or _DEFAULT_DATABASE,
            default_schema=config.default_schema or known.default_schema,
            two_level=known.name in TWO_LEVEL_DIALECTS,
            views=config.steps.views,
            queries=config.steps.queries,
            override_views=config.steps.override_views,
            fold_temporary=config.steps.temp_tables,
        )
        self._scope = Scope(
            config.source.service, config.steps.cross_services, config.catalog_services, self._settings.two_level
        )

    def carry_out(self) -> tuple[RunCounts, tuple[str, ...]]:
        stage = self._progress.stage
        with (
            spark_session(self._config.spark) as spark,
            self._read(spark) as statements,
        ):
            templates = self._parse(statements)
            with stage("group") as grouping:
                occurrences = self._group(statements, templates)
                grouping.advance(len(occurrences))
            with stage("bind") as binding:
                source, resolver = self._bind(templates, occurrences)
                binding.advance(len(source.flows))
            entities, registered = self._resolve(source, resolver)
            routines = self._routines.resolve(source.routine_statements(), self._config.filters)
            report = self._publish(source, entities, routines)
            published = {
                result.request.edge.key: _published(result.accepted, result.reason) for result in report.results
            }
            self._finish_routines(source, routines, published)
            fates = list(source.fates(published))
            dead = {group.template: reason for group, fate, reason in fates if fate == "dead"}
            if not self._options.dry_run:
                write_dead_letters(self._config.dead_letters, statements.frame, templates, dead)
        settled = total([statements.counts, _parse_counts(templates), _fate_counts(fates), _edge_counts(report)])
        return settled + _name_counts(entities, registered), self._warnings(settled)

    @contextmanager
    def _read(self, spark: SparkSession) -> Iterator[Statements]:
        with ExitStack() as kept:
            with self._progress.stage("read") as stage:
                self._surroundings = surroundings_of(self._config, self._dialect, self._target.platform, self._database)
                statements = kept.enter_context(
                    read_statements(spark, self._config, self._settings, self._surroundings)
                )
                stage.advance(statements.counts.records_read)
            yield statements

    def _parse(self, statements: Statements) -> dict[str, Template]:
        parsing = Parsing(self._config.limits, self._config.threads, self._config.parser)
        templates = {}
        with self._progress.stage("parse") as stage:
            for template in parse_templates(statements.frame, parsing):
                templates[template.fingerprint] = template
                stage.advance()
        return templates

    def _group(self, statements: Statements, templates: Mapping[str, Template]) -> list[Group]:
        return list(groups(with_namespace(statements.frame), names_of(templates.values())))

    def _bind(self, templates: Mapping[str, Template], occurrences: Sequence[Group]) -> tuple[LineageSource, Resolver]:
        resolver = Resolver(self._target.search, self._scope)
        live = self._surroundings.columns or {}
        files = read_schemas(self._config.schema_files, self._dialect, self._settings, self._config.limits)
        schemas = {**live, **files}
        return LineageSource(templates, occurrences, self._settings, before_of(schemas, resolver)), resolver

    def _resolve(self, source: LineageSource, resolver: Resolver) -> tuple[RelationEntities, int]:
        with self._progress.stage("resolve") as stage:
            wanted = relations_in(source.flows)
            entities = resolve_relations(source.log, wanted, resolver, self._config.filters)
            requests, registered = {}, 0
            if self._config.registers_tables:
                requests = self._registrar().requests(source.log, source.flows, entities, source.view_definitions())
                registered = register(self._target.platform, requests) if requests else 0
            if requests:
                # What was missing a moment ago is remembered as missing.
                resolver = Resolver(self._target.search, self._scope)
                entities = resolve_relations(source.log, wanted, resolver, self._config.filters)
            stage.advance(len(wanted))
            return entities, registered

    def _registrar(self) -> Registrar:
        return Registrar(
            self._config.source.service,
            self._service_type,
            self._settings.default_database,
            self._settings.default_schema,
        )

    @property
    def _service_type(self) -> str:
        connection = self._config.source.connection
        return connection.type if connection is not None else _ANY_SERVICE

    @property
    def _routines(self) -> RoutineResolver:
        config = self._config
        return RoutineResolver(
            self._target.platform, config.source.service, self._service_type, config.registers_tables
        )

    def _finish_routines(
        self, source: LineageSource, routines: RoutineEntities, published: Mapping[EdgeKey, Published]
    ) -> None:
        settled = source.routines_settled(published)
        self._routines.mark_processed(routines.references[key] for key in sorted(settled & set(routines.references)))

    def _publish(self, source: LineageSource, entities: RelationEntities, routines: RoutineEntities) -> WriteReport:
        with self._progress.stage("publish") as stage:
            requests = list(source.requests(entities, routines))
            stage.expect(len(requests))
            if self._options.show is not None:
                for request in requests:
                    self._options.show(request.to_json())
            report = self._target.sink.write(requests, source.replacements(entities))
            stage.advance(len(requests))
            return report

    def _warnings(self, counts: RunCounts) -> tuple[str, ...]:
        if not counts.records_read and self._config.query_log.path is not None:
            return ("the log is empty: nothing was read; check queryLogFilePath",)
        if not counts.records_read and self._config.source.kind is SourceKind.DATABASE:
            return (_NO_LOG,)
        if not counts.templates:
            return ("no statement of the log bears lineage; the skipped ones are listed by reason",)
        return ()

    def where_to_look(self, counts: RunCounts) -> tuple[Pointer, ...]:
        if counts.dead_total and not self._options.dry_run:
            return (*self._target.where, Pointer("dead letters", str(self._config.dead_letters)))
        return self._target.where


def _published(accepted: bool, reason: str) -> Published:
    return Published() if accepted else Published(reason or "rejected")


def _parse_counts(templates: Mapping[str, Template]) -> RunCounts:
    return RunCounts(
        templates=len(templates),
        parsed_by_tier=dict(Counter(t.tier for t in templates.values() if t.symbolic is not None)),
        timed_out=sum(template.timed_out for template in templates.values()),
    )


def _fate_counts(fates: Sequence[tuple[Group, str, str]]) -> RunCounts:
    skipped: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    published = 0
    for group, fate, reason in fates:
        if fate == "published":
            published += group.count
        else:
            (dead if fate == "dead" else skipped)[reason] += group.count
    return RunCounts(published=published, skipped=dict(skipped), dead=dict(dead))


def _edge_counts(report: WriteReport) -> RunCounts:
    counts = report.counts
    return RunCounts(
        edges_new=counts.new,
        edges_merged=counts.merged,
        edges_unchanged=counts.unchanged,
        edges_replaced=counts.replaced,
        column_edges=counts.column_edges,
    )


def _name_counts(entities: RelationEntities, registered: int) -> RunCounts:
    by_fate = Counter(entities.fates.values())
    return RunCounts(
        resolved=by_fate[EntityFate.RESOLVED],
        unresolved=by_fate[EntityFate.UNRESOLVED],
        ambiguous=by_fate[EntityFate.AMBIGUOUS],
        unresolved_names=dict(entities.names.get(EntityFate.UNRESOLVED, {})),
        ambiguous_names=dict(entities.names.get(EntityFate.AMBIGUOUS, {})),
        tables_registered=registered,
    )
