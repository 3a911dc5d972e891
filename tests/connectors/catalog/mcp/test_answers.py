"""Answers about ten thousand tables: every page in its budget, and the whole walk equal to the graph."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.catalog.answer.pages import DEFAULT_BUDGET, AnswerRows, token_count
from connectors.catalog.mcp.answers import CatalogAnswers
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.impact_filter import ImpactFilter
from ingestion.errors import ConfigError
from tests.support.made_catalog import MadeCatalog

TABLES = 10_000
NAMES = [f"lake.main.s{number % 10}.t{number}" for number in range(TABLES)]
EDGES = [(NAMES[(number - 1) // 2], NAMES[number]) for number in range(1, TABLES)]
"""A tree: table n feeds 2n + 1 and 2n + 2."""
WIDE = 20_000
"""A budget with which the walk over everything takes few pages."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogAnswers]:
    made = MadeCatalog(tmp_path_factory.mktemp("lake") / "catalog.db")
    made.add_tables(dict.fromkeys(NAMES, ("v",)))
    made.add_edges(
        (
            source,
            target,
            {
                "producer": {"kind": "query", "key": target},
                "columns": [{"from": [f"{source}.v"], "to": f"{target}.v", "subtype": "IDENTITY"}],
            },
        )
        for source, target in EDGES
    )
    made.close()
    with CatalogAnswers(made.file) as opened:
        yield opened


def walk(answer: AnswerRows, budget: int) -> Iterator[list[str]]:
    """The cells of every row, names in full."""
    cursor: str | None = None
    while True:
        page = answer.page(budget, cursor)
        assert token_count(page.text) <= budget
        assert token_count(json.dumps(page.structured, ensure_ascii=False, separators=(",", ":"))) <= budget
        assert f"of {len(answer.rows)} " in page.text
        prefixes = page.structured["prefixes"]
        for row in page.structured["rows"]:
            yield [prefixes[one[0]] + one[1:] if one[:1] in prefixes else one for one in map(str, row)]
        cursor = page.cursor
        if cursor is None:
            return


def test_walking_the_cursor_gives_the_whole_graph(answers: CatalogAnswers) -> None:
    down = answers.lineage("t0", "downstream", 0)
    edges = [(row[2], row[1]) for row in walk(down, WIDE) if row[0] == "edge"]
    assert len(edges) == len(set(edges))
    assert set(edges) == {(f"{source}.v", f"{target}.v") for source, target in EDGES}
    assert {row[1] for row in walk(answers.search(""), WIDE)} == set(NAMES)


def test_what_is_downstream_of_one_table_is_paged_within_the_usual_budget(answers: CatalogAnswers) -> None:
    below = {NAMES[number] for number in range(1, TABLES) if _is_below(number, 40)}
    rows = list(walk(answers.impact("t40.v"), DEFAULT_BUDGET))
    assert {row[1] for row in rows if row[0] == "impacted"} == {f"{name}.v" for name in below}
    assert [row[0] for row in rows] == ["table"] * len(below) + ["impacted"] * len(below)
    assert len(below) > 200


def test_what_is_farther_than_was_asked_for_is_left_out_and_counted(answers: CatalogAnswers) -> None:
    near = answers.impact("t0.v", asked=ImpactFilter(depth=2))
    assert {row.cells[1] for row in near.rows if row.cells[0] == "impacted"} == {f"{NAMES[n]}.v" for n in range(1, 7)}
    assert f"{TABLES - 7} are left out: they are farther, or get no values" in near.page().text
    explained = answers.explain("t9999.v", depth=1)
    assert [row.cells[0] for row in explained.rows] == ["base", "table", "edge", "statement"]
    assert "12 edges of columns are left out" in explained.page().text
    with pytest.raises(ConfigError, match="0 is all of them"):
        answers.explain("t9999.v", depth=-1)


def test_the_way_between_two_names_is_found_among_all_of_them(answers: CatalogAnswers) -> None:
    numbers = [9_999]
    while numbers[-1]:
        numbers.append((numbers[-1] - 1) // 2)
    way = [row[2] for row in walk(answers.paths("t0.v", "t9999.v"), DEFAULT_BUDGET) if row[0] == "edge"]
    assert way == [f"{NAMES[number]}.v" for number in reversed(numbers[1:])]
    assert answers.paths("t9999", "t0").rows == ()
    (base, *_) = walk(answers.explain("t9999.v"), DEFAULT_BUDGET)
    assert base == ["base", f"{NAMES[0]}.v", "values"]


def test_a_cursor_ends_where_the_catalog_changes(tmp_path: Path) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    made.add_tables({f"lake.main.s.t{number}": ("v",) for number in range(200)})
    with CatalogAnswers(made.file) as opened:
        cursor = opened.search("").page(500).cursor
        assert opened.search("").page(500, cursor).first > 1
        made.add_tables({"lake.main.s.new": ("v",)})
        with pytest.raises(ConfigError, match="the catalog has changed: ask again without it"):
            opened.search("").page(500, cursor)
    made.close()


def _is_below(number: int, top: int) -> bool:
    while number > top:
        number = (number - 1) // 2
        if number == top:
            return True
    return False


def test_what_the_window_hides_is_told_on_each_page_of_what_looks_through_it(tmp_path: Path) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    orders, daily, old = (f"lake.main.s.{name}" for name in ("orders", "daily", "old"))
    made.add_tables({orders: ("a",), daily: ("a",), old: ("a",)})
    seen = {daily: 1_700_000_000_000, old: 1_690_000_000_000}
    made.add_edges(
        (orders, target, {"producer": {"kind": "query", "key": target}, "firstSeen": at, "lastSeen": at})
        for target, at in seen.items()
    )
    made.close()
    told = (
        "1 edge of the catalog was last seen before 2023-10-15 22:13 and left out: `ingest mcp --days 0` has them all"
    )
    with CatalogAnswers(made.file) as answers:
        through = [answers.impact(orders), answers.lineage(orders, "downstream"), answers.describe(orders)]
        through += [answers.paths(orders, daily), answers.witnesses(), answers.explain(f"{daily}.a")]
        through += [answers.proposed_change(f"DROP TABLE {orders}"), answers.quality()]
        assert [answer.notes.count(told) for answer in through] == [1] * len(through)
        assert f"note: {told}" in answers.impact(orders).page().text
        beside = [answers.search("orders"), answers.parse_sql("SELECT a FROM orders")]
        assert not [answer for answer in beside if told in answer.notes]
    with CatalogAnswers(made.file, When(days=0)) as answers:
        assert told not in answers.impact(orders).notes
