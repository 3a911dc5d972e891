"""What hangs together and is too large to be bound at once says in parts what it says in one piece."""

from __future__ import annotations

import logging
import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.behaviour.harness import Record
from tests.support.batched_runs import BatchedRun, batched_run, built_log
from tests.support.forked_run import in_a_fork

IN_ONE_PIECE = 1000

WAREHOUSE = [
    ("s0", "CREATE TABLE t1 AS SELECT a, b FROM base"),
    ("s0", "CREATE TABLE t2 AS SELECT * FROM t1"),
    ("s0", "CREATE TABLE t3 AS SELECT upper(a) AS a, b FROM t2"),
    ("s1", "CREATE VIEW v1 AS SELECT * FROM v2"),
    ("s1", "CREATE VIEW v2 AS SELECT a, b AS c FROM t3"),
    ("s1", "INSERT INTO t1 SELECT * FROM v1"),
    ("s2", "CREATE TEMP TABLE tmp AS SELECT a, count(*) AS n FROM t2 GROUP BY a"),
    ("s3", "CREATE TEMP TABLE tmp AS SELECT b AS a, 1 AS n FROM t3"),
    ("s2", "INSERT INTO daily SELECT a, n FROM tmp"),
    ("s3", "INSERT INTO daily SELECT a, n FROM tmp"),
    ("s2", "INSERT INTO tmp SELECT c, 2 FROM v2"),
    ("s2", "INSERT INTO weekly SELECT * FROM tmp"),
    ("s4", "CREATE TABLE stage AS SELECT a, b FROM t3"),
    ("s4", "INSERT INTO report SELECT * FROM stage"),
    ("s4", "DROP TABLE stage"),
    ("s5", "CREATE TABLE next AS SELECT a AS x, b AS y FROM t2"),
    ("s5", "ALTER TABLE fact SWAP WITH next"),
    ("s6", "INSERT INTO report SELECT * FROM fact"),
    ("s6", "CREATE TABLE t4_new AS SELECT * FROM t3"),
    ("s6", "ALTER TABLE t4_new RENAME TO t4"),
    ("s6", "INSERT INTO report (a) SELECT a FROM t4"),
    ("s6", "ALTER TABLE t4 ADD COLUMN d int"),
    ("s6", "CREATE TABLE t5 AS SELECT * FROM t4"),
    ("s6", "ALTER TABLE t4 RENAME COLUMN a TO e"),
    ("s6", "CREATE TABLE t6 AS SELECT * FROM t4"),
    ("s7", "CREATE VIEW ring1 AS SELECT * FROM ring2"),
    ("s7", "CREATE VIEW ring2 AS SELECT * FROM ring3"),
    ("s7", "CREATE VIEW ring3 AS SELECT r.a, t.b FROM ring1 r JOIN t1 t ON r.a = t.a"),
    ("s7", "INSERT INTO report SELECT * FROM ring1"),
    ("p1", "INSERT INTO weekly (a, n) SELECT a, 3 FROM t5"),
    ("p1", "INSERT INTO daily (a, n) SELECT e, 3 FROM t6"),
    ("s8", "CREATE OR REPLACE VIEW v2 AS SELECT a, b AS c, a AS d FROM t2"),
    ("s8", "CREATE TABLE again AS SELECT * FROM v2"),
    ("s8", "INSERT INTO report (a, b) SELECT a, d FROM again"),
    ("s8", "DROP TABLE again"),
    ("s8", "CREATE TABLE again AS SELECT a FROM v2"),
    ("s8", "INSERT INTO daily (a) SELECT a FROM again"),
    ("s9", "CREATE TABLE like1 (LIKE t3)"),
    ("s9", "INSERT INTO like1 SELECT * FROM late"),
    ("s9", "CREATE TABLE late AS SELECT * FROM like1"),
    ("s9", "CREATE TABLE bare AS SELECT * FROM unknown_table, t1"),
    ("s9", "INSERT INTO out1 (z) SELECT q FROM bare"),
    ("s9", "INSERT INTO out2 (z) SELECT r FROM bare"),
    ("s9", "INSERT INTO out3 (z) SELECT early FROM v3"),
    ("s9", "CREATE VIEW v3 AS SELECT a AS early FROM t6"),
]
"""A warehouse that is built from itself, each statement by its session."""


