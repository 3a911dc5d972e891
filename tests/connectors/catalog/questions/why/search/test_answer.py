"""`ingest why` on catalogs that are filled as runs fill them: what changed upstream, and what tests told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from connectors.catalog.questions.answer import When
from connectors.catalog.questions.why.report import CauseReport
from connectors.catalog.questions.why.search import causes_in_file
from connectors.catalog.store.entities.entities import find
from connectors.catalog.store.entities.registration import put_one
from connectors.catalog.store.entities.tests import file_result
from ingestion.errors import ConfigError
from tests.support.made_catalog import MadeCatalog
from workflows.cli import app

DAY = 86_400_000
START = 1_700_006_400_000
HOME = "shop.shop.public"
TABLES = {
    f"{HOME}.orders": ("id", "amount", "cid"),
    f"{HOME}.customers": ("cid", "city"),
    f"{HOME}.sales": ("id", "amount", "city"),
    f"{HOME}.daily": ("city", "revenue"),
    f"{HOME}.cities": ("city",),
}


def day(number: float) -> int:
    return START + round(number * DAY)


class History:
    """A shop whose `sales` are made of `orders` and `customers`, and `daily` of `sales`, once a day at 2 o'clock."""

    def __init__(self, file: Path) -> None:
        self.catalog = MadeCatalog(file)
        self.catalog.add_tables(TABLES, at=day(0))
        self.file = file

    def run(self, number: int, *, amount: str = "", key: str = "s", without: tuple[str, ...] = ()) -> None:
        """The loads of one day; `amount` is the expression of sales.amount."""
        how = {"type": "DIRECT", "subtype": "TRANSFORMATION" if amount else "IDENTITY", "expression": amount}
        parts = {
            "sales": [
                ("orders", [("id", "id", {}), ("amount", "amount", how)], key),
                ("customers", [("city", "city", {}), ("cid", None, {"type": "INDIRECT", "subtype": "JOIN"})], key),
            ],
            "daily": [("sales", [("city", "city", {}), ("amount", "revenue", {"subtype": "AGGREGATION"})], "d")],
            "cities": [("customers", [("city", "city", {})], "c")],
        }
        for hour, (target, sources) in enumerate(parts.items(), 2):
            if target not in without:
                at = day(number + hour / 24)
                self.catalog.add_edges([self._edge(source, target, c, k) for source, c, k in sources], at=at)

    def _edge(self, source: str, target: str, columns: list[Any], key: str) -> tuple[str, str, dict[str, Any]]:
        ends = f"{HOME}.{source}", f"{HOME}.{target}"
        made = [
            {"type": "DIRECT", "from": [f"{ends[0]}.{one}"], "to": f"{ends[1]}.{other}" if other else None, **how}
            for one, other, how in columns
        ]
        return (*ends, {"producer": {"kind": "query", "key": f"{target}:{key}"}, "columns": made})

    def test(self, number: int, place: str, *, passed: bool, kind: str = "not_null") -> None:
        """One result of a test at 6 o'clock."""
        table, _, column = place.partition(".")
        link = f"<#E::table::{HOME}.{table}{f'::columns::{column}' if column else ''}>"
        with self.catalog.database.write() as connection:
            put_one(
                connection,
                "testDefinition",
                {"name": kind, "description": "", "entityType": "COLUMN", "testPlatforms": ["dbt"]},
            )
            request = {"name": f"{kind}_{column}", "entityLink": link, "testDefinition": kind}
            made = put_one(connection, "testCase", request)
            row = find(connection, "testCase", made.fqn)
            assert row is not None
            result = {"timestamp": day(number + 0.25), "testCaseStatus": "Success" if passed else "Failed"}
            file_result(connection, row, result)

    def why(self, name: str, number: float) -> CauseReport:
        return causes_in_file(self.file, name, When(day(number))).content


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path / "catalog.db")
    yield made
    made.catalog.close()


def accused(report: CauseReport) -> list[str]:
    return [one.table.removeprefix(f"{HOME}.") for one in report.accused]


def test_a_changed_expression_is_found_by_its_failing_test(history: History) -> None:
    for number in range(4):
        history.run(number, **({"amount": "orders.amount - ?", "key": "other"} if number == 3 else {}))
        history.test(number, "daily.revenue", passed=number < 3, kind="expression_is_true")
        history.test(number, "cities.city", passed=True)
    report = history.why("daily", 3.5)
    assert accused(report)[0] == "sales"
    first = report.accused[0]
    assert [node[1] for node in first.way.nodes] == ["amount", "revenue"]
    assert "orders.amount - ?" in first.evidence[0].text
    assert (report.symptom.window.start, report.symptom.window.end) == (day(2.25), day(3.25))
    assert history.why("daily", 2.9).verdict != report.verdict, "then it was not yet changed"


