"""A stage of a run that only those have who ask for it: the log's SELECTs as metrics in the catalog."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from ingestion.binding.timeline import SchemaProvider
from ingestion.decomposition.metrics import Metric, MetricCollection, QueryUse
from ingestion.resolution.resolver import Resolver
from ingestion.symbolic import Symbolic
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.control.options import RunOptions
from workflows.entity_lineage.filing import MetricFiling
from workflows.entity_lineage.log.queries import Decomposing, merged_runs, queries_now, replaced_keys
from workflows.entity_lineage.log.query_runs import QueryRuns, query_runs
from workflows.entity_lineage.log.table_places import TablePlaces, catalog_tables
from workflows.entity_lineage.report import MetricReport, reportable_metrics
from workflows.reading.reader import Statements
from workflows.state.log_queries import FiledMetric, LogQuery, QueryChanges, QueryKey
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, sink_name
from workflows.templates.temporary_names import temporary_names

_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class LogMetrics:
    """Takes the statements of a run, gives what its SELECTs add to the state, and files the metrics of all of them."""

    config: RunConfig
    settings: SourceSettings
    options: RunOptions
    target: RunTarget
    memory: WorkflowState

    def carry_out(
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
        assert self.memory.literal_key is not None
        before, resolver = lookup
        known, filed = self.memory.log_queries()
        passed = {key[:2] for key in known if not key.literals}
        runs = query_runs(statements, self.memory.past, self.settings.defaults, passed)
        merged, found = merged_runs(known, runs)
        decomposing = Decomposing(
            spark,
            self.memory.literal_key,
            self.config.limits,
            self.config.threads,
            TablePlaces(before),
            temporary_names(templates),
        )
        now = queries_now(known, merged, found, decomposing)
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
        horizon = self.memory.horizon(max(filter(None, (newest, self.memory.past.newest)), default=None))
        for key, query in known.items():
            idle = horizon is not None and query.last is not None and query.last < horizon
            if query.decomposition is None and idle and key not in met:
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
        tables = catalog_tables((name for one in queries.values() for name in one.tables), resolver)
        place = sink_name(self.config.target, self.target.platform)
        here = {identity: one for identity, one in filed.items() if one.sink == place}
        known = {one.name: "" if self.options.extent.full else one.digest for one in here.values()}
        filing = MetricFiling(self.target.platform, self.config.state.workflow, tables, known, place)
        digests, warnings = filing.file(report)
        now = {
            identity_of(one): FiledMetric(one.name, digests[one.name], place) for one in metrics if one.name in digests
        }
        if failures:  # nothing is withdrawn, so all that stands there is still ours
            return {**here, **now}, (*failures, *warnings)
        filing.withdraw(digests, metrics)
        return now, tuple(warnings)


def collected_metrics(queries: Iterable[LogQuery], filed: Mapping[str, FiledMetric]) -> tuple[Metric, ...]:
    """The metrics of queries, in an order of their own; those that were filed keep their names."""
    found = MetricCollection()
    for query in sorted(queries, key=lambda one: one.key.id):
        if query.decomposition is not None:
            last = None if query.last is None else round(query.last * _MILLISECONDS)
            users = tuple(sorted(user for user in query.runs if user))
            runs = sum(one.times for one in query.runs.values())
            found.add(query.decomposition, QueryUse(runs, users, last))
    named = {one.identity: filed[identity_of(one)].name for one in found.metrics() if identity_of(one) in filed}
    return found.metrics(named)


def identity_of(metric: Metric) -> str:
    """What a metric is known by in the state."""
    view, measure, filters = metric.identity
    parts = "\0".join((view, measure, *sorted(filters)))
    return hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
