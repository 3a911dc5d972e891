"""A real Spark application over Delta Lake or Apache Iceberg, with the truth about each of its jobs.

python format_application.py --format delta|iceberg --jars a.jar,b.jar --root DIR --truth FILE [--conf key=value ...]
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from application import analyzed, queries_of, session
from format_jobs import JOBS, SETUP, FormatJob
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from truth import lineage_of

CONFS = {
    "delta": [
        "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions=2",
    ],
    "iceberg": [
        "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type=hadoop",
    ],
}
CATALOG = {"delta": "spark_catalog", "iceberg": "lake"}


def version(spark: SparkSession, table: str, form: str) -> str:
    if form == "delta":
        return "1"
    return str(spark.sql(f"SELECT snapshot_id FROM lake.{table}.snapshots ORDER BY committed_at").first()[0])


def write_frame(spark: SparkSession, job: FormatJob, catalog: str, form: str, root: Path) -> tuple[str, DataFrame]:
    """Run a DataFrame job; gives its target and the frame."""
    how = job.statement.removeprefix("df:")
    name = f"{catalog}.mart.{job.name}"
    frame = spark.table(f"{catalog}.sales.orders").where("amount > 1")
    frame = frame.select("order_id", F.lower("status").alias("status"), "amount")
    if how == "saveAsTable:append":
        frame.write.format(form).mode("append").saveAsTable(name)
    elif how == "append":
        frame.writeTo(name).append()
    elif how == "createOrReplace":
        frame.writeTo(name).using(form).createOrReplace()
    elif how == "overwrite":
        frame.writeTo(name).overwrite(F.col("order_id") > 0)
    elif how == "path":
        path = f"{root}/by_path"
        if form == "iceberg":
            spark.sql(
                f"CREATE TABLE {catalog}.mart.by_path (order_id BIGINT, status STRING, amount DOUBLE) USING iceberg"
            )
            frame.write.format("iceberg").mode("append").save(f"{root}/iceberg/mart/by_path")
            return f"file:{root}/iceberg/mart/by_path", frame
        frame.write.format("delta").save(path)
        return f"file:{path}", frame
    elif how == "read_path":
        place = f"{root}/by_path" if form == "delta" else f"{root}/iceberg/mart/by_path"
        frame = spark.read.format(form).load(place).groupBy("status").agg(F.sum("amount").alias("total"))
        frame.write.format(form).saveAsTable(name)
    return name, frame


def stated(job: FormatJob, catalog: str, columns: list[str]) -> dict[str, Any]:
    """The truth that a job states itself."""
    place = {name: position for position, name in enumerate(columns)}
    return {
        "columns": columns,
        "direct": sorted([place[a], t.format(c=catalog), c] for a, t, c in job.direct or ()),
        "rows": sorted([t.format(c=catalog), c] for _, t, c in job.indirect),
        "opaque": False,
    }


def run(spark: SparkSession, job: FormatJob, form: str, root: Path) -> dict[str, Any]:
    catalog = CATALOG[form]
    for text in job.before:
        spark.sql(text.format(c=catalog, f=form))
    if job.statement.startswith("df:"):
        target, frame = write_frame(spark, job, catalog, form, root)
        return {"target": target, "statement": job.statement, **lineage_of(frame._jdf.queryExecution().analyzed())}
    text = re.sub(r"\{version:([\w.]+)\}", lambda match: version(spark, match.group(1), form), job.statement)
    text = text.replace("{c}", catalog).replace("{f}", form)
    target = re.search(rf"{catalog}\.mart\.\w+", text).group()  # type: ignore[union-attr]
    if job.direct is not None:
        spark.sql(text)
        return {"target": target, "statement": text, **stated(job, catalog, spark.table(target).columns)}
    facts = lineage_of(queries_of(analyzed(spark, text))[0])
    spark.sql(text)
    return {"target": target, "statement": text, **facts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", required=True, choices=sorted(CONFS))
    parser.add_argument("--jars", required=True)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--truth", required=True, type=Path)
    parser.add_argument("--conf", action="append", default=[])
    options = parser.parse_args()
    confs = [f"spark.jars={options.jars}", *CONFS[options.format], *options.conf]
    if options.format == "iceberg":
        confs.append(f"spark.sql.catalog.lake.warehouse={options.root}/iceberg")
    spark = session(f"jobs-{options.format}", options.root, confs)
    spark.sparkContext.setLogLevel("ERROR")
    for text in SETUP:
        spark.sql(text.format(c=CATALOG[options.format], f=options.format))
    truth: list[dict[str, Any]] = []
    for job in JOBS:
        if job.only not in ("", options.format):
            continue
        fact = run(spark, job, options.format, options.root)
        columns = fact["columns"]
        if not fact["target"].startswith("file:"):
            columns = spark.table(fact["target"]).columns
        truth.append({"job": job.name, "table_columns": columns, **fact})
    options.truth.write_text(json.dumps(truth, indent=1))
    spark.stop()


if __name__ == "__main__":
    main()