def test_a_load_that_did_not_come_is_found_and_not_what_waits_for_it(history: History) -> None:
    for number in range(6):
        history.run(number, without=("sales", "daily") if number == 5 else ())
        history.test(number, "daily", passed=number < 5, kind="freshness")
    report = history.why("daily", 5.5)
    assert accused(report)[:2] == ["sales", "daily"]
    assert report.accused[0].evidence[0].text.startswith("load missing: the last was at ")


def test_a_type_change_is_found(history: History) -> None:
    for number in range(3):
        history.run(number)
        history.test(number, "daily.revenue", passed=number < 2)
    retyped = {"columns": [{"name": "amount", "dataType": "VARCHAR", "dataLength": 1}]}
    with history.catalog.database.write() as connection:
        from connectors.catalog.contract import bulk_models
        from connectors.catalog.store.entities import lookup

        table = {"name": "orders", "databaseSchema": HOME, **retyped}
        request = bulk_models.Register.model_validate({"tables": [table], "at": day(2.1)})
        lookup.register(connection, request)
    report = history.why("daily.revenue", 2.5)
    assert accused(report)[0] == "orders"
    assert "type changed (amount): int -> varchar" in report.accused[0].evidence[0].text


def test_what_fails_furthest_upstream_comes_first_and_what_passes_clears(history: History) -> None:
    for number in range(4):
        history.run(number)
        for place in ("daily.revenue", "sales.amount", "orders.amount"):
            history.test(number, place, passed=number < 3)
        history.test(number, "cities.city", passed=True)
    report = history.why("daily", 3.5)
    assert accused(report)[:2] == ["orders", "sales"]
    assert [one.table.rpartition(".")[2] for one in report.others] == ["customers"]


def test_nothing_changed_is_not_the_same_as_not_known(history: History) -> None:
    for number in range(4):
        history.run(number)
        history.test(number, "orders.amount", passed=True)
    history.test(0, "customers.city", passed=True)
    known = history.why("daily", 3.5)
    assert (known.verdict, known.known, known.unknown) == ("nothing is known to have changed", True, ())
    unknown = history.why("cities", 30)
    assert not unknown.known
    assert unknown.verdict.startswith("not known: ")


def test_a_source_of_which_nothing_tells_is_not_said_to_be_unchanged(history: History) -> None:
    for number in range(3):
        history.run(number)
    report = history.why("cities", 2.5)
    assert not report.known
    assert any(f"nothing tells what came into {HOME}.customers" in one for one in report.unknown)


def test_what_is_not_known_is_counted_in_plain_words(history: History) -> None:
    for number in range(3):
        history.run(number)
    report = history.why("cities", 2.5)
    assert report.verdict == "not known: no change is seen, but one thing is not known"
    more = replace(report, unknown=(*report.unknown, "and that"))
    assert more.verdict == "not known: no change is seen, but 2 things are not known"


def test_a_failure_older_than_the_days_that_are_looked_back_keeps_its_cause(history: History) -> None:
    for number in range(24):
        changed = number >= 20
        history.run(number, amount="orders.amount - ?" if changed else "", key="other" if changed else "s")
    for number in (10, 20):
        history.test(number, "daily.revenue", passed=number < 20)
    history.catalog.add_edges([], at=day(100))
    report = history.why("daily", 100)
    assert (report.symptom.window.start, report.symptom.window.end) == (day(10.25), day(20.25))
    assert accused(report)[0] == "sales"
    assert "orders.amount - ?" in report.accused[0].evidence[0].text


def test_errors_name_what_to_ask_instead(history: History, tmp_path: Path) -> None:
    history.run(0)
    with pytest.raises(ConfigError, match="did you mean daily"):
        history.why("dailly", 1)
    with pytest.raises(ConfigError, match=r"this catalog begins at 2023-11-15"):
        history.why("daily", -1)
    with pytest.raises(ConfigError, match="has not come yet"):
        history.why("daily", 100_000)
    MadeCatalog(tmp_path / "empty.db").close()
    with pytest.raises(ConfigError, match="no such table"):
        causes_in_file(tmp_path / "empty.db", "daily", When())


def test_the_command_writes_each_format_and_tells_by_its_exit_code(history: History) -> None:
    for number in range(4):
        history.run(number, **({"amount": "orders.amount / ?", "key": "other"} if number == 3 else {}))
        history.test(number, "daily.revenue", passed=number < 3)
    at = datetime.fromtimestamp(day(3.5) / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    command = ["why", "daily.revenue", "--at", at, "--catalog", str(history.file)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert f"1. {HOME}.sales" in done.output
    assert done.output.splitlines()[-1].startswith(f"likeliest: {HOME}.sales")
    as_json = json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).output)
    assert as_json["suspects"][0]["path"] == [f"{HOME}.sales.amount", f"{HOME}.daily.revenue"]
    times = [one["at"] for one in as_json["timeline"]]
    assert times == sorted(times)
    markdown = CliRunner().invoke(app, [*command, "--format", "markdown"]).output
    assert f"| 1 | `{HOME}.sales` |" in markdown
    silent = CliRunner().invoke(app, ["why", "cities", "--catalog", str(history.file), "--days", "0"])
    assert silent.exit_code == 1
