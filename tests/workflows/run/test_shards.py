"""A log in batches says what it says as a whole."""

from __future__ import annotations

import logging
import signal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingestion.errors import TargetDown
from tests.behaviour.harness import Record
from tests.support.batched_runs import batched_run, dry_run, tangled_log
from tests.support.forked_run import in_a_fork
from workflows.run.execution import SparkExecutor, TaskPass, TaskResult
from workflows.run.passes import send_shard


def test_batches_of_any_size_give_the_catalog_and_the_counts_of_one(tmp_path: Path) -> None:
    """Also where the log is another one later: what nothing says any more is withdrawn once, and nothing else."""
    log = tangled_log(1, 30)
    logs = [log, [record for record in log if int(record.at or 0) % 7]]
    whole, parted = (batched_run(tmp_path / str(size), logs, size) for size in (1000, 1))
    assert whole.batches == 1
    assert whole.catalog["edges"]
    assert parted.batches > 3
    for kind, contents in whole.catalog.items():
        assert parted.catalog[kind] == contents
    assert parted.counts == whole.counts
    assert (parted.dead, set(parted.warnings)) == (whole.dead, set(whole.warnings))


@pytest.fixture
def every_task_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where an executor is lost when it has done its work, and before it could say so."""
    run = SparkExecutor.run

    def run_twice(self: SparkExecutor, *given: Any) -> TaskResult:
        run(self, *given)
        return run(self, *given)

    monkeypatch.setattr(SparkExecutor, "run", run_twice)


@pytest.mark.spark
@pytest.mark.usefixtures("every_task_twice")
def test_tasks_give_what_the_driver_gives_and_spark_keeps_nothing_of_what_they_were_given(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = tangled_log(1, 20)
    logs = [log, [record for record in log if int(record.at or 0) % 7]]
    caplog.set_level(logging.INFO, "workflows.run.execution")
    kept = Path(spark.sparkContext._temp_dir)  # where PySpark puts what it broadcasts
    before = set(kept.iterdir())
    here, there = (batched_run(tmp_path / str(number), logs, 3, spark=one) for number, one in enumerate((None, spark)))
    messages = [record.getMessage() for record in caplog.records if record.name == "workflows.run.execution"]
    assert len(messages) == len(logs)
    assert all("in Spark's tasks, 2 at a time" in message for message in messages)
    assert here.batches == there.batches > 3
    assert here == there
    assert set(kept.iterdir()) <= before  # what earlier tests left may go meanwhile


MARKED = [Record(f"INSERT INTO {name} (a) SELECT a FROM s_{name}", at=float(at + 1)) for at, name in enumerate("tuv")]


@pytest.mark.spark
@pytest.mark.parametrize("stage", ["binding", "resolution", "registration", "evidence", "publishing"])
def test_a_statement_that_fails_in_a_task_is_dead_as_in_the_driver(
    spark: SparkSession, tmp_path: Path, stage: str
) -> None:
    runs = (
        batched_run(tmp_path / str(number), [MARKED], 1, f"{stage}:s_u:raise", one)
        for number, one in enumerate((None, spark))
    )
    here, there = runs
    assert set(here.dead.values()) == {f"{stage}_failed"}
    assert here == there
    assert here.batches == len(MARKED)


@pytest.mark.spark
def test_a_dry_run_by_tasks_shows_what_the_driver_shows(spark: SparkSession, tmp_path: Path) -> None:
    here, there = (dry_run(tmp_path / str(number), MARKED, 1, one) for number, one in enumerate((None, spark)))
    assert here[0].published == len(here[1]) == len(MARKED)
    assert here[0] == there[0]
    columns = [[request["edge"]["lineageDetails"]["columnsLineage"] for request in shown] for _, shown in (here, there)]
    assert columns[0] == columns[1]


@pytest.mark.spark
def test_a_target_that_goes_down_in_a_task_ends_the_run_and_costs_no_acknowledgement(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(*_given: object) -> Any:
        raise TargetDown("no answer; given up on, run again later")

    run = SparkExecutor.run

    def run_until_down(self: SparkExecutor, number: int, work: TaskPass, *given: Any) -> TaskResult:
        return run(self, number, give_up if work is send_shard and number == 1 else work, *given)

    with monkeypatch.context() as patched:
        patched.setattr(SparkExecutor, "run", run_until_down)
        with pytest.raises(TargetDown, match=r"^no answer; given up on, run again later$"):
            batched_run(tmp_path / "again", [MARKED], 1, spark=spark)
    (counts,) = batched_run(tmp_path / "again", [MARKED], 1, spark=spark).counts
    assert counts.edges.new + counts.edges.unchanged == len(MARKED)
    assert counts.edges.unchanged  # of the first batch, which had begun
    assert counts.published == len(MARKED)


@pytest.mark.spark
def test_a_run_that_is_killed_between_tasks_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    whole = batched_run(tmp_path / "whole", [MARKED], 1)
    folder = tmp_path / "killed"
    for place in ("send:1", "sent:2", "publish:2"):  # nothing, one and three of three are noted then
        ending = in_a_fork(
            spark, lambda place=place: batched_run(folder, [MARKED], 1, failpoint=f"{place}:kill", spark=spark)
        )
        assert ending.code == -signal.SIGKILL, (place, ending.sentence)
    again = batched_run(folder, [MARKED], 1, spark=spark)
    assert again.catalog == whole.catalog
    assert (again.counts[0].edges.new, again.counts[0].edges.unchanged) == (0, len(MARKED))


@pytest.mark.spark
def test_what_tasks_sent_before_the_driver_was_killed_ends_where_the_next_run_says_another_thing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The target had it, and no task could say so any more; then a temporary table comes to light behind it."""
    log = [Record(one.text, "s", one.at) for one in MARKED]
    known = [Record("CREATE TEMP TABLE s_t AS SELECT a FROM base", "s", 0.5), *log]
    folder = tmp_path / "killed"
    ending = in_a_fork(spark, lambda: batched_run(folder, [log], 1, failpoint="sent:1:kill", spark=spark))
    assert ending.code == -signal.SIGKILL, ending.sentence
    again, whole = batched_run(folder, [known], 1), batched_run(tmp_path / "whole", [known], 1)
    assert again.catalog["edges"] == whole.catalog["edges"]
    assert {source for source, *_ in again.catalog["edges"]} == {
        f"shop.db.public.{name}" for name in ("base", "s_u", "s_v")
    }
