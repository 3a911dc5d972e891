"""Runs that are killed at any moment, and the same command again: the catalog of a run that nothing disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from ingestion.errors import Interrupted, SparkLost
from ingestion.model.outcomes import RunOutcome
from tests.support import class_archive
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import SHOP, Said, configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.runtime.options import VARIABLE, Failpoints
from workflows.runtime.signals import GracefulShutdown, interrupted_by_signals
from workflows.state import journal
from workflows.state.journal import journal_of
from workflows.state.runs import recorded_runs
from workflows.state.store import open_state

pytestmark = pytest.mark.spark
SPARK_JVM = "org.apache.spark.deploy.SparkSubmit"
PLACES = ("parse:1", "send:1", "sent:2", "publish:3", "commit:1", "committed:1")
"""In the order of a run: what was parsed is remembered; before and after the target has acknowledged; noted, read."""


@pytest.fixture(autouse=True)
def segments_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a large log, the journal is in files that the store names."""
    monkeypatch.setattr(journal, "SMALL", 1)


def unnamed_files(folder: Path) -> set[Path]:
    """The segments that runs have written and that no commit names."""
    store = open_state(str(folder / "state.db"))
    kept = journal_of(store, "shop.query-log-lineage", "none", None)
    with store.read() as connection:
        named = {segment.file for segment in kept.segments(connection)}
    store.close()
    assert kept.files is not None
    return set(kept.files.own.glob("*/*.parquet")) - named


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    write_log(tmp_path / "log" / "all.csv", rows_of(SHOP))
    configuration(tmp_path, templatesAtOnce=3)
    return tmp_path


def outcomes(folder: Path) -> list[RunOutcome]:
    """How the runs ended, the latest first."""
    store = open_state(str(folder / "state.db"))
    try:
        with store.read() as connection:
            return [found.outcome for found in recorded_runs(connection)]
    finally:
        store.close()


def test_killed_at_each_place_of_a_run_in_turn(spark: SparkSession, undisturbed: set[Said], workflow: Path) -> None:
    for place in PLACES:
        deadly = Failpoints(f"{place}:kill")
        ending = in_a_fork(spark, lambda deadly=deadly, place=place: run(workflow, run_id=place, failpoints=deadly))
        assert ending.code == -signal.SIGKILL, (place, ending.sentence)
    # The last one had noted what it read, and died before it could write that down for people.
    assert unnamed_files(workflow) == set()  # its start had removed what the others wrote
    summary = run(workflow)
    assert summary.counts.records_read_before == len(SHOP)
    assert contributions_in(workflow / "catalog.db") == undisturbed
    assert len((workflow / "dead.jsonl").read_text().splitlines()) == 1
    assert outcomes(workflow) == [RunOutcome.DONE, *[RunOutcome.CRASHED] * len(PLACES)]


def test_what_was_parsed_and_acknowledged_before_a_kill_costs_nothing_again(
    spark: SparkSession, undisturbed: set[Said], workflow: Path
) -> None:
    assert in_a_fork(spark, lambda: run(workflow, failpoints=Failpoints("commit:1:kill"))).code == -signal.SIGKILL
    assert len(unnamed_files(workflow)) == 1
    counts = run(workflow).counts
    assert counts.templates == counts.templates_known > 0
    assert counts.edges.new == counts.edges.replaced == 0
    assert unnamed_files(workflow) == set()
    assert contributions_in(workflow / "catalog.db") == undisturbed


def command(folder: Path, failpoint: str = "") -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment |= {"HOME": str(folder), **class_archive.passed_on(), **({VARIABLE: failpoint} if failpoint else {})}
    ingest = str(Path(sys.executable).with_name("ingest"))
    with (folder / "shown.txt").open("wb") as shown:
        arguments = [ingest, "run", "-c", str(folder / "lineage.yaml")]
        return subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=shown)


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    root = psutil.Process(process.pid)
    return [root, *root.children(recursive=True)]


def survivors(processes: list[psutil.Process], seconds: float = 30) -> list[psutil.Process]:
    _, alive = psutil.wait_procs(processes, seconds)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_whole_processes_that_are_drained_and_killed_leave_nothing_behind(
    undisturbed: set[Said], workflow: Path
) -> None:
    drained = command(workflow, "sent:3:term")
    seen: dict[int, psutil.Process] = {}
    while drained.poll() is None:
        with suppress(psutil.NoSuchProcess):
            seen.update({one.pid: one for one in family(drained)})
        time.sleep(0.2)
    assert drained.returncode == 143
    assert (workflow / "shown.txt").read_text().splitlines()[-1].startswith("ingest: ended by SIGTERM")
    assert survivors(list(seen.values())) == []
    assert outcomes(workflow) == [RunOutcome.INTERRUPTED]
    killed = command(workflow)
    time.sleep(random.uniform(2, 12))
    others = family(killed) if killed.poll() is None else []
    killed.kill()
    assert killed.wait() in (0, -signal.SIGKILL)
    assert survivors(others) == []
    assert what_a_killed_jvm_comes_to(workflow) == []
    run(workflow)
    assert contributions_in(workflow / "catalog.db") == undisturbed


def what_a_killed_jvm_comes_to(workflow: Path) -> list[psutil.Process]:
    """Kills the JVM of a run at a random moment, and tells what outlives the run, which ends in a sentence."""
    process, jvm = command(workflow), None
    while jvm is None and process.poll() is None:
        time.sleep(0.1)
        with suppress(psutil.NoSuchProcess):
            # Before it, another one is asked for its version.
            jvm = next((one for one in family(process)[1:] if SPARK_JVM in one.cmdline()), None)
    time.sleep(random.uniform(0, 6))
    others = family(process) if process.poll() is None else []
    with suppress(psutil.NoSuchProcess):
        assert jvm is not None
        jvm.kill()
    assert process.wait() in (0, SparkLost.exit_code)
    message = (workflow / "shown.txt").read_text().splitlines()[-1]
    assert process.returncode == 0 or message.startswith("ingest: Spark broke down: ")
    return survivors(others)


def test_a_sigterm_while_the_target_is_writing_waits_for_its_answer_and_notes_it(
    spark: SparkSession, undisturbed: set[Said], workflow: Path
) -> None:
    options = {"failpoints": Failpoints("sent:3:term"), "drain": GracefulShutdown()}
    with pytest.raises(Interrupted) as caught, interrupted_by_signals(options["drain"]):
        run(workflow, **options)
    assert caught.value.exit_code == 143
    # Three targets were acknowledged and noted, the one at hand among them.
    assert run(workflow).counts.edges.unchanged >= 3
    assert contributions_in(workflow / "catalog.db") == undisturbed
