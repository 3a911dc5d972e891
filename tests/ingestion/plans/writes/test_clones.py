"""Clones of Delta tables, as Spark 4.0 prints the command and what Delta reads beside it."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import NameKind, StatementKind
from ingestion.plans.names import NameMapping
from ingestion.plans.writes import clone_lineage, unread_write

NAMES = NameMapping(warehouse="file:/wh")
COUNTS = "[source_table_size#1L, source_num_of_files#2L], false"
FORMATTED = (
    "== Physical Plan ==\nExecute CreateDeltaTableCommand (1)\n   +- CreateDeltaTableCommand (2)\n\n\n"
    "(1) Execute CreateDeltaTableCommand\nOutput [2]: [source_table_size#1L, source_num_of_files#2L]\n\n"
    "(2) CreateDeltaTableCommand\nArguments: {}\n\n"
)
EXTENDED = (
    "== Parsed Logical Plan ==\nCreateDeltaTableCommand {0}\n\n== Analyzed Logical Plan ==\n"
    "source_table_size: bigint, source_num_of_files: bigint\nCreateDeltaTableCommand {0}\n\n"
    "== Optimized Logical Plan ==\nCreateDeltaTableCommand {0}\n\n"
    "== Physical Plan ==\nExecute CreateDeltaTableCommand\n   +- CreateDeltaTableCommand {0}\n"
)
LOG = (
    "== Physical Plan ==\n* Filter (2)\n+- * Scan ExistingRDD Delta Table State #2 - file:{0}/_delta_log (1)\n\n\n"
    "(1) Scan ExistingRDD Delta Table State #2 - file:{0}/_delta_log\nOutput [2]: [txn#3, add#4]\n\n"
    "(2) Filter\nInput [2]: [txn#3, add#4]\nCondition : isnotnull(add#4)\n\n"
)
FILES = (
    "== Physical Plan ==\nScan json  (1)\n\n\n(1) Scan json \nOutput [2]: [metaData#5, protocol#6]\n"
    "Location: DeltaLogFileIndex [file:{0}/_delta_log/00000000000000000000.json, ... 2 entries]\n\n"
)


def clone(target: str, place: str, more: str = "") -> str:
    source = "org.apache.spark.sql.delta.commands.CloneDeltaSource@54e4dfc9"
    return f"{target}, ErrorIfExists, CloneTableCommand {source}, {target}, {more}{place}, Create, false, {COUNTS}"


@pytest.mark.parametrize("form", [FORMATTED, EXTENDED])
@pytest.mark.parametrize(
    ("args", "place", "target"),
    [
        (clone("`mart`.`c`", "file:/wh/mart.db/c"), "/wh/mart.db/c", "spark_catalog.mart.c"),
        (clone("`mart`.`c`", "file:/wh/mart.db/c", "[k=v], "), "/wh/mart.db/c", "spark_catalog.mart.c"),
        (clone("`spark_catalog`.`mart`.`c`", "/own/c"), "/own/c", "spark_catalog.mart.c"),
        (clone("`delta`.`/own/c`", "/own/c"), "///own/c", "file:/own/c"),
    ],
)
def test_a_clone_has_the_columns_of_its_source(form: str, args: str, place: str, target: str) -> None:
    beside = [FILES.format("/wh/mart.db/s"), LOG.format("/wh/mart.db/s"), LOG.format(place)]
    lineage = clone_lineage([form.format(args), *beside], NAMES)
    assert lineage is not None
    (flow,) = lineage.flows
    assert lineage.kind is StatementKind.CREATE_TABLE_AS
    assert flow.target is not None
    assert flow.target.name.dotted == target
    (source,) = flow.sources
    (output,) = flow.outputs
    assert source.dotted == "spark_catalog.mart.s"
    assert output.star is not None
    assert output.star.table == source


@pytest.mark.parametrize(
    "beside", [(), ("/wh/mart.db/c",), ("/wh/mart.db/c", "/wh/mart.db/s", "/wh/mart.db/u")], ids=["none", "own", "two"]
)
def test_a_clone_of_what_cannot_be_told_is_a_write_that_is_not_understood(beside: tuple[str, ...]) -> None:
    plans = [FORMATTED.format(clone("`mart`.`c`", "file:/wh/mart.db/c")), *(LOG.format(place) for place in beside)]
    assert clone_lineage(plans, NAMES) is None
    assert unread_write(plans) == "CloneTableCommand"


def test_a_source_outside_the_warehouse_is_its_path() -> None:
    plans = [FORMATTED.format(clone("`mart`.`c`", "file:/wh/mart.db/c")), LOG.format("/lake/s")]
    lineage = clone_lineage(plans, NAMES)
    assert lineage is not None
    assert [(name.kind, name.dotted) for name in lineage.flows[0].sources] == [(NameKind.PATH, "file:/lake/s")]


def test_a_restored_table_has_its_own_rows_again() -> None:
    restored = (
        "== Physical Plan ==\nExecute RestoreTableCommand (1)\n   +- RestoreTableCommand (2)\n\n\n"
        "(1) Execute RestoreTableCommand\nOutput [1]: [table_size_after_restore#1L]\n\n"
        "(2) RestoreTableCommand\nArguments: DeltaTableV2(session@1,file:/wh/mart.db/s,Some(mart.s),Map())\n\n"
    )
    assert unread_write([restored, LOG.format("/wh/mart.db/s")]) is None
