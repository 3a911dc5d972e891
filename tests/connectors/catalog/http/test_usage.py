"""Use by day, joins, models and rows: what clients tell of a table by calls of their own."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.http_client import Client

TODAY = date.today()


def test_use_is_counted_by_day_and_week_and_ranked(kept: Client) -> None:
    busy, quiet = kept.table("busy"), kept.table("quiet")
    for table, day, count in ((busy, TODAY, 5), (busy, TODAY, 6), (quiet, TODAY, 2), (busy, TODAY - timedelta(3), 10)):
        status, event = kept.post(f"/usage/table/{table['id']}", {"date": day.isoformat(), "count": count})
        assert (status, event["entityId"]) == (201, table["id"])
    assert (
        kept.put(f"/usage/table/name/{quiet['fullyQualifiedName']}", {"date": TODAY.isoformat(), "count": 1})[0] == 201
    )
    assert kept.post(f"/usage/compute.percentile/table/{TODAY}", None)[0] == 201
    summary = kept.get(f"/tables/{busy['id']}", fields="usageSummary")[1]["usageSummary"]
    assert summary["date"] == TODAY.isoformat()
    assert summary["dailyStats"] == {"count": 6, "percentileRank": 50.0}
    assert (summary["weeklyStats"]["count"], summary["monthlyStats"]["count"]) == (16, 16)
    assert "usageSummary" not in kept.get(f"/tables/{busy['id']}")[1]
    database = kept.get("/databases/name/shop.main", fields="*")[1]["usageSummary"]
    assert database["dailyStats"] == {"count": 9}
    body = kept.get(f"/usage/table/{busy['id']}", days=7)[1]
    assert [one["dailyStats"]["count"] for one in body["usage"]] == [6, 10]
    assert kept.get(f"/usage/table/{busy['id']}", date="2020-01-01")[1]["usage"] == []


def test_use_of_what_has_none_is_refused(kept: Client) -> None:
    table = kept.table("unused")
    told = {"date": TODAY.isoformat(), "count": 1}
    for path, body, status in (
        (f"/usage/table/{'0' * 36}", told, 404),
        ("/usage/table/name/shop.nope", told, 404),
        (f"/usage/table/{table['id']}", {"date": "soon", "count": 1}, 400),
        (f"/usage/table/{table['id']}", {"date": TODAY.isoformat(), "count": -1}, 400),
        ("/usage/databaseService/name/shop", told, 400),
        ("/usage/compute.percentile/table/soon", None, 400),
        ("/usage/compute.percentile/topic/2026-01-01", None, 404),
    ):
        assert kept.post(path, body)[0] == status, path


def test_joins_of_a_day_take_the_place_of_those_told_before(kept: Client) -> None:
    table = kept.table("joined")
    with_ = {"fullyQualifiedName": "shop.main.public.other.a", "joinCount": 3}
    for day, count in ((TODAY, 3), (TODAY, 4), (TODAY - timedelta(1), 1), (TODAY - timedelta(90), 50)):
        told = {
            "startDate": day.isoformat(),
            "columnJoins": [{"columnName": "a", "joinedWith": [{**with_, "joinCount": count}]}],
        }
        assert kept.put(f"/tables/{table['id']}/joins", told)[0] == 200
    joins = kept.get(f"/tables/{table['id']}", fields="joins")[1]["joins"]
    assert joins["columnJoins"] == [{"columnName": "a", "joinedWith": [{**with_, "joinCount": 5}]}]
    assert (joins["dayCount"], joins["directTableJoins"]) == (30, [])


def test_a_data_model_stays_when_its_table_is_put_again(kept: Client) -> None:
    table = kept.table("modelled")
    model = {"modelType": "DBT", "sql": "select 1", "columns": [{"name": "a", "dataType": "INT", "description": "one"}]}
    assert kept.put(f"/tables/{table['id']}/dataModel", model)[1]["dataModel"]["sql"] == "select 1"
    kept.table("modelled")
    found = kept.get(f"/tables/{table['id']}")[1]["dataModel"]
    assert found["columns"][0]["description"] == "one"
    assert kept.put(f"/tables/{table['id']}/dataModel", {"modelType": "DBT", "surprise": 1})[0] == 400


def test_rows_are_kept_where_that_is_allowed_alone(kept: Client, tmp_path: Path) -> None:
    rows = {"columns": ["a"], "rows": [["canary-row"]]}
    table = kept.table("with_rows")
    path = f"/tables/{table['id']}/sampleData"
    assert kept.put(path, rows)[1]["sampleData"] == rows
    assert kept.get(path)[1]["sampleData"] == rows
    assert "sampleData" not in kept.get(f"/tables/{table['id']}", fields="*")[1]
    assert kept.delete(path)[0] == 200
    assert "sampleData" not in kept.get(path)[1]
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        strict = Client(address.url)
        strict.made("/services/databaseServices", {"name": "shop", "serviceType": "Postgres"})
        strict.made("/databases", {"name": "main", "service": "shop"})
        strict.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
        path = f"/tables/{strict.table('t')['id']}/sampleData"
        status, body = strict.put(path, rows)
        assert (status, "--sample-data" in body["message"]) == (403, True)
        assert "sampleData" not in strict.get(path)[1]
        assert all(b"canary-row" not in file.read_bytes() for file in tmp_path.iterdir())
