"""Plans of Sparks before 4.0, beside what their own analyzers say."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import Any

import pytest

from connectors.spark._history_records import Row
from tests.connectors.spark.conftest import read_directory
from tests.support.spark_jobs.comparison import by_target, compare, printed_columns
from tests.support.spark_jobs.older_logs import OLDER, VERSIONS, kept, write_log

OPAQUE_JOBS = {"d21", "d41"}
UNKNOWN_ORIGIN = {"d22", "d42"}
INFERRED = {"3.3": 0.95, "3.5": 0.99}
"""Precision of indirect edges. Spark 3.3 plans CREATE TABLE AS physically: with filters like `size(exploded) > 0`."""


@dataclass(frozen=True)
class Older:
    version: str
    truth: list[dict[str, Any]]
    rows: list[Row]


@pytest.fixture(scope="module", params=VERSIONS)
def older(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Older:
    """The jobs of one older Spark: what they said of themselves, and the records of their log."""
    said = kept(request.param)
    folder = write_log(said["events"], tmp_path_factory.mktemp("older"))
    return Older(request.param, said["truth"], read_directory(folder, through_views=True))


def test_edges_are_those_of_that_sparks_own_analyzer(older: Older) -> None:
    result = compare(older.truth, older.rows)
    assert result.jobs >= 80
    assert result.wrong == {}
    assert result.marked <= OPAQUE_JOBS | UNKNOWN_ORIGIN
    assert result.indirect_precision >= INFERRED[older.version]
    assert result.indirect_recall >= 0.99


def test_columns_have_the_names_of_the_target(older: Older) -> None:
    found = by_target(older.rows)
    for fact in older.truth:
        _, flow = found[fact["target"].rstrip("/")]
        assert [output.name for output in flow.outputs] == printed_columns(fact), fact["job"]


def test_what_failed_at_work_has_its_status_and_no_lineage(older: Older) -> None:
    assert any(row["status"] == "failed" for row in older.rows)
    assert all(row["symbolic"] is None for row in older.rows if row["status"] == "failed")
    assert "spark_catalog.mart.failing" not in by_target(older.rows)
    assert {row["problem"] for row in older.rows} == {None}


def test_nothing_of_the_machine_is_in_the_logs() -> None:
    for file in OLDER.iterdir():
        content = gzip.decompress(file.read_bytes())
        assert not any(word in content for word in (b"/home/", b"/tmp/", b"/usr/", b"/root", b"127.0.0.1"))
