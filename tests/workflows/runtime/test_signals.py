"""The first signal raises, and clean-up runs; the second one is not caught."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from ingestion.errors import Interrupted
from workflows.runtime.signals import interrupted_by_signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_interrupts_the_block_with_its_exit_code(number: signal.Signals, code: int) -> None:
    before = signal.getsignal(number)

    with pytest.raises(Interrupted) as caught, interrupted_by_signals():
        os.kill(os.getpid(), number)
        signal.pause()

    assert caught.value.exit_code == code
    assert signal.getsignal(number) is before


DRAINS_LONG = """
import signal, time
from ingestion.errors import Interrupted
from workflows.runtime.signals import interrupted_by_signals
with interrupted_by_signals():
    try:
        print("ready", flush=True)
        time.sleep(60)
    except Interrupted:
        print("draining", flush=True)
        time.sleep(60)
"""
IS_HELD = """
import time
from workflows.runtime.signals import GracefulShutdown, interrupted_by_signals
drain = GracefulShutdown()
with interrupted_by_signals(drain), drain.hold():
    print("ready", flush=True)
    while drain.interruption is None:
        time.sleep(0.01)
    print("draining", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("program", [DRAINS_LONG, IS_HELD])
def test_a_second_signal_ends_the_process_whatever_it_is_at(program: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "draining\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
