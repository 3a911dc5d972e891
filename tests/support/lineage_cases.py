"""One table of cases for all parsers and the reader of plans: a statement, and the lineage that each is to give it."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

CASES = Path(__file__).with_name("lineage_cases.sql")
PLANS = Path(__file__).with_name("lineage_case_plans.json")
_CASE = re.compile(
    r"^-- (?P<name>.+) \[(?P<dialects>.+)\]\n(?P<text>.+)\n--> (?P<lines>.+)(?:\n--> plan: (?P<plan>.+) \(.+\))?$",
    re.MULTILINE,
)
_TABLES = (
    "CREATE TABLE s (a INT, b INT, c STRING, d DATE, e DATE, k INT, l ARRAY<INT>, m MAP<STRING, INT>) USING parquet",
    "CREATE TABLE u (k INT, x INT, y STRING) USING parquet",
)


@dataclass(frozen=True)
class LineageCase:
    """A statement with its lineage; `planned` is that of its plan, None where it has none."""

    name: str
    text: str
    dialects: tuple[str, ...]
    lines: frozenset[str]
    planned: frozenset[str] | None

    def __str__(self) -> str:
        return self.name

    @property
    def statement(self) -> str:
        """The text as a statement that writes."""
        return f"CREATE TABLE t AS {self.text}" if self.text.startswith(("SELECT", "WITH")) else self.text


def lineage_cases() -> Iterator[LineageCase]:
    """The cases of `lineage_cases.sql`, in their order."""
    for found in _CASE.finditer(CASES.read_text("utf-8")):
        dialects = tuple(found["dialects"].split())
        is_planned = "spark" in dialects and found["text"].startswith(("SELECT", "WITH"))
        lines = frozenset(found["lines"].split("; "))
        planned = frozenset(found["plan"].split("; ")) if found["plan"] else lines
        yield LineageCase(found["name"], found["text"], dialects, lines, planned if is_planned else None)


def recorded_plans() -> dict[str, dict[str, str]]:
    """What Spark prints for each query, by the query's text and the mode of EXPLAIN."""
    plans: dict[str, dict[str, str]] = json.loads(PLANS.read_text("utf-8"))
    return plans


def record_plans() -> None:
    """Let Spark print its plans anew: python -m tests.support.lineage_cases."""
    with tempfile.TemporaryDirectory() as folder:
        spark = SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", folder).getOrCreate()
        for table in _TABLES:
            spark.sql(table)
        plans = {
            case.text: {
                mode: spark.sql(f"EXPLAIN {mode} CREATE TABLE t USING parquet AS {case.text}")
                .head(1)[0][0]
                .replace(folder, "/warehouse")
                for mode in ("EXTENDED", "FORMATTED")
            }
            for case in lineage_cases()
            if case.planned is not None
        }
        spark.stop()
    PLANS.write_text(json.dumps(plans, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{len(plans)} queries\n")


if __name__ == "__main__":
    record_plans()
