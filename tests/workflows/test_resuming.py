"""A log read in parts, in any order and more than once, gives the catalog that it gives when it is read at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.workflows.growing_log import SHOP, configuration, rows_of, told_by, write_log
from workflows.config import load_config
from workflows.extent import Extent
from workflows.options import RunOptions
from workflows.progress import LoggedProgress
from workflows.run import run_workflow
from workflows.status import RunSummary

pytestmark = [pytest.mark.spark, pytest.mark.slow]
ROWS = rows_of(SHOP)
RunIn = Callable[..., RunSummary]


def run(folder: Path, *settings: str, extent: Extent | None = None, name: str = "run") -> RunSummary:
    """A run in the process and the Spark session of the test."""
    options = RunOptions(name, extent=extent or Extent())
    return run_workflow(load_config(configuration(folder), settings), options, LoggedProgress())


@pytest.fixture(scope="module")
def at_once(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("at_once")
    write_log(folder / "log" / "all.csv", ROWS)
    run(folder)
    return folder


def test_the_whole_log_says_what_it_should(at_once: Path) -> None:
    edges = {(said.source.split(".")[-1], said.target.split(".")[-1]) for said in told_by(at_once / "catalog.db")}
    assert edges == {
        ("orders", "early"), ("early", "late"), ("late", "daily"), ("orders", "marked"), ("customers", "marked"),
        ("daily", "summary"), ("customers", "summary"), ("wide", "report"), ("orders", "wide"),
    }  # fmt: skip


def test_a_log_that_grows_gives_the_same_catalog(at_once: Path, tmp_path: Path) -> None:
    counted = 0
    for number, end in enumerate((4, 9, 13, len(ROWS))):
        write_log(tmp_path / "log" / "all.csv", ROWS[:end])
        summary = run(tmp_path, name=f"run-{number}")
        counted += summary.counts.statements
        assert summary.counts.records_read == end - (0, 4, 9, 13)[number]
    assert counted == len(ROWS)
    assert told_by(tmp_path / "catalog.db") == told_by(at_once / "catalog.db")


@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_order_repetition_and_partition_of_a_log_gives_the_same_catalog(
    at_once: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    rows = data.draw(st.permutations([*ROWS, *data.draw(st.lists(st.sampled_from(ROWS), max_size=4))]))
    cut = data.draw(st.integers(1, len(rows) - 1))
    for number, part in enumerate((rows[:cut], rows[cut:])):
        write_log(folder / "log" / f"part{number}.csv", part)
        run(folder, name=f"run-{number}")
    assert told_by(folder / "catalog.db") == told_by(at_once / "catalog.db")
    shutil.rmtree(folder)
