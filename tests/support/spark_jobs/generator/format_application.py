"""A real Spark application over Delta Lake or Apache Iceberg, with the truth about each of its jobs.

python format_application.py --format delta|iceberg --jobs statements+frames --jars a.jar,b.jar --root DIR --truth FILE
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import format_frames
from application import analyzed, queries_of, session
from format_frames import FrameJob
from format_jobs import JOBS, MAINTENANCE, SETUP, FormatJob
from older_application import log_of, pack
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from truth import lineage_of

CONFS = {
    "delta": [
        "spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions=1",
        "spark.databricks.delta.writeChecksumFile.enabled=false",
    ],
    "iceberg": [
        "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type=hadoop",
    ],
}
CATALOG = {"delta": "spark_catalog", "iceberg": "lake"}
MODES = ("append", "overwrite")


@dataclass(frozen=True)
class Place:
    """Where jobs run: the format, its catalog and the folder for files."""

    spark: SparkSession
    form: str
    root: Path
    named: frozenset[str] = frozenset()  # the jobs to run; all of them where none is named

    @property
    def catalog(self) -> str:
        return CATALOG[self.form]

    def text(self, statement: str, name: str = "") -> str:
        """A job's text with its placeholders filled in."""
        filled = {"{c}": self.catalog, "{f}": self.form, "{n}": f"{self.catalog}.mart.{name}"}
        for placeholder, value in filled.items():
            statement = statement.replace(placeholder, value)
        return re.sub(r"\{version:([\w.]+)\}", lambda match: self.version(match.group(1)), statement)

    def version(self, table: str) -> str:
        if self.form == "delta":
            return "1"
        snapshots = f"SELECT snapshot_id FROM lake.{table}.snapshots ORDER BY committed_at"
        return str(self.spark.sql(snapshots).first()[0])


def write_frame(place: Place, job: FrameJob, frame: DataFrame) -> str:
    """Write a frame as its job says; gives the target."""
    name = place.text("{n}", job.name)
    how, *words = job.how.split(" ")
    if how == "stream":
        streamed(place, job, name)
        return name
    if how == "foreachBatch":
        batches(place, job, name)
        return name
    if how in ("create", "replace", "overwritePartitions", "append"):
        writer = frame.writeTo(name)
        getattr(writer.using(place.form) if how in ("create", "replace") else writer, how)()
        return name
    writer = set_up(frame.write.format(place.form), words)
    if how == "save":
        path = f"{place.root}/{job.name}"
        writer.save(path)
        return f"file:{path}"
    if how == "insertInto":
        frame.write.insertInto(name, overwrite="overwrite" in words)
    else:
        writer.saveAsTable(name)
    return name


def set_up(writer: DataFrameWriter, words: list[str]) -> DataFrameWriter:
    for word in words:
        key, _, value = word.partition("=")
        if key == "partitionBy":
            writer = writer.partitionBy(value)
        else:
            writer = writer.mode(key) if key in MODES else writer.option(key, value)
    return writer


def stream_of(place: Place) -> DataFrame:
    return place.spark.readStream.table(f"{place.catalog}.sales.orders")


def streamed(place: Place, job: FrameJob, name: str) -> None:
    if place.form == "iceberg":
        place.spark.sql(place.text(f"CREATE TABLE {{n}} ({format_frames.COLUMNS}) USING {{f}}", job.name))
    frame = job.frame(lambda _: stream_of(place))
    query = frame.writeStream.option("checkpointLocation", f"{place.root}/c-{job.name}")
    query.trigger(availableNow=True).format(place.form).toTable(name).awaitTermination()


def batches(place: Place, job: FrameJob, name: str) -> None:
    def each(batch: DataFrame, number: int) -> None:
        job.frame(lambda _: batch).write.format(place.form).mode("append").saveAsTable(name)

    query = stream_of(place).writeStream.option("checkpointLocation", f"{place.root}/c-{job.name}")
    query.trigger(availableNow=True).foreachBatch(each).start().awaitTermination()


def stated(job: FormatJob, place: Place, columns: list[str]) -> dict[str, Any]:
    """The truth that a job states itself."""
    at = {name: position for position, name in enumerate(columns)}
    return {
        "columns": columns,
        "direct": sorted([at[a], place.text(t), c] for a, t, c in job.direct or ()),
        "rows": sorted([place.text(t), c] for _, t, c in job.indirect),
        "opaque": False,
    }


