"""Runs that are killed at any moment, and the same command again: the catalog of a run that nothing disturbed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from ingestion.errors import Interrupted
from tests.workflows.growing_log import SHOP, Said, configuration, rows_of, told_by, write_log
from workflows.config import load_config
from workflows.failpoints import VARIABLE, Failpoints
from workflows.options import RunOptions
from workflows.progress import LoggedProgress
from workflows.run import run_workflow
from workflows.signals import interrupted_by_signals
from workflows.state.runs import RunOutcome, recorded_runs
from workflows.state.store import open_state

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def command(folder: Path, failpoint: str = "") -> subprocess.Popen[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **({VARIABLE: failpoint} if failpoint else {})}
    ingest = str(Path(sys.executable).with_name("ingest"))
    arguments = [ingest, "run", "-c", str(folder / "lineage.yaml"), "--report", str(folder / "report.json")]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    root = psutil.Process(process.pid)
    return [root, *root.children(recursive=True)]


def all_gone(processes: list[psutil.Process], seconds: float = 20) -> bool:
    _, alive = psutil.wait_procs(processes, seconds)
    return not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> set[Said]:
    folder = tmp_path_factory.mktemp("undisturbed")
    write_log(folder / "log" / "all.csv", rows_of(SHOP))
    configuration(folder)
    run_workflow(load_config(folder / "lineage.yaml"), RunOptions("run"), LoggedProgress())
    return told_by(folder / "catalog.db")


def test_killed_at_every_failpoint_and_at_a_random_moment(undisturbed: set[Said], tmp_path: Path) -> None:
    write_log(tmp_path / "log" / "all.csv", rows_of(SHOP))
    configuration(tmp_path)
    for failpoint in ("parse:1:kill", "sent:2:kill", "publish:2:kill", "commit:1:kill"):
        process = command(tmp_path, failpoint)
        assert process.wait(200) == -signal.SIGKILL, failpoint
    process = command(tmp_path)
    time.sleep(random.uniform(1, 12))
    others = family(process) if process.poll() is None else []
    process.kill()
    process.wait()
    assert all_gone(others)
    assert command(tmp_path).wait(200) == 0
    assert told_by(tmp_path / "catalog.db") == undisturbed
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["counts"]["templates"] == report["counts"]["templates_known"]


def test_the_first_sigterm_drains_and_checkpoints(undisturbed: set[Said], tmp_path: Path) -> None:
    write_log(tmp_path / "log" / "all.csv", rows_of(SHOP))
    config = load_config(configuration(tmp_path))
    options = RunOptions("drained", failpoints=Failpoints("sent:3:term"))
    with pytest.raises(Interrupted) as caught, interrupted_by_signals(options.drain):
        run_workflow(config, options, LoggedProgress())
    assert caught.value.exit_code == 143
    store = open_state(str(tmp_path / "state.db"))
    with store.read() as connection:
        assert recorded_runs(connection)[0].outcome is RunOutcome.INTERRUPTED
    store.close()
    summary = run_workflow(config, RunOptions("next"), LoggedProgress())
    # Three targets were acknowledged and noted, the one at hand among them.
    assert summary.counts.edges_unchanged >= 3
    assert told_by(tmp_path / "catalog.db") == undisturbed
