"""OpenLineage's assertions become tests of tables and columns, and its failed runs and row counts stay known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.why.search import causes_in_file
from tests.support.http_client import Client

PG = "postgres://db:5432"
FROM_A = {"namespace": PG, "name": "d.p.s", "field": "a", "transformations": [{"type": "DIRECT"}]}


def dataset(name: str, column: str, **facets: Any) -> Any:
    fields = {"fields": [{"name": column, "type": "integer"}]}
    return {"namespace": PG, "name": f"d.p.{name}", "facets": {"schema": fields, **facets}}


def event(day: str, kind: str, **more: Any) -> Any:
    job = {"namespace": "spark", "name": "daily"}
    run = {"eventType": kind, "eventTime": f"2026-11-{day}:00:00Z", "run": {"runId": day}, "job": job}
    return {**run, "producer": "https://example.org", "schemaURL": "https://openlineage.io/spec", **more}


def post(client: Client, body: Any) -> None:
    status, answer = client.post("/openlineage/lineage", body)
    assert status == 200, answer


def load(day: int, kind: str, rows: int | None = None) -> Any:
    output = dataset("t", "x", columnLineage={"fields": {"x": {"inputFields": [FROM_A]}}})
    statistics = {} if rows is None else {"outputFacets": {"outputStatistics": {"rowCount": rows, "size": 1}}}
    return event(f"{day:02}T10", kind, inputs=[dataset("s", "a")], outputs=[{**output, **statistics}])


def checks(day: int, place: str, kind: str = "COMPLETE", **held: bool) -> Any:
    """A run of tests: `held` by the assertion's name; on the column x."""
    assertions = [{"assertion": name, "success": success, "column": "x"} for name, success in held.items()]
    facet = {"dataQualityAssertions": {"assertions": assertions}}
    tested = dataset("t", "x", **facet) if place == "facets" else {**dataset("t", "x"), place: facet}
    return event(f"{day:02}T11", kind, inputs=[tested])


def results(client: Client) -> dict[str, list[str]]:
    status, listed = client.get("/dataQuality/testCases?fields=testCaseResult")
    assert status == 200, listed
    found = {}
    for test in listed["data"]:
        status, told = client.get(f"/dataQuality/testCases/testCaseResults/{test['fullyQualifiedName']}")
        assert status == 200, told
        found[test["entityFQN"].rpartition(".d.p.")[2], test["name"]] = [one["testCaseStatus"] for one in told["data"]]
    return found


@pytest.mark.parametrize("place", ["facets", "inputFacets"])
def test_assertions_are_tests_with_results_told_once(client: Client, place: str) -> None:
    for _ in range(2):
        post(client, checks(1, place, not_null=True, unique=True))
        post(client, checks(2, place, "FAIL", not_null=False))
        post(client, checks(3, place, "START", not_null=True))
    found = results(client)
    assert {name: sorted(told) for name, told in found.items()} == {
        ("t.x", "not_null"): ["Failed", "Success"],
        ("t.x", "unique"): ["Success"],
    }


def test_failed_runs_and_unusual_sizes_are_suspects(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        for day in range(1, 5):
            post(client, load(day, "COMPLETE", rows=100 + day))
            post(client, checks(day, "inputFacets", not_null=True))
        post(client, load(5, "COMPLETE", rows=20))
        post(client, checks(5, "inputFacets", "FAIL", not_null=False))
        post(client, load(6, "FAIL"))
    texts = [one.text for one in causes_in_file(file, "t.x", When()).content.accused[0].evidence]
    assert "fewer rows: 20 rows, before it 101 to 104" in texts
    assert not any(text.startswith("load failed") for text in texts), "that was after the first failure"
    failed = causes_in_file(file, "s", When(days=0)).content
    assert failed.accused == ()


def test_a_failed_run_speaks_against_the_table_that_it_was_to_write(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        post(client, load(1, "COMPLETE"))
        post(client, checks(1, "inputFacets", fresh=True))
        post(client, load(2, "FAIL"))
        post(client, checks(2, "inputFacets", "FAIL", fresh=False))
    report = causes_in_file(file, "t", When()).content
    assert report.accused[0].evidence[0].text == "load failed: spark/daily"
