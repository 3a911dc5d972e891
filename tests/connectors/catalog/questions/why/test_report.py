"""What is written of a cause: no literal of a statement in any format, and names stay data."""

from __future__ import annotations

import json

import pytest

from connectors.catalog.answer.rendering import render
from connectors.catalog.answer.why import WHY, why_rows
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.why.report import CauseReport
from connectors.catalog.questions.why.search import causes_in_file
from ingestion import lineage_graph
from tests.support.made_catalog import AT, MadeCatalog

HOUR = 3_600_000
CANARIES = ("CANARY_state", "CANARY_other", "90071992", "2024-03-03")
FIRST = """
CREATE TABLE raw.orders (day date, total int, state text);
INSERT INTO mart.year (revenue) SELECT max(o.total) FROM raw.orders o WHERE o.state = 'CANARY_state'
"""
SECOND = """
CREATE TABLE raw.orders (day date, total int, state text);
INSERT INTO mart.year (revenue) SELECT sum(o.total + 90071992) FROM raw.orders o
WHERE o.state LIKE 'CANARY_other' AND o.day > '2024-03-03'
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CauseReport:
    made = MadeCatalog(tmp_path_factory.mktemp("causes") / "catalog.db")
    for hour, text in enumerate((FIRST, SECOND)):
        made.add_graph(lineage_graph([text], "postgres"), "shop.main", AT + hour * HOUR)
    made.close()
    return causes_in_file(made.file, "mart.year", When(AT + 2 * HOUR)).content


def test_no_literal_of_a_statement_leaves(report: CauseReport) -> None:
    page = why_rows(report).page()
    written = (*(render(Answer(report), WHY, form) for form in ("text", "markdown", "json")), page.text)
    for text in (*written, json.dumps(page.structured)):
        assert "definition changed" in text
        assert "total + ?" in text
        assert [canary for canary in CANARIES if canary in text] == []


def test_the_change_names_what_was_before_and_after(report: CauseReport) -> None:
    (change,) = report.accused[0].evidence
    assert change.at == AT + HOUR
    assert ": MAX(" in change.text
    assert "-> SUM(" in change.text
    assert "filter day, filter state" in change.text
