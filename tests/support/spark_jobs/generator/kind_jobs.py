"""Jobs whose lineage is told by the place of a value inside another, and streams that keep a state.

A job states which column of its result is made of which columns, and which others have a say in it. The application
holds the statement to the data: it changes one column of a source at a time and looks which results change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

Tables = Callable[[str], DataFrame]
Sources = Mapping[str, str]
"""By a column of the result the columns of its sources: `l.b l.c`, where l is the table `lines`."""

LINES = (
    "CREATE TABLE {c}.sales.lines USING {f} AS SELECT id % 4 AS g, id AS k, concat('a', id) AS a, id * 2 AS b,"
    " (id * 7) % 5 AS c, id * 5 AS d, array(id, id + 1, id * 3) AS xs, array(id * 7, 20 - id) AS ys,"
    " named_struct('x', id, 'y', id * 9) AS s, map('m', id, 'n', id * 4) AS m,"
    " array(named_struct('p', id, 'q', id + 5)) AS arr, concat('{{\"f\":', id, '}}') AS j,"
    " timestampadd(MINUTE, id * 10, TIMESTAMP'2026-01-01') AS ts FROM range(12)"
)
OTHERS = (
    "CREATE TABLE {c}.sales.others USING {f} AS SELECT id AS k, id * 7 AS e,"
    " timestampadd(MINUTE, id * 10 + 1, TIMESTAMP'2026-01-01') AS ts2 FROM range(12)"
)


@dataclass(frozen=True)
class KindJob:
    """`query` gives the frame, written as `how` says; `rows` are the columns that decide which rows there are.

    `own` are what has a say in one column alone. `opaque` marks code that a plan does not show: what comes out of it is
    never certain.
    """

    name: str
    query: Callable[[Tables], DataFrame]
    direct: Sources
    rows: str = ""
    own: Sources = field(default_factory=dict)
    how: str = "table"
    opaque: bool = False


def sql(text: str) -> Callable[[Tables], DataFrame]:
    """A query over `lines`."""

    def frame(tables: Tables) -> DataFrame:
        tables("lines").createOrReplaceTempView("l")
        return tables("lines").sparkSession.sql(text)

    return frame


def late(tables: Tables) -> DataFrame:
    return tables("lines").withWatermark("ts", "5 minutes")


def paired(tables: Tables) -> DataFrame:
    others = tables("others").withWatermark("ts2", "5 minutes").alias("o")
    near = F.expr("l.k = o.k AND ts2 BETWEEN ts AND ts + INTERVAL 5 MINUTES")
    return late(tables).alias("l").join(others, near, "left_outer").select("l.k", "b", "e")


def first_of_each(tables: Tables) -> DataFrame:
    lines = late(tables)
    return (lines.dropDuplicatesWithinWatermark if lines.isStreaming else lines.dropDuplicates)(["g"]).select("g")


def state(tables: Tables) -> DataFrame:
    def total(key, frames, group):  # type: ignore[no-untyped-def]
        import pandas

        yield pandas.DataFrame({"a": [key[0]], "total": [int(sum(frame["b"].sum() for frame in frames))]})

    grouped = tables("lines").select("a", "b").groupBy("a")
    return grouped.applyInPandasWithState(total, "a STRING, total BIGINT", "n BIGINT", "update", "NoTimeout")


JOBS = [
    KindJob("k01", sql("SELECT k, stack(2, 'B', b, 'C', c) AS (name, value) FROM l"), {"k": "l.k", "value": "l.b l.c"}),
    KindJob("k02", sql("SELECT stack(2, k, b, c, d) AS (p, q) FROM l"), {"p": "l.k l.c", "q": "l.b l.d"}),
    KindJob("k03", sql("SELECT stack(2, k, b, c) AS (p, q) FROM l"), {"p": "l.k l.c", "q": "l.b"}),
    KindJob(
        "k04",
        lambda t: t("lines").select("d", F.explode(F.create_map(F.lit("B"), "b", F.lit("C"), "c"))),
        {"d": "l.d", "value": "l.b l.c"},
    ),
    KindJob("k05", sql("SELECT explode(map(a, b, j, c)) AS (p, q) FROM l"), {"p": "l.a l.j", "q": "l.b l.c"}),
    KindJob(
        "k06",
        sql("SELECT k, z.xs AS p, z.ys AS q FROM (SELECT k, explode(arrays_zip(xs, ys)) AS z FROM l)"),
        {"k": "l.k", "p": "l.xs", "q": "l.ys"},
        rows="l.xs l.ys",
    ),
    KindJob(
        "k07",
        sql("SELECT inline(array(struct(k, b), named_struct('k', c, 'b', d))) AS (p, q) FROM l"),
        {"p": "l.k l.c", "q": "l.b l.d"},
    ),
    KindJob("k08", sql("SELECT k, inline(arr) FROM l"), {"k": "l.k", "p": "l.arr", "q": "l.arr"}, rows="l.arr"),
    KindJob("k09", sql("SELECT k, posexplode(array(b, c)) AS (i, v) FROM l"), {"k": "l.k", "v": "l.b l.c"}),
    KindJob(
        "k10",
        sql("SELECT k, posexplode(xs) AS (i, v) FROM l WHERE d > 3"),
        {"k": "l.k", "v": "l.xs"},
        rows="l.xs l.d",
    ),
    KindJob(
        "k11",
        sql(
            "SELECT g, top.b AS most, top.c AS then, top.a AS last"
            " FROM (SELECT g, max(struct(c, b, a)) AS top FROM l GROUP BY g)"
        ),
        {"g": "l.g", "most": "l.b", "then": "l.c", "last": "l.a"},
        rows="l.g",
        own={"most": "l.c", "last": "l.b l.c"},
    ),
    KindJob(
        "k12",
        sql("SELECT g, min(named_struct('o', d, 'v', a)).v AS v, max_by(a, b) AS w FROM l GROUP BY g"),
        {"g": "l.g", "v": "l.a", "w": "l.a"},
        rows="l.g",
        own={"v": "l.d", "w": "l.b"},
    ),
    KindJob(
        "k13",
        sql("SELECT named_struct('f', b, 'g', c).f AS f, struct(a, d).d AS d FROM l"),
        {"f": "l.b", "d": "l.d"},
    ),
    KindJob(
        "k14",
        sql(
            "SELECT st.f AS f, st.h.i AS i, st.h AS h"
            " FROM (SELECT named_struct('f', b, 'h', named_struct('i', c, 'l', d)) AS st FROM l)"
        ),
        {"f": "l.b", "i": "l.c", "h": "l.c l.d"},
    ),
    KindJob(
        "k15",
        lambda t: (
            t("lines")
            .select("k", F.col("s").withField("x", F.col("b")).alias("s2"))
            .select("k", "s2.x", "s2.y", F.col("s2").dropFields("y").alias("left"))
        ),
        {"k": "l.k", "x": "l.b", "y": "l.s", "left": "l.b"},
        own={"x": "l.s", "left": "l.s"},
    ),
    KindJob(
        "k16",
        lambda t: (
            t("lines")
            .select(F.struct("b", "c").withField("x", F.col("d")).dropFields("c").alias("s2"))
            .select("s2.b", "s2.x", "s2")
        ),
        {"b": "l.b", "x": "l.d", "s2": "l.b l.d"},
    ),
    KindJob(
        "k17",
        sql("SELECT transform(xs, x -> x + b) AS t, filter(xs, x -> x > c) AS f, exists(ys, y -> y > 30) AS e FROM l"),
        {"t": "l.xs l.b", "f": "l.xs", "e": "l.ys"},
        own={"f": "l.c"},
    ),
    KindJob(
        "k18",
        sql(
            "SELECT transform(xs, x -> b) AS t, zip_with(xs, ys, (x, y) -> x) AS z, transform_values(m, (k, v) -> c)"
            " AS v, aggregate(xs, d, (total, x) -> total + x) AS g FROM l"
        ),
        {"t": "l.b", "z": "l.xs", "v": "l.m l.c", "g": "l.xs l.d"},
        own={"t": "l.xs", "z": "l.ys"},
    ),
    KindJob(
        "k19",
        sql("SELECT e.u, e.w FROM (SELECT explode(transform(xs, x -> named_struct('u', x, 'w', b))) AS e FROM l)"),
        {"u": "l.xs", "w": "l.b"},
        rows="l.xs",
    ),
    KindJob(
        "k20",
        sql("SELECT g, e.b, e.c FROM (SELECT g, explode(collect_list(struct(b, c))) AS e FROM l GROUP BY g)"),
        {"g": "l.g", "b": "l.b", "c": "l.c"},
        rows="l.g",
    ),
    KindJob(
        "k21",
        sql(
            "SELECT element_at(map('B', b, 'C', c), 'B') AS e, map('B', b, 'C', c)['C'] AS f, array(b, c)[0] AS h,"
            " element_at(array(b, c), 2) AS i, get(array(b, c, d), int(g)) AS n FROM l"
        ),
        {"e": "l.b", "f": "l.c", "h": "l.b", "i": "l.c", "n": "l.b l.c l.d"},
        own={"n": "l.g"},
    ),
    KindJob(
        "k22",
        sql("SELECT g, max(struct(c, b)) OVER (PARTITION BY g).b AS w, map_keys(map(k, d)) AS p FROM l"),
        {"g": "l.g", "w": "l.b", "p": "l.k"},
        own={"w": "l.g l.c"},
    ),
    KindJob(
        "k23",
        sql("SELECT CASE WHEN k > 5 THEN struct(b, c) ELSE struct(d AS b, k AS c) END.b AS u FROM l"),
        {"u": "l.b l.d"},
        own={"u": "l.k"},
    ),
    KindJob(
        "k24",
        sql("SELECT st.f, st.g FROM (SELECT struct(b AS f, c AS g) AS st FROM l UNION ALL SELECT struct(d, k) FROM l)"),
        {"f": "l.b l.d", "g": "l.c l.k"},
    ),
    KindJob(
        "k25",
        lambda t: (
            late(t).groupBy(F.window("ts", "30 minutes"), "g").agg(F.sum("b").alias("total"), F.max("c").alias("most"))
        ).select(F.col("window.start").alias("begun"), "g", "total", "most"),
        {"begun": "l.ts", "g": "l.g", "total": "l.b", "most": "l.c"},
        rows="l.ts l.g",
        how="stream append",
    ),
    KindJob(
        "k26",
        lambda t: t("lines").groupBy("g").agg(F.sum("b").alias("total"), F.avg("d").alias("mean")),
        {"g": "l.g", "total": "l.b", "mean": "l.d"},
        rows="l.g",
        how="stream complete",
    ),
    KindJob(
        "k27",
        lambda t: (
            late(t)
            .groupBy(F.session_window("ts", "5 minutes"), "g")
            .agg(F.sum("b").alias("total"))
            .select(F.col("session_window.end").alias("ended"), "g", "total")
        ),
        {"ended": "l.ts", "g": "l.g", "total": "l.b"},
        rows="l.ts l.g",
        how="stream append",
    ),
    KindJob(
        "k28",
        first_of_each,
        {"g": "l.g"},
        rows="l.g",
        how="files append",
    ),
    KindJob(
        "k29",
        paired,
        {"k": "l.k", "b": "l.b", "e": "o.e"},
        rows="l.k l.ts o.k o.ts2",
        how="stream append",
    ),
    KindJob("k30", state, {"a": "l.a l.b", "total": "l.a l.b"}, how="batch update", opaque=True),
    KindJob(
        "k31",
        lambda t: t("lines").groupBy("g").agg(F.sum("b").alias("total"), F.count("c").alias("n")),
        {"g": "l.g", "total": "l.b", "n": "l.c"},
        rows="l.g",
        own=dict.fromkeys(("g", "total", "n"), "k31.g"),
        how="merge update",
    ),
    KindJob(
        "k32",
        lambda t: t("lines").where("k > 4").select("k", F.upper("a").alias("a")),
        {"k": "l.k", "a": "l.a"},
        rows="l.k",
        how="files append",
    ),
    KindJob(
        "k33",
        lambda t: t("feed").select(F.col("k").alias("id"), F.col("b").alias("total"), "_change_type"),
        {"id": "feed.k", "total": "feed.b"},
    ),
    KindJob(
        "k34",
        lambda t: t("feed").where("_commit_version > 0").select(F.col("b").alias("x"), F.col("a").alias("y")),
        {"x": "feed.b", "y": "feed.a"},
        how="files overwrite",
    ),
    KindJob(
        "k35",
        lambda t: t("stored").select("k", F.col("_metadata.file_name").alias("f"), "_metadata.file_path"),
        {"k": "stored.k"},
    ),
    KindJob(
        "k36",
        lambda t: t("remote").select("kk", "bb"),
        {"kk": "remote.k", "bb": "remote.b"},
        rows="remote.a remote.b",
    ),
]

AFTER = [
    "ALTER TABLE lake.sales.branched CREATE BRANCH audit",
    "ALTER TABLE lake.sales.branched CREATE OR REPLACE BRANCH audit",
    "ALTER TABLE lake.sales.branched REPLACE BRANCH audit",
    "ALTER TABLE lake.sales.branched CREATE TAG first",
    "ALTER TABLE lake.sales.branched REPLACE TAG first",
    "ALTER TABLE lake.sales.branched DROP TAG first",
    "ALTER TABLE lake.sales.branched ADD PARTITION FIELD bucket(4, k)",
    "ALTER TABLE lake.sales.branched REPLACE PARTITION FIELD bucket(4, k) WITH bucket(8, k)",
    "ALTER TABLE lake.sales.branched DROP PARTITION FIELD bucket(8, k)",
    "ALTER TABLE lake.sales.branched WRITE ORDERED BY k",
    "ALTER TABLE lake.sales.branched WRITE DISTRIBUTED BY PARTITION",
    "ALTER TABLE lake.sales.branched SET TBLPROPERTIES ('team' = 'sales')",
    "CALL lake.system.rewrite_manifests('sales.branched')",
    "CALL lake.system.expire_snapshots('sales.branched')",
    "CALL lake.system.create_changelog_view(table => 'sales.branched')",
    "OPTIMIZE spark_catalog.sales.others",
    "VACUUM spark_catalog.sales.others DRY RUN",
    "DESCRIBE HISTORY spark_catalog.sales.others",
    "ALTER TABLE spark_catalog.sales.others SET TBLPROPERTIES ('team' = 'sales')",
    "ALTER TABLE spark_catalog.sales.others ADD CONSTRAINT positive CHECK (k >= 0)",
]
"""Statements that move no rows between tables, which are to end as such."""
