"""Where to begin: what changed lately, is used most, failed lately, and is not covered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.coverage import coverage_in_file, first_uncovered
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.start_lists import start_lists
from connectors.catalog.questions.tables import TableListOptions
from tests.support.http_client import Client
from tests.support.shop_history import AFTER, SCHEMA, fill

Rows = list[tuple[str, str]]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Client]]:
    """The shop; a test of `report` failed and one passed, and a statement that fills `orders` is dead."""
    file = tmp_path_factory.mktemp("shop") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        fill(client)
        made = {"description": "None.", "entityType": "TABLE", "testPlatforms": ["dbt"]}
        client.made("/dataQuality/testDefinitions", {"name": "not_null", **made})
        for test, results in (("has_rows", ("Success", "Failed")), ("is_new", ("Failed", "Success"))):
            request = {"name": test, "entityLink": f"<#E::table::{SCHEMA}.report>", "testDefinition": "not_null"}
            name = client.made("/dataQuality/testCases", request)["fullyQualifiedName"]
            for number, status in enumerate(results):
                result = {"timestamp": AFTER + number, "testCaseStatus": status, "failedRows": 3}
                client.post(f"/dataQuality/testCases/testCaseResults/{name}", result)
        orders = client.get(f"/tables/name/{SCHEMA}.orders")[1]["id"]
        dead = {"run": "a1", "location": "log.csv:7", "reason": "unparsable", "masked": "x", "writes": [orders]}
        told = {"workflow": "nightly", "dead": [dead], "dead_total": 1}
        assert client.post("/headwater/workflow-runs/open-statements", told)[0] == 200
        yield file, client


def named(rows: Any) -> Rows:
    return [(one.entity.fqn.removeprefix(f"{SCHEMA}."), one.what) for one in rows]


def test_what_changed_comes_before_what_is_only_new(shop: tuple[Path, Client]) -> None:
    with open_catalog(shop[0]) as connection:
        found = named(start_lists(connection).content.changed)
        assert named(start_lists(connection, 1).content.changed) == found[:1]
    assert found[0] == ("daily", "region dropped")
    assert sorted(found[1:]) == [("orders", "new here"), ("rates", "new here"), ("report", "new here")]


def test_what_is_used_failed_or_is_not_covered_says_how(shop: tuple[Path, Client]) -> None:
    with open_catalog(shop[0]) as connection:
        found = start_lists(connection).content
        first = first_uncovered(connection, 1)
    assert [(one.runs, one.readers) for one in found.used] == [(0, 1)] * 3
    assert [name for name, _ in named(found.used)] == ["daily", "orders", "rates"]
    failed = [
        ("report", "test has_rows failed (3 rows)"),
        ("orders", "statement given up on: No parser made sense of it"),
    ]
    assert named(found.failed) == failed
    assert named(found.uncovered)[0] == ("orders", "No parser made sense of it")
    assert first == coverage_in_file(shop[0], TableListOptions()).content.open[:1]


def test_a_table_that_is_gone_is_in_no_list(shop: tuple[Path, Client]) -> None:
    file, client = shop
    rates = client.get(f"/tables/name/{SCHEMA}.rates")[1]["id"]
    assert client.delete(f"/tables/{rates}")[0] == 200
    with open_catalog(file) as connection:
        found = start_lists(connection).content.to_json()
    assert "rates" not in str(found)
