"""run_results.json and sources.json."""

from __future__ import annotations

import json
from pathlib import Path

from connectors.dbt.artifacts import read_run_results, read_source_freshness
from tests.support.dbt_project import BUILT


def test_results_of_a_build_have_status_and_time() -> None:
    results = read_run_results(BUILT / "run_results.json")
    assert results["model.roastery.orders"].status == "success"
    (passed,) = (one for node, one in results.items() if node.startswith("test.roastery.not_null_orders_order_id"))
    assert (passed.status, passed.failures) == ("pass", 0)
    assert passed.at is not None


def test_freshness_is_of_the_newest_row(tmp_path: Path) -> None:
    file = tmp_path / "sources.json"
    file.write_text(
        json.dumps(
            {
                "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/sources/v3.json"},
                "results": [
                    {
                        "unique_id": "source.roastery.shop.orders",
                        "status": "warn",
                        "max_loaded_at": "2026-01-04T10:00:00+00:00",
                        "snapshotted_at": "2026-01-04T11:00:00Z",
                    },
                    {"unique_id": "source.roastery.shop.beans", "status": "runtime error"},
                ],
            }
        )
    )
    found = read_source_freshness(file)
    orders = found["source.roastery.shop.orders"]
    assert (orders.status, orders.newest, orders.at) == ("warn", 1767520800.0, 1767524400.0)
    assert found["source.roastery.shop.beans"].newest is None
