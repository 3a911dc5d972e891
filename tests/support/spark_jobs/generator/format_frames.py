"""DataFrames over Delta Lake and Apache Iceberg tables, and the ways to write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

Tables = Callable[[str], DataFrame]


@dataclass(frozen=True)
class FrameJob:
    """`how` is a method of the writer and its options, `name(option=value, …)`; `before` makes what it writes to."""

    name: str
    frame: Callable[[Tables], DataFrame]
    how: str
    before: tuple[str, ...] = ()
    only: str = ""


def picked(t: Tables) -> DataFrame:
    return t("orders").select("order_id", F.lower("status").alias("status"), "amount")


def totals(t: Tables) -> DataFrame:
    return t("orders").groupBy("status").agg(F.sum("amount").alias("total"), F.countDistinct("day").alias("days"))


def ranked(t: Tables) -> DataFrame:
    newest = Window.partitionBy("customer_id").orderBy(F.desc("day"))
    return t("orders").withColumn("rank", F.row_number().over(newest)).where("rank = 1").drop("rank")


def both(t: Tables) -> DataFrame:
    columns = ("order_id", "status")
    return t("orders").select(*columns).unionByName(t("changes").select(*columns))


def priced(t: Tables) -> DataFrame:
    return t("orders").select("order_id", "status", F.col("amount").alias("price"))


def daily(t: Tables) -> DataFrame:
    return t("orders").select("order_id", "amount", "day")


def values(t: Tables) -> DataFrame:
    return t("orders").select("order_id", F.explode(F.array("amount", "customer_id")).alias("value"))


def positive(t: Tables) -> DataFrame:
    return picked(t).where("order_id > 0")


def newest(t: Tables) -> DataFrame:
    return daily(t).where("day = DATE'2026-01-01'")


def sampled(t: Tables) -> DataFrame:
    return t("orders").sample(0.9).select("status")


def joined(t: Tables) -> DataFrame:
    return (
        t("orders")
        .join(t("changes").withColumnRenamed("amount", "changed"), "order_id", "left")
        .select("order_id", "changed", (F.col("amount") - F.col("changed")).alias("difference"))
    )


COLUMNS = "order_id BIGINT, status STRING, amount DOUBLE"
FILLED = (
    f"CREATE TABLE {{n}} ({COLUMNS}) USING {{f}}",
    "INSERT INTO {n} SELECT order_id, status, amount FROM {c}.sales.orders",
)
BY_DAY = ("CREATE TABLE {n} (order_id BIGINT, amount DOUBLE, day DATE) USING {f} PARTITIONED BY (day)",)
OPEN = (
    "CREATE TABLE {n} (order_id BIGINT, status STRING) USING {f}"
    " TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')",
)

JOBS = [
    FrameJob("g01", lambda t: t("orders").where("amount > 1"), "saveAsTable"),
    FrameJob("g02", lambda t: t("orders"), "saveAsTable"),
    FrameJob("g03", lambda t: t("orders").orderBy("day"), "saveAsTable"),
    FrameJob("g04", lambda t: t("orders").dropDuplicates(["status"]), "saveAsTable"),
    FrameJob("g05", both, "saveAsTable"),
    FrameJob("g06", lambda t: t("wide"), "saveAsTable"),
    FrameJob("g07", lambda t: t("wide").where("c3 > 1").withColumn("extra", F.col("c1") * 2), "saveAsTable"),
    FrameJob("g08", picked, "saveAsTable append", FILLED),
    FrameJob("g09", picked, "saveAsTable overwrite", FILLED),
    FrameJob(
        "g10",
        lambda t: picked(t).where("order_id > 0"),
        "saveAsTable overwrite replaceWhere=order_id>0",
        FILLED,
        only="delta",
    ),
    FrameJob("g11", priced, "saveAsTable append mergeSchema=true", OPEN),
    FrameJob("g12", picked, "insertInto", FILLED),
    FrameJob("g13", daily, "insertInto overwrite", BY_DAY),
    FrameJob("g14", daily, "overwritePartitions", BY_DAY),
    FrameJob("g15", totals, "saveAsTable"),
    FrameJob("g16", ranked, "saveAsTable"),
    FrameJob("g17", joined, "create"),
    FrameJob("g18", lambda t: t("orders").withColumn("day", F.lit("x")).distinct(), "replace", FILLED),
    FrameJob("g19", lambda t: t("orders").cache().select("order_id", "status"), "saveAsTable"),
    FrameJob("g20", values, "saveAsTable"),
    FrameJob("g21", lambda t: daily(t).orderBy(F.desc("amount")).limit(2), "saveAsTable"),
    FrameJob("g22", picked, "append", FILLED),
    FrameJob("g23", daily, "save overwrite partitionBy=day", only="delta"),
    FrameJob(
        "g24", lambda t: t("orders").select("day", "order_id", "amount"), "save append mergeSchema=true", only="delta"
    ),
    FrameJob(
        "g25",
        lambda t: daily(t).where("day = DATE'2026-01-01'"),
        "save overwrite replaceWhere=day='2026-01-01'",
        only="delta",
    ),
    FrameJob("g26", picked, "stream"),
    FrameJob("g27", totals, "foreachBatch"),
    FrameJob(
        "g28", lambda t: t("orders").sample(0.9).select("status"), "saveAsTable overwrite overwriteSchema=true", FILLED
    ),
]
