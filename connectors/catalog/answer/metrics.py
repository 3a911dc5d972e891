"""What queries measure, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from connectors.catalog.answer.rendering import Renderings
from ingestion.metrics.report import FiledMetrics, MetricReport
from ingestion.model.lineage import Json


def _report_lines(report: MetricReport) -> Iterator[str]:
    yield from _metric_lines(report.to_json()["metrics"])
    if not report.metrics:
        yield "no metrics: no query here measures anything that could be taken apart"
    for reason, use in report.refused.items():
        yield f"not taken apart: {use.runs} of {reason}"
    if report.without_measure:
        yield f"without a measure: {report.without_measure} that only group"


def _filed_lines(metrics: Sequence[Json]) -> Iterator[str]:
    yield from _metric_lines(metrics)
    if not metrics:
        yield "no metrics of queries are in this catalog"


def _metric_lines(metrics: Sequence[Json]) -> Iterator[str]:
    """Lines for people about metrics in their JSON form."""
    for one in metrics:
        yield f"{one['name']} = {one['expression']}"
        yield f"  view {one['view']['name']}: {one['view']['sql']}"
        yield from (f"  {_dimension_text(dimension)}" for dimension in one["dimensions"])
        any_literal = ", of any literal" if one.get("any_literal") else ""
        yield from (f"  filter {condition}{any_literal}" for condition in one["filters"])
        yield f"  {_use_text(one)}"
        if one["variant_of"]:
            own = " and ".join(one["variant"]) or "without a filter of its own"
            yield f"  variant of {', '.join(one['variant_of'])}: {own}"


def _dimension_text(one: Json) -> str:
    kind = "time" if one.get("time") else "dimension"
    how = ", ".join(word for word in ("groups", "filters") if one[word])
    grain = f" by {one['grain']}" if one.get("grain") else ""
    return f"{kind} {one['name']}: {one['expression']}{grain} ({how})"


def _use_text(one: Json) -> str:
    runs = f"{one['runs']} {'query' if one['runs'] == 1 else 'queries'}"
    by = f" by {', '.join(one['users'])}" if one["users"] else ""
    last = f", last {one['last_run']}" if one["last_run"] else ""
    return f"{runs}{by}{last}" + (f": {', '.join(one['places'])}" if one["places"] else "")


METRICS = Renderings(_report_lines, MetricReport.to_json)
FILED_METRICS: Renderings[FiledMetrics] = Renderings(_filed_lines, lambda metrics: {"metrics": list(metrics)})
