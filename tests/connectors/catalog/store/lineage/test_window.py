"""The window that lineage is read through ends at the newest observation that has been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.store.lineage.window import DAY, window
from tests.support.made_catalog import MadeCatalog

ORDERS, SALES, DAILY = "s.d.p.orders", "s.d.p.sales", "s.d.p.daily"
OLD = 1_700_000_000_000


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("target", [SALES, DAILY])
def test_a_statement_of_the_future_does_not_hide_the_others(tmp_path: Path, target: str, together: bool) -> None:
    catalog = MadeCatalog(tmp_path / "c.db")
    catalog.add_tables({ORDERS: [], SALES: [], DAILY: []})
    producer: dict[str, Any] = {"producer": {"kind": "query", "key": "aaaaaaaa"}}
    dated = (ORDERS, SALES, {**producer, "firstSeen": OLD, "lastSeen": OLD})
    odd = (
        ORDERS,
        target,
        {"producer": {"kind": "query", "key": "bbbbbbbb"}, "firstSeen": 2 * OLD, "lastSeen": 2 * OLD},
    )
    for edges in ([dated, odd],) if together else ([dated], [odd]):
        catalog.add_edges(edges)
    with catalog.database.read() as connection:
        span = window(connection, None, None)
    assert (span.since, span.until) == (OLD - 30 * DAY, OLD)
