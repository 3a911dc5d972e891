"""DataFrame jobs of a real application: each gives the frame that it writes and how it is written."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from truth import remember


class Job:
    """A frame and where it goes: `table:<name>`, `insert:<name>(<columns>)`, `v2:<name>` or `<format>:<path>`."""

    def __init__(
        self, name: str, sink: str, build: Callable[[SparkSession, str], DataFrame], opaque: bool = False
    ) -> None:
        self.name, self.sink, self.build, self.opaque = name, sink, build, opaque


def orders(spark: SparkSession) -> DataFrame:
    return spark.table("sales.orders")


def customers(spark: SparkSession) -> DataFrame:
    return spark.table("sales.customers")


def cached_join(spark: SparkSession, root: str) -> DataFrame:
    hot = orders(spark).where("amount > 1").select("customer_id", "amount").cache()
    hot.count()
    return hot.join(customers(spark), "customer_id").select("name", "amount")


def checkpointed(spark: SparkSession, root: str) -> DataFrame:
    frame = orders(spark).select("order_id", F.upper("status").alias("s"))
    remember(frame._jdf.queryExecution().analyzed())
    frame = frame.localCheckpoint()
    return frame.where("order_id > 0").select((F.col("order_id") + 1).alias("next"), "s")


def python_udf(spark: SparkSession, root: str) -> DataFrame:
    shout = F.udf(lambda v: None if v is None else v + "!", "string")
    return orders(spark).select("order_id", shout(F.concat("status", "note")).alias("loud"))


def pandas_map(spark: SparkSession, root: str) -> DataFrame:
    def same(batches):  # type: ignore[no-untyped-def]
        yield from batches

    return orders(spark).select("order_id", "status").mapInPandas(same, "order_id bigint, status string")


def temp_view(spark: SparkSession, root: str) -> DataFrame:
    orders(spark).withColumn("half", F.col("amount") / 2).createOrReplaceTempView("halves")
    return spark.sql("SELECT status, sum(half) AS total FROM halves GROUP BY status")


def wide(spark: SparkSession, root: str) -> DataFrame:
    return orders(spark).select(*[(F.col("order_id") + i).alias(f"c{i:02}") for i in range(45)])


def cogrouped(spark: SparkSession, root: str) -> DataFrame:
    def one(frame):  # type: ignore[no-untyped-def]
        return frame

    return (
        orders(spark)
        .select("customer_id", "order_id")
        .groupBy("customer_id")
        .applyInPandas(one, "customer_id int, order_id bigint")
    )


def through_rdd(spark: SparkSession, root: str) -> DataFrame:
    rows = orders(spark).select("order_id").rdd.map(lambda row: (row[0],))
    return spark.createDataFrame(rows, "order_id bigint")


def window(spark: SparkSession, root: str) -> DataFrame:
    w = Window.partitionBy("customer_id").orderBy(F.desc("ordered_at"))
    return orders(spark).select("order_id", F.row_number().over(w).alias("rn"), F.lag("amount").over(w).alias("prev"))


def self_join(spark: SparkSession, root: str) -> DataFrame:
    a, b = orders(spark).alias("a"), orders(spark).alias("b")
    return a.join(b, F.col("a.customer_id") == F.col("b.customer_id")).select(
        F.col("a.order_id").alias("x"), F.col("b.order_id").alias("y")
    )


def odd_names(spark: SparkSession, root: str) -> DataFrame:
    odd = spark.table("sales.odd_names")
    return odd.select(
        F.col("`order id`").alias("an id"),
        F.col("`a,b`").alias("c,d"),
        F.concat("`st#12`", F.lit(" AS q#1, [")).alias("h#9"),
    )


JOBS = [
    Job("d01", "parquet:d01", lambda s, r: orders(s).select("order_id", "amount")),
    Job("d02", "csv:d02", lambda s, r: orders(s).select("order_id", F.upper("status").alias("u"))),
    Job("d03", "json:d03", lambda s, r: customers(s).select("name", "address.city")),
    Job(
        "d04",
        "table:mart.d04",
        lambda s, r: (
            s.read.parquet(f"{r}/d01")
            .join(orders(s).drop("amount"), "order_id")
            .groupBy("status")
            .agg(F.sum("amount").alias("total"), F.countDistinct("customer_id").alias("n"))
        ),
    ),
    Job("d05", "insert:mart.d05(id BIGINT, s STRING)", lambda s, r: orders(s).select("order_id", "status")),
    Job(
        "d06",
        "table:mart.d06",
        lambda s, r: orders(s).filter("amount > 3 AND status = 'done'").select(F.lower("note").alias("n")),
    ),
    Job("d07", "table:mart.d07", window),
    Job(
        "d08",
        "table:mart.d08",
        lambda s, r: (
            orders(s)
            .select("order_id", "status")
            .unionByName(s.table("sales.returns").select(F.col("reason").alias("status"), "order_id"))
        ),
    ),
    Job(
        "d09",
        "table:mart.d09",
        lambda s, r: customers(s).select(
            "customer_id", F.explode("tags").alias("tag"), F.struct("name", "email").alias("who")
        ),
    ),
    Job(
        "d10",
        "table:mart.d10",
        lambda s, r: orders(s).groupBy("customer_id").pivot("status", ["open", "done"]).agg(F.sum("amount")),
    ),
    Job("d11", "table:mart.d11", cached_join),
    Job("d12", "table:mart.d12", self_join),
    Job("d13", "table:mart.d13", python_udf),
    Job(
        "d14",
        "table:mart.d14",
        lambda s, r: orders(s).dropDuplicates(["customer_id"]).select("customer_id", "order_id"),
    ),
    Job("d15", "table:mart.d15", lambda s, r: orders(s).sort(F.desc("amount")).limit(2).select("order_id")),
    Job(
        "d16",
        "table:mart.d16",
        lambda s, r: customers(s).join(orders(s), "customer_id", "left_anti").select("customer_id", "name"),
    ),
    Job(
        "d17",
        "table:mart.d17",
        lambda s, r: orders(s).select(
            F.when(F.col("status") == "open", F.col("amount")).otherwise(F.lit(0)).alias("w"),
            F.lit("k").alias("k"),
            F.current_timestamp().alias("at"),
        ),
    ),
    Job(
        "d18",
        "json:d18",
        lambda s, r: (
            s.read.schema("order_id STRING, u STRING")
            .csv(f"{r}/d02")
            .select(F.col("order_id").cast("bigint").alias("id"), "u")
        ),
    ),
    Job("d19", "parquet/order_id:d19", lambda s, r: orders(s).select("status", "order_id")),
    Job("d20", "table:mart.d20", wide),
    Job("d21", "table:mart.d21", pandas_map, opaque=True),
    Job(
        "d22",
        "table:mart.d22",
        lambda s, r: (
            orders(s)
            .join(s.createDataFrame([(1, "a")], "customer_id int, label string"), "customer_id")
            .select("order_id", "label")
        ),
    ),
    Job("d23", "table:mart.d23", temp_view),
    Job(
        "d24",
        "table:mart.d24",
        lambda s, r: (
            orders(s)
            .groupBy("customer_id")
            .agg(F.collect_list("note").alias("notes"), F.struct(F.max("amount"), F.min("amount")).alias("range"))
        ),
    ),
    Job(
        "d25", "table:mart.d25", lambda s, r: orders(s).rollup("status", "customer_id").agg(F.sum("amount").alias("t"))
    ),
    Job(
        "d26",
        "table:mart.d26",
        lambda s, r: orders(s).select("order_id").intersect(s.table("sales.items").select("order_id")),
    ),
    Job(
        "d27",
        "table:mart.d27",
        lambda s, r: orders(s).select("order_id").exceptAll(s.table("sales.returns").select("order_id")),
    ),
    Job(
        "d28",
        "table:mart.d28",
        lambda s, r: (
            orders(s)
            .join(F.broadcast(s.table("sales.items")), "order_id", "full_outer")
            .select("order_id", "sku", "note")
        ),
    ),
    Job("d29", "table:mart.d29", checkpointed),
    Job(
        "d30",
        "table:mart.d30",
        lambda s, r: (
            orders(s).withColumnRenamed("note", "remark").na.fill("none", ["remark"]).select("order_id", "remark")
        ),
    ),
    Job("d31", "table:mart.d31", lambda s, r: customers(s).select(F.md5("email").alias("h"), F.posexplode("tags"))),
    Job("d32", "table:mart.d32", lambda s, r: customers(s).select("customer_id", F.explode("scores").alias("k", "v"))),
    Job("d33", "v2:mart.d33", lambda s, r: orders(s).select("order_id", "status")),
    Job(
        "d34",
        "parquet:d34",
        lambda s, r: s.read.json(f"{r}/d03").crossJoin(s.table("sales.items")).select("city", "sku"),
    ),
    Job(
        "d35",
        "table:mart.d35",
        lambda s, r: (
            orders(s)
            .selectExpr("order_id", "amount * 2 AS double", "date(ordered_at) AS day")
            .where("day > '2025-01-01'")
        ),
    ),
    Job("d36", "table:mart.d36", lambda s, r: s.range(5).select(F.col("id"), (F.col("id") * 2).alias("twice"))),
    Job(
        "d37",
        "orc:d37",
        lambda s, r: orders(s).repartition(2, "status").select("status", "amount").sortWithinPartitions("amount"),
    ),
    Job(
        "d38",
        "table:mart.d38",
        lambda s, r: orders(s).groupBy(F.window("ordered_at", "1 day")).count().select("window.start", "count"),
    ),
    Job("d39", "table:mart.d39", lambda s, r: orders(s).cube("status").agg(F.avg("amount").alias("mean"))),
    Job("d40", "json:d40", odd_names),
    Job("d41", "table:mart.d41", cogrouped, opaque=True),
    Job("d42", "table:mart.d42", through_rdd, opaque=True),
    Job(
        "d43",
        "table:mart.d43",
        lambda s, r: s.table("sales.done_orders").select("id", (F.col("amount") + 1).alias("more")),
    ),
    Job("d44", "text:d44", lambda s, r: customers(s).select(F.concat_ws(";", "name", "country").alias("value"))),
    Job(
        "d45",
        "table:mart.d45",
        lambda s, r: orders(s).selectExpr("order_id", "stack(2, 's', status, 'n', note) AS (name, val)"),
    ),
    Job(
        "d46",
        "table:mart.d46",
        lambda s, r: orders(s).select(
            "order_id", F.explode(F.create_map(F.lit("s"), "status", F.lit("n"), "note")).alias("k", "v")
        ),
    ),
    Job("d47", "parquet:d47", lambda s, r: orders(s).select(F.posexplode(F.array("status", "note")).alias("i", "v"))),
]