def assigned(job: FormatJob, place: Place, columns: list[str]) -> dict[str, Any]:
    """What the analyzer tells of the queries of the values that a row operation sets."""
    plans = [place.spark.sql(place.text(query))._jdf.queryExecution().analyzed() for query in job.queries]
    facts = [lineage_of(plan) for plan in plans]
    direct = {(columns.index(fact["columns"][at]), t, c) for fact in facts for at, t, c in fact["direct"]}
    rows = {(t, c) for fact in facts for _, t, c in fact["indirect"]}
    return {"columns": columns, "direct": sorted(map(list, direct)), "rows": sorted(map(list, rows)), "opaque": False}


def run_statement(place: Place, job: FormatJob) -> dict[str, Any]:
    spark = place.spark
    for text in job.before:
        spark.sql(place.text(text))
    text = place.text(job.statement)
    target = re.findall(rf"{place.catalog}\.mart\.\w+", text)[0]
    if job.queries:
        facts = assigned(job, place, spark.table(target).columns)
        spark.sql(text)
        return {"target": target, "statement": text, **facts}
    if job.direct is not None:
        spark.sql(text)
        names = spark.table(target).columns if spark.catalog.tableExists(target) else []
        return {"target": target, "statement": text, **stated(job, place, names)}
    facts = lineage_of(queries_of(analyzed(spark, text))[0])
    spark.sql(text)
    return {"target": target, "statement": text, **facts}


def run_frame(place: Place, job: FrameJob) -> dict[str, Any]:
    for text in job.before:
        place.spark.sql(place.text(text, job.name))
    frame = job.frame(lambda name: place.spark.table(f"{place.catalog}.sales.{name}"))
    fact = lineage_of(frame._jdf.queryExecution().analyzed())
    return {"target": write_frame(place, job, frame), "statement": job.how, **fact}


def truths(place: Place, jobs: Sequence[FormatJob | FrameJob]) -> Iterator[dict[str, Any]]:
    for job in jobs:
        if job.only not in ("", place.form) or (place.named and job.name not in place.named):
            continue
        fact = run_statement(place, job) if isinstance(job, FormatJob) else run_frame(place, job)
        place.spark.catalog.clearCache()
        columns = fact["columns"]
        if not fact["target"].startswith("file:") and place.spark.catalog.tableExists(fact["target"]):
            columns = place.spark.table(fact["target"]).columns
        yield {"job": job.name, "table_columns": columns, **fact}


def keep(file: Path, place: Place, made: dict[str, Any]) -> None:
    """Write what the tests keep of an application, of one that ran some jobs only beside what is kept of others."""
    if place.named:
        before = json.loads(gzip.decompress(file.read_bytes()))
        others = [fact for fact in before["truth"] if fact["job"] not in place.named]
        made = {**made, "truth": [*others, *made["truth"]], "logs": [*before["logs"], *made["logs"]]}
    pack(file, made, place.root)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", required=True, choices=sorted(CONFS))
    parser.add_argument("--jobs", required=True, help="statements, frames or statements+frames")
    parser.add_argument("--jars", required=True)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--truth", required=True, type=Path)
    parser.add_argument("--keep", type=Path, help="write what the tests keep, of an uncompressed log in DIR/logs")
    parser.add_argument("--only", action="append", default=[], help="a job; with --keep it is added to the file")
    parser.add_argument("--conf", action="append", default=[])
    options = parser.parse_args()
    confs = [f"spark.jars={options.jars}", *CONFS[options.format], *options.conf]
    if options.format == "iceberg":
        confs.append(f"spark.sql.catalog.lake.warehouse={options.root}/iceberg")
    spark = session(f"jobs-{options.format}", options.root, confs)
    spark.sparkContext.setLogLevel("ERROR")
    place = Place(spark, options.format, options.root, frozenset(options.only))
    for text in SETUP:
        spark.sql(place.text(text))
    truth: list[dict[str, Any]] = []
    for kind in options.jobs.split("+"):
        truth += truths(place, {"statements": JOBS, "frames": format_frames.JOBS}[kind])
    for text in () if place.named and options.keep else MAINTENANCE[options.format]:
        spark.sql(place.text(text))
    version = spark.version
    spark.stop()
    if options.keep:
        keep(options.keep, place, {"version": version, "truth": truth, "logs": [log_of(options.root / "logs")]})
    options.truth.write_text(json.dumps(truth, indent=1))


if __name__ == "__main__":
    main()
