"""What scans read, in each form that plans print them in: edges of small plans."""

from __future__ import annotations

import json

import pytest

from connectors.spark._events import event_lines
from ingestion.model.lineage import Problem, StatementLineage
from ingestion.model.outcomes import ProblemKind
from ingestion.plans.lineage import Application, statement_lineage
from tests.support.spark_jobs.comparison import direct_edges, indirect_edges

INSERT = "file:/w/out, false, Parquet, [path=/w/out], Append, [id]"


def formatted(scan: str, *above: str) -> str:
    """A formatted plan that inserts `id#1L` into file:/w/out: nodes from the scan up, each its name and its fields."""
    nodes = [scan, *above, f"Execute InsertIntoHadoopFsRelationCommand\nArguments: {INSERT}"]
    names = [node.partition("\n")[0] for node in nodes]
    tree = "\n".join(
        ("   " * depth)[:-3] + ("+- " if depth else "") + f"{names[number - 1]} ({number})"
        for depth, number in enumerate(range(len(nodes), 0, -1))
    )
    details = "\n\n".join(f"({number}) {node}" for number, node in enumerate(nodes, 1))
    return f"== Physical Plan ==\n{tree}\n\n\n{details}\n\n"


def extended(analyzed: str, physical: str = "") -> str:
    tree = f"InsertIntoHadoopFsRelationCommand {INSERT}\n{analyzed}"
    return f"== Analyzed Logical Plan ==\n\n{tree}\n\n== Physical Plan ==\n{physical}"


def lineage_of(description: str) -> StatementLineage:
    found = statement_lineage([description], Application())
    assert found is not None
    return found


def edges(description: str) -> set[str]:
    """Sources of the one column, `table.column` each."""
    (flow,) = lineage_of(description).flows
    assert {name for name, _, _ in direct_edges(flow)} <= {"id"}
    return {f"{table}.{column}" for _, table, column in direct_edges(flow)}


PATHS = "Scan parquet \nOutput [1]: [id#1L]\nLocation: InMemoryFileIndex [%s]\nReadSchema: struct<id:bigint>"
SECOND = ["file:/w/a.id", "file:/w/b.id"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("file:/w/a", ["file:/w/a.id"]),
        ("file:/w/a, file:/w/b", SECOND),
        ("file:/w/a/dt=1, file:/w/a/dt=2", ["file:/w/a.id"]),
        ("file:/w/a/part-00000-x.parquet, file:/w/b", SECOND),
        ("s3://w/a, b, s3://w/c", ["s3://w/a, b.id", "s3://w/c.id"]),
    ],
)
def test_a_scan_of_several_paths_reads_each(paths: str, expected: list[str]) -> None:
    assert sorted(edges(formatted(PATHS % paths))) == expected
    assert lineage_of(formatted(PATHS % paths)).problems == ()


@pytest.mark.parametrize("paths", ["file:/w/a, ... 2 entries", "file:/w/a, ...", "file:/w/a, file:/w/b/c..."])
def test_paths_that_spark_left_out_are_a_problem(paths: str) -> None:
    assert edges(formatted(PATHS % paths)) == {"file:/w/a.id"}
    assert lineage_of(formatted(PATHS % paths)).problems == (Problem(ProblemKind.UNSUPPORTED, "more paths"),)


def test_a_path_that_is_cut_is_no_path() -> None:
    relation = "+- Relation [id#1L] parquet"
    scan = "FileScan parquet [id#1L] Batched: true, Format: Parquet, Location: InMemoryFileIndex(%s, ReadSchema: s"
    whole = extended(relation, scan % "2 paths)[file:/w/a, file:/w/b], PartitionFilters: []")
    assert sorted(edges(whole)) == SECOND
    cut = extended(relation, scan % "1 paths)[file:/w/a/very/lo..., PartitionFilters: []")
    assert edges(cut) == set()
    assert Problem(ProblemKind.UNSUPPORTED, "Relation") in lineage_of(cut).problems


def start_event(plan: str, *locations: str) -> str:
    """The plan that is left of an event whose tree of metrics has these locations."""
    leaves = [{"nodeName": "Scan", "metadata": {"Location": location}, "children": []} for location in locations]
    event = {
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        "executionId": 1,
        "physicalPlanDescription": plan,
        "sparkPlanInfo": {"nodeName": "Union", "children": leaves},
        "time": 1,
    }
    (line,) = event_lines([json.dumps(event, separators=(",", ":")).encode() + b"\n"])
    assert line.event is not None
    return str(line.event["physicalPlanDescription"])


