"""A small DataFrame job whose event log `config/spark_history.yaml` reads: python config/sample/spark_job.py"""

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

events = Path(".headwater/spark-events")
events.mkdir(parents=True, exist_ok=True)
spark = (
    SparkSession.builder.master("local[2]")
    .appName("daily-revenue")
    .config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", events.resolve().as_uri())
    .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    .getOrCreate()
)
spark.sql("CREATE DATABASE IF NOT EXISTS shop")
orders = spark.createDataFrame(
    [(1, "PL", 10.0, 2), (2, "DE", 4.5, 1)], "order_id INT, country STRING, price DOUBLE, qty INT"
)
orders.write.mode("overwrite").saveAsTable("shop.orders")
revenue = (
    spark.table("shop.orders")
    .where("qty > 0")
    .groupBy(F.upper("country").alias("country"))
    .agg(F.sum(F.col("price") * F.col("qty")).alias("revenue"))
)
revenue.write.mode("overwrite").saveAsTable("shop.daily_revenue")
spark.stop()
