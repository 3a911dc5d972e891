"""Which plans of a statement's executions say what it reads and writes."""

from __future__ import annotations

import pytest

from connectors.spark_history.applications.executions import Execution, plans_of


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
