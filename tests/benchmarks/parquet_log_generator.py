"""A large synthetic query log whose lineage is known, as Parquet that Spark itself writes.

    python tests/benchmarks/parquet_log_generator.py --rows 10000000 --templates 200000 --out DIR

writes `query_log` (Parquet files) beside the `schema.sql` and `answers.jsonl` of query_log_generator.py: statements of
its shapes that need no table of their own before the log begins, in one day. As many rows as templates: no two
statements have one shape.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from datetime import UTC
from itertools import cycle, islice
from pathlib import Path

import pandas as pd
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from query_log_generator import DATABASE, DAY, DEFAULT_SCHEMA, Answer, base_tables, run_generator, schema_sql
from query_log_shapes import SHAPES, Table, Template

_WORDS = ("paid", "open", "new", "web", "shop", "north", "south", "gold", "silver", "retail", "b2b", "late", "early")
_MOST_LITERALS = 12
_SESSIONS = 400
_ROWS_A_FILE = 250_000
_TEMPLATES_AT_ONCE = 20_000


def shapes() -> list[str]:
    """The kinds of statements whose target is made by them."""
    rng = random.Random(0)
    tables = base_tables(rng)
    return [kind for kind, shape in SHAPES.items() if not shape(rng, tables, "probe").target_exists]


def templates_of(count: int, rng: random.Random, tables: list[Table]) -> Iterator[Template]:
    """So many different templates, of all these shapes in turn."""
    for number, kind in enumerate(islice(cycle(shapes()), count)):
        yield SHAPES[kind](rng, tables, f"{kind}_{number:06d}")


def write_templates(spark: SparkSession, out: Path, templates: list[Template]) -> None:
    """The texts and the kinds of their literals, by number."""
    for begin in range(0, len(templates), _TEMPLATES_AT_ONCE):
        part = templates[begin : begin + _TEMPLATES_AT_ONCE]
        kinds = [list(template.literals) for template in part]
        assert max(map(len, kinds)) <= _MOST_LITERALS
        frame = pd.DataFrame({"template": range(begin, begin + len(part)), "text": [t.text for t in part]})
        frame["kinds"] = kinds
        spark.createDataFrame(frame).coalesce(1).write.mode("append").parquet(str(out))


def literal(position: int) -> Column:
    """The literal at one position: another one in each row."""
    number = F.pmod(F.xxhash64("id", F.lit(position)), F.lit(99_999)) + 1
    kind = F.get("kinds", F.lit(position))
    day = F.format_string("2026-%02d-%02d", F.pmod(number, F.lit(12)) + 1, F.pmod(number, F.lit(28)) + 1)
    word = F.element_at(F.array(*map(F.lit, _WORDS)), (F.pmod(number, F.lit(len(_WORDS))) + 1).cast("int"))
    factor = F.format_string("0.%02d", F.pmod(number, F.lit(99)) + 1)
    return (
        F.when(kind == "date", day)
        .when(kind == "word", word)
        .when(kind == "factor", factor)
        .otherwise(number.cast("string"))
    )


def write_log(spark: SparkSession, out: Path, texts: Path, rows: int, count: int) -> None:
    """Rows in the order of time: each template once, and then some far more often than others."""
    chance = (F.pmod(F.xxhash64("id"), F.lit(1_000_000)) + 1) / 1_000_000
    drawn = F.pmod((F.pow(chance, F.lit(-2.0)) - 1).cast("bigint"), F.lit(count))
    template = F.when(F.col("id") < count, F.col("id")).otherwise(drawn)
    begin = F.timestamp_micros(
        (F.lit(DAY.replace(tzinfo=UTC).timestamp()) * 1e6 + F.col("id") * (86.4e9 / rows)).cast("bigint")
    )
    session = F.pmod(F.xxhash64(F.lit("session"), F.col("id")), F.lit(_SESSIONS))
    known = spark.read.parquet(str(texts))
    placed = spark.range(0, rows, 1, max(1, rows // _ROWS_A_FILE)).withColumn("template", template)
    # A broadcast join leaves the rows in the order of time.
    joined = placed.join(F.broadcast(known), "template")
    joined.select(
        F.format_string("%s", F.call_function("printf", "text", *map(literal, range(_MOST_LITERALS)))).alias(
            "query_text"
        ),
        begin.alias("start_time"),
        begin.alias("end_time"),
        F.concat(F.lit("job_"), F.pmod(session, F.lit(12)).cast("string")).alias("user_name"),
        F.lit(DATABASE).alias("database_name"),
        F.lit(DEFAULT_SCHEMA).alias("schema_name"),
        F.concat(F.lit("s"), session.cast("string")).alias("session_id"),
        F.lit("success").alias("status"),
    ).write.parquet(str(out))


def generate(out: Path, rows: int, templates: int, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    tables = base_tables(rng)
    made = list(templates_of(min(rows, templates), rng, tables))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "2g").getOrCreate()
    try:
        write_templates(spark, out / "texts", made)
        write_log(spark, out / "query_log", out / "texts", rows, len(made))
    finally:
        spark.stop()
    (out / "schema.sql").write_text(schema_sql(tables))
    with (out / "answers.jsonl").open("w") as answers:
        answers.writelines(Answer(n, one, 1).to_json() + "\n" for n, one in enumerate(made) if one.target is not None)


if __name__ == "__main__":
    run_generator(generate, __doc__, rows=1_000_000, templates=20_000)
