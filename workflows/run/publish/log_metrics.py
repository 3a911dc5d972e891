"""A stage of a run that only those have who ask for it: who ran which SELECT of the log how often, each query taken
apart, and their metrics filed in the catalog.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from connectors.openmetadata.metrics import MetricFiling
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.timeline import SchemaProvider
from ingestion.metrics.collection import Metric, MetricCollection, QueryUse
from ingestion.metrics.inlining import AMBIGUOUS
from ingestion.metrics.process import MetricsProcess, MetricsReply, MetricsRequest, NameParts, TableColumns
from ingestion.metrics.query import NO_MEASURE
from ingestion.metrics.report import FiledTable, MetricReport, reportable_metrics
from ingestion.model.digests import digest
from ingestion.model.fqn import build_fqn
from ingestion.model.lineage import TableName
from ingestion.model.namespaces import Namespace, NamespaceDefaults, candidates, may_be_temporary
from ingestion.parsing.sandbox.process import Limits
from ingestion.resolution import Resolved, Resolver
from ingestion.statements.fingerprints import MOST_LITERALS
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.run.group.names import temporary_names
from workflows.run.group.runs import OF_SESSION, with_session_namespaces
from workflows.run.read.reader import Statements
from workflows.runtime.options import RunOptions
from workflows.state.journal import ReadState
from workflows.state.log_queries import ANY_LITERAL, FiledMetric, LogQuery, QueryChanges, QueryKey, Runs
from workflows.state.reading_code import code_version
from workflows.state.segments import Digests, are_known, digests_of_queries
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, catalog_identity

QueryTemplate = tuple[str, str]
"""Fingerprint and dialect."""
_QUERY = ("query", "dialect", "literals")
_TEXTS = (*_QUERY, "text")
_FEW = 200
"""Queries that take about as long as Spark needs to start tasks for them."""
_SCHEMA = "number long, content binary"
_ARROW_SCHEMA = pa.schema([("number", pa.int64()), ("content", pa.binary())])
TEMPORARY = "a temporary table"
NO_TEXT = "a query without a text"
_CODE = ("ingestion.metrics", "ingestion.parsing.sqlglot", "ingestion.dialects")
_MILLISECONDS = 1000


# Who ran which SELECT how often, counted by Spark: nothing that grows with the runs is collected.


@dataclass(frozen=True, slots=True)
class QueryRuns:
    """The runs of SELECTs that no run before has counted, by user; `passed` are templates whose literals are values.

    `statements` have their texts: all SELECTs that were read, for a text stands where it was first met, counted or not.
    """

    statements: DataFrame
    runs: Mapping[QueryKey, Mapping[str, Runs]] = field(default_factory=dict)
    passed: frozenset[QueryTemplate] = frozenset()

    def texts(self, wanted: Collection[QueryKey]) -> dict[QueryKey, str]:
        """A text for each of those queries."""
        if not wanted:
            return {}
        literals = F.when(self._has_passed(), ANY_LITERAL).otherwise(F.col("literals"))
        found = self.statements.where(F.col("text").isNotNull()).withColumn("literals", literals)
        chosen = sorted({(key.query, key.dialect, key.literals) for key in wanted})
        if len(chosen) <= _FEW:  # they stand in the query itself
            left = found.where(F.concat_ws(" ", *_QUERY).isin([" ".join(one) for one in chosen]))
        else:
            looked_up = found.sparkSession.createDataFrame(chosen, ", ".join(f"{name} string" for name in _QUERY))
            left = found.select(*_TEXTS).join(F.broadcast(looked_up), list(_QUERY), "left_semi")
        rows = left.groupBy(*_QUERY).agg(F.min("text").alias("text")).collect()
        texts = {(row["query"], row["dialect"], row["literals"]): row["text"] for row in rows}
        return {key: texts[key[:3]] for key in wanted if key[:3] in texts}

    def _has_passed(self) -> Column:
        return _is_among(self.passed)


def _query_runs(
    statements: Statements, past: ReadState, defaults: NamespaceDefaults, passed: Collection[QueryTemplate]
) -> QueryRuns:
    """The runs of the SELECTs that this run read; of the templates that have `passed` literals are values."""
    # In one partition nothing is to be shuffled.
    frame = statements.frame.coalesce(1) if statements.are_few else statements.frame
    read = frame.where(F.col("query").isNotNull() & F.col("literals").isNotNull())
    queries = _not_counted(read, past)
    many = queries.groupBy("query", "dialect").agg(F.count_distinct("literals").alias("literals"))
    found = many.where(F.col("literals") > MOST_LITERALS).collect()
    values = frozenset(passed).union((row["query"], row["dialect"]) for row in found)
    whole = statements.whole if statements.session_changes else None
    asked = queries.select(*OF_SESSION, "query", "dialect", "literals")
    with_namespaces = with_session_namespaces(asked, whole, are_few=statements.are_few)
    literals = F.when(_is_among(values), ANY_LITERAL).otherwise(F.col("literals")).alias("literals")
    namespace = (F.col("namespace_database"), F.col("namespace_path"))
    counted = (
        with_namespaces.select("query", "dialect", literals, *namespace, F.col("user"), F.col("time"))
        .groupBy("query", "dialect", "literals", "namespace_database", "namespace_path", "user")
        .agg(F.count(F.lit(1)).alias("runs"), F.max(F.when(F.col("time") > 0, F.col("time"))).alias("last"))
    )
    runs: dict[QueryKey, dict[str, Runs]] = {}
    for row in counted.collect():
        space = defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))
        key = QueryKey(row["query"], row["dialect"], row["literals"], space.database, space.search_path)
        _add_runs(runs.setdefault(key, {}), row["user"] or "", Runs(row["runs"], row["last"]))
    return QueryRuns(read, runs, values)


def _add_runs(runs: dict[str, Runs], user: str, more: Runs) -> None:
    """Counts more runs of a user."""
    known = runs.get(user)
    runs[user] = more if known is None else known.with_more(more)


def _not_counted(queries: DataFrame, past: ReadState) -> DataFrame:
    """Those that no run before has counted: where records are read again, the journal tells."""
    if not past.rereads:
        return queries
    counted = digests_of_queries(past.journal)
    if not counted.size:
        return queries
    left = queries.mapInArrow(_without(counted), queries.schema)
    if past.complete_since is None:
        return left
    return left.where((F.col("time") <= 0) | (F.col("time") >= past.complete_since))


def _without(counted: Digests) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            known = are_known(batch.column("digest").to_numpy(zero_copy_only=False), counted)
            yield batch.filter(pa.array(~known))

    return run


def _is_among(templates: Collection[QueryTemplate]) -> Column:
    found = F.lit(False)
    for dialect in sorted({dialect for _, dialect in templates}):
        queries = sorted(query for query, of in templates if of == dialect)
        found |= (F.col("dialect") == dialect) & F.col("query").isin(queries)
    return found


# Where the tables of queries stand, as their sessions looked for names, and which columns they have.


@dataclass(frozen=True, slots=True)
class _TableLocations:
    """Looks tables up by `before`, what the catalog and the schema files have; each is asked for once."""

    before: SchemaProvider

    def expect(self, names: Iterable[NameParts], namespace: Namespace) -> None:
        """Has these looked up together."""
        self.before.expect([(TableName(name), namespace) for name in names])

    def locate(self, name: NameParts, namespace: Namespace) -> tuple[NameParts, TableColumns | None]:
        """The full name of a table, part by part, and its columns, None where they are not known.

        Of several schemas it is the first that has it, else the first.
        """
        table = TableName(name)
        keys = candidates(table, namespace)
        for key in keys:
            columns = self.before.schema(key)
            if columns is not None:
                return _known_parts(key.parts), {column.name: column.type for column in columns} or None
        elsewhere = self.before.elsewhere(table, namespace)
        columns = self.before.schema(elsewhere) if elsewhere is not None else None
        found = {column.name: column.type for column in columns or ()} or None
        return _known_parts((elsewhere or keys[0]).parts), found


def _catalog_tables(names: Iterable[NameParts], resolver: Resolver) -> dict[str, FiledTable]:
    """The tables that the catalog has, by their full names with dots."""
    wanted = list(dict.fromkeys(names))
    found = {}
    resolutions = resolver.resolve_all((TableName(name), Namespace()) for name in wanted)
    for name, resolution in zip(wanted, resolutions, strict=True):
        if isinstance(resolution, Resolved):
            fqn = resolution.entity.fully_qualified_name
            columns = {
                column.name: (f"{fqn}.{build_fqn(column.name)}", column.type) for column in resolution.entity.columns
            }
            found[".".join(name)] = FiledTable(fqn, columns)
    return found


def _known_parts(parts: NameParts) -> NameParts:
    return tuple(part for part in parts if part)


# Queries taken apart: in this process where they are few, else in Spark's tasks.


def decompose_all(
    spark: SparkSession, requests: Sequence[MetricsRequest], process: MetricsProcess, threads: int
) -> list[MetricsReply]:
    """A reply to each request, in order: of `process` where they are few, else of as many as `threads` on a machine."""
    if not requests:
        return []
    if len(requests) <= _FEW:
        return process.take_apart(requests)
    tasks = max(1, min(threads, spark.sparkContext.defaultParallelism))
    rows = [(number, bytearray(pickle.dumps(request))) for number, request in enumerate(requests)]
    sent = spark.createDataFrame(rows, _SCHEMA).repartition(tasks)
    replies = {row["number"]: row["content"] for row in sent.mapInArrow(_task(process.limits), _SCHEMA).collect()}
    return [pickle.loads(replies[number]) for number in range(len(requests))]


def _task(limits: Limits) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with MetricsProcess(limits) as process:
            for batch in batches:
                replies = process.take_apart([pickle.loads(one) for one in batch.column("content").to_pylist()])
                content = pa.array([pickle.dumps(reply) for reply in replies], pa.binary())
                yield pa.RecordBatch.from_arrays([batch.column("number"), content], schema=_ARROW_SCHEMA)

    return run


# The queries of a log: what earlier runs know of them, and what this one adds.


@cache
def _metrics_version() -> str:
    """Changes whenever a query may be taken apart differently."""
    return code_version(_CODE)


@dataclass(frozen=True, slots=True)
class _MetricsContext:
    """What queries are taken apart with: `literal_key` is the secret under which their literals are compared."""

    spark: SparkSession
    literal_key: bytes = field(repr=False)
    process: MetricsProcess
    threads: int
    tables: _TableLocations
    temporary: frozenset[str]

    def replies(self, requests: Sequence[MetricsRequest]) -> list[MetricsReply]:
        """A reply to each request, in order."""
        return decompose_all(self.spark, requests, self.process, self.threads)


def merged_runs(
    known: Mapping[QueryKey, LogQuery], found: QueryRuns
) -> tuple[dict[QueryKey, dict[str, Runs]], QueryRuns]:
    """The runs of queries that this run met, with all that were counted before; and what was found, in these terms.

    Templates with more literals than are told apart are one query from now on, and so are those without a measure.
    """
    met = {key[:2] for key in found.runs}
    literals: dict[QueryTemplate, set[str]] = {template: set() for template in met}
    without_measure = {key[:2] for key, query in known.items() if query.reason == NO_MEASURE}
    for key in (*known, *found.runs):
        if key[:2] in met:
            literals[key[:2]].add(key.literals)
    passed = {template for template, of in literals.items() if ANY_LITERAL in of or len(of) > MOST_LITERALS}
    found = replace(found, passed=frozenset(passed | (without_measure & met)))
    changed = {_with_any(key, found.passed) for key in (*found.runs, *replaced_keys(known, found.passed))}
    merged: dict[QueryKey, dict[str, Runs]] = {}
    for key, by_user in _all_runs(known, found):
        own = _with_any(key, found.passed)
        if own in changed:
            for user, runs in by_user.items():
                _add_runs(merged.setdefault(own, {}), user, runs)
    return merged, found


def _all_runs(known: Mapping[QueryKey, LogQuery], found: QueryRuns) -> Iterator[tuple[QueryKey, Mapping[str, Runs]]]:
    yield from ((key, query.runs) for key, query in known.items())
    yield from found.runs.items()


def _with_any(key: QueryKey, passed: frozenset[QueryTemplate]) -> QueryKey:
    return key._replace(literals=ANY_LITERAL) if key[:2] in passed else key


def replaced_keys(known: Iterable[QueryKey], passed: frozenset[QueryTemplate]) -> list[QueryKey]:
    """Those whose literals are values from now on: another query stands for them."""
    return [key for key in known if key.literals != ANY_LITERAL and key[:2] in passed]


def _queries_now(
    known: Mapping[QueryKey, LogQuery],
    merged: Mapping[QueryKey, Mapping[str, Runs]],
    found: QueryRuns,
    context: _MetricsContext,
) -> list[LogQuery]:
    """The queries that this run met, with all of their runs (`merged`).

    Those that are not `known` are taken apart, by the texts of what was `found`.
    """
    version = _metrics_version()
    kept = {key for key in merged if key in known and _has_final_result(known[key], version)}
    texts = found.texts([key for key in merged if key not in kept])
    decomposed = _taken_apart(texts, context, version)
    queries = []
    for key, runs in merged.items():
        before = known.get(key)
        query = before if key in kept else decomposed.get(key, before)
        query = query if query is not None else LogQuery(key, "", reason=NO_TEXT)
        queries.append(replace(query, runs=runs))
    return queries


def _has_final_result(query: LogQuery, version: str) -> bool:
    """Whether nothing would come out differently now; the columns of tables may have become known since."""
    return query.version == version and query.reason != AMBIGUOUS


def _taken_apart(texts: Mapping[QueryKey, str], context: _MetricsContext, version: str) -> dict[QueryKey, LogQuery]:
    """The queries by their texts: first one of each template, for its tables, then those of the others that measure.

    One process has both: to start it takes longer than a few queries.
    """
    of_template: dict[QueryTemplate, list[QueryKey]] = {}
    for key in texts:
        of_template.setdefault(key[:2], []).append(key)
    first = [keys[0] for keys in of_template.values()]
    replies = context.replies([_request(key, texts[key], context) for key in first])
    found: dict[QueryKey, LogQuery] = {}
    measuring: list[tuple[QueryKey, Sequence[tuple[str, ...]]]] = []
    for keys, reply in zip(of_template.values(), replies, strict=True):
        reason = _final_reason(reply, context.temporary)
        if reason:
            found.update({key: LogQuery(key, version, reason=reason) for key in keys})
        else:
            measuring += [(key, reply.tables) for key in keys]
    for key, names in measuring:
        context.tables.expect(names, _namespace(key))
    requests = [_located_request(key, texts[key], names, context) for key, names in measuring]
    for (key, _names), request, reply in zip(measuring, requests, context.replies(requests), strict=True):
        tables = tuple(dict.fromkeys(request.full_names.values()))
        found[key] = LogQuery(key, version, reply.metrics, reply.reason, tables)
    return found


def _final_reason(reply: MetricsReply, temporary: frozenset[str]) -> str:
    """Why no query of a template is taken apart, whatever its tables are; "" where they may tell."""
    if reply.metrics is not None and not reply.metrics.measures:
        return NO_MEASURE
    if reply.unreadable or reply.reason == NO_MEASURE or not (reply.tables or reply.metrics):
        return reply.reason
    doubtful = any(name[-1] in temporary and may_be_temporary(TableName(name)) for name in reply.tables)
    return TEMPORARY if doubtful else ""


def _request(key: QueryKey, text: str, context: _MetricsContext) -> MetricsRequest:
    any_literal = key.literals == ANY_LITERAL
    return MetricsRequest(text, key.dialect, context.literal_key, any_literal=any_literal)


def _located_request(
    key: QueryKey, text: str, names: Sequence[tuple[str, ...]], context: _MetricsContext
) -> MetricsRequest:
    located = {name: context.tables.locate(name, _namespace(key)) for name in names}
    known = {".".join(full): columns for full, columns in located.values() if columns is not None}
    names_of = {name: full for name, (full, _columns) in located.items()}
    return replace(_request(key, text, context), known=known, full_names=names_of)


def _namespace(key: QueryKey) -> Namespace:
    return Namespace(key.database, key.search_path)


# The stage: what was taken apart, as metrics in the catalog.


@dataclass(frozen=True, slots=True)
class LogMetrics:
    """Takes the statements of a run, gives what its SELECTs add to the state, and files the metrics of all of them."""

    config: RunConfig
    settings: SourceSettings
    options: RunOptions
    target: RunTarget
    state: WorkflowState

    def run(
        self,
        spark: SparkSession,
        statements: Statements,
        templates: Iterable[Symbolic],
        lookup: tuple[SchemaProvider, Resolver],
    ) -> tuple[QueryChanges, tuple[str, ...]]:
        """What to commit with the checkpoint of the run, and what to warn of.

        `templates` tell which names are temporary tables; `lookup` finds tables and their columns. Raises TargetDown,
        ConfigError and SparkLost.
        """
        assert self.state.literal_key is not None
        before, resolver = lookup
        known, filed = self.state.log_queries()
        passed = {key[:2] for key in known if not key.literals}
        runs = _query_runs(statements, self.state.past, self.settings.defaults, passed)
        merged, found = merged_runs(known, runs)
        with MetricsProcess(self.config.limits) as process:
            context = _MetricsContext(
                spark,
                self.state.literal_key,
                process,
                self.config.lineage.threads,
                _TableLocations(before),
                temporary_names(templates),
            )
            now = _queries_now(known, merged, found, context)
        gone = self._queries_to_drop(known, found, now)
        whole = {**{key: one for key, one in known.items() if key not in set(gone)}, **{one.key: one for one in now}}
        metrics, warnings = self._file(whole, filed, resolver)
        return QueryChanges(now, gone, metrics), warnings

    def _queries_to_drop(
        self, known: Mapping[QueryKey, LogQuery], found: QueryRuns, now: Iterable[LogQuery]
    ) -> list[QueryKey]:
        """Queries that another stands for now, and those that measure nothing and were not met for a window's time."""
        gone = dict.fromkeys(replaced_keys(known, found.passed))
        met = {query.key for query in now}
        newest = max((query.last for query in now if query.last is not None), default=None)
        horizon = self.state.horizon(max(filter(None, (newest, self.state.past.newest)), default=None))
        for key, query in known.items():
            idle = horizon is not None and query.last is not None and query.last < horizon
            if query.metrics is None and idle and key not in met:
                gone[key] = None
        return list(gone)

    def _file(
        self, queries: Mapping[QueryKey, LogQuery], filed: Mapping[str, FiledMetric], resolver: Resolver
    ) -> tuple[dict[str, FiledMetric], tuple[str, ...]]:
        metrics, failures = reportable_metrics(collected_metrics(queries.values(), filed))
        report = MetricReport(metrics, failures=failures)
        if not self.target.writes:
            return dict(filed), failures
        if not self.config.registers_tables:
            left = f"{len(metrics)} metrics of the log are not filed"
            hint = (f"{left}: headwater.registerTables: always makes them in the catalog",) if metrics else ()
            return dict(filed), (*failures, *hint)
        tables = _catalog_tables((name for one in queries.values() for name in one.tables), resolver)
        catalog = catalog_identity(self.config.target, self.target.platform)
        here = {identity: one for identity, one in filed.items() if one.sink == catalog}
        known = {one.name: "" if self.options.extent.full else one.digest for one in here.values()}
        filing = MetricFiling(self.target.platform, self.config.workflow, tables, known, catalog)
        digests, warnings = filing.file(report)
        now = {
            identity_of(one): FiledMetric(one.name, digests[one.name], catalog)
            for one in metrics
            if one.name in digests
        }
        if failures:  # nothing is withdrawn, so all that stands there is still ours
            return {**here, **now}, (*failures, *warnings)
        filing.withdraw(digests, metrics)
        return now, tuple(warnings)


def collected_metrics(queries: Iterable[LogQuery], filed: Mapping[str, FiledMetric]) -> tuple[Metric, ...]:
    """The metrics of queries, in an order of their own; those that were filed keep their names."""
    found = MetricCollection()
    for query in sorted(queries, key=lambda one: one.key.id):
        if query.metrics is not None:
            last = None if query.last is None else round(query.last * _MILLISECONDS)
            users = tuple(sorted(user for user in query.runs if user))
            runs = sum(one.times for one in query.runs.values())
            found.add(query.metrics, QueryUse(runs, users, last))
    named = {one.identity: filed[identity_of(one)].name for one in found.metrics() if identity_of(one) in filed}
    return found.metrics(named)


def identity_of(metric: Metric) -> str:
    """What a metric is known by in the state."""
    view, measure, filters = metric.identity
    return digest(view, measure, *sorted(filters))
