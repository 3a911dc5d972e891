"""When a run is due, in any time zone and over changes of the clock; and what becomes of its process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import Interrupted, StateLost
from workflows.config import Schedule
from workflows.runtime.scheduler import TIMED_OUT, Clock, Scheduler, is_due, last_due, next_due, run_process
from workflows.runtime.signals import interrupted_by_signals

BERLIN = ZoneInfo("Europe/Berlin")
HOURLY = Schedule(cron="15 * * * *")


def berlin(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


@dataclass
class Time:
    """A clock that sleeping moves."""

    now: float
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self, chance: float = 0.5) -> Clock:
        return Clock(lambda: self.now, self.sleep, lambda: chance)


def test_the_moments_around_now() -> None:
    schedule = Schedule(cron="30 2 * * MON", timezone="Europe/Berlin")
    now = berlin("2026-11-18T12:00:00")  # a Wednesday
    assert last_due(schedule, now) == berlin("2026-11-16T02:30:00")
    assert next_due(schedule, now) == berlin("2026-11-23T02:30:00")
    assert last_due(schedule, berlin("2026-11-16T02:30:00")) == berlin("2026-11-16T02:30:00")


def test_an_hour_that_a_night_lacks_is_made_up_for_once() -> None:
    schedule = Schedule(cron="30 2 * * *", timezone="Europe/Berlin")
    before = berlin("2026-03-29T00:00:00")
    moment = next_due(schedule, before)
    assert before < moment < berlin("2026-03-29T04:00:00")
    assert next_due(schedule, moment) == berlin("2026-03-30T02:30:00")


def test_an_hour_that_a_night_has_twice_is_run_once_and_nobody_waits_for_the_past() -> None:
    schedule = Schedule(cron="30 2 * * *", timezone="Europe/Berlin")
    first = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN).timestamp()
    again = datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=BERLIN).timestamp()
    assert last_due(schedule, again) == first
    assert next_due(schedule, again) == berlin("2026-10-26T02:30:00")
    assert not is_due(schedule, again + 3600, first + 3)


CHANGES = {
    "UTC": "2026-03-29",
    "Europe/Berlin": "2026-03-29 2026-10-25",
    "America/New_York": "2026-03-08 2026-11-01",
    "Africa/Cairo": "2026-04-24 2026-10-30",  # at midnight
    "Pacific/Apia": "2011-12-30",  # a day that never was
}
MOMENTS = st.one_of(
    st.tuples(st.sampled_from(sorted(CHANGES)), st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1))),
    st.sampled_from(sorted(CHANGES)).flatmap(
        lambda zone: st.tuples(
            st.just(zone),
            st.builds(
                lambda day, minutes: datetime.fromisoformat(day) + timedelta(minutes=minutes),
                st.sampled_from(CHANGES[zone].split()),
                st.integers(-1440, 2880),
            ),
        )
    ),
)


@given(
    MOMENTS,
    st.sampled_from(
        [
            "*/5 * * * *", "15 * * * *", "0 6 * * MON-FRI", "59 23 31 * *", "15 */6 * * *", "30 2 * * *", "0 0 * * *",
            "5 0,1,2,3 * * *", "45 1-3 * * *", "0 3 * * SUN",
        ]
    ),
)  # fmt: skip
def test_the_last_and_the_next_moment_are_neighbours_whatever_the_clocks_do(
    moment: tuple[str, datetime], cron: str
) -> None:
    zone, local = moment
    schedule, now = Schedule(cron=cron, timezone=zone), local.replace(tzinfo=UTC).timestamp()
    last, following = last_due(schedule, now), next_due(schedule, now)
    assert last <= now < following
    assert next_due(schedule, last) == following
    assert last_due(schedule, following) == following


def test_of_the_missed_runs_one_is_made_up_for() -> None:
    now = berlin("2026-11-18T12:20:00")
    assert is_due(HOURLY, now, None)
    assert is_due(HOURLY, now, berlin("2026-11-15T00:15:03"))
    assert not is_due(HOURLY, now, berlin("2026-11-18T12:15:03"))


def scheduler(time: Time, *program: str, last_started: float | None = None, **more: int) -> Scheduler:
    schedule = Schedule(cron="15 * * * *", **more)  # type: ignore[arg-type]
    return Scheduler(schedule, [sys.executable, "-c", "; ".join(program)], lambda: last_started, time.clock())


def test_what_is_not_due_is_not_run() -> None:
    now = berlin("2026-11-18T12:20:00")
    assert scheduler(Time(now), "raise SystemExit(9)", last_started=now - 60).run_if_due() == 0
    assert scheduler(Time(now), "raise SystemExit(9)", last_started=now - 3600).run_if_due() == 9


@pytest.mark.parametrize(("code", "runs"), [(0, 1), (2, 1), (3, 1), (1, 3), (75, 3)])
def test_only_what_may_pass_is_repeated_and_each_time_later(code: int, runs: int, tmp_path: Path) -> None:
    record = tmp_path / "runs"
    moment = Time(0.0)
    counting = f"open({str(record)!r}, 'a').write('x')"
    assert scheduler(moment, counting, f"raise SystemExit({code})", retries=2, jitter=100).run_if_due() == code
    assert len(record.read_text()) == runs
    assert moment.slept == [50.0, *[60.0, 120.0][: runs - 1]]


def test_of_two_schedulers_that_wait_out_their_jitter_the_later_one_stays_still() -> None:
    moment = Time(berlin("2026-11-18T12:15:01"))
    started = iter([None, moment.now + 10])
    schedule = Schedule(cron="15 * * * *", jitter=100)
    command = [sys.executable, "-c", "raise SystemExit(9)"]
    assert Scheduler(schedule, command, lambda: next(started), moment.clock()).run_if_due() == 0
    assert moment.slept == [50.0]


def test_a_state_store_that_does_not_answer_is_asked_again_a_minute_later(tmp_path: Path) -> None:
    class Enough(Exception): ...

    answers: list[float | Exception] = [StateLost("gone"), StateLost("gone"), berlin("2026-11-17T00:00:00"), 0.0]
    moment, mark = Time(berlin("2026-11-18T12:20:00")), tmp_path / "ran"

    def last_started() -> float:
        answer = answers.pop(0) if answers else Enough()
        if isinstance(answer, Exception):
            raise answer
        return answer

    command = [sys.executable, "-c", f"open({str(mark)!r}, 'x')"]
    with pytest.raises(Enough):
        Scheduler(HOURLY, command, last_started, moment.clock()).run_forever()
    assert mark.exists()
    assert moment.slept[:3] == [60.0, 60.0, 0.0]
    assert moment.now == berlin("2026-11-18T13:15:00")


def test_a_process_that_crashes_does_not_take_the_scheduler_along() -> None:
    moment = Time(0.0)
    assert scheduler(moment, "import os", "os.kill(os.getpid(), 9)", retries=1).run_if_due() == 137
    assert len(moment.slept) == 2


def test_a_run_that_takes_too_long_is_drained_then_killed() -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    started = time.monotonic()
    assert run_process([sys.executable, "-c", stubborn], 1.0, grace=0.5) == TIMED_OUT
    assert time.monotonic() - started < 20


def test_a_signal_drains_the_run_at_hand_and_ends_the_scheduler(tmp_path: Path) -> None:
    mark = tmp_path / "drained"
    program = (
        f"import signal, sys, time; signal.signal(15, lambda *_: (open({str(mark)!r}, 'w').close(), sys.exit(143))); "
        "time.sleep(60)"
    )
    threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(Interrupted), interrupted_by_signals():
        run_process([sys.executable, "-c", program], 50.0)
    assert mark.exists()


def test_a_signal_while_it_waits_ends_the_scheduler_at_once() -> None:
    begun = time.monotonic()
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(Interrupted) as caught, interrupted_by_signals():
        Scheduler(Schedule(cron="0 0 1 1 *"), [sys.executable, "-c", "raise SystemExit(9)"], time.time).run_forever()
    assert caught.value.exit_code == 143
    assert time.monotonic() - begun < 20
