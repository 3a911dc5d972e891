"""In which order a JVM looks through Spark's jars for a class."""

from __future__ import annotations

import os
from pathlib import Path

_MOST_USED = (
    "spark-catalyst_", "scala-library-", "spark-core_", "spark-sql-api_", "spark-sql_", "scala-reflect-", "log4j-core-",
    "jackson-databind-", "hadoop-client-api-", "parquet-jackson-", "janino-", "arrow-vector-", "spark-config_",
    "parquet-encoding-", "parquet-column-", "hadoop-client-runtime-", "spark-network-common_", "netty-common-", "ivy-",
    "parquet-format-structures-", "antlr4-runtime-", "netty-transport-", "jackson-module-scala_", "commons-compiler-",
    "jackson-core-", "spark-common-utils_", "parquet-hadoop-", "log4j-api-", "netty-buffer-", "jackson-annotations-",
    "py4j-", "spark-unsafe_", "parquet-common-", "json4s-ast_",
)  # fmt: skip
"""How the names of the jars begin that most classes of a run come from, those with most first."""


def most_used_first(jars: Path) -> str:
    """A class path of the jars that most classes of a run come from; empty where it cannot be written.

    A JVM asks one jar after the other, in the order in which the folder lists them, and Spark has 280.
    """
    if os.pathsep in str(jars):
        return ""
    return os.pathsep.join(str(jar) for name in _MOST_USED for jar in sorted(jars.glob(f"{name}*.jar")))
