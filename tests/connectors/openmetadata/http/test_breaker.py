from __future__ import annotations

import pytest

from connectors.openmetadata.http import Breaker
from ingestion.errors import TargetDown


def test_it_opens_after_enough_failures_over_enough_time_and_stays_open() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0], failures=3, seconds=10)
    for now[0] in (0.0, 5.0, 10.0):
        breaker.check()
        breaker.record_failure("the store is gone")
    assert breaker.is_open
    breaker.record_success()
    with pytest.raises(TargetDown, match="the store is gone"):
        breaker.check()


def test_many_failures_at_one_moment_do_not_open_it() -> None:
    breaker = Breaker(lambda: 0.0, failures=3, seconds=10)
    for _ in range(100):
        breaker.record_failure("x")
    assert not breaker.is_open


def test_one_success_starts_the_count_again() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0], failures=2, seconds=0)
    for now[0] in range(10):
        breaker.record_failure("x")
        breaker.record_success()
    assert not breaker.is_open


def test_it_can_be_tripped_at_once() -> None:
    breaker = Breaker(lambda: 0.0)
    breaker.trip("first reason")
    breaker.trip("second reason")
    with pytest.raises(TargetDown, match="first reason"):
        breaker.check()
