"""Writes of Spark's V2 interface as vendors, streams and logical plans print them."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import StatementKind
from ingestion.plans.lineage import Application, statement_lineage
from ingestion.plans.names import NameMapping
from tests.support.spark_jobs.comparison import direct_edges

DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
NAMES = NameMapping(catalogs={"spark_catalog": DELTA, "lake": "org.apache.iceberg.spark.SparkCatalog"})
ORDERS = "spark_catalog.sales.orders"
COUNTED = "[num_affected_rows#90L, num_inserted_rows#91L]"
QUERY = f"""== Physical Plan ==
Scan parquet {ORDERS} (1)


(1) Scan parquet {ORDERS}
Output [1]: [id#1L]
Location: PreparedDeltaFileIndex [file:/lake/orders]
"""


@pytest.mark.parametrize("command", ["AtomicReplaceTableAsSelect", "AtomicCreateTableAsSelect", "ReplaceTableAsSelect"])
@pytest.mark.parametrize("counted", ["", f"{COUNTED}, "])
def test_a_command_that_counts_its_rows_is_the_write_that_it_is(command: str, counted: str) -> None:
    head = f"== Physical Plan ==\n{command} (1)\n\n\n(1) {command}\nArguments: "
    plan = f"{head}{counted}{DELTA}@5f, mart.paid, Union false, false, TableSpec(Map()), true\n"
    lineage = statement_lineage([plan, QUERY], Application(NAMES))
    assert lineage is not None
    assert lineage.kind is StatementKind.CREATE_TABLE_AS
    (flow,) = lineage.flows
    assert flow.target is not None
    assert flow.target.name.dotted == "spark_catalog.mart.paid"
    assert direct_edges(flow) == {("id", ORDERS, "id")}


CREATED = f"""== Analyzed Logical Plan ==
ReplaceTableAsSelect TableSpec(Map(),Some(delta)), true, true
   :- ResolvedIdentifier {DELTA}@5f, mart.paid
   +- Project [id#1L AS order_id#2L]
      +- Relation {ORDERS}[id#1L] parquet

== Physical Plan ==
AtomicReplaceTableAsSelect {DELTA}@5f, mart.paid, Project [id#1L AS order_id#2L], TableSpec(Map()), true
"""
APPENDED = f"""== Analyzed Logical Plan ==
AppendData RelationV2[order_id#3L] spark_catalog.mart.paid spark_catalog.mart.paid, false
+- Project [id#1L AS order_id#2L]
   +- Relation {ORDERS}[id#1L] parquet

== Physical Plan ==
AppendDataExecV1 {DELTA}$StagedDeltaTableV2@6a, Project [id#1L AS order_id#2L]
"""


def test_a_table_that_a_logical_plan_creates_is_no_insert() -> None:
    lineage = statement_lineage([CREATED, APPENDED], Application(NAMES))
    assert lineage is not None
    assert lineage.kind is StatementKind.CREATE_TABLE_AS
    (flow,) = lineage.flows
    assert direct_edges(flow) == {("order_id", ORDERS, "id")}


SCANNED = "lake.sales.orders (branch=null) [filters=, groupedBy=]"
SINK = "MicroBatchWrite[epoch: 0, writer: IcebergStreamingWrite(table=lake.mart.paid, format=PARQUET)]"
STREAMS = [
    f"""== Physical Plan ==
WriteToDataSourceV2 (3)
+- Project (2)
   +- MicroBatchScan (1)


(1) MicroBatchScan
Output [2]: [id#1L, status#2]
{SCANNED}

(2) Project
Output [2]: [id#1L, lower(status#2) AS status#3]
Input [2]: [id#1L, status#2]

(3) WriteToDataSourceV2
Input [2]: [id#1L, status#3]
Arguments: {SINK}, Lambda$6@7
""",
    f"""== Analyzed Logical Plan ==
~WriteToMicroBatchDataSource RelationV2[id#4L, status#5] lake.mart.paid lake.mart.paid, lake.mart.paid, Append, 0
+- ~Project [id#1L, lower(status#2) AS status#3]
   +- ~SubqueryAlias lake.sales.orders
      +- ~StreamingDataSourceV2ScanRelation[id#1L, status#2] lake.sales.orders

== Physical Plan ==
WriteToDataSourceV2 {SINK}
+- Project [id#1L, lower(status#2) AS status#3]
   +- MicroBatchScan[id#1L, status#2] {SCANNED}
""",
]


@pytest.mark.parametrize("plan", STREAMS, ids=["formatted", "extended"])
def test_a_stream_into_a_table_is_an_insert(plan: str) -> None:
    lineage = statement_lineage([plan], Application(NAMES), stream=True)
    assert lineage is not None
    assert lineage.kind is StatementKind.INSERT
    (flow,) = lineage.flows
    assert flow.target is not None
    assert flow.target.name.dotted == "lake.mart.paid"
    assert direct_edges(flow) == {(name, "lake.sales.orders", name) for name in ("id", "status")}
    assert lineage.problems == ()


def test_a_stream_into_no_table_only_reads() -> None:
    plan = STREAMS[0].replace(
        "IcebergStreamingWrite(table=lake.mart.paid, format=PARQUET)", "ConsoleWriter[numRows=20]"
    )
    lineage = statement_lineage([plan], Application(NAMES), stream=True)
    assert lineage is not None
    assert lineage.kind is StatementKind.SELECT
