"""Jobs over everything that is no plain table of the session catalog: Hive, JDBC, files, views, and DDL.

python sources_application.py --root DIR [--conf key=value ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

URL = "jdbc:derby:memory:shop;create=true"
CONNECTION = {"url": URL, "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--root", required=True, type=Path)
parser.add_argument("--conf", action="append", default=[])
options = parser.parse_args()
root: Path = options.root
builder = (
    SparkSession.builder.appName("sources")
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.memory", "1g")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.warehouse.dir", str(root / "warehouse"))
    .config("spark.driver.extraJavaOptions", f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.system.home={root}")
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", f"jdbc:derby:;databaseName={root / 'metastore'};create=true")
    .config("spark.eventLog.enabled", "true")
    .config("spark.sql.catalog.crm", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    .config("spark.sql.catalog.crm.url", URL)
    .config("spark.sql.catalog.crm.driver", CONNECTION["driver"])
    .enableHiveSupport()
)
for conf in options.conf:
    builder = builder.config(*conf.split("=", 1))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")

# files and Hive
spark.sql("CREATE DATABASE sales")
spark.sql("CREATE DATABASE mart")
spark.range(5).selectExpr("id AS order_id", "id % 2 AS customer_id", "'open' AS status").write.json(
    f"{root}/raw/orders"
)
spark.sql("CREATE TABLE sales.orders (order_id BIGINT, customer_id BIGINT, status STRING) STORED AS parquet")
spark.read.json(f"{root}/raw/orders").select("order_id", "customer_id", "status").write.insertInto("sales.orders")
spark.sql("CREATE TABLE sales.texts (order_id BIGINT, note STRING) STORED AS textfile")
spark.sql("INSERT INTO sales.texts SELECT order_id, upper(status) FROM sales.orders")
spark.sql("CREATE TABLE mart.from_hive STORED AS orc AS SELECT order_id + 1 AS next, note FROM sales.texts")
spark.sql("CREATE TABLE mart.by_day (order_id BIGINT, note STRING) PARTITIONED BY (day STRING) STORED AS textfile")
spark.sql("INSERT OVERWRITE mart.by_day PARTITION (day = 'monday') SELECT order_id, note FROM sales.texts")
spark.table("sales.texts").select("order_id", "note").write.mode("overwrite").parquet(f"{root}/lake/silver/texts")

# JDBC: writes, reads, a catalog
spark.table("sales.orders").select("order_id", F.upper("status").alias("state")).write.format("jdbc").options(
    **CONNECTION, dbtable="APP.ORDERS"
).save()
spark.read.format("jdbc").options(**CONNECTION, dbtable="APP.ORDERS").load().select(
    F.col("order_id"), F.concat("state", F.lit("!")).alias("loud")
).write.saveAsTable("mart.from_jdbc")
spark.sql("INSERT INTO crm.APP.ORDERS SELECT order_id, status FROM sales.orders")
spark.sql("CREATE TABLE mart.from_catalog USING parquet AS SELECT max(order_id) AS newest FROM crm.APP.ORDERS")

# views, caches, descriptions
spark.sql("CREATE VIEW sales.open_orders AS SELECT order_id AS id, status FROM sales.orders WHERE status = 'open'")
spark.sql("CREATE TABLE mart.viewed (id BIGINT, state STRING) USING parquet")
spark.sql("INSERT INTO mart.viewed SELECT id, status FROM sales.open_orders")
spark.sql("CACHE TABLE hot AS SELECT order_id, customer_id FROM sales.orders WHERE order_id > 1")
spark.sql("CREATE TABLE mart.from_cache USING parquet AS SELECT customer_id, count(order_id) AS n FROM hot GROUP BY 1")
spark.sparkContext.setJobDescription("nightly totals of the shop")
spark.table("sales.orders").groupBy("status").count().write.saveAsTable("mart.described")
spark.sparkContext.setJobDescription(None)

# what becomes of names and columns
spark.sql("CREATE TABLE mart.staged USING parquet AS SELECT order_id, status FROM sales.orders")
spark.sql("ALTER TABLE mart.staged RENAME TO mart.published")
spark.sql("INSERT INTO mart.published SELECT id, state FROM mart.viewed")
spark.sql("CREATE TABLE mart.short_lived USING parquet AS SELECT status FROM sales.orders")
spark.sql("DROP TABLE mart.short_lived")
spark.sql("ALTER TABLE mart.viewed ADD COLUMNS (note STRING)")

# built aside and swapped in, three nights, the last from another source; and one that keeps what it replaces
for source in ("sales.orders", "sales.orders", "sales.texts"):
    rows = spark.table(source).select("order_id")
    rows.write.mode("overwrite").saveAsTable("mart.swapped_new")
    spark.sql("DROP TABLE IF EXISTS mart.swapped")
    spark.sql("ALTER TABLE mart.swapped_new RENAME TO mart.swapped")
    rows.write.mode("overwrite").saveAsTable("mart.kept_new")
    if spark.catalog.tableExists("mart.kept"):
        spark.sql("DROP TABLE IF EXISTS mart.kept_old")
        spark.sql("ALTER TABLE mart.kept RENAME TO mart.kept_old")
    spark.sql("ALTER TABLE mart.kept_new RENAME TO mart.kept")
session_state = spark._jvm.org.apache.hadoop.hive.ql.session.SessionState
spark.stop()
session_state.detachSession()  # else Hive takes this one, and its metastore, for the next application of the thread
