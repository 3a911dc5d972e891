"""Superset's documents as assets: what the query of each says, and what is told of what has none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from connectors.assets import Asset, Assets
from connectors.dashboards.files import ExportedFile, exported_files
from connectors.superset._assets import assets_of
from connectors.superset._documents import database_of, documents_of
from connectors.superset.settings import SupersetConfig
from tests.support.superset_export import documents, export

SETTINGS = SupersetConfig.model_construct(dashboard_path="x.zip", dashboard_service_name=None, database_names={})


def read(content: Mapping[str, Mapping[str, Any]], folder: Path) -> Assets:
    file = folder / "export.zip"
    file.write_bytes(export(content))
    return assets_of(documents_of(exported_files(file, (".yaml",))), SETTINGS)


def by_title(found: Assets) -> dict[str, Asset]:
    return {one.title: one for one in found.items}


def test_a_dataset_is_made_of_its_columns_and_metrics_and_a_chart_of_those_that_it_asks_for(tmp_path: Path) -> None:
    found = read(documents(owners=True), tmp_path)
    texts = {title: one.query.text if one.query else one.end for title, one in by_title(found).items()}
    virtual = texts.pop("best customers")
    assert texts == {
        "orders": 'SELECT total AS "total", region AS "region", placed AS "placed", (total - tax) AS "net", '
        '(SUM(total)) AS "gmv" FROM shop.orders',
        "Sales by region": 'SELECT region AS "region", SUM(total) AS "Total" FROM "dashboards"."model"."orders" '
        "WHERE NOT placed IS NULL GROUP BY region",
        "GMV": 'SELECT gmv AS "gmv" FROM "dashboards"."model"."orders" WHERE NOT net IS NULL',
        "Who": 'SELECT name AS "name" FROM "dashboards"."model"."best_customers"',
        "Read me": "no_query",
        "Sales": 'SELECT c0."region" AS "Sales by region", c1."gmv" AS "GMV", c2."name" AS "Who" FROM '
        '"dashboards"."chart"."sales_by_region" c0, "dashboards"."chart"."gmv" c1, "dashboards"."chart"."who" c2, '
        '"dashboards"."chart"."read_me" c3',
    }
    assert virtual.startswith('SELECT name AS "name", spent AS "spent" FROM (\nSELECT c.name, ')
    assert "c.owner = '0'" in virtual
    assert virtual.endswith("GROUP BY c.name\n) virtual_table")
    query = by_title(found)["orders"].query
    assert query is not None
    assert (query.dialect, query.database, query.schema) == ("postgres", "shopdb", "shop")
    assert by_title(found)["GMV"].owners == ("Ann Lee",)
    assert found.notes == (
        "1 calculated columns, metrics or charts have templates, or no whole SQL, and left out: orders.mine",
    )


def test_a_dashboard_reads_the_columns_that_its_native_filters_offer(tmp_path: Path) -> None:
    def target(uuid: str, column: str) -> dict[str, Any]:
        return {"datasetUuid": uuid, "column": {"name": column}}

    content = documents()
    orders = content["datasets/warehouse/orders.yaml"]["uuid"]
    best = content["datasets/warehouse/best.yaml"]["uuid"]
    sql = {"expressionType": "SQL", "sqlExpression": "x = 'canary'"}
    filters: list[Any] = [
        {"filterType": "filter_select", "targets": [target(orders, "region")], "sortMetric": "gmv"},
        {"filterType": "filter_range", "targets": [target(best, "spent")],
         "adhoc_filters": [{"expressionType": "SIMPLE", "subject": "name", "comparator": "canary"}]},
        {"filterType": "filter_time", "targets": [{}]},
        {"filterType": "filter_timecolumn", "targets": [{"datasetUuid": orders}]},
        {"filterType": "filter_select", "targets": [target(orders, "gone")]},
        {"filterType": "filter_select", "targets": [target("another", "region")]},
        {"filterType": "filter_select", "targets": [target(orders, "region")], "adhoc_filters": [sql]},
        7,
    ]  # fmt: skip
    with_filters = {**content["dashboards/sales.yaml"], "metadata": {"native_filter_configuration": filters}}
    found = read({**content, "dashboards/sales.yaml": with_filters}, tmp_path)
    query = by_title(found)["Sales"].query
    assert query is not None
    assert query.text.split('"read_me" c3')[1] == (
        ', "dashboards"."model"."orders" f0, "dashboards"."model"."best_customers" f1 WHERE NOT f0."region" IS NULL '
        'AND NOT f0."gmv" IS NULL AND NOT f1."spent" IS NULL AND NOT f1."name" IS NULL'
    )
    assert found.notes[1:] == ("3 native filters name what was not read, a dataset, a column or SQL: left out",)
    # as the API answers, in a text; a dashboard of filters alone reads too
    alone = {"native_filter_configuration": [{"targets": [{"datasetId": orders, "column": {"name": "net"}}]}]}
    only = {**with_filters, "metadata": None, "json_metadata": json.dumps(alone), "position": {}}
    query = by_title(read({**content, "dashboards/sales.yaml": only}, tmp_path))["Sales"].query
    assert query is not None
    assert query.text == 'SELECT 1 FROM "dashboards"."model"."orders" f0 WHERE NOT f0."net" IS NULL'


def test_a_label_that_is_the_sql_itself_has_no_values(tmp_path: Path) -> None:
    sums = [f"SUM(CASE WHEN region = '{name}' THEN total END)" for name in ("canary", "canary2")]
    own = [{"expressionType": "SQL", "sqlExpression": one, "label": one} for one in sums]
    metrics = [{"metric_name": one, "expression": one} for one in sums]
    columns = [{"column_name": "region"}, {"column_name": "total"}]
    content: dict[str, dict[str, Any]] = {
        "datasets/o.yaml": {"table_name": "o", "uuid": "d", "version": "1.0.0", "columns": columns, "metrics": metrics},
        "charts/c.yaml": {
            "slice_name": "C",
            "uuid": "c",
            "dataset_uuid": "d",
            "version": "1.0.0",
            "viz_type": "table",
            "params": {"metrics": [*own, own[0], sums[1], {**own[0], "label": "Ann's"}], "groupby": []},
        },
    }
    found = by_title(read(content, tmp_path))
    shown = "SUM(CASE WHEN region = ? THEN total END)"
    assert [one.name for one in found["o"].columns] == ["region", "total", shown, f"{shown} 2"]
    assert [one.name for one in found["C"].columns] == [shown, f"{shown} 2", f"{shown} 2 2", "Ann?"]
    assert [one.name for one in found["o"].columns if "canary" in one.name] == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("bigquery://project-1/sales", ("bigquery", "project-1", "sales")),
        ("mysql://u:p@h/shop", ("mysql", "shop", "")),
        ("no address", ("ansi", "", "")),
        ("postgresql+psycopg2://u:XXXX@h:5432/shopdb?sslmode=require", ("postgres", "shopdb", "")),
        ("snowflake://u:XXXX@account/DB/PUBLIC?warehouse=w", ("snowflake", "DB", "PUBLIC")),
        ("sqlite:////srv/examples.db", ("sqlite", "", "")),
    ],
)
def test_a_connection_tells_its_dialect_and_where_bare_names_are(address: str, expected: tuple[str, str, str]) -> None:
    found = database_of("x", address)
    assert (found.dialect, found.database, found.schema) == expected


def test_two_of_one_title_are_told_apart_and_a_chart_without_its_dataset_is_told(tmp_path: Path) -> None:
    content = documents()
    del content["datasets/warehouse/best.yaml"]
    content["charts/1.yaml"] = {**content["charts/1.yaml"], "slice_name": "sales  BY region"}
    found = read(content, tmp_path)
    charts = [one for one in found.items if one.kind == "chart"]
    assert len({one.relation for one in charts}) == len(charts)
    assert len({one.title.casefold() for one in charts}) == len(charts)
    assert {one.title: one.end for one in charts if one.end} == {"Who": "no_dataset", "Read me": "no_query"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1, 2", "it is no YAML, or is cut"),
        ("a: &x [1]\nb: *x", "it is no YAML, or is cut"),
        ("[" * 100_000, "it is no YAML, or is cut"),
        (
            json.dumps({"slice_name": "s", "version": "2.0.0", "uuid": "u"}),
            "version 2.0.0 of Superset's export is not known",
        ),
        (json.dumps({"slice_name": "s", "version": "1.0.0"}), "it has no uuid, which every one of the charts has"),
        (json.dumps({"table_name": "t", "uuid": "u", "columns": {}}), ""),
        (json.dumps({"table_name": "t", "uuid": "u", "columns": "x"}), "columns is not as Superset writes it"),
    ],
)
def test_what_is_no_document_of_superset_is_told_in_one_line(text: str, problem: str) -> None:
    found = documents_of([ExportedFile("charts/x.yaml", text)])
    assert [one.problem for one in found.unread if not one.problem.startswith(problem)] == []
    assert bool(found.unread) == bool(problem)
    assert all(one.location.startswith("charts/x.yaml:") for one in found.unread)
