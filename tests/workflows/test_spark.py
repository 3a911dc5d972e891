"""What Spark's own errors mean to the one who started it."""

from __future__ import annotations

import logging
import os
import signal
from contextlib import suppress

import py4j.java_gateway
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkRuntimeError

from ingestion.errors import Interrupted, SparkLost
from workflows.signals import Drain, interrupted_by_signals
from workflows.spark import explained_breakdowns, quiet_py4j


def test_a_signal_that_breaks_off_an_answer_is_told_and_not_what_came_of_it() -> None:
    drain = Drain()
    with pytest.raises(Interrupted) as caught, interrupted_by_signals(drain), explained_breakdowns(drain):
        # As py4j does, which tells nothing of what it was that broke off its waiting.
        with suppress(Interrupted):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        raise Py4JError("An error occurred while calling o123.count")
    assert caught.value.exit_code == 143


@pytest.mark.parametrize("sign", ["java.io.IOException: No space left on device", "java.lang.OutOfMemoryError: heap"])
def test_a_lack_of_room_is_told_with_the_setting_that_helps(sign: str) -> None:
    with (
        pytest.raises(SparkLost, match=r"headwater\.spark\.conf.*run the same command again"),
        explained_breakdowns(Drain()),
    ):
        raise PySparkRuntimeError(f"Job aborted\n\tat somewhere\nCaused by: {sign} secret-canary")


def test_what_a_job_does_wrong_stays_what_it_is() -> None:
    with pytest.raises(Py4JError, match="anything else"), explained_breakdowns(Drain()):
        raise Py4JError("anything else")


@pytest.mark.parametrize("name", ["root", "py4j.java_gateway"])
def test_py4j_logs_nothing_whatever_logger_it_takes(name: str, caplog: pytest.LogCaptureFixture) -> None:
    quiet_py4j()
    logger = logging.getLogger() if name == "root" else logging.getLogger(name)
    for file in (py4j.java_gateway.__file__, __file__):
        if logger.isEnabledFor(logging.ERROR):
            logger.handle(logger.makeRecord(name, logging.ERROR, file, 1, "broken off", (), None))
    assert [record.pathname for record in caplog.records] == ([__file__] if name == "root" else [])
