"""`ingest diff --manifest`: what a pull request on a dbt project changes; exit code 4 where that breaks something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.dbt_project import BUILT, PROJECT
from workflows.cli import app

BASE = BUILT / "manifest.json"
Changes = dict[str, tuple[str, list[str]]]


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["diff", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def head(tmp_path: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(BASE.read_text())
    manifest["__file__"] = str(tmp_path / "head.json")
    manifest["exposures"] = {}
    return manifest


def compared(head: dict[str, Any]) -> tuple[int, Changes]:
    file = Path(head["__file__"])
    file.write_text(json.dumps(head))
    code, shown, _ = run("--manifest", str(BASE), str(file), "--format", "json")
    document = json.loads(shown)
    return code, {one["name"].removeprefix("roastery."): (one["kind"], one["broken"]) for one in document["changes"]}


def replaced(head: dict[str, Any], model: str, old: str, new: str) -> None:
    node = head["nodes"][f"model.roastery.{model}"]
    assert old in node["compiled_code"]
    node["compiled_code"] = node["compiled_code"].replace(old, new)


def test_nothing_changed_is_exit_code_0() -> None:
    code, shown, _ = run("--manifest", str(BASE), str(BASE), "--format", "markdown")
    assert (code, shown) == (0, "### Lineage: nothing changes\n")


def test_an_additional_column_breaks_nothing(head: dict[str, Any]) -> None:
    replaced(head, "prices.v1", "bean_code,", "bean_code, min(price) as cheapest,")
    assert compared(head) == (0, {"main_marts.prices_v1.cheapest": ("column added", [])})


def test_a_dropped_column_that_a_model_names_breaks_it(head: dict[str, Any]) -> None:
    replaced(head, "stg_customers", "upper(city) as city,", "")
    code, changes = compared(head)
    assert code == 4
    kind, broken = changes["main.stg_customers.city"]
    assert kind == "column dropped"
    assert "roastery.main_marts.dim_customers.city" in broken
    assert "snapshots.customer_history.city" in changes  # it has a star: it goes along


def test_a_dropped_column_to_which_all_readers_were_adapted_breaks_nothing(head: dict[str, Any]) -> None:
    replaced(head, "stg_customers", "upper(city) as city,", "")
    replaced(head, "customers", "c.city,", "")
    code, changes = compared(head)
    assert code == 0
    assert changes["main_marts.dim_customers.city"] == ("column dropped", [])


def test_a_column_made_otherwise_is_told_and_breaks_nothing(head: dict[str, Any]) -> None:
    replaced(head, "prices.v1", "max(price)", "max(tax)")
    assert compared(head) == (0, {"main_marts.prices_v1.price": ("column redefined", [])})


def test_a_dropped_model_that_is_still_read_breaks_its_readers(head: dict[str, Any]) -> None:
    del head["nodes"]["model.roastery.prices.v2"]
    code, changes = compared(head)
    assert (code, changes) == (4, {"main_marts.prices_v2": ("model dropped", ["roastery.main_marts.audit"])})


def test_a_source_that_is_declared_no_more_breaks_nothing(tmp_path: Path) -> None:
    source = "{version: 2, sources: [{name: %s, tables: [{name: t}]}]}"
    for side, read, declared in (("base", "{{ source('raw', 't') }}", "raw"), ("head", "raw.t", "other")):
        models = tmp_path / side / "models"
        models.mkdir(parents=True)
        (tmp_path / side / "dbt_project.yml").write_text("name: shop\nprofile: d\n")
        (models / "m.sql").write_text(f"select id from {read}")
        (models / "s.yml").write_text(source % declared)
    sides = (str(tmp_path / "base"), str(tmp_path / "head"))
    code, shown, _ = run("--manifest", *sides, "--dialect", "duckdb", "--format", "json")
    changes = [(one["kind"], one["name"], one["broken"]) for one in json.loads(shown)["changes"]]
    assert (code, changes) == (0, [("source added", "other.t", []), ("source dropped", "raw.t", [])])


def test_what_an_exposure_needs_is_named(head: dict[str, Any]) -> None:
    head["exposures"] = json.loads(BASE.read_text())["exposures"]
    replaced(head, "daily_sales", "sum(price) as sales,", "")
    code, changes = compared(head)
    assert code == 4
    assert changes["main_marts.daily_sales.sales"] == ("column dropped", ["exposure weekly_report"])


def test_the_answer_for_a_pull_request_is_a_table(head: dict[str, Any]) -> None:
    replaced(head, "stg_orders", "ordered_at,\n", "")
    Path(head["__file__"]).write_text(json.dumps(head))
    code, shown, _ = run("--manifest", str(BASE), head["__file__"], "--format", "markdown")
    assert code == 4
    assert shown.startswith("### Lineage: ")
    assert "| ❌ | column dropped | `roastery.main.stg_orders.ordered_at` | " in shown
    assert all(line.count("|") == 6 for line in shown.splitlines() if line.startswith("|"))


def test_what_cannot_be_read_is_no_silence(head: dict[str, Any]) -> None:
    node = head["nodes"]["model.roastery.prices.v1"]
    node |= {"compiled_code": None, "raw_code": "select {{ run_query('x') }}"}
    Path(head["__file__"]).write_text(json.dumps(head))
    _, shown, _ = run("--manifest", str(BASE), head["__file__"], "--format", "markdown")
    assert "Not read: `" in shown
    assert "prices_v1.sql:1: templated: run_query asks the warehouse" in shown


def test_two_projects_compare_as_well_as_two_manifests() -> None:
    assert run("--manifest", str(PROJECT), str(PROJECT))[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to compare: give --from TIME, or --manifest BASE HEAD"),
        (("--from", "2026-01-01", "--format", "markdown"), "--format markdown is for --manifest"),
        (("--from", "2999-01-01"), "--from is in the future"),
        (("--manifest", str(BASE), "none.json"), "none.json: no such file"),
    ],
)
def test_what_cannot_be_compared_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    code, _, errors = run(*arguments)
    assert code == 2
    assert message in errors


def test_a_model_whose_columns_cannot_be_told_any_more_is_no_model_without_change(head: dict[str, Any]) -> None:
    prices = head["nodes"]["model.roastery.prices.v1"]
    prices["compiled_code"] = prices["compiled_code"].replace("max(price)", "max((price)")
    file = Path(head["__file__"])
    file.write_text(json.dumps(head))
    code, shown, _ = run("--manifest", str(BASE), str(file), "--format", "markdown")
    assert "`columns of roastery.main_marts.prices_v1`" in shown
    assert code == 0