def test_the_paths_that_a_plan_leaves_out_are_found_in_the_tree_of_metrics() -> None:
    plan = formatted(PATHS % "file:/w/a, ... 1 entries")
    assert sorted(edges(start_event(plan, "InMemoryFileIndex(2 paths)[file:/w/a, file:/w/b]"))) == SECOND
    for others in (
        (),
        ("InMemoryFileIndex(3 paths)[file:/w/a, file:/w/b, ...]",),
        ("InMemoryFileIndex(2 paths)[file:/w/a, file:/w/b]", "InMemoryFileIndex(2 paths)[file:/w/a, file:/w/c]"),
    ):
        assert start_event(plan, *others) == plan


def test_a_path_that_an_extended_plan_cuts_is_found_in_the_tree_of_metrics() -> None:
    path = "s3://warehouse/" + "department=x/" * 9 + "orders"
    scan = "FileScan parquet [id#1L] Format: Parquet, Location: InMemoryFileIndex(1 paths)[%s, PartitionFilters: []"
    plan = extended("+- Relation [id#1L] parquet", scan % (path[:60] + "..."))
    assert edges(plan) == set()
    assert edges(start_event(plan, f"InMemoryFileIndex(1 paths)[{path}]")) == {f"{path}.id"}
    others = f"InMemoryFileIndex(1 paths)[{path}]", f"InMemoryFileIndex(1 paths)[{path}_2]"
    assert start_event(plan, *others) == plan


JDBC = "JDBCRelation(APP.ORDERS) [numPartitions=%d]"


@pytest.mark.parametrize("partitions", [1, 8])
def test_a_table_over_jdbc_is_read_in_every_form_of_a_plan(partitions: int) -> None:
    relation = JDBC % partitions
    for description in (
        formatted(f"Scan {relation} \nOutput [1]: [id#1L]\nReadSchema: struct<id:bigint>"),
        formatted(f"LogicalRelation\nArguments: {relation}, [id#1L], false"),
        extended(f"+- Relation [id#1L] {relation}"),
        extended(f"+- Project [id#1L]\n   +- Relation [other#0,id#1L] {relation}"),
        extended(f"+- SubqueryAlias o\n   +- Relation [id#1L,other#2] {relation}"),
    ):
        (flow,) = lineage_of(description).flows
        assert ("id", "jdbc.APP.ORDERS", "id") in direct_edges(flow), description


def test_a_query_over_jdbc_names_no_table() -> None:
    query = "(SELECT ID FROM APP.ORDERS WHERE N > (1)) SPARK_GEN_SUBQ_0"
    found = lineage_of(extended(f"+- Relation [id#1L] JDBCRelation({query}) [numPartitions=1]"))
    assert found.sources == ()
    assert Problem(ProblemKind.UNSUPPORTED, "Relation") in found.problems


@pytest.mark.parametrize("kind", ["BatchScan", "GpuBatchScan", "GpuScan csv ", "PhotonScan parquet "])
def test_scans_of_files_through_other_readers_read_their_paths(kind: str) -> None:
    assert edges(formatted(PATHS.replace("Scan parquet ", kind) % "file:/w/a")) == {"file:/w/a.id"}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [("file:/w/a", ["file:/w/a.id"]), ("file:/w/a,file:/w/b", SECOND), ("s3://w/a,b", ["s3://w/a,b.id"])],
)
def test_files_through_the_v2_interface_are_their_paths_and_no_table(paths: str, expected: list[str]) -> None:
    scan = f"BatchScan json {paths}\nOutput [1]: [id#1L]\nFormat: json"
    relation = f"JsonTable(json {paths},org.apache.spark.sql.classic.SparkSession@1,org.apache.spark.sql.util.X@1"
    for description in (
        formatted(scan),
        formatted(f"DataSourceV2Relation\nArguments: {relation}), [id#1L]"),
        extended(f"+- Project [id#1L]\n   +- RelationV2[id#1L, other#2] json {paths}"),
    ):
        assert sorted(edges(description)) == expected, description


