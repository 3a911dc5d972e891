"""Which Sparks are refused before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingestion.errors import ConfigError
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session


@pytest.mark.parametrize(
    ("settings", "variable", "place"),
    [
        (SparkSettings(master="sc://spark:15002"), None, "headwater.spark.master"),
        (SparkSettings(conf={"spark.remote": "sc://spark"}), None, "headwater.spark.conf, spark.remote"),
        (SparkSettings(), "SPARK_REMOTE", "the environment, SPARK_REMOTE"),
        (SparkSettings(), "SPARK_CONNECT_MODE_ENABLED", "the environment, SPARK_CONNECT_MODE_ENABLED"),
    ],
)
def test_spark_connect_is_refused_before_anything_is_started(
    settings: SparkSettings, variable: str | None, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable is not None:
        monkeypatch.setenv(variable, "sc://spark")
    expected = f"{place}: Spark Connect .* set headwater.spark.master to "
    with pytest.raises(ConfigError, match=expected), spark_session(settings, GracefulShutdown()):
        pytest.fail("a session was started")


@pytest.mark.parametrize(
    ("jar", "expected"),
    [
        ("spark-core_2.12-3.5.1.jar", r"SPARK_HOME: .* is Spark 3\.5, and PySpark here is"),
        ("another.jar", "SPARK_HOME: .* has no bin/spark-submit: name a Spark"),
    ],
)
def test_what_is_not_the_spark_of_pyspark_is_refused_before_anything_is_started(
    jar: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)  # that of the tests
    with pytest.raises(ConfigError, match=expected), spark_session(SparkSettings(), GracefulShutdown()):
        pytest.fail("a session was started")
