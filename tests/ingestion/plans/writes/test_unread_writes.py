"""Writes of which a plan tells too little are told by their kind, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from connectors.spark._application_log import ExecutedStatement
from connectors.spark._history_records import RecordWriter, Row, TextReader
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementLineage
from ingestion.plans.names import NameMapping

SCAN = """(1) Scan parquet spark_catalog.sales.orders
Output [1]: [id#1L]
Batched: true
Location: InMemoryFileIndex [file:/w/orders]
ReadSchema: struct<id:bigint>
"""


def plan(tree: str, *details: str) -> str:
    """A formatted plan whose last node is a scan of sales.orders, as node (1)."""
    return f"== Physical Plan ==\n{tree}\n\n\n" + "\n\n".join((SCAN, *details)) + "\n\n"


def row_of(description: str, text: str | None = None, sink: str | None = None) -> Row:
    statement = ExecutedStatement(
        "1", text, (description,), 1.0, 2.0, "u", "s", "", "app", sink=sink, stream=sink is not None
    )
    with TextReader("spark") as texts:
        (row,) = RecordWriter.of("log", NameMapping(), texts).rows(statement)
    return row


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ("Execute VendorIngestCommand (2)\n+- Scan parquet spark_catalog.sales.orders (1)", "VendorIngestCommand"),
        (
            "Execute CreateVendorTableCommand (2)\n+- Scan parquet spark_catalog.sales.orders (1)",
            "CreateVendorTableCommand",
        ),
        ("Execute LoadDataCommand (2)\n   +- LoadDataCommand (1)", "LoadDataCommand"),
        (
            "AdaptiveSparkPlan (3)\n+- VendorInsertInto (2)\n   +- Scan parquet spark_catalog.sales.orders (1)",
            "VendorInsertInto",
        ),
        ("PhotonWriteStage (2)\n+- Scan parquet spark_catalog.sales.orders (1)", "PhotonWriteStage"),
        ("OverwriteVendorTable (2)\n+- Scan parquet spark_catalog.sales.orders (1)", "OverwriteVendorTable"),
        ("SaveIntoDataSourceCommand (2)\n+- Scan parquet spark_catalog.sales.orders (1)", "SaveIntoDataSourceCommand"),
    ],
)
def test_a_write_that_is_not_understood_is_told_by_its_kind_and_is_no_select(tree: str, kind: str) -> None:
    row = row_of(plan(tree))
    assert (row["status"], row["query_type"], row["symbolic"]) == (f"unsupported:{kind}", None, None)


@pytest.mark.parametrize(
    "tree",
    [
        "SortMergeJoin Inner (2)\n+- Scan parquet spark_catalog.sales.orders (1)",
        "CollectLimit (2)\n+- Scan parquet spark_catalog.sales.orders (1)",
        "Execute SetCommand (2)\n   +- SetCommand (1)",
        "Execute DropTableCommand (2)\n   +- DropTableCommand (1)",
        "Execute CreateTableCommand (2)\n   +- CreateTableCommand (1)",
        "Execute OptimizeTableCommandEdge (1)",
        "ReplaceTable (1)",
        "OverwriteByExpression noop-table (2)\n+- Scan parquet spark_catalog.sales.orders (1)",
        "CommandResult (1)",
    ],
)
def test_what_reads_defines_or_writes_nowhere_is_none(tree: str) -> None:
    row = row_of(plan(tree))
    assert row["status"] is None
    assert row["query_type"] in ("select", "other")


def test_the_text_of_a_write_whose_plan_is_not_understood_is_read_in_its_place() -> None:
    row = row_of(
        plan("VendorInsertInto (2)\n+- Scan parquet spark_catalog.sales.orders (1)"), "INSERT INTO a SELECT id FROM b"
    )
    assert (row["status"], row["symbolic"], row["text"]) == (None, None, "INSERT INTO a SELECT id FROM b")


@pytest.mark.parametrize(
    ("sink", "status"),
    [
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@4b86", "unsupported:KafkaTable"),
        ("org.vendor.StreamSink[secret]", "unsupported:StreamSink"),
        ("org.apache.spark.sql.execution.streaming.ConsoleTable$@4b86", None),
        ("MemorySink", None),
        ("ForeachBatchSink", None),
        ("ForeachWriterTable(org.x.Writer)", None),
        ("org.apache.spark.sql.execution.datasources.noop.NoopTable$@4b", None),
        ("FileSink[file:/w/out]", None),
    ],
)
def test_a_micro_batch_into_a_sink_that_is_not_understood_is_told_by_the_sinks_class(
    sink: str, status: str | None
) -> None:
    row = row_of(plan("Scan parquet spark_catalog.sales.orders (1)"), sink=sink)
    assert row["status"] == status
    assert (row["query_type"] == "insert") == sink.startswith("FileSink")


def test_an_unqualified_target_of_an_older_spark_is_in_the_sessions_schema() -> None:
    create = "CreateDataSourceTableAsSelectCommand `totals`, Overwrite, [id]"
    scan = "+- Relation spark_catalog.sales.orders[id#1L] parquet"
    row = row_of(f"== Analyzed Logical Plan ==\n\n{create}\n{scan}\n\n== Physical Plan ==\nExecute {create}\n")
    lineage = loads(row["symbolic"])
    assert isinstance(lineage, StatementLineage)
    assert [name.parts for name in lineage.targets] == [("spark_catalog", "default", "totals")]


@pytest.mark.parametrize(("sink", "status"), [("VendorSink", "unsupported:VendorSink"), ("ForeachBatchSink", None)])
def test_a_batch_of_a_stream_that_has_told_no_sink_names_it_in_the_extended_plan(sink: str, status: str | None) -> None:
    tree = (
        f"~WriteToMicroBatchDataSourceV1 {sink}, 29c27b92, [], Append, 0\n+- Relation spark_catalog.a.b[id#1] parquet"
    )
    assert row_of(f"== Analyzed Logical Plan ==\nid: int\n{tree}\n\n== Physical Plan ==\nX")["status"] == status
