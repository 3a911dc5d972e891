"""A log read in parts, in any order and more than once, gives the catalog that it gives when it is read at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.support.growing_log import SHOP, Said, configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.run.read import reader

pytestmark = pytest.mark.spark
ROWS = rows_of(SHOP)


def test_the_whole_log_says_what_it_should(undisturbed: set[Said]) -> None:
    edges = {(said.source.split(".")[-1], said.target.split(".")[-1]) for said in undisturbed}
    assert edges == {
        ("orders", "early"), ("early", "late"), ("late", "daily"), ("orders", "marked"), ("customers", "marked"),
        ("daily", "summary"), ("customers", "summary"), ("wide", "report"), ("orders", "wide"),
    }  # fmt: skip


def test_a_log_that_grows_gives_the_same_catalog(spark: SparkSession, undisturbed: set[Said], tmp_path: Path) -> None:
    counted = read = 0
    configuration(tmp_path)
    for end in (5, 12, len(ROWS)):
        write_log(tmp_path / "log" / "all.csv", ROWS[:end])
        summary = run(tmp_path, run_id=f"until {end}")
        assert summary.counts.records_read == end - read
        assert summary.counts.records_read_before == read
        counted, read = counted + summary.counts.statements, end
    assert counted == len(ROWS)
    assert contributions_in(tmp_path / "catalog.db") == undisturbed


def test_records_that_a_log_has_twice_give_the_same_catalog(
    spark: SparkSession, undisturbed: set[Said], tmp_path: Path
) -> None:
    """Views that are defined once, and as the last of their name: nothing later moves their end."""
    views = [row for row in ROWS if "VIEW" in row]
    configuration(tmp_path)
    write_log(tmp_path / "log" / "all.csv", ROWS)
    write_log(tmp_path / "log" / "overlapping.csv", views)
    run(tmp_path)
    assert contributions_in(tmp_path / "catalog.db") == undisturbed


def test_what_a_condition_left_out_is_read_without_it_by_as_many_runs_as_a_limit_takes(
    spark: SparkSession, undisturbed: set[Said], tmp_path: Path
) -> None:
    configuration(tmp_path)
    write_log(tmp_path / "log" / "all.csv", ROWS)
    assert run(tmp_path, "filterCondition=session = 's1'").counts.skipped["filtered"] == len(ROWS) - 2
    ended = 0
    for before in (0, 10):
        counts = run(tmp_path, "resultLimit=10").counts
        assert counts.records_read_before == before
        ended += counts.statements - counts.skipped.get("over_limit", 0)
    assert ended == len(ROWS)
    assert contributions_in(tmp_path / "catalog.db") == undisturbed


@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_order_repetition_and_partition_of_a_log_gives_the_same_catalog(
    spark: SparkSession, undisturbed: set[Said], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    rows = data.draw(st.permutations([*ROWS, *data.draw(st.lists(st.sampled_from(ROWS), max_size=4))]))
    cut = data.draw(st.integers(1, len(rows) - 1))
    configuration(folder)
    for number, part in enumerate((rows[:cut], rows[cut:])):
        write_log(folder / "log" / f"part{number}.csv", part)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(
                reader, "_SMALL_LOG", number << 20
            )  # the first is kept as large logs are, the second as small ones
            run(folder, run_id=f"part {number}")
    assert contributions_in(folder / "catalog.db") == undisturbed
    shutil.rmtree(folder)
