"""Verdicts on the edges of a stored catalog: by all that is said of a target, whatever part of it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.picture.neighbourhood import NeighbourhoodStep, picture
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.explain import explain_in_file
from connectors.catalog.questions.file import asked_window, open_catalog
from connectors.catalog.questions.impact import impact_in_file
from connectors.catalog.questions.witnesses import witnesses_in_file
from ingestion.model.witnesses import WitnessFilter
from tests.support.disputed_catalog import SHOP, disputed_catalog
from workflows.cli import app


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return disputed_catalog(tmp_path_factory.mktemp("verdicts") / "catalog.db")


def only(*asked: str) -> When:
    return When(witnesses=WitnessFilter.of(asked))


def hops(file: Path, column: str, *asked: str) -> dict[str, str]:
    found = explain_in_file(file, column, only(*asked)).content
    return {hop.source.removeprefix(f"{SHOP}."): str(hop.verdict) for sources in found.hops.values() for hop in sources}


def test_an_explanation_tells_of_each_hop_who_says_it_and_who_has_others_in_its_place(file: Path) -> None:
    assert hops(file, "daily.total") == {
        "orders.amount": "seen by: log; not by: engine",
        "orders.price": "seen by: engine; not by: log",
    }
    assert hops(file, "daily.day") == {"orders.day": "seen by: log"}
    assert hops(file, "alone.total")["daily.total"] == "None"


def test_a_view_and_what_it_is_of_do_not_contradict_each_other(file: Path) -> None:
    """The engine looks through recent, which is a view of calendar."""
    assert hops(file, "report.total")["recent.day"] == "seen by: log"
    assert hops(file, "report.total", "engine") == {"calendar.day": "seen by: engine"}
    assert witnesses_in_file(file, "report", When()).content.disagreements == ()


def test_a_filter_leaves_out_edges_and_what_is_behind_them(file: Path) -> None:
    assert set(hops(file, "alone.total", "log")) == {"daily.total", "orders.amount"}
    assert set(hops(file, "alone.total", "engine")) == set()
    assert set(hops(file, "daily.total", "engine", "!log")) == {"orders.price"}
    assert set(hops(file, "daily.day", "disputed")) == set()


def test_impact_tells_what_stands_against_a_way_and_goes_along_the_filtered_edges(file: Path) -> None:
    reached = impact_in_file(file, "orders.amount", When()).content.reached
    assert [(one.name.removeprefix(f"{SHOP}."), one.disputed_by) for one in reached] == [
        ("daily.total", ("engine",)),
        ("alone.total", ("engine",)),
    ]
    assert reached[1].to_json({id(hop): hop.to_json() for hop in reached[1].hops})["hops"][0]["notBy"] == ["engine"]
    assert impact_in_file(file, "orders.amount", only("!log")).content.reached == ()
    assert [one.name for one in impact_in_file(file, "orders", only("engine")).content.reached] == [
        f"{SHOP}.daily.total"
    ]


def test_a_picture_of_one_source_judges_by_what_lies_outside_of_it(file: Path) -> None:
    with open_catalog(file) as connection:
        steps = [NeighbourhoodStep(f"{SHOP}.recent", 0, 1)]
        (shown,) = picture(connection, steps, 10, asked_window(connection, When()))["edges"]
    assert shown["verdicts"] == [
        {"from": f"{SHOP}.recent.day", "to": f"{SHOP}.report.total", "type": "DIRECT", "seenBy": ["log"], "notBy": []}
    ]
    assert [one["witness"] for one in shown["contributions"]] == ["log"]


def test_disagreements_are_listed_with_what_the_other_has_and_counted(file: Path) -> None:
    found = witnesses_in_file(file, None, When()).content.to_json()
    assert found["tables"] == 2
    assert found["counts"] == {"columnEdges": 5, "confirmed": 0, "disputed": 2, "alone": 5}
    assert found["witnesses"]["engine"] == {"columnEdges": 2, "confirmed": 0, "disputed": 1, "alone": 2}
    assert found["disagreements"][0] == {
        "to": f"{SHOP}.daily.total",
        "from": f"{SHOP}.orders.amount",
        "table": f"{SHOP}.daily",
        "seenBy": ["log"],
        "notBy": ["engine"],
        "instead": {"engine": [f"{SHOP}.orders.price"]},
    }
    answer = witnesses_in_file(file, "daily.total", When(), 1)
    assert len(answer.content.disagreements) == 1
    assert "only the first 1 disagreements" in answer.cut[0]


def test_the_command_lists_them_and_refuses_who_is_no_witness(file: Path) -> None:
    done = CliRunner().invoke(app, ["witnesses", "--catalog", str(file), "--format", "csv"])
    assert done.exit_code == 0, done.output
    head, first, *_ = done.stdout.splitlines()
    assert head == "target,source,seen by,not by,instead"
    assert first == f"{SHOP}.daily.total,{SHOP}.orders.amount,log,engine,{SHOP}.orders.price"
    lines = CliRunner().invoke(app, ["witnesses", "--catalog", str(file)]).stdout.splitlines()
    assert lines[-1] == "  engine: 2 column edges, 0 confirmed by another, 2 seen by one alone, 1 disputed"
    refused = CliRunner().invoke(app, ["impact", "orders", "--witness", "moon", "--catalog", str(file)])
    assert refused.exit_code == 2
    assert "moon: no witness" in refused.output


def test_an_export_has_the_edges_that_a_filter_admits(file: Path) -> None:
    done = CliRunner().invoke(app, ["export", "--json", "-", "--witness", "disputed", "--catalog", str(file)])
    (one,) = json.loads(done.stdout)["edges"]
    assert sorted(name for said in one["contributions"] for column in said["columns"] for name in column["from"]) == [
        f"{SHOP}.orders.amount",
        f"{SHOP}.orders.price",
    ]


def test_rows_for_models_have_the_verdict_and_take_the_filter(file: Path) -> None:
    with CatalogAnswers(file) as answers:
        explained = answers.explain("daily.total", ("engine",)).page().text
        assert "[identity, seen by: engine; not by: log]" in explained
        assert "amount" not in explained
        assert "[identity, seen by: log; not by: engine]" in answers.lineage("daily.total").page().text
        assert "(not by: engine)" in answers.impact("orders.amount").page().text
        assert "engine has ~orders.price" in answers.witnesses("daily").page().text
    with CatalogAnswers(file, only("engine")) as answers:
        assert [row.cells[2] for row in answers.lineage("daily").rows if row.cells[0] == "edge"] == [
            f"{SHOP}.orders.price"
        ]
