"""The lineage of real jobs out of their event logs, beside Spark's own analyzer."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import StatementKind, WriteMode
from ingestion.model.outcomes import ProblemKind
from ingestion.plans.lineage import Application, statement_lineage
from tests.connectors.spark.conftest import History, read_directory
from tests.support.spark_jobs.comparison import by_target, compare, direct_edges, lineages, printed_columns

OPAQUE_JOBS = {"d21", "d41"}
UNKNOWN_ORIGIN = {"d22", "d42"}


@pytest.mark.parametrize("kind", ["sql", "dataframe"])
def test_direct_edges_are_those_of_the_analyzer(history: History, kind: str) -> None:
    result = compare(history.truth(kind), read_directory(history.logs(kind), through_views=True))
    assert result.jobs >= 40
    assert result.wrong == {}
    assert result.marked <= OPAQUE_JOBS | UNKNOWN_ORIGIN


def test_indirect_edges_are_those_of_the_analyzer_but_for_one_in_a_hundred(history: History) -> None:
    truth = [fact for kind in ("sql", "dataframe") for fact in history.truth(kind)]
    rows = [row for kind in ("sql", "dataframe") for row in read_directory(history.logs(kind), through_views=True)]
    result = compare(truth, rows)
    assert result.indirect_wanted > 200
    assert result.indirect_precision >= 0.99
    assert result.indirect_recall >= 0.99


def test_columns_have_the_names_of_the_target(history: History) -> None:
    for kind in ("sql", "dataframe"):
        found = by_target(read_directory(history.logs(kind)))
        for fact in history.truth(kind):
            _, flow = found[fact["target"].rstrip("/")]
            assert [output.name for output in flow.outputs] == printed_columns(fact), fact["job"]


def test_a_stored_view_in_a_logical_plan_is_the_source_itself(history: History) -> None:
    _, flow = by_target(read_directory(history.logs("sql")))["spark_catalog.mart.s23"]
    assert {table for _, table, _ in direct_edges(flow)} == {"spark_catalog.sales.done_orders"}


def test_what_an_opaque_step_makes_is_never_certain(history: History) -> None:
    found = by_target(read_directory(history.logs("dataframe")))
    for job in OPAQUE_JOBS:
        lineage, flow = found[f"spark_catalog.mart.{job}"]
        references = [r for output in flow.outputs for r in output.references if r.opaque]
        assert references
        assert not any(reference.certain for reference in references)
        assert ProblemKind.UNSUPPORTED in {problem.kind for problem in lineage.problems}


def test_rows_of_unknown_origin_are_named_as_a_problem(history: History) -> None:
    lineage, flow = by_target(read_directory(history.logs("dataframe")))["spark_catalog.mart.d42"]
    assert direct_edges(flow) == set()
    assert "LogicalRDD" in {problem.subject for problem in lineage.problems}


def test_no_literal_of_any_job_is_in_its_expressions(history: History) -> None:
    expressions = " ".join(
        reference.expression
        for kind in ("sql", "dataframe", "streaming", "connect", "cli")
        for lineage in lineages(read_directory(history.logs(kind)))
        for flow in lineage.flows
        for output in flow.outputs
        for reference in output.references
    )
    assert "upper(customers.country)" in expressions
    for literal in ("2026", "= open", "THEN low", "lit", "q#1", "line\nbreak", "86400000000", "256", "xxxx"):
        assert literal not in expressions


def test_modes_and_kinds_follow_the_command(history: History) -> None:
    found = by_target(read_directory(history.logs("sql")))
    lineage, flow = found["spark_catalog.mart.s04"]
    assert (lineage.kind, flow.target and flow.target.mode) == (StatementKind.INSERT, WriteMode.OVERWRITE)
    lineage, flow = found["spark_catalog.mart.s25"]
    assert lineage.kind is StatementKind.CREATE_VIEW
    assert flow.target is not None
    assert flow.target.view
    assert flow.target.columns == ("customer", "n")


CUT = """== Physical Plan ==
Execute CreateDataSourceTableAsSelectCommand (1)
   +- CreateDataSourceTableAsSelectCommand (2)
         +- Project (4)
            +- LogicalRelation (3)


(1) Execute CreateDataSourceTableAsSelectCommand
Output: []

(2) CreateDataSourceTableAsSelectCommand
Arguments: `spark_catalog`.`mart`.`t`, ErrorIfExists, [one, both]

(3) LogicalRelation
Arguments: parquet, [a#1, b#2, ... 3 more fields], `spark_catalog`.`sales`.`wide`, false

(4) Project
Arguments: [a#1 AS one#10, concat(a#1, b#2, ... 1 more fields) AS both#11]
"""


def test_cut_lists_and_expressions_are_marked_incomplete() -> None:
    lineage = statement_lineage([CUT], Application())
    assert lineage is not None
    subjects = {problem.subject for problem in lineage.problems if problem.kind is ProblemKind.INCOMPLETE}
    assert {"more fields", "both"} <= subjects
    assert "one" not in subjects


@pytest.mark.parametrize("text", ["", "== Physical Plan ==\n", "nonsense", "== Physical Plan ==\n(1) x\n\n\n(2) y"])
def test_text_that_is_no_plan_gives_nothing_and_raises_nothing(text: str) -> None:
    assert statement_lineage([text], Application()) is None


EXTENDED = """== Parsed Logical Plan ==
'Project [unresolvedalias('count(1))]

== Analyzed Logical Plan ==
count(1): bigint, upper(status): string
Aggregate [status#3], [count(1) AS count(1)#9L, upper(status#3) AS upper(status)#10]
+- SubqueryAlias spark_catalog.sales.orders
   +- Relation spark_catalog.sales.orders[id#1L,status#3] parquet

== Optimized Logical Plan ==
LocalRelation <empty>

== Physical Plan ==
LocalTableScan <empty>, [count(1)#9L]
"""


def test_the_analyzed_plan_of_the_extended_form_is_read_below_its_line_of_columns() -> None:
    lineage = statement_lineage([EXTENDED], Application())
    assert lineage is not None
    assert [name.dotted for name in lineage.sources] == ["spark_catalog.sales.orders"]
    assert [output.name for output in lineage.flows[0].outputs] == ["count(1)", "upper(status)"]
    assert lineage.problems == ()
