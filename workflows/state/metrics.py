"""What the state store knows, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingestion.errors import ConfigError
from ingestion.model.outcomes import StatementEnd
from workflows.state.dead_letters import dead_letters_by_workflow
from workflows.state.runs import COMPLETED, RecordedRun, latest_runs, run_totals
from workflows.state.store import StateStore

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_GAUGES = {
    "records_read": "Log records that the last finished run read.",
    "statements": "Statements that the last finished run read.",
    "published": "Statements whose lineage the last finished run published.",
    "templates": "Distinct statements of the last finished run.",
    "unresolved": "Names that the catalog did not know.",
    "ambiguous": "Names that could mean several tables.",
    "edges_new": "Edges that the last finished run made.",
    "edges_replaced": "Edges that the last finished run ended.",
    "column_edges": "Column edges of the last finished run.",
}


class _StateCollector(Collector):
    """Reads the store whenever it is asked."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        with self._store.read() as connection:
            latest = latest_runs(connection)
            finished = latest_runs(connection, COMPLETED)
            totals = run_totals(connection)
            dead_letters = dead_letters_by_workflow(connection)
        runs = CounterMetricFamily("headwater_runs", "Runs by how they ended.", labels=["workflow", "outcome"])
        for (workflow, outcome), count in sorted(totals.items()):
            runs.add_metric([workflow, outcome], count)
        dead = GaugeMetricFamily(
            "headwater_dead_letters", "Statements given up on and not resolved since.", labels=["workflow"]
        )
        for workflow, count in sorted(dead_letters.items()):
            dead.add_metric([workflow], count)
        yield runs
        yield dead
        yield from _times(latest, finished)
        yield from _counts(finished)


def metrics_text(store: StateStore) -> bytes:
    """The metrics in Prometheus' text format."""
    return generate_latest(_registry(store))


def write_metrics(store: StateStore, file: Path) -> None:
    """Writes the metrics for a textfile collector, whole or not at all. Raises ConfigError where it cannot."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_to_textfile(str(file), _registry(store))
    except OSError as error:
        raise ConfigError(
            f"metrics cannot be written to {file} ({error.strerror}): set headwater.metricsFile"
        ) from None


def _registry(store: StateStore) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_StateCollector(store))
    return registry


def _times(latest: list[RecordedRun], finished: list[RecordedRun]) -> Iterator[Metric]:
    started = GaugeMetricFamily("headwater_run_started_seconds", "When the last run began.", labels=["workflow"])
    for run in latest:
        started.add_metric([run.workflow], run.started)
    yield started
    ended = GaugeMetricFamily("headwater_run_finished_seconds", "When a run last came to its end.", labels=["workflow"])
    took = GaugeMetricFamily("headwater_run_duration_seconds", "What the last finished run took.", labels=["workflow"])
    for run in finished:
        ended.add_metric([run.workflow], run.ended or 0.0)
        took.add_metric([run.workflow], (run.ended or run.started) - run.started)
    yield ended
    yield took


def _counts(finished: list[RecordedRun]) -> Iterator[Metric]:
    for name, meaning in _GAUGES.items():
        gauge = GaugeMetricFamily(f"headwater_run_{name}", meaning, labels=["workflow"])
        for run in finished:
            gauge.add_metric([run.workflow], run.report.get("counts", {}).get(name, 0))
        yield gauge
    for name in (StatementEnd.SKIPPED, StatementEnd.DEAD):
        gauge = GaugeMetricFamily(
            f"headwater_run_{name}",
            f"Statements that the last finished run left {name}, by reason: docs/outcomes.md says what each means.",
            labels=["workflow", "reason"],
        )
        for run in finished:
            for reason, count in sorted(run.report.get("counts", {}).get(name, {}).items()):
                gauge.add_metric([run.workflow, reason], count)
        yield gauge
