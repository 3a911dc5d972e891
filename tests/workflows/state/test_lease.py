"""Never two runs of one workflow, whoever starts them, and no run kept out by a dead one."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from sqlalchemy import text, update

from ingestion.errors import LeaseHeld, TargetDown
from ingestion.model.outcomes import RunOutcome
from workflows.state.lease import Lease, Owner, hold_lease
from workflows.state.runs import begin_run, recorded_runs
from workflows.state.store import StateStore, clock, leases, open_state

RACER = """
import sys, time
from ingestion.errors import LeaseHeld
from workflows.state.lease import hold_lease
from workflows.state.runs import begin_run
from workflows.state.store import open_state
url, run, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
store = open_state(url)
print("ready", flush=True)
sys.stdin.readline()
try:
    with hold_lease(store, "w", run):
        with store.write() as connection:
            begin_run(connection, "w", run, time.time())
        print("held", flush=True)
        time.sleep(seconds)
except LeaseHeld as error:
    print("refused", error, flush=True)
    sys.exit(error.exit_code)
"""


def racer(url: str, run: str, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RACER, url, run, str(seconds)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert said(process) == "ready"
    return process


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_of_processes_that_race_one_works_and_the_others_end_with_75(url: str) -> None:
    racers = [racer(url, f"run-{number}", 1.5) for number in range(3)]
    for process in racers:
        go(process)
    words = [said(process) for process in racers]
    codes = [ended(process) for process in racers]
    assert sorted(codes) == [0, 75, 75]
    assert sum(word == "held" for word in words) == 1
    assert all("try again later" in word for word in words if word != "held")


def test_the_lease_of_a_killed_process_is_taken_over_at_once(url: str, store: StateStore) -> None:
    process = racer(url, "killed", 60)
    go(process)
    assert said(process) == "held"
    with pytest.raises(LeaseHeld, match="run killed"), hold_lease(store, "w", "kept-out"):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    with hold_lease(store, "w", "next"), store.read() as connection:
        (crashed,) = recorded_runs(connection, "w")
        assert crashed.outcome is RunOutcome.CRASHED
    assert ended(process) == -signal.SIGKILL


def test_another_machine_s_lease_is_taken_over_when_its_heart_stops(store: StateStore) -> None:
    far = str(Owner("elsewhere:1:pid", 7, "42"))
    with hold_lease(store, "w", "far", heartbeat=60):
        with store.write() as connection:
            connection.execute(update(leases).values(owner=far))
        with pytest.raises(LeaseHeld, match="elsewhere"), hold_lease(store, "w", "near"):
            pass
        with store.write() as connection:
            connection.execute(update(leases).values(heartbeat=leases.c.heartbeat - 61))
        with hold_lease(store, "w", "near"):
            pass


def test_a_heart_beat_of_a_clock_that_was_set_back_keeps_nobody_out_for_long(store: StateStore) -> None:
    far = str(Owner("elsewhere:1:pid", 7, "42"))
    with hold_lease(store, "w", "far", heartbeat=60):
        for ahead, free in ((30, False), (86_400, True)):
            with store.write() as connection:
                beat = clock(connection) + ahead
                connection.execute(update(leases).values(owner=far, heartbeat=beat))
            with nullcontext() if free else pytest.raises(LeaseHeld), hold_lease(store, "w", "near"):
                pass


def test_a_store_that_breaks_down_hides_nothing_that_ended_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_state(str(tmp_path / "state.db"))
    with pytest.raises(TargetDown), hold_lease(store, "w", "run", heartbeat=0.05):
        with store.write() as connection:
            connection.execute(text("alter table headwater_lease rename to gone"))
            connection.execute(text("create view headwater_lease as select * from gone"))
        time.sleep(0.3)
        raise TargetDown("down")
    assert "trying again" in caplog.text
    assert "could not be given back" in caplog.text
    store.close()


def test_a_run_that_lost_its_lease_writes_nothing_more(store: StateStore) -> None:
    with hold_lease(store, "w", "slow", heartbeat=60) as lease:
        with store.write() as connection:
            connection.execute(update(leases).values(run_id="quick"))
        with pytest.raises(LeaseHeld, match="took over"), store.write() as connection:
            begin_run(connection, "w", "slow", time.time())
            lease.confirm(connection)
    with store.read() as connection:
        assert recorded_runs(connection, "w") == []


def test_a_heart_that_beats_keeps_the_lease(store: StateStore) -> None:
    with hold_lease(store, "w", "long", heartbeat=0.1):
        time.sleep(0.8)
        with store.write() as connection:
            connection.execute(update(leases).values(owner=str(Owner("elsewhere:1:pid", 7, "42"))))
        with pytest.raises(LeaseHeld), hold_lease(store, "w", "other", expiry=5):
            pass


def test_other_workflows_are_not_kept_out(store: StateStore) -> None:
    with hold_lease(store, "one", "a"), hold_lease(store, "two", "b") as second:
        assert isinstance(second, Lease)


def test_threads_of_one_process_are_told_apart(store: StateStore) -> None:
    refused: list[LeaseHeld] = []

    def other() -> None:
        try:
            with hold_lease(store, "w", "second"):
                pass
        except LeaseHeld as error:
            refused.append(error)

    with hold_lease(store, "w", "first"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1
