"""A JVM that we start looks first through the jars that most classes come from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.support.catalog_contents import REPOSITORY
from tests.support.class_archive import OPTIONS
from workflows.config import SparkSettings
from workflows.runtime.java import UNVERIFIED, Java, archive_file, most_used_first
from workflows.runtime.spark import spark_conf

JARS = Path(pyspark.__file__).parent / "jars"
STARTED = """
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

with spark_session(SparkSettings(), GracefulShutdown()) as spark:
    print(spark._jvm.System.getProperty("java.class.path"))
"""


def test_every_name_is_that_of_a_jar_of_this_spark() -> None:
    found = most_used_first(JARS).split(os.pathsep)
    assert len(set(found)) == len(found) >= 34
    assert all(Path(jar).is_file() for jar in found)


def test_of_another_spark_those_are_named_that_it_has(tmp_path: Path) -> None:
    for name in ("scala-library-2.12.1.jar", "spark-sql_2.12-3.5.0.jar", "spark-sql-kafka.jar", "mine.jar"):
        (tmp_path / name).touch()
    assert most_used_first(tmp_path).split(os.pathsep) == [
        str(tmp_path / "scala-library-2.12.1.jar"),
        str(tmp_path / "spark-sql_2.12-3.5.0.jar"),
    ]


def test_a_folder_that_no_class_path_can_name_is_not_named(tmp_path: Path) -> None:
    folder = tmp_path / f"a{os.pathsep}b"
    folder.mkdir()
    (folder / "scala-library-2.13.jar").touch()
    assert most_used_first(folder) == ""


def test_a_class_path_of_spark_s_own_settings_stays_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OPTIONS, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    key, java = "spark.driver.extraClassPath", Java(Path("java"), 17)
    assert spark_conf(SparkSettings(), java)[key] == most_used_first(JARS)
    assert spark_conf(SparkSettings(conf={key: "mine.jar"}), java)[key] == "mine.jar"
    (tmp_path / "spark-defaults.conf").write_text(f"{key} /opt/jdbc.jar\n")
    assert key not in spark_conf(SparkSettings(), java)


def test_classes_are_verified_when_they_are_archived_and_not_by_each_jvm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(OPTIONS, raising=False)  # what other tests start their JVM with
    key, java = "spark.driver.defaultJavaOptions", Java(Path("java"), 17)
    assert UNVERIFIED in spark_conf(SparkSettings(), java)[key]
    assert UNVERIFIED not in spark_conf(SparkSettings(conf={key: "-Da=b"}), java)[key]
    assert UNVERIFIED not in spark_conf(SparkSettings(conf={"spark.jars": "driver.jar"}), java)[key]
    archive_file(java).parent.mkdir(parents=True)
    archive_file(java).touch()
    assert UNVERIFIED not in spark_conf(SparkSettings(), java)[key]


def test_a_jvm_without_an_archive_of_classes_has_them_first(tmp_path: Path) -> None:
    """What one with an archive has is told by test_class_archiving."""
    variables = {name: value for name, value in os.environ.items() if name != OPTIONS}
    variables["XDG_CACHE_HOME"] = str(tmp_path)
    program = [sys.executable, "-c", STARTED]
    printed = subprocess.run(program, cwd=REPOSITORY, env=variables, check=True, capture_output=True, text=True)
    assert printed.stdout.startswith(most_used_first(JARS))
