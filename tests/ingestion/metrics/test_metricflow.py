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


AWKWARD = """
SELECT sum(a) AS "net sales", sum(b) AS net_sales, max(a) AS orders, min(a) AS "k" FROM shop.orders
WHERE day > DATE '2026-01-01';
SELECT k, sum("odd?") AS odd, sum(a + b) / sum(a - b) AS ratio FROM shop.orders WHERE "why?" = 'canary' GROUP BY k;
SELECT q.d, avg(q.s) AS "mean
left: open" FROM (SELECT day AS d, sum(a) AS s FROM shop.visits GROUP BY day) q WHERE q.d > DATE '2026-01-01'
GROUP BY q.d;
SELECT sum("{# a #}") AS template FROM shop.orders;
"""


@pytest.fixture(scope="module")
def awkward() -> str:
    told = CliRunner().invoke(app, ["metrics", "-", "-d", "postgres", "--format", "metricflow"], input=AWKWARD)
    assert told.exit_code == 0, told.output
    return told.stdout


def test_no_name_is_taken_twice_in_a_document(awkward: str) -> None:
    document = yaml.safe_load(awkward)
    (orders,) = [one for one in document["semantic_models"] if one["name"] == "orders"]
    assert {one["name"]: one["expr"] for one in orders["measures"] if one["agg"] == "sum"}.keys() >= {
        "net_sales",
        "net_sales_2",
        "ratio_sum_a_b",
        "ratio_sum_a_b_2",
    }
    assert orders["primary_entity"] == "orders_row"
    names = [one["name"] for model in document["semantic_models"] for one in (model, *model.get("measures", ()))]
    names += [one["name"] for one in orders["dimensions"]]
    assert len(names) == len(set(names))
    assert len({one["name"] for one in document["metrics"]}) == len(document["metrics"])


def test_a_question_mark_of_a_name_is_no_literal(awkward: str) -> None:
    (orders,) = [one for one in yaml.safe_load(awkward)["semantic_models"] if one["name"] == "orders"]
    expressions = {one["name"]: one["expr"] for one in orders["measures"]}
    assert expressions["odd"] == """CASE WHEN ("why?" = {{ var('odd_1') }}) THEN "odd?" END"""
    assert {one["name"]: one["expr"] for one in orders["dimensions"]}["why"] == '"why?"'
    assert """# vars: odd_1: a literal of "why?" = ?\n""" in awkward


def test_what_has_no_form_is_left_out_in_one_line_of_comment(awkward: str) -> None:
    assert [line for line in awkward.splitlines() if line.startswith("# left out")] == [
        "# left out: template: a name has what dbt takes for a template",
        "# left out: mean left: open: it measures groups of an inner query",
    ]


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


JOINED = """
SELECT p.kind, p."Name", sum(o.amount) AS by_kind FROM shop.orders o LEFT JOIN shop.products p ON o.product = p.id
GROUP BY p.kind, p."Name";
SELECT sum(amount) AS gmv FROM shop.orders WHERE placed > DATE '2026-01-01';
SELECT DISTINCT city, opened FROM shop.stores WHERE opened > DATE '2026-01-01';
SELECT upper(town), 1 + t.size FROM shop.towns t GROUP BY upper(town), 1 + t.size;
SELECT a FROM shop.unread;
"""


def test_a_table_that_queries_join_or_only_group_by_has_a_semantic_model_of_what_they_show() -> None:
    told = CliRunner().invoke(app, ["metrics", "-", "-d", "postgres", "--format", "metricflow"], input=JOINED)
    assert told.exit_code == 0, told.output
    models = {one["model"]: one for one in yaml.safe_load(told.stdout)["semantic_models"]}
    assert models.keys() == {"ref('orders')", "ref('products')", "ref('stores')"}
    product = [{"name": "product", "type": "foreign", "expr": "product"}]
    assert models["ref('orders')"]["entities"] == product
    assert models["ref('products')"] == {
        "name": "products",
        "model": "ref('products')",
        "primary_entity": "products_row",
        "entities": [{"name": "id", "type": "foreign", "expr": "id"}],
        "dimensions": [
            {"name": "kind", "type": "categorical", "expr": "kind"},
            {"name": "name", "type": "categorical", "expr": '"Name"'},
        ],
    }
    assert models["ref('stores')"]["dimensions"] == [
        {"name": "city", "type": "categorical", "expr": "city"},
        {"name": "opened", "type": "time", "expr": "opened", "type_params": {"time_granularity": "day"}},
    ]
    assert "# products: no query tells its primary entity, what its rows are told apart by\n" in told.stdout
    text = CliRunner().invoke(app, ["metrics", "-", "-d", "postgres"], input=JOINED)
    assert "without a measure: 2 that only group\n" in text.stdout
