"""When a run is due, and the runs themselves: each a process of its own, so that none can take the scheduler along."""

from __future__ import annotations

import logging
import random
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from zoneinfo import ZoneInfo

from ingestion.errors import Interrupted, StateLost
from workflows.config import Schedule

logger = logging.getLogger(__name__)
DONE = 0
_PASSING = frozenset({1, 75})
"""Exit codes after which a repetition may help; so may one after a process that a signal ended."""
_FIRST_WAIT, _LONGEST_WAIT = 60.0, 900.0
_GRACE_SECONDS = 60.0
_A_DAY = 86_400.0
_A_LOOK = 60.0
TIMED_OUT = 124


@dataclass(frozen=True, slots=True)
class Clock:
    """Now in seconds since the epoch, and waiting."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = field(default=random.random)


def last_due(schedule: Schedule, now: float) -> float:
    """The latest moment that the schedule names, `now` among them (seconds since the epoch)."""
    # The iterator goes back from before what it is given, and cron knows no seconds.
    backwards = schedule.moments(_local(schedule, now - now % 60 + 60), reverse=True)
    known = next(backwards).timestamp()
    # Going back it passes over the later half of an hour that comes twice; going on it does not.
    onwards = schedule.moments(_local(schedule, min(known, now) - _A_DAY))
    moments = takewhile(lambda moment: moment <= now, (one.timestamp() for one in onwards))
    return max(moments, default=known)


def next_due(schedule: Schedule, now: float) -> float:
    """The first moment after `now`."""
    # In an hour that comes twice the iterator may begin in the first one.
    return next(one.timestamp() for one in schedule.moments(_local(schedule, now)) if one.timestamp() > now)


def is_due(schedule: Schedule, now: float, last_started: float | None) -> bool:
    """Whether a moment of the schedule has passed without a run, `now` (seconds since the epoch).

    However many have, one run makes up for them. `last_started` None: there was no run.
    """
    return last_started is None or last_started < last_due(schedule, now)


def _local(schedule: Schedule, now: float) -> datetime:
    return datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(schedule.timezone))


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Runs `command` when the schedule says so. `last_started`: when a run of the workflow began last, None: never."""

    schedule: Schedule
    command: Sequence[str]
    last_started: Callable[[], float | None]
    clock: Clock = field(default_factory=Clock)

    def run_forever(self) -> None:
        """Until a signal ends it. Raises Interrupted, when the run at hand has drained."""
        while True:
            try:
                self.run_if_due()
                following = next_due(self.schedule, self.clock.now())
                logger.info("the next run is due at %s", _local(self.schedule, following).isoformat())
            except StateLost as error:
                logger.warning("whether a run is due cannot be told: %s", error)
                following = self.clock.now() + _A_LOOK
            while (left := following - self.clock.now()) > 0:
                self.clock.sleep(min(left, _A_LOOK))

    def run_if_due(self) -> int:
        """The exit code of the run, 0 where none was due: neither at first nor after the jitter.

        Raises StateLost where the store that knows it does not answer.
        """
        if not self._is_due():
            return DONE
        self.clock.sleep(self.clock.random() * self.schedule.jitter)
        # Another scheduler of the same workflow may have been quicker.
        return self._run() if self._is_due() else DONE

    def _is_due(self) -> bool:
        return is_due(self.schedule, self.clock.now(), self.last_started())

    def _run(self) -> int:
        """One run, repeated while it fails for a passing reason; its exit code."""
        wait = _FIRST_WAIT
        for left in range(self.schedule.retries, -1, -1):
            code = run_process(self.command, self.schedule.timeout)
            if code not in _PASSING and code >= 0:
                return code
            if left:
                logger.warning("the run ended with %d; %d more attempts, the next in %.0f s", code, left, wait)
                self.clock.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        return code if code >= 0 else 128 - code


def run_process(command: Sequence[str], timeout: float, grace: float = _GRACE_SECONDS) -> int:
    """The exit code of a command; beyond `timeout` seconds it is told to drain, and killed after `grace` more.

    Raises Interrupted when a signal comes meanwhile: the command has drained by then.
    """
    process = subprocess.Popen(command)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        logger.warning("the run was stopped: it took longer than %g s (headwater.schedule.timeout)", timeout)
        _drain(process, grace)
        return TIMED_OUT
    except Interrupted:
        _drain(process, grace)
        raise
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _drain(process: subprocess.Popen[bytes], grace: float) -> None:
    process.terminate()
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
