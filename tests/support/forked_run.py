"""Work in a fork of the test's process, which shares its Spark: a kill there is a real one, and costs no start."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from ingestion.errors import LineageError

SECONDS = 120.0
_UNFORESEEN = 70


@dataclass(frozen=True)
class Ending:
    """How a fork ended: its exit code (negative for a signal), and the sentence of the error that ended it."""

    code: int
    sentence: str


def in_a_fork(spark: SparkSession, work: Callable[[], object]) -> Ending:
    """Does `work` in a fork and waits for its end; an error ends it with its exit code, as on the command line."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _end(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        code = _code(process)
        sentence = pipe.read().decode()
    # What the fork had Spark do and keep is nobody's now.
    spark.sparkContext.cancelAllJobs()
    spark.catalog.clearCache()
    return Ending(code, sentence)


def _end(work: Callable[[], object], telling: int) -> None:
    code = _UNFORESEEN
    try:
        work()
        code = 0
    except LineageError as error:
        code = error.exit_code
        os.write(telling, str(error).encode())
    except BaseException as error:  # noqa: BLE001 - nothing may go on in a fork as if it were the test
        os.write(telling, repr(error).encode())
    finally:
        os._exit(code)


def _code(process: int) -> int:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(process, 9)
    os.waitpid(process, 0)
    raise TimeoutError("the fork did not come to its end")
