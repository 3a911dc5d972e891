"""The window that lineage is read through ends at the newest observation that has been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.questions.file import left_out
from connectors.catalog.store.lineage.window import DAY, edges_before, window
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


def test_what_the_window_hides_is_counted_and_told_with_the_option_that_shows_it(tmp_path: Path) -> None:
    catalog = MadeCatalog(tmp_path / "c.db")
    catalog.add_tables({ORDERS: [], SALES: [], DAILY: []})
    seen = ((ORDERS, SALES, OLD - 40 * DAY), (ORDERS, DAILY, OLD - 40 * DAY), (ORDERS, DAILY, OLD))
    catalog.add_edges(
        [
            (source, target, {"producer": {"kind": "query", "key": key * 8}, "firstSeen": at, "lastSeen": at})
            for key, (source, target, at) in zip("abc", seen, strict=True)
        ]
    )
    with catalog.database.read() as connection:
        asked = ((None, None), (None, 0), (None, 50), (OLD, None), (OLD - 35 * DAY, None))
        counts = [edges_before(connection, window(connection, *when)) for when in asked]
        told = [left_out(connection, window(connection, *when), "--days 0") for when in asked[:2]]
    assert counts == [1, 0, 0, 1, 0]
    assert told == [
        "1 edge of the catalog was last seen before 2023-10-15 22:13 and left out: --days 0 has them all",
        "",
    ]
