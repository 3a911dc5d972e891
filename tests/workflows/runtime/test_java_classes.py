"""What PySpark asks of a JVM once, and what stays as it was."""

from __future__ import annotations

import pytest
from py4j.clientserver import JavaClient
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from workflows.runtime.java_classes import know_classes

pytestmark = pytest.mark.spark


def test_a_class_and_its_methods_are_asked_for_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    know_classes(spark.sparkContext._gateway.jvm)
    asked: list[str] = []
    send = JavaClient.send_command

    def noted(client: JavaClient, command: str, *more: bool, **others: bool) -> object:
        asked.append(command)
        return send(client, command, *more, **others)

    monkeypatch.setattr(JavaClient, "send_command", noted)

    def questions() -> int:
        asked.clear()
        column = F.coalesce("a", F.col("b"), F.when(F.col("c") == 1, F.lit("d")))
        assert "coalesce(a, b, CASE WHEN" in str(column)
        return sum(command.startswith("r\n") for command in asked)

    assert questions() > 0
    assert questions() == 0


def test_a_method_that_is_not_there_is_told_as_ever(spark: SparkSession) -> None:
    know_classes(spark.sparkContext._gateway.jvm)
    for name in ("functions", "org.apache.spark.sql.functions"):
        with pytest.raises(Py4JError, match=r"functions\.no_function does not exist in the JVM"):
            _ = getattr(spark.sparkContext._gateway.jvm, name).no_function
