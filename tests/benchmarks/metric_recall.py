"""How many of a dbt project's metrics are found again in the SQL that MetricFlow makes of them.

    python tests/benchmarks/metric_recall.py DEFINITIONS QUERIES [--dialect duckdb]

DEFINITIONS is a folder of YAML with semantic models and metrics, QUERIES one of <metric>.sql: what `mf query --metrics
<metric> --group-by metric_time__month --explain` prints, and of others of any name, of metrics by dimensions of other
tables and of dimensions alone. What is to be found is read from the YAML alone: the
aggregates of a metric, as text without literals, the table they are of, and how many filters it has. Prints both lists
where they differ, recall and precision.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sqlglot
import yaml
from sqlglot import exp

from connectors.sql_files.metrics import file_metrics
from ingestion.metrics.collection import Metric
from ingestion.metrics.metricflow import metricflow_yaml

_AGGREGATES = {
    "average": "AVG({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "median": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {})",
}
"""How MetricFlow writes them."""
_REFERENCE = re.compile(r"ref\('(\w+)'\)")
_SPINE = "metricflow_time_spine"


class Fingerprint(NamedTuple):
    """What tells one metric from another: aggregates, their tables, how many filters, whether a spine counts."""

    aggregates: frozenset[str]
    tables: frozenset[str]
    filters: int
    with_spine: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("definitions", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--dialect", default="duckdb")
    given = parser.parse_args()
    wanted = dict(_wanted(given.definitions))
    found: list[tuple[str, Fingerprint]] = []
    missing = []
    for name, fingerprint in wanted.items():
        report = file_metrics(str(given.queries / f"{name}.sql"), given.dialect, None, 30)
        told = [(f"{name}: {one.measure.expression.text}", _of_metric(one)) for one in report.metrics]
        found += told
        if fingerprint not in [one for _, one in told]:
            missing.append(f"{name}: {fingerprint}; reasons {[*report.refused, *report.failures]}")
    wrong = [f"{text}: {one}" for text, one in found if one != wanted[text.partition(":")[0]]]
    told = yaml.safe_load(metricflow_yaml(file_metrics(str(given.queries), given.dialect, None, 30)))
    shown = {_REFERENCE.findall(model["model"])[0] for model in told["semantic_models"]}
    models = {_REFERENCE.findall(model["model"])[0] for model in _models(given.definitions)}
    print("\n".join([*(f"not found: {one}" for one in missing), *(f"wrong: {one}" for one in wrong)]))
    print(f"recall {len(wanted) - len(missing)} of {len(wanted)}, precision {len(found) - len(wrong)} of {len(found)}")
    right = shown & models
    print(f"semantic models: recall {len(right)} of {len(models)}, precision {len(right)} of {len(shown)}")
    print("\n".join(f"not shown by any query: {name}" for name in sorted(models - shown)))
    return 1 if missing or wrong or shown != models else 0


def _of_metric(metric: Metric) -> Fingerprint:
    tables = frozenset(table.rpartition(".")[2] for table in metric.view.tables)
    text = metric.measure.expression.text.replace("?", "0")
    tree = sqlglot.parse_one(text, dialect="duckdb")
    calls = frozenset(
        _masked(call.copy()) for call in tree.find_all(exp.AggFunc) if not call.find_ancestor(exp.AggFunc)
    )
    inner = frozenset(_innermost(call) for call in calls)
    return Fingerprint(inner, tables - {_SPINE}, len(metric.filters), _SPINE in tables)


def _innermost(call: str) -> str:
    """Of MAX(SUM(x)), which is how MetricFlow passes a total on, SUM(x)."""
    tree = sqlglot.parse_one(call.replace("?", "0"), dialect="duckdb")
    while isinstance(tree, exp.Max) and isinstance(inner := _unwrapped(tree.this), exp.AggFunc):
        tree = inner
    return _masked(tree)


def _unwrapped(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren | exp.Coalesce):
        node = node.this
    return node


def _masked(tree: exp.Expr) -> str:
    for literal in list(tree.find_all(exp.Literal)):
        literal.replace(exp.Var(this="?"))
    return tree.sql(dialect="duckdb")


def _documents(folder: Path) -> list[dict[str, Any]]:
    return [yaml.safe_load(file.read_text("utf-8")) or {} for file in sorted(folder.glob("*.yml"))]


def _models(folder: Path) -> list[dict[str, Any]]:
    return [model for document in _documents(folder) for model in document.get("semantic_models") or ()]


def _wanted(folder: Path) -> Iterator[tuple[str, Fingerprint]]:
    """Each metric's name and what it is known by, from its definition alone."""
    measures: dict[str, tuple[str, str]] = {}
    for model in _models(folder):
        table = _REFERENCE.findall(model["model"])[0]
        for measure in model.get("measures") or ():
            shape = _AGGREGATES.get(measure["agg"], f"{measure['agg'].upper()}({{}})")
            text = shape.format(measure.get("expr", measure["name"]))
            measures[measure["name"]] = _masked(sqlglot.parse_one(text, dialect="duckdb")), table
    metrics = {one["name"]: one for document in _documents(folder) for one in document.get("metrics") or ()}
    for name in metrics:
        used = list(_measures_of(name, metrics))
        yield (
            name,
            Fingerprint(
                frozenset(measures[measure][0] for measure, _ in used),
                frozenset(measures[measure][1] for measure, _ in used),
                1 if metrics[name].get("filter") else 0,
                metrics[name]["type"] == "cumulative" or any(shifted for _, shifted in used),
            ),
        )


def _measures_of(name: str, metrics: dict[str, Any], *, shifted: bool = False) -> Iterator[tuple[str, bool]]:
    """The measures behind a metric, and whether each is of another time: only a time spine tells then which."""
    params = metrics[name]["type_params"]
    if "measure" in params:
        yield params["measure"], shifted
    for key in ("numerator", "denominator"):
        if key in params:
            yield from _measures_of(params[key], metrics, shifted=shifted)
    for one in params.get("metrics") or ():
        inner = one if isinstance(one, str) else one["name"]
        moved = not isinstance(one, str) and "offset_window" in one
        yield from _measures_of(inner, metrics, shifted=shifted or moved)


if __name__ == "__main__":
    sys.exit(main())