def test_the_plan_of_a_streams_batch_is_read_in_the_extended_form() -> None:
    sink = "~WriteToMicroBatchDataSourceV1 FileSink[file:/w/out], 29c27b92, [path=/w/out], Append, 0"
    nodes = "~Project [upper(v#2) AS id#1]", "   +- ~Project [w#3 AS v#2]", "      +- Relation [w#3] text"
    scan = "FileScan text [w#3] Batched: false, Location: InMemoryFileIndex(1 paths)[file:/w/a], PartitionFilters: []"
    tree = "\n".join((sink, "+- " + nodes[0], *nodes[1:]))
    text = f"== Analyzed Logical Plan ==\nid: string\n{tree}\n\n== Physical Plan ==\n{scan}"
    found = statement_lineage([text], Application(), stream=True)
    assert found is not None
    assert direct_edges(found.flows[0]) == {("id", "file:/w/a", "w")}
    assert found.problems == ()


def test_accelerators_operators_are_those_that_they_replace() -> None:
    orders = PATHS.replace("Scan parquet ", "GpuScan parquet ").replace("[1]: [id#1L]", "[2]: [k#5, v#6]")
    gpu = formatted(
        orders % "file:/w/a",
        "GpuFilter\nInput [2]: [k#5, v#6]\nArguments: gpuisnotnull(k#5)",
        "GpuHashAggregate\nInput [2]: [k#5, v#6]\nKeys [1]: [k#5]\nFunctions [1]: [partial_gpubasicsum(v#6)]\n"
        "Aggregate Attributes [1]: [sum#7L]\nResults [2]: [k#5, sum#8L]",
        "GpuColumnarExchange\nInput [2]: [k#5, sum#8L]\nArguments: gpuhashpartitioning(k#5, 2)",
        "GpuHashAggregate\nInput [2]: [k#5, sum#8L]\nKeys [1]: [k#5]\nFunctions [1]: [gpubasicsum(v#6)]\n"
        "Aggregate Attributes [1]: [sum(v#6)#9L]\nResults [1]: [sum(v#6)#9L AS id#1L]",
    )
    photon = formatted(
        orders.replace("GpuScan", "PhotonScan") % "file:/w/a" + "\nRequiredDataFilters: [isnotnull(k#5)]",
        "PhotonGroupingAgg\nInput [2]: [k#5, v#6]\n"
        "Arguments: [k#5], [partial_sum(v#6) AS sum#8L], [sum#7L], [k#5, sum#8L], false",
        "PhotonShuffleExchangeSink\nInput [2]: [k#5, sum#8L]\nArguments: hashpartitioning(k#5, 2)",
        "PhotonGroupingAgg\nInput [2]: [k#5, sum#8L]\n"
        "Arguments: [k#5], [finalmerge_sum(merge sum#8L) AS sum(v#6)#9L], [sum(v#6)#9L], [sum(v#6)#9L AS id#1L], true",
    )
    for description in (gpu, photon):
        found = lineage_of(description)
        assert found.problems == ()
        assert direct_edges(found.flows[0]) == {("id", "file:/w/a", "v")}
        assert indirect_edges(found.flows[0]) == {("id", "file:/w/a", "k")}
        assert {r.transformation.subtype.value for o in found.flows[0].outputs for r in o.references} == {"AGGREGATION"}


LITERAL = "x\n+- Filter (other#7 = 1)\n   +- Relation spark_catalog.d.secret[other#7] parquet\nend"
DETAIL = "x\n\n(1) Scan parquet \nOutput [1]: [id#9L]\nInput [1]: [id#9L]\nCondition : (id#9L = 1)\nend"


@pytest.mark.parametrize(
    "literal", [LITERAL, DETAIL, "[" + LITERAL, "+- Relation d.t[a#1]", "(" * 3 + LITERAL + ")" * 3]
)
def test_a_literal_that_looks_like_a_plan_is_a_literal(literal: str) -> None:
    made = f"concat(id#2L, {literal}) AS id#1L"
    lines = f"+- Project [{made}]\n   +- Relation spark_catalog.d.orders[id#2L] parquet"
    if literal[0] != "[":  # a bracket of a literal's own is closed by nothing
        assert edges(extended(lines)) == {"spark_catalog.d.orders.id"}
        found = lineage_of(extended(lines))
        assert (found.problems, [str(name) for name in found.sources]) == ((), ["spark_catalog.d.orders"])
    scan = "Scan parquet spark_catalog.d.orders\nOutput [1]: [id#2L]\nReadSchema: struct<id:bigint>"
    plan = formatted(scan, f"Project\nOutput [1]: [{made}]\nInput [1]: [id#2L]")
    assert edges(plan) == {"spark_catalog.d.orders.id"}
    assert lineage_of(plan).problems == ()


