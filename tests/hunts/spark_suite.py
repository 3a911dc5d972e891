"""Hunt: queries of Spark's own tests beside what its analyzer says of what each column is made.

    python tests/hunts/spark_suite.py sql-tests/inputs [--only 'pivot.sql'] [--findings found.jsonl]

The folder is of files as Spark's SQLQueryTestSuite runs them; the jar of tests that Spark publishes has it, too. Each
has a session of its own. What creates is executed, queries and writes are analysed alone. Told are counts:

equal         nothing differs
wrong, lost   ours says that a column is made of what it is not, or does not say of what it is
parts         a column has another part in an output, or in its rows
tables        other tables are read
count, names  there are more or fewer columns, or they are called otherwise
problems, refused

Not differences of ours: calls with NULL, which the analyzer folds away; bodies of SQL functions, which it reads and a
query alone does not have; arguments in names that a function has by default.
"""

from __future__ import annotations

import logging
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ingestion.analysis.analyzer import analyze
from ingestion.dialects.types import standard_type
from ingestion.errors import LineageError
from ingestion.model.lineage import Column, NameKind, StatementLineage, TableName
from ingestion.parsing.sqlglot.tier import parse
from tests.differential.lineage_facts import DIRECT, Facts, Uses, differences, facts_of
from tests.differential.spark_lineage import spark_facts
from tests.differential.spark_plan import Node, tree_of
from tests.hunts.suite_counts import Found, asked, is_called, tell

_READS_ONLY = re.compile(r"[\s(]*+(?:select|with|from|values|table|map|reduce|explain|desc\w*|show)\b", re.IGNORECASE)
_COMPARED = re.compile(r"[\s(]*+(?:select|with|from|values|table|map|reduce|insert|create)\b", re.IGNORECASE)
_WRITES = re.compile(r"\b(?:insert|create)\b", re.IGNORECASE)
_END = re.compile(r";[ \t]*+(?=\n|\Z)")
_NUMBERS = (
    "unique1 INT, unique2 INT, two INT, four INT, ten INT, twenty INT, hundred INT, thousand INT, twothousand INT, "
    "fivethous INT, tenthous INT, odd INT, even INT"
)
_TABLES = {
    "testdata": "key INT, value STRING",
    "arraydata": "arraycol ARRAY<INT>, nestedarraycol ARRAY<ARRAY<INT>>",
    "mapdata": "mapcol MAP<INT, STRING>",
    "aggtest": "a INT, b FLOAT",
    **dict.fromkeys(("onek", "tenk1"), f"{_NUMBERS}, stringu1 STRING, stringu2 STRING, string4 STRING"),
}
"""What Spark's suite fills before it runs a file."""


class _NotCompared(Exception):
    """The engine refuses the statement, or it has no query."""


def main() -> int:
    """0 where nothing differs, 1 where something does."""
    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(logger).setLevel(logging.CRITICAL + 1)
    return tell(asked(__doc__, "**/*.sql"), _found_in)


@cache
def _session() -> SparkSession:
    home = tempfile.mkdtemp(prefix="spark_suite")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": home,
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _found_in(file: Path) -> Iterator[Found]:
    _session().sql("DROP DATABASE IF EXISTS suite CASCADE")
    _session().sql("CREATE DATABASE suite")
    spark = _session().newSession()
    spark.sql("USE suite")
    spark.udf.register("udf", str)
    for table, columns in _TABLES.items():
        spark.sql(f"CREATE TABLE {table} ({columns}) USING parquet")
    for statement in _statements(file.read_text(errors="replace")):
        if _COMPARED.match(statement):
            with suppress(_NotCompared):
                found = _differences(spark, statement)
                yield " + ".join(found) or "equal", statement, found
        if not _READS_ONLY.match(statement):
            with suppress(PySparkException):
                spark.sql(statement)


def _statements(text: str) -> Iterator[str]:
    """The statements of a file without its comments, and what it sets for all of them."""
    settings = [line[6:] for line in text.split("\n") if line.startswith("--SET ")]
    for setting in settings:
        yield from (f"SET {each}" for each in re.split(r",(?=[\w.]+\s*=)", setting.strip()))
    code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("--"))
    yield from filter(None, map(str.strip, _END.split(code)))


def _analysed(spark: SparkSession, statement: str) -> Node:
    """The analysed plan of a query, or of that of a write."""
    mode = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    state = spark._jsparkSession.sessionState()
    try:
        plan = state.executePlan(state.sqlParser().parsePlan(statement), mode).analyzed()
        kind = plan.getClass().getSimpleName()
        if kind.startswith("CreateView"):
            plan = plan.plan()
        elif hasattr(plan, "query") and _WRITES.search(statement):
            plan = plan.query()
        return tree_of(plan.toJSON())
    except Exception as error:  # of Java: whatever the engine refuses a statement for
        raise _NotCompared from error


def _differences(spark: SparkSession, statement: str) -> dict[str, object]:
    """What differs, by kind."""

    def columns_of(name: TableName) -> tuple[Column, ...] | None:
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in name.parts)
        try:
            fields: list[Any] = spark.table(quoted).schema.fields
        except PySparkException:
            return None
        return tuple(Column(each.name, standard_type(each.dataType.simpleString(), "spark")) for each in fields)

    try:
        theirs = spark_facts(_analysed(spark, statement))
    except (NotImplementedError, IndexError) as error:
        raise _NotCompared from error
    if not theirs.outputs:
        raise _NotCompared
    try:
        lineage = analyze(parse(statement, "spark"), columns_of)
    except LineageError as error:
        return {"refused": str(error)}
    if len(lineage.flows) != 1:
        return {"flows": len(lineage.flows)}
    return {kind: what for kind, what in _compared(lineage, theirs, _WRITES.search(statement) is None).items() if what}


def _compared(lineage: StatementLineage, theirs: Facts, named: bool) -> dict[str, object]:
    ours = facts_of(lineage)
    kinds: dict[str, object] = {"problems": [f"{each.kind.value} {each.subject}" for each in lineage.problems]}
    read = {name.table.lower() for name in lineage.flows[0].sources if name.kind is NameKind.TABLE}
    if read != theirs.tables:
        kinds["tables"] = [sorted(read), sorted(theirs.tables)]
    if len(ours.outputs) != len(theirs.outputs):
        return {**kinds, "count": [[name for name, _ in ours.outputs], [name for name, _ in theirs.outputs]]}
    pairs = list(zip(ours.outputs, theirs.outputs, strict=True))
    kinds["names"] = [[own, other] for (own, _), (other, _) in pairs if named and not is_called(own, other)]
    kinds["wrong"] = [(name, *each) for (_, own), (name, other) in pairs for each in _made_of(own) - _made_of(other)]
    kinds["lost"] = [(name, *each) for (_, own), (name, other) in pairs for each in _made_of(other) - _made_of(own)]
    if not (kinds["wrong"] or kinds["lost"]):
        kinds["parts"] = differences(ours, theirs, named=lambda _name: False)
    return kinds


def _made_of(uses: Uses) -> set[tuple[str, str]]:
    return {(use.table.lower(), use.column.lower()) for use in uses if use.part.rstrip("?") in DIRECT}


if __name__ == "__main__":
    sys.exit(main())
