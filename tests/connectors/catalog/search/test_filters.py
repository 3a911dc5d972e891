"""What is typed into a search, taken apart."""

from __future__ import annotations

import pytest

from connectors.catalog.contract.errors import ApiError
from connectors.catalog.search.filters import SearchFilter, age, count_range, parse_search

DAY = 86_400_000


@pytest.mark.parametrize(
    ("typed", "words", "filters", "order"),
    [
        ("dim orders", "dim orders", [], None),
        ("tag:PII orders", "orders", ["tag=PII"], None),
        ('owner:"Ann Lee" -tag:PII.None', "", ["owner=Ann Lee", "-tag=PII.None"], None),
        ("Used:>100 sort:READERS", "", ["used=>100"], "readers"),
        ("orders tag: used:> new:", "orders", [], None),  # as it is while one types
        ('owner:"Ann', "", ["owner=Ann"], None),
        ("mytag:x main:orders", "mytag:x main:orders", [], None),
        ("stale:30d new:2026-10-01 producer:dag.task", "", ["stale=30d", "new=2026-10-01", "producer=dag.task"], None),
    ],
)
def test_words_filters_and_order_are_told_apart(typed: str, words: str, filters: list[str], order: str | None) -> None:
    found = parse_search(typed)
    assert (found.words, found.order) == (words, order)
    assert [f"{'-' * one.negated}{one.field}={one.value}" for one in found.filters] == filters


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        (">100", (101, None)),
        ("<=5", (0, 5)),
        ("<5", (0, 4)),
        ("10..20", (10, 20)),
        ("7", (7, None)),
        (">=7", (7, None)),
    ],
)
def test_a_number_has_bounds(value: str, bounds: tuple[int, int | None]) -> None:
    assert count_range(SearchFilter("used", value)) == bounds


@pytest.mark.parametrize(
    ("value", "before"), [("30d", 70 * DAY), ("2w", 86 * DAY), (">1m", 70 * DAY), ("12h", 99.5 * DAY)]
)
def test_an_age_goes_back_from_now(value: str, before: float) -> None:
    assert age(SearchFilter("stale", value)).before(100 * DAY) == before


def test_a_date_is_one_in_utc() -> None:
    assert age(SearchFilter("new", "1970-01-11")).before(100 * DAY) == 10 * DAY


@pytest.mark.parametrize("typed", ["sort:price", " ".join(["tag:a"] * 21)])
def test_a_search_that_cannot_be_read_is_refused(typed: str) -> None:
    with pytest.raises(ApiError):
        parse_search(typed)


@pytest.mark.parametrize("given", [("used", "many"), ("readers", ">x"), ("used", "5..")])
def test_what_is_no_number_is_refused_with_what_would_be(given: tuple[str, str]) -> None:
    with pytest.raises(ApiError, match=">100"):
        count_range(SearchFilter(*given))


@pytest.mark.parametrize("value", ["soon", "2026-13-01", "30"])
def test_what_is_no_age_is_refused_with_what_would_be(value: str) -> None:
    with pytest.raises(ApiError, match="30d"):
        age(SearchFilter("new", value))
