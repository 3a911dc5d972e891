"""A real Spark application whose event log the tests read: it runs jobs and writes down the truth about each.

python application.py --jobs sql|dataframe --root DIR --truth FILE [--conf key=value ...] [--kill]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import dataframe_jobs
import sql_jobs
from pyspark.sql import DataFrame, SparkSession
from truth import lineage_of


def session(name: str, root: Path, confs: list[str]) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers are the first python3, with other packages
    builder = (
        SparkSession.builder.appName(name)
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.system.home={root}")
        .config("spark.eventLog.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.legacy.createHiveTableByDefault", "false")
    )
    for conf in confs:
        key, value = conf.split("=", 1)
        builder = builder.config(key, value)
    return builder.getOrCreate()


def analyzed(spark: SparkSession, statement: str) -> Any:
    jvm = spark._jvm
    state = spark._jsparkSession.sessionState()
    plan = state.sqlParser().parsePlan(statement)
    mode = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    execution = state.executePlan(plan, mode)
    return execution.analyzed()


QUERIES = ("query", "plan", "child")


def queries_of(plan: Any) -> list[Any]:
    """The queries inside a command; several in a multi-insert."""
    kind = plan.getClass().getSimpleName()
    if kind == "Union":
        children = plan.children()
        return [q for i in range(children.size()) for q in queries_of(children.apply(i))]
    if kind == "CreateViewCommand":
        return [plan.plan()]
    return [plan.query()]


def written(statement: str) -> list[str]:
    """The targets of a statement of the job list, by its text: these statements are our own."""
    found = re.findall(r"(?:INTO|OVERWRITE|TABLE|VIEW)\s+(?:TABLE\s+)?([\w.]*mart\.\w+)", statement)
    return [name if name.count(".") == 2 else "spark_catalog." + name for name in found]


def run_sql(spark: SparkSession, jobs: list[tuple[str, list[str], str]]) -> list[dict[str, Any]]:
    out = []
    for name, before, statement in jobs:
        for text in before:
            spark.sql(text)
        facts = [lineage_of(query) for query in queries_of(analyzed(spark, statement))]
        spark.sql(statement)
        for target, fact in zip(written(statement), facts, strict=True):
            columns = spark.table(target).columns
            out.append({"job": name, "target": target, "table_columns": columns, "text": statement, **fact})
    return out


def write(frame: DataFrame, sink: str, root: str) -> str:
    how, where = sink.split(":", 1)
    if how == "table":
        frame.write.saveAsTable(where)
    elif how == "v2":
        frame.writeTo(where).using("parquet").create()
    elif how == "insert":
        where, columns = where.split("(", 1)
        frame.sparkSession.sql(f"CREATE TABLE {where} ({columns} USING parquet")
        frame.write.insertInto(where)
    else:
        form, *partitions = how.split("/")
        writer = frame.write.mode("overwrite").format(form)
        if partitions:
            writer = writer.partitionBy(*partitions)
        writer.save(f"{root}/{where}")
        return f"file:{root}/{where}"
    return f"spark_catalog.{where}"


def run_frames(spark: SparkSession, root: str, jobs: list[dataframe_jobs.Job]) -> list[dict[str, Any]]:
    out = []
    for job in jobs:
        frame = job.build(spark, root)
        fact = lineage_of(frame._jdf.queryExecution().analyzed())
        target = write(frame, job.sink, root)
        columns = spark.table(target).columns if target.startswith("spark_catalog") else fact["columns"]
        fact["opaque"] = fact["opaque"] or job.opaque
        out.append({"job": job.name, "target": target, "table_columns": columns, "text": None, **fact})
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", required=True)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--truth", required=True, type=Path)
    parser.add_argument("--conf", action="append", default=[])
    parser.add_argument("--kill", action="store_true")
    options = parser.parse_args()
    spark = session(f"jobs-{options.jobs}", options.root, options.conf)
    spark.sparkContext.setLogLevel("ERROR")
    for text in sql_jobs.SETUP:
        spark.sql(text)
    truth: list[dict[str, Any]] = []
    if "sql" in options.jobs:
        truth += run_sql(spark, sql_jobs.JOBS)
        looked_at = spark.sql(sql_jobs.LOOKED_AT)
        looked_at.collect()
        looked_at.count()
    if "dataframe" in options.jobs:
        truth += run_frames(spark, str(options.root), dataframe_jobs.JOBS)
    options.truth.write_text(json.dumps(truth, indent=1))
    if options.kill:
        spark.range(1).count()  # a log is flushed at the end of a job: what follows it is lost with the process
        time.sleep(1)
        jvm_id = spark._jvm.java.lang.ProcessHandle.current().pid()
        os.kill(jvm_id, signal.SIGKILL)
        os._exit(0)
    spark.stop()


if __name__ == "__main__":
    main()
