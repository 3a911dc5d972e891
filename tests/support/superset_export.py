"""A small export of Superset's, as a ZIP: two datasets, four charts, one dashboard."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

DATABASE = {
    "database_name": "warehouse",
    "sqlalchemy_uri": "postgresql+psycopg2://bi:XXXXXXXXXX@db.example:5432/shopdb",
    "uuid": "00000000-0000-0000-0000-00000000000d",
    "version": "1.0.0",
}
ORDERS = {
    "table_name": "orders",
    "schema": "shop",
    "sql": None,
    "uuid": "00000000-0000-0000-0000-0000000000a1",
    "database_uuid": DATABASE["uuid"],
    "columns": [
        {"column_name": "total", "type": "NUMERIC", "expression": None},
        {"column_name": "region", "type": "TEXT", "expression": None},
        {"column_name": "placed", "type": "DATE", "expression": None},
        {"column_name": "net", "type": "NUMERIC", "expression": "total - tax"},
        {"column_name": "mine", "type": "TEXT", "expression": "'{{ filter_values('x') }}'"},
    ],
    "metrics": [{"metric_name": "gmv", "expression": "SUM(total)"}],
    "version": "1.0.0",
}
CUSTOMERS = {
    "table_name": "best customers",
    "schema": "shop",
    "sql": "SELECT c.name, sum(o.total) AS spent FROM customers c JOIN orders o ON o.customer = c.id\n"
    "WHERE c.secret_code = 'sesame' AND c.owner = '{{ current_username() }}' GROUP BY c.name;",
    "uuid": "00000000-0000-0000-0000-0000000000a2",
    "database_uuid": DATABASE["uuid"],
    "columns": [{"column_name": "name", "type": "TEXT"}, {"column_name": "spent", "type": "NUMERIC"}],
    "metrics": [],
    "version": "1.0.0",
}
_TOTAL = {"expressionType": "SIMPLE", "aggregate": "SUM", "column": {"column_name": "total"}, "label": "Total"}
CHARTS: tuple[dict[str, Any], ...] = (
    {
        "slice_name": "Sales by region",
        "viz_type": "pie",
        "dataset_uuid": ORDERS["uuid"],
        "params": {
            "groupby": ["region"],
            "metric": _TOTAL,
            "metrics": ["gmv"],
            "adhoc_filters": [{"expressionType": "SIMPLE", "subject": "placed", "operator": ">", "comparator": "x"}],
        },
        "query_context": None,
    },
    {
        "slice_name": "GMV",
        "viz_type": "big_number_total",
        "dataset_uuid": ORDERS["uuid"],
        "params": {"metric": "gmv", "groupby": ["region"]},
        "query_context": json.dumps({"queries": [{"metrics": ["gmv"], "columns": [], "filters": [{"col": "net"}]}]}),
    },
    {
        "slice_name": "Who",
        "viz_type": "table",
        "dataset_uuid": CUSTOMERS["uuid"],
        "params": {"query_mode": "raw", "all_columns": ["name", "gone"], "metrics": ["count"]},
        "query_context": None,
    },
    {
        "slice_name": "Read me",
        "viz_type": "markup",
        "dataset_uuid": ORDERS["uuid"],
        "params": {},
        "query_context": None,
    },
)


def chart_uuid(number: int) -> str:
    """The uuid of the chart of that number."""
    return f"00000000-0000-0000-0000-0000000000c{number}"


def documents(*, without: str = "", owners: bool = False) -> dict[str, Mapping[str, Any]]:
    """The documents of the export by their files, one chart (by name) left out."""
    found: dict[str, Mapping[str, Any]] = {
        "databases/warehouse.yaml": DATABASE,
        "datasets/warehouse/orders.yaml": ORDERS,
        "datasets/warehouse/best.yaml": CUSTOMERS,
    }
    position: dict[str, Any] = {"DASHBOARD_VERSION_KEY": "v2"}
    for number, chart in enumerate(CHARTS):
        if chart["slice_name"] != without:
            uuid = chart_uuid(number)
            people = {"owners": [{"id": 1, "first_name": "Ann", "last_name": "Lee"}]} if owners else {}
            found[f"charts/{number}.yaml"] = {**chart, **people, "uuid": uuid, "version": "1.0.0"}
            position[f"CHART-{number}"] = {"type": "CHART", "meta": {"uuid": uuid, "chartId": number}}
    found["dashboards/sales.yaml"] = {
        "dashboard_title": "Sales",
        "uuid": "00000000-0000-0000-0000-0000000000da",
        "position": position,
        "version": "1.0.0",
    }
    found["metadata.yaml"] = {"version": "1.0.0", "type": "assets"}
    return found


def export(content: Mapping[str, Mapping[str, Any]]) -> bytes:
    """These documents as the ZIP that Superset makes of them; JSON is YAML too."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, document in content.items():
            archive.writestr(f"assets_export/{name}", json.dumps(document))
    return out.getvalue()
