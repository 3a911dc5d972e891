"""What was not seen any more since a newer statement came stands apart, in each answer, and is not gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from connectors.catalog.answer.changes import DIFF, IMPACT, PROPOSED_CHANGE
from connectors.catalog.answer.explanation import explanation
from connectors.catalog.answer.rendering import render
from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.diff import diff_of_file
from connectors.catalog.questions.explain import explain_in_file
from connectors.catalog.questions.impact import impact_in_file
from connectors.catalog.questions.proposed_change.question import ChangeOptions, change_report
from connectors.catalog.store.lineage.reads import NOW
from tests.support.made_catalog import MadeCatalog

ORDERS, REFUNDS, SALES, DAILY = (f"s.d.p.{name}" for name in ("orders", "refunds", "sales", "daily"))
DAY = 86_400_000
START = 20_000 * DAY + 7_200_000
APART = "not seen since 2024-10-09 02:00: a newer one came 2024-10-10 02:00"
Seen = tuple[str, str, str, str, Iterable[float]]
"""Statement, source, its column, target, days."""


def made(file: Path, *seen: Seen) -> MadeCatalog:
    catalog = MadeCatalog(file)
    catalog.add_tables({ORDERS: ["total", "net"], REFUNDS: ["net"], SALES: ["revenue"], DAILY: ["revenue"]})
    for statement, source, column, target, days in seen:
        said = {
            "producer": {"kind": "query", "key": statement},
            "sqlQuery": f"INSERT {statement}",
            "columns": [{"from": [f"{source}.{column}"], "to": f"{target}.revenue"}],
        }
        for day in days:
            catalog.add_edges([(source, target, said)], round(START + day * DAY))
    return catalog


REWRITTEN: tuple[Seen, ...] = (
    ("aaaaaaaa", ORDERS, "total", SALES, range(1, 6)),
    ("bbbbbbbb", ORDERS, "net", SALES, range(6, 9)),
    ("cccccccc", SALES, "revenue", DAILY, (day + 0.1 for day in range(1, 9))),
)


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("rewritten") / "c.db", *REWRITTEN).file


def apart_in(file: Path, column: str = "sales.revenue") -> list[tuple[str, bool]]:
    """The sources of a column, and whether each stands apart."""
    found = explain_in_file(file, column, When()).content
    return [(hop.source.removeprefix("s.d.p."), hop.unseen is not None) for hop in found.hops[found.column]]


def test_explain_says_when_each_was_seen_last_and_what_stands_apart(rewritten: Path) -> None:
    answer = explain_in_file(rewritten, "daily.revenue", When())
    lines = render(answer, explanation(), "text")
    assert f"<- {ORDERS}.total  direct, {APART}" in lines.replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert f"made of: {ORDERS}.net\nnot seen any more: {ORDERS}.total\n" in lines
    assert "last seen 2024-10-12 02:00" in lines
    assert "last seen 2024-10-09 02:00" in lines


def test_impact_tells_it_last_and_counts_it_apart(rewritten: Path) -> None:
    found = impact_in_file(rewritten, "orders.total", When())
    assert found.content.counts() == {"direct": 0, "indirect": 0, "table": 0, "entities": 2, "notSeen": 2}
    assert render(found, IMPACT, "text").count(APART) == 2
    assert impact_in_file(rewritten, "orders.net", When()).content.counts()["direct"] == 2


def test_a_change_of_it_still_breaks_and_says_so(rewritten: Path) -> None:
    catalog = MadeCatalog(rewritten)
    options = ChangeOptions(ddl="ALTER TABLE d.p.orders DROP COLUMN total", dialect="postgres")
    with catalog.database.read() as connection:
        report = change_report(connection, options, NOW)
    assert report.content.breaks
    assert render(report, PROPOSED_CHANGE, "text").count(APART) == 2


def test_a_diff_tells_that_it_is_not_seen_any_more(rewritten: Path) -> None:
    found = diff_of_file(rewritten, START + 5 * DAY + DAY // 2, START + 8 * DAY + DAY // 2)
    changes = [(one.kind, one.source, one.reaches.count) for one in found.content.lineage]
    assert changes == [("columnEdgeAdded", f"{ORDERS}.net", 2), ("columnEdgeUnseen", f"{ORDERS}.total", 2)]
    assert APART in render(found, DIFF, "text")


def test_models_read_it_too(rewritten: Path) -> None:
    with CatalogAnswers(rewritten) as answers:
        explained, impacted = answers.explain("sales.revenue"), answers.impact("orders.total")
        edges = answers.lineage("sales.revenue")
        assert all(APART in one.page(budget=4000).text for one in (explained, impacted, edges))
        assert "last seen 2024-10-12 02:00" in edges.page(budget=4000).text


def test_what_it_was_when_it_was_seen_is_not_apart(rewritten: Path) -> None:
    found = explain_in_file(rewritten, "sales.revenue", When(as_of=START + 5 * DAY + 1))
    assert [hop.unseen for hop in found.content.hops[found.content.column]] == [None]


def test_a_newer_statement_out_of_another_table_sets_it_apart(tmp_path: Path) -> None:
    older, _, later = REWRITTEN
    catalog = made(tmp_path / "c.db", older, ("dddddddd", REFUNDS, "net", SALES, range(6, 9)), later)
    assert apart_in(catalog.file) == [("refunds.net", False), ("orders.total", True)]


def test_what_one_statement_says_of_a_source_that_got_its_name_later_sets_nothing_apart(tmp_path: Path) -> None:
    read, moved = ("aaaaaaaa", ORDERS, "total", SALES, [1]), ("aaaaaaaa", REFUNDS, "net", SALES, [3])
    assert apart_in(made(tmp_path / "c.db", read, moved).file) == [("refunds.net", False), ("orders.total", False)]


def test_what_two_statements_bring_every_night_stands(tmp_path: Path) -> None:
    eu = ("aaaaaaaa", ORDERS, "net", SALES, range(1, 4))
    us = ("bbbbbbbb", REFUNDS, "net", SALES, [day + 0.2 for day in range(1, 4)])
    assert not any(apart for _, apart in apart_in(made(tmp_path / "c.db", eu, us).file))


def test_the_first_of_two_statements_of_one_night_stands(tmp_path: Path) -> None:
    eu, us = ("aaaaaaaa", ORDERS, "net", SALES, [1]), ("bbbbbbbb", REFUNDS, "net", SALES, [1.2])
    assert not any(apart for _, apart in apart_in(made(tmp_path / "c.db", eu, us).file))


def test_what_the_newer_one_says_too_stands(tmp_path: Path) -> None:
    older = ("aaaaaaaa", ORDERS, "net", SALES, [1, 2])
    newer = ("bbbbbbbb", ORDERS, "net", SALES, [3, 4])
    assert apart_in(made(tmp_path / "c.db", older, newer).file) == [("orders.net", False)]
    assert impact_in_file(tmp_path / "c.db", "orders.net", When()).content.counts()["direct"] == 1


def test_what_changes_rows_that_are_there_sets_nothing_apart(tmp_path: Path) -> None:
    loaded = ("aaaaaaaa", ORDERS, "net", SALES, [1])
    updated = ("bbbbbbbb", SALES, "revenue", SALES, [2, 3, 4])
    assert ("orders.net", False) in apart_in(made(tmp_path / "c.db", loaded, updated).file)
