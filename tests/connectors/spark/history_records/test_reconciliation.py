"""Text and plan of one statement: view names put back, differences named."""

from __future__ import annotations

import pytest

from connectors.spark._history_records import KnownViews, reconcile
from ingestion.analysis.analyzer import analyze
from ingestion.analysis.symbolic import dumps
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.sqlglot.tier import parse
from ingestion.plans.cache import canonical

ORDERS, VIEW, OTHER = (TableName(("c", "s", name)) for name in ("orders", "open_orders", "other"))


def full(name: TableName) -> TableName:
    return TableName((*("c", "s")[: max(0, 3 - len(name.parts))], *name.parts)[-3:])


def flow(target: str, source: TableName, columns: dict[str, str], view: bool = False) -> StatementLineage:
    outputs = tuple(
        Output(name, (Reference((ColumnRef(source, column),), Transformation(Subtype.IDENTITY)),))
        for name, column in columns.items()
    )
    to = Target(
        TableName(("c", "s", target)), WriteMode.CREATE if view else WriteMode.APPEND, tuple(columns), view=view
    )
    kind = StatementKind.CREATE_VIEW if view else StatementKind.INSERT
    return StatementLineage(kind, (Flow(to, outputs, (), (source,)),))


def said(text: str) -> StatementLineage:
    return analyze(parse(text, "spark"), lambda _name: None)


def views() -> KnownViews:
    known = KnownViews()
    known.note(flow("open_orders", ORDERS, {"id": "order_id", "amount": "amount"}, view=True))
    return known


def test_columns_of_a_base_table_that_only_a_view_reads_become_the_views() -> None:
    plan = flow("t", ORDERS, {"a": "order_id", "b": "amount"})
    result = reconcile(said("INSERT INTO s.t SELECT id, amount FROM open_orders"), plan, views(), full)
    sources = [reference.sources for output in result.flows[0].outputs for reference in output.references]
    assert sources == [(ColumnRef(VIEW, "id"),), (ColumnRef(VIEW, "amount"),)]
    assert result.sources == (VIEW,)
    assert result.problems == ()


def test_a_table_that_only_one_of_the_two_names_is_a_difference_and_the_plan_stays() -> None:
    plan = flow("t", ORDERS, {"a": "order_id"})
    result = reconcile(said("INSERT INTO s.t SELECT x FROM other"), plan, KnownViews(), full)
    assert result.flows == plan.flows
    assert {(p.kind, p.subject) for p in result.problems} == {
        (ProblemKind.DISAGREEMENT, "c.s.other"),
        (ProblemKind.DISAGREEMENT, "c.s.orders"),
    }


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("INSERT INTO s.t SELECT o.ORDER_ID FROM orders o", False),
        ("INSERT INTO s.t SELECT order_id FROM c.s.orders", False),
        ("INSERT INTO s.t SELECT * FROM orders", False),
        ("INSERT INTO s.t SELECT o.amount FROM orders o", True),
    ],
)
def test_columns_are_compared_as_far_as_the_text_is_certain(text: str, differs: bool) -> None:
    result = reconcile(said(text), flow("t", ORDERS, {"a": "order_id"}), KnownViews(), full)
    assert [problem.subject for problem in result.problems] == (["a"] if differs else [])


def test_equal_lineage_is_written_as_equal_bytes() -> None:
    one, other = (flow("t", TableName(("c", "s", "or" + "ders"[:])), {"a": "b", "b": "a"}) for _ in range(2))
    mixed = StatementLineage(one.kind, (Flow(one.flows[0].target, other.flows[0].outputs, (), one.sources),))
    assert mixed == one
    assert dumps(canonical(mixed)) == dumps(canonical(one)) == dumps(canonical(canonical(other)))
