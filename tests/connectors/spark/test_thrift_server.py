"""Statements of JDBC clients out of the logs of real Thrift servers: of this Spark, and of older ones."""

from __future__ import annotations

import pytest

from connectors.spark._history_records import Row
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementLineage
from tests.connectors.spark.conftest import GENERATOR, History, read_directory
from tests.support.spark_jobs.comparison import direct_edges, indirect_edges
from tests.support.spark_jobs.older_logs import VERSIONS, kept, write_log

SALES, MART = "spark_catalog.sales.orders", "spark_catalog.mart.orders"


@pytest.fixture(scope="module", params=["installed", *VERSIONS])
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    if request.param == "installed":
        history: History = request.getfixturevalue("history")
        return read_directory(history.logs("thrift"))
    return read_directory(write_log(kept(request.param)["thrift"], tmp_path_factory.mktemp("thrift")))


def lineage_of(rows: list[Row], start: str) -> StatementLineage:
    (row,) = [row for row in rows if (row["text"] or "").startswith(start)]
    lineage = loads(row["symbolic"])
    assert isinstance(lineage, StatementLineage)
    assert lineage.problems == ()
    return lineage


def test_every_statement_is_one_record_with_its_text_user_and_session(rows: list[Row]) -> None:
    expected, client = [], ""
    script = (GENERATOR / "thrift_sessions.sql").read_text()
    for line in script.replace("SELECT id, amount * 2\n", "SELECT id, amount * 2 ").splitlines():
        if line.startswith(("!go", "!connect")):
            client = "bob" if "bob" in line or line.endswith("1") else "alice"
        elif line.endswith(";"):
            expected.append((client, " ".join(line.split()[-3:]).rstrip(";")))
    said = [row for row in rows if row["text"]]
    assert [(row["user"], " ".join(row["text"].split()[-3:])) for row in said] == expected
    assert len({(row["user"], row["session"]) for row in said}) == len({row["session"] for row in said}) == 2
    assert all(row["duration"] is not None and row["problem"] is None for row in said)
    assert {row["query_type"] for row in rows if not row["text"]} == {"other"}


def test_the_use_statements_of_two_sessions_and_the_database_of_a_connection_do_not_mix(rows: list[Row]) -> None:
    schemas = {
        user: [row["schema"] for row in rows if row["user"] == user and (row["text"] or "").startswith("INSERT")]
        for user in ("alice", "bob")
    }
    assert schemas == {"alice": ["default", "sales", "mart"], "bob": ["mart", "sales", "sales", "sales"]}


@pytest.mark.parametrize(
    ("start", "target", "edges"),
    [
        ("INSERT INTO totals", "mart.totals", {("order_id", MART, "order_id"), ("total", MART, "amount")}),
        ("CREATE TABLE copies", "mart.copies", {("copied", MART, "order_id"), ("amount", MART, "amount")}),
        ("CREATE VIEW", "sales.open_orders", {("id", SALES, "order_id"), ("amount", SALES, "amount")}),
        (
            "INSERT INTO sales.orders SELECT",
            "sales.orders",
            {("order_id", MART, "order_id"), ("amount", MART, "amount")},
        ),
        ("CREATE TABLE mart.states", "mart.states", {("state", SALES, "status")}),
    ],
)
def test_edges_are_those_of_the_names_in_the_clients_own_session(
    rows: list[Row], start: str, target: str, edges: set[tuple[str, str, str]]
) -> None:
    lineage = lineage_of(rows, start)
    assert [name.dotted for name in lineage.targets] == [f"spark_catalog.{target}"]
    assert direct_edges(lineage.flows[0]) == edges


def test_the_analyzed_plan_names_the_view_and_nothing_behind_it(rows: list[Row]) -> None:
    lineage, view = lineage_of(rows, "INSERT INTO mart.orders"), "spark_catalog.sales.open_orders"
    assert [name.dotted for name in lineage.sources] == [view]
    assert direct_edges(lineage.flows[0]) == {("order_id", view, "id"), ("amount", view, "amount")}
    assert indirect_edges(lineage.flows[0]) == set()


def test_what_fails_in_the_plan_in_the_parser_or_at_work_has_no_lineage(rows: list[Row]) -> None:
    failed = [row for row in rows if row["status"] == "failed"]
    assert [row["text"].removeprefix("INSERT INTO mart.totals ") for row in failed] == [
        "SELECT order_id, amount FROM orders WHERE raise_error(status) IS NULL",
        "SELECT no_such_column, amount FROM orders",
        "SELEC order_id FROM orders",
    ]
    assert all(row["symbolic"] is None for row in failed)
