"""Of several accounts of one write, the one that says most."""

from __future__ import annotations

from ingestion.model.lineage import ColumnRef, StatementKind, TableName, WriteMode
from ingestion.plans._relation import MISSING, Attribute, PlanRelation, base_column
from ingestion.plans._scans import CUT
from ingestion.plans.lineage import EvaluatedWrite, better
from ingestion.plans.writes import PlanWrite

WRITE = PlanWrite(StatementKind.INSERT, WriteMode.APPEND, TableName(("c", "s", "t"), "t"), None)
SOURCE = TableName(("c", "s", "a"), "a")


def account(whole: int, doubtful: int = 0, problems: int = 0, logical: bool = True) -> EvaluatedWrite:
    known = [Attribute(i, f"c{i}", base_column(ColumnRef(SOURCE, f"c{i}"))) for i in range(whole)]
    unknown = [Attribute(100 + i, f"d{i}", MISSING) for i in range(doubtful)]
    return EvaluatedWrite(WRITE, PlanRelation([*known, *unknown], problems=(CUT,) * problems), logical)


def test_of_two_cut_plans_the_fuller_is_kept() -> None:
    list_cut_short, few_expressions_cut = account(25, problems=1), account(38, doubtful=2, logical=False)
    for pair in ((list_cut_short, few_expressions_cut), (few_expressions_cut, list_cut_short)):
        assert better(*pair).relation is few_expressions_cut.relation


def test_a_whole_plan_is_kept_before_a_cut_one_and_a_logical_one_before_a_physical_one() -> None:
    whole, cut = account(3, logical=False), account(25, problems=1)
    assert better(cut, whole).relation is whole.relation
    logical = account(3)
    assert better(whole, logical).relation is logical.relation
    assert better(logical, EvaluatedWrite(WRITE, None, True)).relation is logical.relation
