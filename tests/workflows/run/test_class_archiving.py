"""An archive of Spark's classes is made by `ingest doctor`, and each JVM that is started after it maps it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

from tests.support import class_archive
from tests.support.catalog_contents import REPOSITORY
from workflows.config import SparkSettings, load_config
from workflows.run.class_archiving import archiving_workflow
from workflows.runtime.java import find_java, most_used_first
from workflows.runtime.spark import spark_conf

JARS = Path(pyspark.__file__).parent / "jars"
MAPPED = """
from pathlib import Path
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

with spark_session(SparkSettings(), GracefulShutdown()) as spark:
    print(Path("/proc", str(spark.sparkContext._gateway.proc.pid), "maps").read_text())
    print(spark._jvm.System.getProperty("java.class.path"))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the archive in it: the one that is made for all tests, where it is."""
    begun = os.environ.get(class_archive.FOLDER)
    if begun is None:
        folder = tmp_path_factory.mktemp("cache")
        environment = class_archive.environment(folder)
        subprocess.run(class_archive.command(), cwd=REPOSITORY, env=environment, check=True, capture_output=True)
        return folder
    given_up = time.monotonic() + 300
    wanted = class_archive.file_in(Path(begun))
    while [*wanted.parent.glob("*")] != [wanted] and time.monotonic() < given_up:
        time.sleep(1)
    return Path(begun)


def test_the_archive_is_all_that_is_left_in_the_cache(cache: Path) -> None:
    assert list((cache / "headwater").iterdir()) == [class_archive.file_in(cache)]


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="only Linux tells what a process maps")
def test_a_run_maps_it(cache: Path) -> None:
    program = [sys.executable, "-c", MAPPED]
    environment = class_archive.environment(cache)
    printed = subprocess.run(program, cwd=REPOSITORY, env=environment, check=True, capture_output=True, text=True)
    *maps, class_path = printed.stdout.splitlines()
    assert str(class_archive.file_in(cache)) in "\n".join(maps)
    # An archive is of one class path, which stays as it was.
    assert not class_path.startswith(most_used_first(JARS))


def test_it_is_made_again_by_a_jvm_that_does_not_map_it(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    log, again = tmp_path / "log.csv", tmp_path / "again.jsa"
    log.touch()
    settings = load_config(archiving_workflow(log, again)).headwater.spark
    assert "-XX:SharedArchiveFile" in " ".join(spark_conf(SparkSettings(), find_java()).values())
    options = " ".join(spark_conf(settings, find_java()).values())
    assert f"-XX:ArchiveClassesAtExit={again}" in options
    assert "-XX:SharedArchiveFile" not in options


def test_the_doctor_tells_where_it_is_or_how_to_make_it(cache: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "workflows", "doctor"]
    for folder, told in ((cache, str(class_archive.file_in(cache))), (tmp_path, "ingest doctor --class-archive")):
        environment = class_archive.environment(folder)
        printed = subprocess.run(program, cwd=tmp_path, env={**environment, "PYTHONPATH": str(REPOSITORY)},
                                 check=True, capture_output=True, text=True)  # fmt: skip
        assert told in printed.stdout
