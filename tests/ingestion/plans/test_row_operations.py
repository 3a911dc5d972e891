"""Row operations that a table format writes as deletions beside new rows."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import Flow, LineageType, StatementKind, StatementLineage
from ingestion.plans.lineage import Application, statement_lineage
from ingestion.plans.names import NameMapping
from tests.support.spark_jobs.comparison import direct_edges, indirect_edges

NAMES = NameMapping(catalogs={"lake": "org.apache.iceberg.spark.SparkCatalog"})
PLACE = "_file#7, _pos#8L, _spec_id#5, _partition#6"
MADE = "_file#27, _pos#28L, _spec_id#29, _partition#30"
BILLS, NEWS = "lake.mart.bills", "lake.sales.news"
ROWS = f"[__row_operation#20, id#21L, amount#22, {MADE}]"
NULLS = "null, null, null, null"


def merge(matched: str, inserted: str) -> str:
    """A MERGE of NEWS into BILLS, as a table prints it that is merged on read."""
    return f"""== Physical Plan ==
WriteDelta (5)
+- MergeRows (4)
   +- SortMergeJoin RightOuter (3)
      :- BatchScan {BILLS} (1)
      +- BatchScan {NEWS} (2)


(1) BatchScan {BILLS}
Output [6]: [id#1L, amount#2, {PLACE}]
{BILLS} (branch=null) [filters=, groupedBy=]

(2) BatchScan {NEWS}
Output [3]: [id#11L, price#12, gone#13]
{NEWS} (branch=null) [filters=, groupedBy=]

(3) SortMergeJoin
Left keys [1]: [id#1L]
Right keys [1]: [id#11L]
Join type: RightOuter
Join condition: None

(4) MergeRows
Input [9]: [id#1L, amount#2, {PLACE}, id#11L, price#12, gone#13]
Arguments: true, true, [{matched}], [{inserted}], true, {ROWS}

(5) WriteDelta
Input [7]: {ROWS}
Arguments: org.apache.iceberg.spark.source.SparkPositionDeltaWrite@7f
"""


def flow_of(plan: str) -> tuple[StatementLineage, Flow]:
    lineage = statement_lineage([plan], Application(NAMES))
    assert lineage is not None
    (flow,) = lineage.flows
    assert flow.target is not None
    assert flow.target.name.dotted == BILLS
    return lineage, flow


REMOVED = f"keep(gone#13, 1, null, null, {PLACE})"
CHANGED = f"split(true, 1, null, null, {PLACE}, 4, id#1L, (amount#2 + price#12), {NULLS})"
ADDED = f"keep(true, 3, id#11L, price#12, {NULLS})"


def test_a_merge_on_read_has_the_columns_that_it_sets_and_inserts() -> None:
    lineage, flow = flow_of(merge(f"{REMOVED}, {CHANGED}", ADDED))
    assert lineage.kind is StatementKind.MERGE
    assert direct_edges(flow) == {("id", NEWS, "id"), ("amount", NEWS, "price")}
    assert indirect_edges(flow) == {(column, NEWS, by) for column in ("id", "amount") for by in ("id", "gone")}
    assert [name.dotted for name in flow.sources] == [NEWS]
    assert lineage.problems == ()


def test_values_that_a_literal_hides_are_said_to_be_incomplete() -> None:
    lineage, flow = flow_of(merge("", f"keep(true, 3, id#11L, Oslo, Bergen, {NULLS})"))
    assert {problem.subject for problem in lineage.problems} == {"id", "amount"}
    assert direct_edges(flow) == set()


def row_change(rows: str, made: str) -> str:
    return f"""== Physical Plan ==
WriteDelta (3)
+- {rows.partition(" ")[0]} (2)
   +- BatchScan {BILLS} (1)


(1) BatchScan {BILLS}
Output [6]: [id#1L, amount#2, {PLACE}]
{BILLS} (branch=null) [filters=id IS NOT NULL, groupedBy=]

(2) {rows.partition(" ")[0]}
Input [6]: [id#1L, amount#2, {PLACE}]
{rows.partition(" ")[2]}

(3) WriteDelta
Input [5]: {made}
Arguments: org.apache.iceberg.spark.source.SparkPositionDeltaWrite@7f
"""


@pytest.mark.parametrize(
    ("rows", "made", "kind"),
    [
        (
            f"Expand Arguments: [[1, null, null, {PLACE}], [4, id#1L, (amount#2 * 2.0), {NULLS}]], {ROWS}",
            ROWS,
            StatementKind.UPDATE,
        ),
        (
            f"Project Output [5]: [1 AS __row_operation#20, {PLACE}]",
            f"[__row_operation#20, {PLACE}]",
            StatementKind.DELETE,
        ),
    ],
)
def test_an_update_and_a_delete_on_read_are_known_by_the_rows_that_they_make(
    rows: str, made: str, kind: StatementKind
) -> None:
    lineage, flow = flow_of(row_change(rows, made))
    assert lineage.kind is kind
    assert (direct_edges(flow), flow.sources, lineage.problems) == (set(), (), ())


EXTENDED = f"""== Analyzed Logical Plan ==
ReplaceData RelationV2[id#1L, amount#2] {BILLS} {BILLS}
:  +- Filter (outer(id#1L) = id#11L)
:     +- RelationV2[id#11L, price#12, gone#13] {NEWS} {NEWS}
+- MergeRows[__row_operation#20, id#21L, amount#22, _file#27]
   +- Join FullOuter, (id#1L = id#11L)
      :- RelationV2[id#1L, amount#2, _file#7] {BILLS} {BILLS}
      +- RelationV2[id#11L, price#12, gone#13] {NEWS} {NEWS}

== Physical Plan ==
ReplaceData IcebergWrite(table={BILLS}, format=PARQUET)
"""


def test_a_merge_of_which_only_the_columns_are_printed_has_no_certain_source() -> None:
    lineage, flow = flow_of(EXTENDED)
    assert [output.name for output in flow.outputs] == ["id", "amount"]
    references = [r for output in flow.outputs for r in output.references]
    assert all(r.opaque for r in references if r.transformation.type is LineageType.DIRECT)
    assert {table for _, table, _ in direct_edges(flow)} == {NEWS}
    assert "MergeRows" in {problem.subject for problem in lineage.problems}
