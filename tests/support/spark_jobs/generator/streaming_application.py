"""Structured streaming in every way that has a sink: files, a table, memory and foreachBatch; and an SQL script.

python streaming_application.py --root DIR [--conf key=value ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from application import session
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--root", required=True, type=Path)
parser.add_argument("--conf", action="append", default=[])
options = parser.parse_args()
root: Path = options.root
spark = session("streaming", root, options.conf)
spark.sparkContext.setLogLevel("ERROR")
spark.sql("CREATE DATABASE mart")
spark.range(20).selectExpr("id AS event_id", "concat('k', id % 3) AS key", "id * 2 AS value").write.json(f"{root}/in")
events = spark.readStream.schema("event_id BIGINT, key STRING, value BIGINT").json(f"{root}/in")


def each(batch: DataFrame, number: int) -> None:
    batch.groupBy("key").agg(F.sum("value").alias("total")).write.mode("append").saveAsTable("mart.by_batch")


to_files = events.where("value > 3").select("event_id", F.upper("key").alias("key")).writeStream.queryName("to_files")
to_files.option("checkpointLocation", f"{root}/c1").trigger(availableNow=True).format("parquet").start(
    f"{root}/out"
).awaitTermination()
to_table = events.select("key", (F.col("value") + 1).alias("next")).writeStream.queryName("to_table")
to_table.option("checkpointLocation", f"{root}/c2").trigger(availableNow=True).toTable(
    "mart.streamed", format="parquet"
).awaitTermination()
by_batch = events.writeStream.queryName("by_batch").option("checkpointLocation", f"{root}/c3")
by_batch.trigger(availableNow=True).foreachBatch(each).start().awaitTermination()

spark.sql(
    """BEGIN
  DECLARE top BIGINT DEFAULT 5;
  CREATE TABLE mart.scripted (key STRING, value BIGINT) USING parquet;
  INSERT INTO mart.scripted SELECT key, next FROM mart.streamed WHERE next > top;
END"""
)
spark.sparkContext.setJobDescription("nightly totals")
spark.table("mart.streamed").groupBy("key").count().write.saveAsTable("mart.counted")
spark.stop()
