"""Whether a value can be read in what is made of it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ingestion import LineageParser
from ingestion.policies import ValueFlow, value_flow

CASES = """
a | kept
upper(a) | kept
a || b | kept
substr(a, 1, 4) | kept
MAX(a) | kept
MIN(lower(a)) | kept
ANY_VALUE(a) | kept
LISTAGG(a, ',') | kept
ARRAY_AGG(a) | kept
FIRST_VALUE(a) OVER (ORDER BY b) | kept
LAG(a) OVER (ORDER BY b) | kept
COALESCE(MAX(a), '') | kept
MAX(a) - SUM(a) | kept
SUM(a) | aggregated
AVG(a) * 100 | aggregated
ROUND(STDDEV(a), 2) | aggregated
SUM(SUM(a)) OVER (PARTITION BY b) | aggregated
COUNT(a) | masked
COUNT(DISTINCT a) | masked
md5(a) | masked
upper(sha256(a)) | masked
CASE WHEN b > 1 THEN a END | kept
CASE WHEN a > 1 THEN b END | indirect
"""


@dataclass(frozen=True)
class Edge:
    """As a catalog has it."""

    source: tuple[str, str | None]
    type: str
    subtype: str
    masking: bool
    expression: str
    target: tuple[str, str | None] = ("t", "x")
    certain: bool = True


@pytest.mark.parametrize("case", [line for line in CASES.splitlines() if line])
def test_what_becomes_of_a_value(case: str) -> None:
    expression, expected = (part.strip() for part in case.rsplit("|", 1))
    grouped = " GROUP BY b" if "(" in expression and "OVER (ORDER" not in expression else ""
    text = f"INSERT INTO t (x) SELECT {expression} FROM s{grouped}"
    edges = LineageParser(text, schema={"s": {"a": "int", "b": "int"}}).edges
    flows = [
        value_flow(Edge(("s", one.source.column), str(one.type), str(one.subtype), one.masking, one.expression))
        for one in edges
        if one.source.column == "a"
    ]
    assert ValueFlow(expected) in flows
    assert (ValueFlow.KEPT in flows) is (expected == "kept")


def aggregation(expression: str, *, masking: bool = False) -> Edge:
    return Edge(("s", "a"), "DIRECT", "AGGREGATION", masking, expression)


def test_an_aggregation_without_its_expression_is_unclear() -> None:
    for expression in ("", "SUM(b)", "SUM('"):
        assert value_flow(aggregation(expression)) is ValueFlow.UNCLEAR


def test_a_rule_may_take_functions_otherwise() -> None:
    assert value_flow(aggregation("SUM(a)"), keeps=frozenset({"SUM"})) is ValueFlow.KEPT
    assert value_flow(aggregation("COUNT(a)", masking=True), keeps=frozenset({"SUM"})) is ValueFlow.MASKED
    assert value_flow(aggregation("MAX(blur(a))"), stops=frozenset({"BLUR"})) is ValueFlow.MASKED
