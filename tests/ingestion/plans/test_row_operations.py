"""Row operations that a table format writes as deletions beside new rows."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import Flow, LineageType, StatementKind, StatementLineage, Subtype, WriteMode
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
    assert direct_edges(flow) == {("id", NEWS, "id"), ("amount", NEWS, "price"), ("amount", BILLS, "amount")}
    deciding = ((NEWS, "id"), (NEWS, "gone"), (BILLS, "id"))
    assert indirect_edges(flow) == {(column, *by) for column in ("id", "amount") for by in deciding}
    assert [name.dotted for name in flow.sources] == [BILLS, NEWS]
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
    ("rows", "made", "kind", "made_of"),
    [
        (
            f"Expand Arguments: [[1, null, null, {PLACE}], [4, id#1L, (amount#2 * 2.0), {NULLS}]], {ROWS}",
            ROWS,
            StatementKind.UPDATE,
            {("amount", BILLS, "amount")},
        ),
        (
            f"Project Output [5]: [1 AS __row_operation#20, {PLACE}]",
            f"[__row_operation#20, {PLACE}]",
            StatementKind.DELETE,
            set(),
        ),
    ],
)
def test_an_update_and_a_delete_on_read_are_known_by_the_rows_that_they_make(
    rows: str, made: str, kind: StatementKind, made_of: set[tuple[str, str, str]]
) -> None:
    lineage, flow = flow_of(row_change(rows, made))
    assert lineage.kind is kind
    assert (direct_edges(flow), lineage.problems) == (made_of, ())
    assert {output.name for output in flow.outputs} == {column for column, _, _ in made_of}
    deletes = kind is StatementKind.DELETE
    assert flow.target is not None
    assert flow.target.mode is (WriteMode.DELETE if deletes else WriteMode.UPDATE)
    assert _deciding(flow) == {"id"}
    assert {name.dotted for name in flow.sources} == {BILLS}


def _deciding(flow: Flow) -> set[str]:
    """The columns of BILLS that decide which rows there are."""
    return {c.column for use in flow.indirect for c in use.sources if c.table.dotted == BILLS}


DELTA_LOG = "org.apache.spark.sql.delta.DeltaLog@7861d3fe"


@pytest.mark.parametrize(
    "head",
    [DELTA_LOG, "Delta[version=1, file:/data/bills]", "Delta[version=1, abfss://c(1)@a/b], `lake`.`mart`.`bills`"],
)
def test_a_delete_of_delta_s_is_decided_by_its_condition(head: str) -> None:
    plan = delta_update("").replace("Update", "Delete")
    named = head if "`" in head else f"{head}, `lake`.`mart`.`bills`"
    args = next(line for line in plan.splitlines() if line.startswith("Arguments: Delta["))
    for condition, decides in (("((id#1L = 1) OR (note#3 = `a`.`b`, [x))", {"id", "note"}), ("true", set())):
        lineage, flow = flow_of(plan.replace(args, f"Arguments: {named}, {condition}"))
        assert (lineage.kind, flow.outputs, lineage.problems) == (StatementKind.DELETE, (), ())
        assert _deciding(flow) == decides


@pytest.mark.parametrize(
    ("filters", "decides"),
    [
        ("day < 20455", {"day"}),
        ("area IN ('a, id = 1', 'it''s'), `order day` IS NOT NULL, NOT (site = 'b]')", {"area", "order day", "site"}),
        ("(day = 1) OR (NOT (area LIKE 'x%'))", {"day", "area"}),
        ("TRUE", set()),
    ],
)
def test_a_delete_that_the_catalog_does_itself_is_decided_by_what_it_is_told(filters: str, decides: set[str]) -> None:
    plan = f"""== Physical Plan ==
DeleteFromTable (1)


(1) DeleteFromTable
Arguments: {BILLS}, [{filters}], org.apache.spark.sql.execution.datasources.v2.DataSourceV2Strategy$$Lambda$53/0x0@ed8d
"""
    lineage, flow = flow_of(plan)
    assert (lineage.kind, flow.outputs) == (StatementKind.DELETE, ())
    assert _deciding(flow) == decides


def test_a_delete_whose_plan_is_that_of_the_statement_is_decided_by_its_condition() -> None:
    lineage, flow = flow_of(f"""== Analyzed Logical Plan ==
