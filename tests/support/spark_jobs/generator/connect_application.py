"""A Spark Connect client and its server in one: SQL, a DataFrame write, text outside of ASCII, and a failure.

python connect_application.py --root DIR [--conf key=value ...]
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--root", required=True, type=Path)
parser.add_argument("--conf", action="append", default=[])
options = parser.parse_args()
builder = (
    SparkSession.builder.appName("connect")
    .remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.warehouse.dir", str(options.root / "warehouse"))
    .config("spark.driver.memory", "1g")
    .config("spark.eventLog.enabled", "true")
)
for conf in options.conf:
    key, value = conf.split("=", 1)
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sql("CREATE DATABASE sales")
spark.sql("CREATE TABLE sales.orders (order_id BIGINT, status STRING, amount DOUBLE) USING parquet")
spark.sql("CREATE TABLE sales.daily (status STRING, total DOUBLE) USING parquet")
spark.sql(
    'INSERT INTO sales.daily\nSELECT upper(status), sum(amount) FROM sales.orders -- "żółw" it\'s\nGROUP BY status'
)
spark.sql("INSERT INTO sales.daily SELECT status, amount FROM sales.orders WHERE status = :st", {"st": "ok"})
orders = spark.table("sales.orders")
orders.groupBy("status").agg(F.max("amount").alias("most")).write.saveAsTable("sales.most")
with contextlib.suppress(PySparkException):
    spark.sql("INSERT INTO sales.daily SELECT no_such_column, 1 FROM sales.orders")
spark.sql(f"INSERT INTO sales.daily SELECT concat(status, '{'x' * 66_000}'), amount FROM sales.orders")
spark.stop()
