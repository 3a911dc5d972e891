"""Writes whose query another execution of the same statement ran, and what a table format reads for itself."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import StatementKind, StatementLineage
from ingestion.plans.lineage import Application, statement_lineage
from ingestion.plans.names import NameMapping
from tests.support.spark_jobs.comparison import direct_edges

NAMES = NameMapping(catalogs={"spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"})
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog@5f1"
ORDERS = "spark_catalog.sales.orders"


def node(name: str, *fields: str) -> str:
    """A plan of one node."""
    details = "".join(f"{field}\n" for field in fields)
    return f"== Physical Plan ==\n{name} (1)\n\n\n(1) {name}\n{details}\n"


def created(root: str) -> list[str]:
    """What a CREATE TABLE AS of Delta's prints in its first two executions."""
    return [
        node("AtomicCreateTableAsSelect", f"Arguments: {CATALOG}, mart.paid, {root}, TableSpec(Map()), false"),
        node("AppendDataExecV1", f"Arguments: {CATALOG}$StagedDeltaTableV2@7a, {root}, Lambda$12@3"),
    ]


def scan(table: str, columns: str, index: str = "PreparedDeltaFileIndex") -> str:
    fields = (f"Output [2]: [{columns}]", f"Location: {index} [file:/lake/{table}]")
    return node(f"Scan parquet {table}", *fields)


STATE = node(
    "Scan ExistingRDD Delta Table State #1 - file:/lake/orders/_delta_log",
    "Output [4]: [path#70, partitionValues#71, modificationTime#72L, dataChange#73]",
)
ENTRIES = node(
    "Scan json ",
    "Output [5]: [txn#60, add#61, remove#62, metaData#63, protocol#64]",
    "Location: DeltaLogFileIndex [file:/lake/orders/_delta_log/00000000000000000000.json]",
)
FILES = node("LocalTableScan", "Output [4]: [path#80, partitionValues#81, modificationTime#82L, dataChange#83]")
QUERY = scan(ORDERS, "id#1L, amount#2")
REWRITTEN = scan("spark_catalog.mart.other", "id#5L, amount#6", "TahoeBatchFileIndex")

ROOTS = [
    "Project [id#1L, amount#2]",
    "Project [id#1L, ... 30 more fields]",
    "Filter (amount#2 > cast(1 as double))",
    f"SubqueryAlias {ORDERS}",
    "Sort [id#1L ASC NULLS FIRST], true",
    "Deduplicate [amount#2]",
    "Union false, false",
]


def lineage_of(plans: list[str]) -> StatementLineage:
    lineage = statement_lineage(plans, Application(NAMES))
    assert lineage is not None
    return lineage


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("before", [[], [ENTRIES, STATE], [REWRITTEN, FILES]])
def test_a_write_has_the_query_that_its_statement_ran_whatever_line_of_it_is_printed(
    root: str, before: list[str]
) -> None:
    lineage = lineage_of([*created(root), *before, QUERY, STATE, FILES])
    assert lineage.kind is StatementKind.CREATE_TABLE_AS
    (flow,) = lineage.flows
    assert flow.target is not None
    assert flow.target.name.dotted == "spark_catalog.mart.paid"
    assert direct_edges(flow) == {("id", ORDERS, "id"), ("amount", ORDERS, "amount")}
    assert [name.dotted for name in flow.sources] == [ORDERS]
    assert lineage.problems == ()


def test_of_two_writes_of_a_statement_each_has_its_own_query() -> None:
    other = [plan.replace("mart.paid", "mart.unpaid") for plan in created("Union false, false")]
    bills = scan("spark_catalog.sales.bills", "id#11L, amount#12")
    lineage = lineage_of([*created("Union false, false"), QUERY, *other, bills])
    found = {flow.target.name.table: flow.sources[0].table for flow in lineage.flows if flow.target is not None}
    assert found == {"paid": "orders", "unpaid": "bills"}


@pytest.mark.parametrize("plan", [STATE, ENTRIES, FILES, REWRITTEN])
def test_what_a_table_format_reads_for_itself_is_no_source(plan: str) -> None:
    assert statement_lineage([plan], Application(NAMES)) is None
    assert statement_lineage([node("Execute OptimizeTableCommand"), plan], Application(NAMES)) is None


def test_a_stream_reads_the_files_that_its_source_chose() -> None:
    lineage = statement_lineage([REWRITTEN], Application(NAMES), stream=True)
    assert lineage is not None
    assert [name.dotted for name in lineage.sources] == ["spark_catalog.mart.other"]