def records_of(statements: list[tuple[str, str]]) -> list[Record]:
    return [Record(text, session, 1000.0 + at) for at, (session, text) in enumerate(statements)]


def same(parted: BatchedRun, whole: BatchedRun) -> None:
    for kind, contents in whole.catalog.items():
        assert parted.catalog[kind] == contents, kind
    assert parted.counts == whole.counts
    assert (parted.dead, set(parted.warnings)) == (whole.dead, set(whole.warnings))


def test_a_warehouse_in_parts_of_any_size_gives_the_catalog_and_the_counts_of_one_piece(tmp_path: Path) -> None:
    """Also where it is another one later."""
    log = records_of(WAREHOUSE)
    another = Record("CREATE VIEW v3 AS SELECT b AS early, a AS more FROM t6", "s9", 2000.0)
    logs = [log, [*(record for number, record in enumerate(log[:-1]) if number % 6), another]]
    whole, *parted = (batched_run(tmp_path / str(size), logs, size) for size in (IN_ONE_PIECE, 1, 12))
    assert len(whole.catalog["edges"]) > 20
    assert [one.batches > most for one, most in zip(parted, (15, 5), strict=True)] == [True, True]
    assert whole.batches == 1
    for one in parted:
        same(one, whole)


def test_jobs_that_drop_tables_of_one_name_alike_are_parts_of_their_own(tmp_path: Path) -> None:
    """However many there are, no part has all of them: memory would grow with the log."""
    jobs = 6
    log = records_of(
        [
            (f"job{number}", text)
            for number in range(jobs)
            for text in (
                "DROP TABLE IF EXISTS stage",
                f"CREATE TEMP TABLE stage AS SELECT a, {number} AS n FROM source{number}",
                f"INSERT INTO target{number} SELECT a, n FROM stage",
                "DROP TABLE IF EXISTS stage",
            )
        ]
    )
    whole, parted = (batched_run(tmp_path / str(size), [log], size) for size in (IN_ONE_PIECE, 4))
    assert whole.batches == 1
    assert parted.batches >= jobs
    same(parted, whole)


@pytest.mark.parametrize("seed", [303, 311])
def test_logs_of_all_kinds_of_statements_say_the_same_in_parts(tmp_path: Path, seed: int) -> None:
    log = built_log(seed, 50)
    whole, parted = (batched_run(tmp_path / str(size), [log], size) for size in (IN_ONE_PIECE, 4))
    assert parted.batches > 10
    same(parted, whole)


@pytest.mark.parametrize(
    "failpoint",
    [
        "binding:'t4_new':raise",
        "analysis:'t3':raise",
        "analysis:'t6':raise",
        "folding:'tmp':raise",
        "registration:'bare':raise",
    ],
)
def test_what_a_statement_that_fails_has_made_is_seen_by_none(tmp_path: Path, failpoint: str) -> None:
    log = records_of(WAREHOUSE)
    whole, parted = (batched_run(tmp_path / str(size), [log], size, failpoint) for size in (IN_ONE_PIECE, 4))
    assert whole.dead
    same(parted, whole)


@pytest.mark.spark
def test_tasks_bind_in_parts_what_the_driver_binds(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "workflows.run.execution")
    log, failpoint = records_of(WAREHOUSE), "analysis:'fact':raise"
    whole, parted = (
        batched_run(tmp_path / str(size), [log], size, failpoint, spark=spark) for size in (IN_ONE_PIECE, 12)
    )
    assert any("in Spark's tasks" in record.getMessage() for record in caplog.records)
    assert whole.dead
    same(parted, whole)


@pytest.mark.spark
def test_a_run_that_is_killed_between_parts_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    log = records_of(WAREHOUSE[:12])
    whole = batched_run(tmp_path / "whole", [log], IN_ONE_PIECE)
    folder = tmp_path / "killed"
    for place in ("send:2", "publish:3"):
        ending = in_a_fork(
            spark, lambda place=place: batched_run(folder, [log], 1, failpoint=f"{place}:kill", spark=spark)
        )
        assert ending.code == -signal.SIGKILL, (place, ending.sentence)
    again = batched_run(folder, [log], 1, spark=spark)
    assert again.catalog["edges"] == whole.catalog["edges"]
    edges, all_edges = again.counts[0].edges, whole.counts[0].edges
    assert edges.unchanged
    assert edges.new + edges.unchanged == all_edges.new
    assert again.counts[0].published == whole.counts[0].published
