"""The one retry policy of the client: exponential backoff with jitter, Retry-After obeyed, bounded twice."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential, wait_random

from connectors.openmetadata.transport.breaker import Breaker
from connectors.openmetadata.transport.responses import ServerFailed
from ingestion.errors import RetryableError, TargetDown

Result = TypeVar("Result")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timing:
    """The clocks that waiting depends on."""

    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds of one call: attempts, and seconds for all of them together, waiting included."""

    attempts: int = 6
    total_seconds: float = 120.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    jitter: float = 0.5


def retrying(action: Callable[[], Result], policy: RetryPolicy, breaker: Breaker, timing: Timing) -> Result:
    """The result of `action`, repeated while it raises RetryableError.

    Given up on: TargetDown when nothing got through or the breaker is open; ServerFailed as it is when the target
    answers and only this call makes it fail. Other errors pass at once.
    """
    started = timing.monotonic()

    def attempt() -> Result:
        breaker.check()
        return action()

    def out_of_bounds(state: RetryCallState) -> bool:
        spent = timing.monotonic() - started
        return state.attempt_number >= policy.attempts or spent + state.upcoming_sleep > policy.total_seconds

    retry = Retrying(
        sleep=timing.sleep,
        stop=out_of_bounds,
        wait=_Wait(policy),
        retry=retry_if_exception_type(RetryableError),
        before_sleep=_log_wait,
        reraise=True,
    )
    try:
        return retry(attempt)
    except ServerFailed:
        breaker.check()
        raise
    except RetryableError as error:
        reason = f"{error.message}; given up on, run again later"
    breaker.trip(reason)
    raise TargetDown(reason)


def retry_after_seconds(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, written as seconds or as an HTTP date; None if it is neither."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


class _Wait:
    """Backoff with jitter, and never less than what the target asked for."""

    def __init__(self, policy: RetryPolicy) -> None:
        growing = wait_exponential(multiplier=policy.first_wait, max=policy.longest_wait)
        self._backoff = growing + wait_random(0, policy.jitter)

    def __call__(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, RetryableError) else None
        return max(asked or 0.0, self._backoff(state))


def _log_wait(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome is not None else None
    logger.info("%s; attempt %d, next in %.1f s", error, state.attempt_number, state.upcoming_sleep)
