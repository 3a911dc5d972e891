"""Which Sparks a run works with, and where their tasks run; told without starting or importing one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ingestion.errors import ConfigError
from workflows.config import SparkSettings

OLDEST_SPARK = "4.0"
_CONNECT_KEYS = ("spark.remote", "spark.connect.url")
_CONNECT_VARIABLES = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
_CORE = re.compile(r"spark-core_[\d.]+-(?P<version>\d+\.\d+)\S*\.jar")


def is_old_spark(version: str) -> bool:
    """Whether a version of Spark is too old."""
    return int(version.partition(".")[0]) < int(OLDEST_SPARK.partition(".")[0])


def is_one_machine(master: str) -> bool:
    """Whether the tasks of a master run on the machine of its driver."""
    return master.startswith("local")


def is_one_process(master: str) -> bool:
    """Whether the tasks of a master run in the process of its driver."""
    return master == "local" or master.startswith("local[")


def refuse_spark_connect(settings: SparkSettings, environment: Mapping[str, str]) -> None:
    """Raises ConfigError where the session would be one of Spark Connect: it has no SparkContext to work with."""
    named = {
        "headwater.spark.master": settings.master.startswith("sc://"),
        **{f"headwater.spark.conf, {key}": key in settings.conf for key in _CONNECT_KEYS},
        **{f"the environment, {name}": name in environment for name in _CONNECT_VARIABLES},
    }
    where = next((setting for setting, is_connect in named.items() if is_connect), None)
    if where is not None:
        raise ConfigError(
            f"{where}: Spark Connect (Databricks serverless too) has no driver that a run can work in; "
            "set headwater.spark.master to local[*], spark://…, yarn or k8s://…"
        )


def refuse_other_spark(pyspark: str, environment: Mapping[str, str]) -> None:
    """Raises ConfigError where SPARK_HOME, whose JVM would start, is no Spark or is of another version."""
    home = environment.get("SPARK_HOME")
    if not home:
        return
    jars = (_CORE.fullmatch(jar.name) for jar in (Path(home) / "jars").glob("spark-core_*.jar"))
    other = next((jar["version"] for jar in jars if jar is not None), None)
    ours = ".".join(pyspark.split(".")[:2])
    if other is not None and other != ours:
        wrong = f"is Spark {other}, and PySpark here is {pyspark}"
    elif not (Path(home) / "bin" / "spark-submit").is_file():
        wrong = "has no bin/spark-submit"
    else:
        return
    raise ConfigError(f"the environment, SPARK_HOME: {home} {wrong}: name a Spark {ours}, or take the variable away")
