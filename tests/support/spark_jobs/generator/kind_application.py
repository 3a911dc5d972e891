"""A real Spark application of the kinds of kind_jobs.py, over Delta Lake and Iceberg, and what the tests keep of it.

python kind_application.py --jars a.jar,b.jar --root DIR --keep FILE.json.gz [--check] [--conf key=value ...]

With --check, what a job states of its lineage is held to the data before its log is kept.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from application import session
from format_application import CONFS
from kind_jobs import AFTER, JOBS, LINES, OTHERS, KindJob
from older_application import log_of, pack
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

CHANGES: dict[str, tuple[Callable[[str], str], ...]] = {
    "bigint": (
        lambda n: f"{n} * 3 + 7",
        lambda n: f"50 - {n}",
        lambda n: f"if(k % 2 = 0, {n}, {n} + 1)",
        lambda n: n if n == "k" else f"if(k % 3 = 0, NULL, {n})",  # no other change is one to a count; keys have none
    ),
    "string": (lambda n: f"concat({n}, '~')", lambda n: f"concat(20 - length({n}) - k, {n})"),
    "timestamp": (lambda n: f"{n} + INTERVAL 47 MINUTES", lambda n: f"{n} + make_interval(0, 0, 0, 0, 0, k * 13)"),
    "array<bigint>": (lambda n: f"transform({n}, x -> x * 3 - 20)", lambda n: f"slice({n}, 1, 1)"),
    "struct<x:bigint,y:bigint>": (
        lambda n: f"named_struct('x', {n}.x + 1, 'y', {n}.y + 1)",
        lambda n: f"if(k % 2 = 0, NULL, {n})",
    ),
    "map<string,bigint>": (lambda n: f"map('m', {n}['m'] + 1, 'o', {n}['n'])",),
    "array<struct<p:bigint,q:bigint>>": (
        lambda n: f"transform({n}, r -> named_struct('p', r.p + 1, 'q', r.q + 1))",
        lambda n: f"array_union({n}, {n})",
        lambda n: f"if(k % 2 = 0, {n}, slice({n}, 1, 0))",
    ),
}
"""Other values for a column, by its type."""
TABLES = {"l": "lines", "o": "others"}
CATALOG = "spark_catalog"
RAISED = re.compile(r"[\w.]*(?:Error|Exception): ")
"""How the line of a trace begins that says what was raised."""


def values_of(frame: DataFrame) -> dict[str, list[str]]:
    """The values of each column, in no order."""
    rows = frame.collect()
    return {name: sorted(str(row[name]) for row in rows) for name in frame.columns}


def moved(spark: SparkSession, job: KindJob) -> Iterator[tuple[str, str]]:
    """The columns of a job's result that change when one of a source's does, beside that column."""
    tables = {name: spark.table(f"{CATALOG}.sales.{name}") for name in TABLES.values()}
    before = values_of(job.query(tables.__getitem__))
    used = {column.partition(".")[0] for stated in (*job.direct.values(), job.rows) for column in stated.split()}
    for alias in sorted(used):
        table = tables[TABLES[alias]]
        for name, kind in table.dtypes:
            for change in CHANGES[kind]:
                changed = {**tables, TABLES[alias]: table.withColumn(name, F.expr(change(name)))}
                after = values_of(job.query(changed.__getitem__))
                yield from ((column, f"{alias}.{name}") for column in before if before[column] != after[column])


def check(spark: SparkSession, job: KindJob) -> None:
    """Hold what a job states to the data: all that moves a column is stated, all that is stated as direct moves it."""
    found = set(moved(spark, job))
    direct = {(column, source) for column, sources in job.direct.items() for source in sources.split()}
    names = {column for column, _ in found} | set(job.direct)
    stated = direct | {(name, source) for name in names for source in job.rows.split()}
    stated |= {(column, source) for column, sources in job.own.items() for source in sources.split()}
    assert found <= stated, (job.name, "moved and not stated", sorted(found - stated))
    assert direct <= found, (job.name, "stated and never moved", sorted(direct - found))


def write(spark: SparkSession, job: KindJob, root: Path) -> str:
    """Run a job; gives the name of what it writes."""
    how, _, mode = job.how.partition(" ")
    target = f"{CATALOG}.mart.{job.name}"
    place = f"file:{root}/{job.name}"
    if mode in ("", "overwrite"):
        frame = job.query(lambda name: read(spark, name, root))
        if how == "table":
            frame.write.saveAsTable(target, format="delta")
            frame.write.insertInto(target)
            return target
        frame.write.mode(mode).parquet(place)
        return place
    frame = job.query(lambda name: spark.readStream.table(f"{CATALOG}.sales.{name}"))
    stream = frame.writeStream.outputMode(mode).option("checkpointLocation", f"{root}/c-{job.name}")
    stream = stream.queryName(job.name).trigger(availableNow=True)
    if how == "stream":
        stream.toTable(target, format="delta").awaitTermination()
        return target
    if how == "files":
        stream.format("parquet").start(place).awaitTermination()
        return place
    if how == "merge":
        spark.sql(f"CREATE TABLE {target} (g BIGINT, total BIGINT, n BIGINT) USING delta")
    stream.foreachBatch(lambda batch, _: batch_of(batch, how, target)).start().awaitTermination()
    return target


def batch_of(batch: DataFrame, how: str, target: str) -> None:
    if how == "batch":
        batch.write.mode("append").saveAsTable(target, format="delta")
        return
    batch.createOrReplaceTempView("fresh")
    batch.sparkSession.sql(
        f"MERGE INTO {target} t USING fresh s ON t.g = s.g WHEN MATCHED THEN UPDATE SET total = s.total, n = s.n"
        " WHEN NOT MATCHED THEN INSERT (g, total, n) VALUES (s.g, s.total, s.n)"
    )


def read(spark: SparkSession, name: str, root: Path) -> DataFrame:
    """A source that is no plain table, or a table."""
    if name == "feed":
        options = {"readChangeFeed": "true", "startingVersion": "0"}
        return spark.read.options(**options).table(f"{CATALOG}.sales.feed")
    if name == "remote":
        query = 'select "k" as kk, "b" * 2 as bb from "remote" where "b" > 1 and "a" <> \'secret\''
        return spark.read.format("jdbc").options(**connection(root), query=query).load()
    return spark.table(f"{CATALOG}.sales.{name}")


def connection(root: Path) -> dict[str, str]:
    return {"url": f"jdbc:h2:{root}/h2;DATABASE_TO_UPPER=false", "driver": "org.h2.Driver"}


def set_up(spark: SparkSession, root: Path) -> None:
    for text in ("CREATE DATABASE {c}.sales", "CREATE DATABASE {c}.mart", LINES, OTHERS):
        spark.sql(text.format(c=CATALOG, f="delta"))
    spark.sql(
        f"CREATE TABLE {CATALOG}.sales.feed (k BIGINT, a STRING, b BIGINT) USING delta"
        " TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(f"INSERT INTO {CATALOG}.sales.feed VALUES (1, 'x', 1), (2, 'y', 2)")
    spark.sql(f"UPDATE {CATALOG}.sales.feed SET b = b + 1 WHERE k = 1")
    spark.table(f"{CATALOG}.sales.lines").select("k", "b").write.saveAsTable(
        f"{CATALOG}.sales.stored", format="parquet"
    )
    spark.table(f"{CATALOG}.sales.lines").select("k", "a", "b").write.format("jdbc").options(
        **connection(root), dbtable="remote"
    ).save()
    spark.sql("CREATE DATABASE lake.sales")
    spark.sql("CREATE TABLE lake.sales.branched (k BIGINT, b BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO lake.sales.branched SELECT k, b FROM {CATALOG}.sales.lines")


def fact_of(job: KindJob, target: str) -> dict[str, Any]:
    stated = {"direct": dict(job.direct), "own": dict(job.own), "rows": job.rows, "opaque": job.opaque}
    return {"job": job.name, "target": target, **stated}


def run_all(spark: SparkSession, root: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """What each job that ran says of itself, and why each of the others could not run here."""
    truth: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    for job in JOBS:
        try:
            truth.append(fact_of(job, write(spark, job, root)))
        except (PySparkException, Py4JJavaError, ImportError) as error:
            failed[job.name] = reason_of(error)
            print(f"{job.name} could not run: {failed[job.name]}", file=sys.stderr)
    return truth, failed


def reason_of(error: Exception) -> str:
    """The line of an error that names what was raised last, which is the first cause."""
    raised = [line.strip() for line in str(error).splitlines() if RAISED.match(line.strip())]
    return f"{type(error).__name__}: {(raised or [str(error).partition(chr(10))[0]])[-1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars", required=True)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--keep", required=True, type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--conf", action="append", default=[])
    options = parser.parse_args()
    root: Path = options.root.resolve()
    (root / "logs").mkdir(parents=True)
    extensions = ",".join(conf.partition("=")[2] for form in ("delta", "iceberg") for conf in CONFS[form][:1])
    confs = [f"spark.jars={options.jars}", f"spark.sql.extensions={extensions}"]
    confs += [*CONFS["delta"][1:], *CONFS["iceberg"][1:], f"spark.sql.catalog.lake.warehouse={root}/iceberg"]
    confs += [f"spark.eventLog.dir={(root / 'logs').as_uri()}", "spark.eventLog.rolling.enabled=false"]
    confs += ["spark.eventLog.compress=false", "spark.sql.sources.parallelPartitionDiscovery.parallelism=2"]
    if options.check:
        check_all(root, options.conf)
    spark = session("jobs-kinds", root, [*confs, *options.conf])
    spark.sparkContext.setLogLevel("OFF")
    set_up(spark, root)
    truth, failed = run_all(spark, root)
    for text in AFTER:
        spark.sql(text).collect()
    version = spark.version
    spark.stop()
    kept = {"version": version, "truth": truth, "failed": failed, "logs": [log_of(root / "logs")]}
    pack(options.keep, kept, root)


def check_all(root: Path, confs: list[str]) -> None:
    """Hold every job whose sources are plain tables to the data, without a log of it."""
    spark = session("check-kinds", root / "check", [*confs, "spark.eventLog.enabled=false"])
    spark.sparkContext.setLogLevel("OFF")
    spark.sql("CREATE DATABASE sales")
    for text in (LINES, OTHERS):
        spark.sql(text.format(c=CATALOG, f="parquet"))
    for job in JOBS:
        columns = " ".join((*job.direct.values(), job.rows)).split()
        if not job.opaque and all(column.partition(".")[0] in TABLES for column in columns):
            check(spark, job)
    spark.stop()


if __name__ == "__main__":
    main()
