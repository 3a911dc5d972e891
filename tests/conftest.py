"""What the tests share: one small Spark session, logs of real applications, and the order they run in."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support import bytecode, class_archive
from tests.support.side_by_side import ByFile, given_time, longest_first
from workflows.runtime.garbage_collection import collect_seldom

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer

    from ingestion.analysis.symbolic import Symbolic
    from tests.connectors.spark.conftest import History

# how long an example takes is a matter of what else runs on the machine
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    """Where several processes share the tests, these and what they start share bytecode and an archive of classes.

    Both are kept in pytest's cache for the next time, if it has one.
    """
    collect_seldom()  # what is loaded and collected stays: searching through it is a third of the time that it takes
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        cache = getattr(config, "cache", None)
        passing = tempfile.TemporaryDirectory(prefix="shared", ignore_cleanup_errors=True)
        config.add_cleanup(passing.cleanup)
        bytecode.share(cache.mkdir("bytecode") if cache else Path(passing.name, "bytecode"))
        archiving = class_archive.begin(cache.mkdir("classes") if cache else Path(passing.name, "classes"))
        if archiving is not None:
            config.add_cleanup(partial(class_archive.give_up, archiving))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are told by their place: what a compressor wrote holds the second, so that two processes disagree on it."""
    return argname if isinstance(val, bytes) else None


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    given_time(items)
    longest_first(items)


def pytest_collection_finish() -> None:
    """As a run does: Python's own pace of searching for garbage is a quarter of the tests' processor time."""
    collect_seldom()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session with two cores, stopped after the last test."""
    from pyspark.sql import SparkSession  # the other tests must not pay for it

    from workflows.runtime.java_classes import know_classes

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    home = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # For a few rows, compiling costs more than it saves.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # Tables of joins stay as long as the frames that Python seldom collects, more than 1 GB after some hundred
        # runs: with less room the last tests wait for the JVM's garbage collector, ten times as long as the first.
        "spark.driver.memory": "3g",
        "spark.local.dir": str(home / "local"),
        "spark.log.level": "ERROR",
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # As a session of ours has it: workers are forks of what has our modules loaded.
        "spark.python.daemon.module": "workflows.runtime.worker_daemon",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("headwater-tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    know_classes(session.sparkContext._gateway.jvm)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Event logs of real applications, made once."""
    from tests.connectors.spark.conftest import GROUPS, made_history  # the other tests must not pay for it

    return made_history(GROUPS, tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="session")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What applications over table formats left, and one log in every form: folders of `spark_jobs.formats`."""
    from tests.support.spark_jobs.formats import made_formats

    return made_formats(tmp_path_factory.mktemp("formats"))


@pytest.fixture
def old_layout() -> Callable[[Symbolic], bytes]:
    """Symbolic lineage as bytes in which the classes of the relational form are where they were once."""
    from ingestion.analysis import form

    def written(symbolic: Symbolic) -> bytes:
        own = [found for found in vars(form).values() if getattr(found, "__module__", "") == form.__name__]
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(sys.modules, "ingestion.parsing.relational", form)
            for each in own:
                patched.setattr(each, "__module__", "ingestion.parsing.relational")
            return pickle.dumps(symbolic, protocol=pickle.HIGHEST_PROTOCOL)

    return written
