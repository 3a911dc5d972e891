"""What of a job's name is the same in every run, and what never leaves with it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.model.job_names import stable_name


@pytest.mark.parametrize(
    ("name", "stable"),
    [
        ("nightly", "nightly"), ("dbt run", "dbt run"), ("v2 load", "v2 load"), ("Ünï load", "Ünï load"),
        ("orders (try 3)", "orders"), ("etl:orders:run_17", "etl:orders"), ("load[2026-01-01]", "load"),
        ("20260101T101112_load_retry-2", "load"), ("deadbeef", "deadbeef"), ("a1b2c3d4e5", None),
        ("2026-01-01", None), ("", None), ("...", None), ("4711", None),
        ("select * from t where a = 'x'", None), ("what is owed by the heirs of Ann", None), ("x" * 300, None),
        ("ann@shop.example nightly", "nightly"), ("load 0123456789abcdefABCDEF0123", "load"),
    ],
)  # fmt: skip
def test_a_text_keeps_what_names_a_task(name: str, stable: str | None) -> None:
    assert stable_name(name, declared=False) == stable


@pytest.mark.parametrize(
    ("name", "stable"),
    [("step_1", "step_1"), ("orders_2024", "orders_2024"), ("orders_20240131", "orders"), ("job_1700000000", "job")],
)
def test_a_declared_name_keeps_short_numbers(name: str, stable: str) -> None:
    assert stable_name(name, declared=True) == stable


@given(st.uuids(), st.datetimes(datetime(1971, 1, 1), datetime(2099, 1, 1)), st.sampled_from("_-./ "))
def test_ids_and_moments_change_nothing(run: UUID, moment: datetime, separator: str) -> None:
    runs = (run, run.hex, moment.date(), moment.isoformat(), f"{moment:%Y%m%d}", f"{moment:%Y%m%dT%H%M%S}", "77")
    assert {stable_name(f"load{separator}{one}", declared=False) for one in runs} == {"load"}
