"""What is missing from an answer is told in each of its forms, and nothing is where it is whole."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from connectors.catalog import graph
from connectors.catalog.answer.changes import DIFF, IMPACT, PROPOSED_CHANGE
from connectors.catalog.answer.explanation import explanation
from connectors.catalog.answer.rendering import Renderings, document, in_rows, render, render_page
from connectors.catalog.answer.why import WHY
from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.questions import lineage
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.diff import CatalogDiff
from connectors.catalog.questions.explain import explain_in_file
from connectors.catalog.questions.impact import impact_in_file
from connectors.catalog.questions.proposed_change.report import ChangeReport
from connectors.catalog.questions.why.search import causes_in_file
from ingestion.graph import lineage_graph
from ingestion.walk import Budget
from tests.support.made_catalog import AT, MadeCatalog
from workflows.cli import app

SQL = """
CREATE TABLE raw.orders (day date, total int);
CREATE VIEW mart.day AS SELECT o.day, sum(o.total) AS revenue FROM raw.orders o GROUP BY o.day;
INSERT INTO mart.year (revenue) SELECT max(d.revenue) FROM mart.day d
"""
CUT = "half of it was left out: ask of less"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = MadeCatalog(tmp_path_factory.mktemp("answers") / "catalog.db")
    made.add_graph(lineage_graph([SQL], "postgres"), "shop.main", AT)
    made.close()
    return made.file


def _answers(catalog: Path) -> Iterator[tuple[Answer[Any], Renderings[Any]]]:
    yield impact_in_file(catalog, "raw.orders", When()), IMPACT
    yield explain_in_file(catalog, "mart.year.revenue", When()), explanation()
    yield causes_in_file(catalog, "mart.year", When(AT + 1)), WHY
    yield Answer(CatalogDiff(0, 1, (), ())), DIFF
    yield Answer(ChangeReport((), (), ())), PROPOSED_CHANGE


def test_what_is_missing_is_told_in_every_form(catalog: Path) -> None:
    for whole, how in _answers(catalog):
        cut = replace(whole, cut=(CUT,))
        forms = [form for form, has in (("text", True), ("markdown", how.markdown), ("csv", how.table)) if has]
        for form in forms:
            assert CUT not in render(whole, how, form)
            assert CUT in render(cut, how, form)
        assert not document(whole, how).get("truncated")
        assert json.loads(render(cut, how, "json"))["truncated"] is True
        assert CUT in render_page(cut, how, None, None)
        assert how.rows is not None
        assert CUT in json.dumps(in_rows(cut, how.rows).page().structured["notes"])


def test_a_table_is_csv_with_the_names_of_its_columns_first(catalog: Path) -> None:
    answer = impact_in_file(catalog, "raw.orders.total", When())
    first, *rows = csv.reader(io.StringIO(render(answer, IMPACT, "csv")))
    assert first == ["table", "column", "type", "depth", "path", "not seen since"]
    assert [row[1] for row in rows] == ["shop.main.mart.day.revenue", "shop.main.mart.year.revenue"]


QUESTIONS: tuple[Callable[[CatalogAnswers], Any], ...] = (
    lambda answers: answers.impact("raw.orders"),
    lambda answers: answers.lineage("raw.orders", "downstream", 0),
    lambda answers: answers.paths("raw.orders.total", "mart.year.revenue"),
)


@pytest.mark.parametrize("ask", QUESTIONS)
def test_a_walk_that_ends_at_its_budget_says_so(
    catalog: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[CatalogAnswers], Any]
) -> None:
    with CatalogAnswers(catalog) as answers:
        assert ask(answers).notes == ()
    monkeypatch.setattr(graph, "BUDGET", Budget(nodes=1))
    monkeypatch.setattr(lineage, "_BUDGET", Budget(nodes=1))
    with CatalogAnswers(catalog) as answers:
        (note,) = ask(answers).notes
        assert "ask of one column" in note


def test_a_command_says_so_too(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "BUDGET", Budget(nodes=1))
    for form, word in (("tree", "note: the walk was cut short"), ("csv", "note: "), ("json", '"truncated": true')):
        done = CliRunner().invoke(app, ["impact", "raw.orders", "--catalog", str(catalog), "--format", form])
        assert (done.exit_code, word in done.stdout) == (0, True)


def test_of_what_is_downstream_it_is_counted_first_whose_it_is_and_what_is_tagged(tmp_path: Path) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    label = {"tagFQN": "PII.Sensitive", "source": "Classification", "labelType": "Manual", "state": "Confirmed"}
    made.add_tables({"shop.main.raw.a": ("v",)})
    for number in range(15):
        owner = {"id": f"0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d{number:02}", "type": "team", "name": f"team {number}"}
        tags = [label] if number == 3 else []
        made.add_tables({f"shop.main.mart.t{number:02}": ("v",)}, owners=[owner] if number != 7 else [], tags=tags)
    made.add_edges(
        (
            "shop.main.raw.a",
            f"shop.main.mart.t{number:02}",
            {"producer": {"kind": "query", "key": str(number)}, "columns": []},
        )
        for number in range(15)
    )
    made.close()
    with CatalogAnswers(made.file) as answers:
        facts = [" ".join(map(str, fact)) for fact in answers.impact("raw.a").page(budget=600).structured["facts"]]
    assert facts[2].startswith('owned by  "team 0" 1, "team 1" 1, "team 10" 1')
    assert facts[2].endswith(", 2 others , nobody 1")
    assert facts[3:] == ['tagged  "PII.Sensitive" 1']
