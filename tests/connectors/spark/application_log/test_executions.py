"""Which plans of a statement's executions say what it reads and writes."""

from __future__ import annotations

import json

import pytest

from connectors.spark._application_log import Execution, plans_of, seconds


@pytest.mark.parametrize(
    ("description", "counts"),
    [
        ("Rewriting 12 files (BIN-PACK, file group 3/7) in lake.mart.orders", False),
        ("Rewriting 1 position delete files (BIN-PACK, file group 1/1, day=1 (1/2)) in lake.mart.orders", False),
        ("Rewriting the orders of the shop", True),
        ("sql at job.py:7", True),
    ],
)
def test_putting_a_tables_rows_together_into_fewer_files_moves_none(description: str, counts: bool) -> None:
    assert plans_of([Execution(1, 1, description, plan="a plan"), Execution(2, 1)]) == (["a plan"] if counts else [])


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("1767225600500", 1767225600.5),
        ("1", 0.001),
        *((none, None) for none in ("0", "-1", "-9223372036854775808", "NaN", "Infinity", "-Infinity", "1e400")),
        *((none, None) for none in ("253402300800000", "1" + "0" * 400, "true", "null", '"1767225600500"', "[1]")),
    ],
)
def test_a_time_up_to_1970_or_of_no_calendar_is_none(written: str, time: float | None) -> None:
    assert seconds(json.loads(written)) == time
