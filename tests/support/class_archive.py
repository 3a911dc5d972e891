"""The classes that Spark loads at its start, archived once for every JVM that the tests start after it.

python -m tests.support.class_archive FILE: runs a small application, and archives the classes that it needed. A JVM
that finds the archive maps it instead of loading, checking and linking some ten thousand classes; one that does not
find it, or does not fit it, starts as it always does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.catalog_contents import REPOSITORY

OPTIONS = "SPARK_SUBMIT_OPTS"
"""The variable with which spark-submit gives options to its JVM before those of the application."""


def begin(file: Path) -> subprocess.Popen[bytes]:
    """Starts to archive, and tells all Sparks that are started from here on where the archive will be."""
    archiving = subprocess.Popen(
        [sys.executable, "-m", "tests.support.class_archive", str(file)],
        cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    quiet = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:disable"
    os.environ[OPTIONS] = f"{os.environ.get(OPTIONS, '')} {quiet} -XX:SharedArchiveFile={file}".strip()
    return archiving


def archive(file: Path) -> None:
    """Runs what most runs do, in a JVM that archives what it loaded when it ends; the file is there whole or not."""
    unfinished = file.with_suffix(".unfinished")
    os.environ[OPTIONS] = f"-Xlog:disable -XX:ArchiveClassesAtExit={unfinished}"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("archive")
    for key, value in {"ui.enabled": "false", "driver.host": "127.0.0.1", "sql.shuffle.partitions": "1"}.items():
        builder = builder.config(f"spark.{key}", value)
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    spark = builder.config("spark.driver.extraJavaOptions", java).getOrCreate()
    table = file.with_suffix(".csv")
    table.write_text("a,b,at\n1,x,2026-01-01 00:00:00\n2,y,2026-01-02 00:00:00\n")
    rows = spark.read.csv(str(table), header=True, schema="a int, b string, at timestamp")
    rows = rows.mapInArrow(lambda batches: batches, rows.schema)
    rows.join(rows.groupBy("b").count(), "b").sort("at").write.parquet(str(file.with_suffix(".parquet")))
    spark.read.parquet(str(file.with_suffix(".parquet"))).createOrReplaceTempView("kept")
    spark.sql("select b, row_number() over (partition by b order by at) from kept").collect()
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    process: subprocess.Popen[bytes] = gateway.proc
    spark.stop()
    gateway.shutdown()
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
    unfinished.rename(file)


if __name__ == "__main__":
    archive(Path(sys.argv[1]))