DeleteFromTable ((amount#2 > 1.0) AND (id#1L = 2))
+- SubqueryAlias {BILLS}
   +- RelationV2[id#1L, amount#2] {BILLS} {BILLS}

== Physical Plan ==
DeleteFromTable {BILLS}, [amount > 1.0, id = 2], org.apache.spark.X$$Lambda$1@0a
""")
    assert (lineage.kind, _deciding(flow)) == (StatementKind.DELETE, {"id", "amount"})


def rewritten_update(*assigned: str) -> str:
    """An UPDATE of BILLS that is written as a query of all its rows."""
    return f"""== Physical Plan ==
ReplaceData (3)
+- Project (2)
   +- BatchScan {BILLS} (1)


(1) BatchScan {BILLS}
Output [5]: [id#1L, amount#2, note#3, price#4, _file#7]
{BILLS} (branch=null) [filters=, groupedBy=]

(2) Project
Output [5]: [6 AS __row_operation#20, id#1L, {", ".join(assigned)}, _file#7]
Input [5]: [id#1L, amount#2, note#3, price#4, _file#7]

(3) ReplaceData
Input [5]: [__row_operation#20, id#1L, amount#22, note#23, _file#7]
Arguments: IcebergWrite(table={BILLS}, format=PARQUET)
"""


def test_a_rewritten_update_is_made_of_what_it_sets_and_not_of_what_it_leaves() -> None:
    test = "((id#1L = 1) AND (note#3 = (b)))"
    amount = f"if ({test}) price#4 else amount#2 AS amount#22"
    lineage, flow = flow_of(rewritten_update(amount, f"if ({test}) x else note#3 AS note#23"))
    assert (lineage.kind, lineage.problems) == (StatementKind.UPDATE, ())
    assert direct_edges(flow) == {("amount", BILLS, "price")}
    assert indirect_edges(flow) == {(column, BILLS, by) for column in ("amount", "note") for by in ("id", "note")}
    (reference,) = (r for r in flow.outputs[0].references)
    assert (reference.transformation.subtype, reference.opaque) == (Subtype.IDENTITY, False)


def test_where_a_literal_hides_the_end_of_a_condition_nothing_of_an_update_is_certain() -> None:
    _, flow = flow_of(rewritten_update("if ((note#3 = :))) price#4 else amount#2 AS amount#22", "note#3"))
    direct = [r for o in flow.outputs for r in o.references if r.transformation.type is LineageType.DIRECT]
    assert direct
    assert all(reference.opaque for reference in direct)


def delta_update(values: str) -> str:
    return f"""== Physical Plan ==
Execute UpdateCommand (1)
   +- UpdateCommand (2)
         +- SubqueryAlias (4)
            +- LogicalRelation (3)


(1) Execute UpdateCommand
Output [1]: [num_affected_rows#9L]

(2) UpdateCommand
Arguments: Delta[version=1, file:/data/bills], `lake`.`mart`.`bills`, [{values}], (id#1L = 1)

(3) LogicalRelation
Arguments: parquet, [id#1L, amount#2, note#3], `lake`.`mart`.`bills`, false

(4) SubqueryAlias
Arguments: lake.mart.bills
"""


def test_an_update_of_delta_s_is_made_of_the_values_that_it_lists() -> None:
    lineage, flow = flow_of(delta_update("id#1L, (amount#2 * cast(id#1L as double)), x"))
    assert (lineage.kind, lineage.problems) == (StatementKind.UPDATE, ())
    assert direct_edges(flow) == {("amount", BILLS, "amount"), ("amount", BILLS, "id")}
    assert indirect_edges(flow) == {("amount", BILLS, "id"), ("note", BILLS, "id")}


def test_an_update_of_delta_s_whose_values_a_literal_hides_is_said_to_be_incomplete() -> None:
    lineage, flow = flow_of(delta_update("id#1L, amount#2, Oslo, Bergen"))
    assert {problem.subject for problem in lineage.problems} == {"id", "amount", "note"}
    assert (direct_edges(flow), indirect_edges(flow)) == (set(), set())


def delta_merge(condition: str) -> str:
    return f"""== Physical Plan ==
Execute MergeIntoCommand (1)
   +- MergeIntoCommand (2)


(1) Execute MergeIntoCommand
Output [1]: [num_affected_rows#40L]

(2) MergeIntoCommand
Arguments: SubqueryAlias s, SubqueryAlias t, `lake`.`mart`.`bills`, Delta[version=1, file:/data/bills], \
(id#1L = id#11L), [Delete [condition: {condition}], Update [actions: [`id` = id#1L, `amount` = price#12]]], \
[Delete [condition: (note#3 = old)]], StructType(StructField(id,LongType,true)), false
"""


DELTA_SOURCE = f"""== Physical Plan ==
Project (3)
+- Filter (2)
   +- Scan parquet {NEWS} (1)


(1) Scan parquet {NEWS}
Output [3]: [id#11L, price#12, gone#13]

(2) Filter
Input [3]: [id#11L, price#12, gone#13]
Condition : gone#13

(3) Project
Output [2]: [id#11L, price#12]
Input [3]: [id#11L, price#12, gone#13]
"""
DELTA_JOIN = f"""== Physical Plan ==
Project (2)
+- Scan parquet {BILLS} (1)


(1) Scan parquet {BILLS}
Output [3]: [id#1L, amount#2, note#3]

(2) Project
Output [3]: [id#1L, amount#2, note#3]
Input [3]: [id#1L, amount#2, note#3]
"""


def test_what_decides_the_rows_of_a_merge_of_delta_s_is_in_its_clauses_and_in_its_source() -> None:
    plans = [delta_merge("(amount#2 > price#12)"), DELTA_SOURCE, DELTA_JOIN]
    lineage = statement_lineage(plans, Application(NAMES))
    assert lineage is not None
    (flow,) = lineage.flows
    assert direct_edges(flow) == {("amount", NEWS, "price")}
    decides = {(c.table.dotted, c.column) for use in flow.indirect for c in use.sources}
    assert decides == {(NEWS, name) for name in ("gone", "id", "price")} | {
        (BILLS, name) for name in ("amount", "id", "note")
    }
    assert all(r.certain for o in flow.outputs for r in o.references)


def test_where_a_literal_hides_the_clauses_of_a_merge_of_delta_s_nothing_is_certain() -> None:
    plans = [delta_merge("(note#3 = actions: [`id` = price#12)"), DELTA_SOURCE, DELTA_JOIN]
    lineage = statement_lineage(plans, Application(NAMES))
    assert lineage is not None
    (flow,) = lineage.flows
    direct = [r for o in flow.outputs for r in o.references if r.transformation.type is LineageType.DIRECT]
    assert direct
    assert all(r.opaque for r in direct)


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
    assert {table for _, table, _ in direct_edges(flow)} == {NEWS, BILLS}
    assert "MergeRows" in {problem.subject for problem in lineage.problems}