def test_a_bracket_in_a_columns_name_hides_no_line_of_the_plan() -> None:
    nodes = "Project [a[b#2L AS id#1L]", "Filter isnotnull(a[b#2L)", "Relation spark_catalog.d.t[a[b#2L] parquet"
    lines = "\n".join("   " * depth + "+- " + node for depth, node in enumerate(nodes))
    assert edges(extended(lines)) == {"spark_catalog.d.t.a[b"}


def test_a_name_may_have_a_cast_in_it() -> None:
    column = "max(CAST(v AS DATE))"
    scan = "Scan parquet spark_catalog.d.t\nOutput [1]: [v#2]\nReadSchema: struct<v:string>"
    project = f"Project\nOutput [1]: [cast(v#2 as date) AS {column}#1]\nInput [1]: [v#2]"
    (flow,) = lineage_of(formatted(scan, project).replace("Append, [id]", "Append, [out, ... 1 more fields]")).flows
    assert [output.name for output in flow.outputs] == [column]


def test_a_recursive_query_reads_what_both_of_its_queries_read_however_often_it_runs() -> None:
    people = "spark_catalog.d.people"
    plan = f"""== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (8)
+- Project (7)
   +- UnionLoop (1)
         :- Project (3)
         :  +- LogicalRelation (2)
         +- Project (6)
            +- Join (5)
               :- UnionLoopRef (4)
               +- LogicalRelation (9)


(1) UnionLoop
Loop id: 0
Output [3]: [a#11, b#12, c#13]
Limit: None

(2) LogicalRelation
Arguments: parquet, [pid#21, name#22, boss#23], `spark_catalog`.`d`.`people`, false

(3) Project
Arguments: [pid#21, name#22, boss#23]

(4) UnionLoopRef
Loop id: 0
Output [3]: [a#31, b#32, c#33]
Accumulated: false

(5) Join
Arguments: Inner, (pid#41 = c#33)

(6) Project
Arguments: [b#32, c#33, pid#41]

(7) Project
Output [1]: [a#11 AS id#1]
Input [3]: [a#11, b#12, c#13]

(8) Execute InsertIntoHadoopFsRelationCommand
Arguments: {INSERT}

(9) LogicalRelation
Arguments: parquet, [pid#41, name#42, boss#43], `spark_catalog`.`d`.`people`, false

"""
    assert edges(plan) == {f"{people}.pid", f"{people}.name", f"{people}.boss"}
    found = lineage_of(plan)
    assert found.problems == ()
    assert {("id", people, "pid"), ("id", people, "boss")} <= indirect_edges(found.flows[0])


def test_the_options_that_a_librarys_relation_is_printed_with_are_no_table() -> None:
    relation = "SearchRelation(Map(es.resource -> orders, es.net.http.auth.pass -> secret),SQLContext@1f,None)"
    for description in (
        formatted(f"Scan {relation} [id#1L]\nOutput [1]: [id#1L]\nReadSchema: struct<id:bigint>"),
        formatted(f"LogicalRelation\nArguments: {relation}, [id#1L], false"),
        extended(f"+- Relation [id#1L] {relation}", f"Scan {relation} [id#1L]"),
    ):
        found = lineage_of(description)
        assert found.sources == ()
        assert "secret" not in repr(found)


def test_a_column_that_spark_calls_by_its_expression_is_told_without_the_literals_of_it() -> None:
    name = "concat(id, my secret)"
    scan = "Scan parquet shop.orders\nOutput [1]: [id#1L]\nReadSchema: struct<id:bigint>"
    project = f"Project\nOutput [1]: [concat(id#1L, my secret) AS {name}#2]\nInput [1]: [id#1L]"
    exchange = f"Exchange\nInput [1]: [{name}#2]\nArguments: hashpartitioning({name}#2, 200)"
    for written in ("[id]", f"[{name}]"):
        description = formatted(scan, project, exchange).replace("Append, [id]", f"Append, {written}")
        found = lineage_of(description)
        assert "secret" not in repr(found)
        assert {target for _, _, target in direct_edges(found.flows[0])} <= {"id", "concat(id, ?)"}
        assert direct_edges(found.flows[0])
