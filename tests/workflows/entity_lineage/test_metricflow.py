"""Metrics as MetricFlow's YAML: what it takes for names, measures with their filters, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from workflows.cli import app

QUERIES = """
SELECT region, sum(amount) AS "GMV paid" FROM shop.orders WHERE status = 'canary' AND placed > DATE '2026-01-01'
GROUP BY region;
SELECT date_trunc('month', placed) AS month, count(*) AS n, sum(amount) / count(DISTINCT customer) AS per_customer
FROM shop.orders GROUP BY 1;
SELECT stddev(amount) AS spread FROM shop.orders;
SELECT sum(amount) AS large FROM shop.orders GROUP BY region HAVING count(*) > 5;
SELECT sum(x) AS without_time FROM shop.visits;
SELECT v.day, avg(v.length) AS longest FROM shop.calls v JOIN shop.people p ON p.id = v.person
WHERE v.day >= DATE '2026-01-01' GROUP BY v.day;
"""


@pytest.fixture(scope="module")
def shown() -> str:
    told = CliRunner().invoke(app, ["metrics", "-", "-d", "postgres", "--format", "metricflow"], input=QUERIES)
    assert told.exit_code == 0, told.output
    return told.stdout


@pytest.fixture(scope="module")
def models(shown: str) -> dict[str, Any]:
    """The semantic models by their names."""
    return {one["name"]: one for one in yaml.safe_load(shown)["semantic_models"]}


def test_a_view_of_one_table_is_a_semantic_model(models: dict[str, Any]) -> None:
    assert models["orders"]["model"] == "ref('orders')"
    assert models["orders"]["defaults"] == {"agg_time_dimension": "time"}
    dimensions = {one["name"]: (one["type"], one["expr"]) for one in models["orders"]["dimensions"]}
    assert dimensions == {
        "region": ("categorical", "region"),
        "status": ("categorical", "status"),
        "time": ("time", "placed"),
        "month_value": ("time", "DATE_TRUNC('MONTH', placed)"),
    }


def test_a_filter_is_in_the_measure_with_variables_for_its_literals(shown: str, models: dict[str, Any]) -> None:
    measures = {one["name"]: (one["agg"], one["expr"]) for one in models["orders"]["measures"]}
    condition = "(placed > CAST({{ var('gmv_paid_1') }} AS DATE)) AND (status = {{ var('gmv_paid_2') }})"
    assert measures == {
        "gmv_paid": ("sum", f"CASE WHEN {condition} THEN amount END"),
        "n_value": ("count", "1"),
        "per_customer_sum_amount": ("sum", "amount"),
        "per_customer_count_distinct_customer": ("count_distinct", "customer"),
    }
    assert "# vars: gmv_paid_2: a literal of status = ?" in shown
    assert "canary" not in shown


def test_an_expression_over_aggregates_is_a_derived_metric(shown: str) -> None:
    metrics = {one["name"]: one for one in yaml.safe_load(shown)["metrics"]}
    assert metrics["per_customer"]["type_params"] == {
        "expr": "sum_amount / count_distinct_customer",
        "metrics": [
            {"name": "per_customer_sum_amount", "alias": "sum_amount"},
            {"name": "per_customer_count_distinct_customer", "alias": "count_distinct_customer"},
        ],
    }


def test_a_view_of_several_tables_says_what_its_model_is_to_give(shown: str, models: dict[str, Any]) -> None:
    assert models["calls"]["model"] == "ref('calls')"
    assert (
        "# model calls.sql is to give shop.calls.length, shop.calls.day of: SELECT * FROM shop.calls AS c"
        " JOIN shop.people AS p ON p.id = c.person\n"
    ) in shown


def test_what_metricflow_has_no_form_for_is_left_out_with_its_reason(shown: str) -> None:
    left_out = [line for line in shown.splitlines() if line.startswith("# left out")]
    assert left_out == [
        "# left out: large: it chooses groups (HAVING)",
        "# left out: spread: MetricFlow has no aggregation for STDDEV(amount)",
        "# left out: without_time: no query groups or filters its view by a time, which MetricFlow asks for",
    ]
