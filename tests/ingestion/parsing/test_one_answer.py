"""Every parser and the reader of plans give one answer to a statement: the same lineage, or a problem that says so."""

from __future__ import annotations

from types import ModuleType

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.dialects import dialect_of, fold_column
from ingestion.errors import Unparsable
from ingestion.model.lineage import Column, StatementLineage, TableName
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.fallback import sqlparse_tier as token_tier
from ingestion.parsing.sqlglot import tier as sqlglot_tier
from ingestion.plans.lineage import Application, statement_lineage
from tests.support.lineage_cases import LineageCase, lineage_cases, recorded_plans
from tests.support.lineage_lines import lines_of

TIERS = {"sqlglot": sqlglot_tier, "sqlfluff": sqlfluff_tier, "tokens": token_tier}
COLUMNS = {"s": "abcdeklm", "u": "kxy", "t": "kan"}
CASES = tuple(lineage_cases())


def lines(lineage: StatementLineage) -> set[str]:
    found = {line.lower().replace("spark_catalog.default.", "") for flow in lineage.flows for line in lines_of(flow)}
    return {line for line in found if not line.startswith("into ")}


def lineage_of(case: LineageCase, dialect: str, tier: ModuleType) -> StatementLineage:
    def schema_of(name: TableName) -> list[Column] | None:
        names = COLUMNS.get(name.table.lower(), "")
        return [Column(fold_column(column, dialect_of(dialect), quoted=False)) for column in names] or None

    return analyze(tier.parse(case.statement, dialect), schema_of)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(("case", "dialect"), [(c, d) for c in CASES for d in c.dialects], ids=lambda each: str(each))
def test_a_parser_gives_the_lineage_or_says_what_it_does_not_know(case: LineageCase, dialect: str, tier: str) -> None:
    try:
        lineage = lineage_of(case, dialect, TIERS[tier])
    except Unparsable:
        assert tier != "sqlglot"
        return
    found = lines(lineage)
    if not lineage.problems:
        assert found == case.lines
        return
    assert tier != "sqlglot"
    sure = {line for line in found if "|" not in line and not line.endswith(" is constant")}
    assert sure <= case.lines
    assert {line for line in found if line.startswith("from ")} == {x for x in case.lines if x.startswith("from ")}


@pytest.mark.parametrize("mode", ["EXTENDED", "FORMATTED"])
@pytest.mark.parametrize("case", [case for case in CASES if case.planned is not None], ids=lambda each: str(each))
def test_a_plan_gives_the_lineage_of_its_text(case: LineageCase, mode: str) -> None:
    lineage = statement_lineage([recorded_plans()[case.text][mode]], Application())
    assert lineage is not None
    assert lineage.problems == ()
    assert lines(lineage) == set(case.planned or ())


def test_the_table_has_cases_of_every_kind() -> None:
    assert len(CASES) > 100
    assert len({(case.text, case.dialects) for case in CASES}) == len(CASES)
    assert {case.text for case in CASES if case.planned is not None} == recorded_plans().keys()
