"""Pages as properties: none is larger than its budget, and together they are the whole answer, in order, once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.catalog.answer.pages import LEAST_BUDGET, AnswerRows, Row, fact, token_count
from connectors.catalog.answer.writing import Name, quoted_text, shorten_name, text_lines, visible_text
from ingestion.errors import ConfigError

NAMES = st.one_of(
    st.from_regex(r"shop\.main\.(raw|mart)\.[a-z]{1,12}\.[a-z_]{1,9}", fullmatch=True), st.text(min_size=1, max_size=8)
)
LONG = Name("shop.main.raw." + "long_" * 400)


def row(source: str, target: str, text: str) -> Row:
    parts = (Name(target), " <- ", Name(source), f" {quoted_text(text)}")
    return Row(parts, ("edge", Name(target), Name(source), quoted_text(text)))


ROWS = st.lists(st.builds(row, NAMES, NAMES, st.text(max_size=12)), max_size=40).map(tuple)


def json_size(value: object) -> int:
    return token_count(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@settings(max_examples=60, deadline=None)
@given(ROWS, NAMES, st.integers(LEAST_BUDGET, 1_500))
def test_walking_the_cursor_gives_every_row_once_and_no_page_is_over_its_budget(
    rows: tuple[Row, ...], title: str, budget: int
) -> None:
    answer = AnswerRows("rows", (fact(Name(title), ": so many"),), rows)
    shown: list[list[object]] = []
    lines: list[str] = []
    cursor: str | None = None
    while True:
        page = answer.page(budget, cursor)
        assert token_count(page.text) <= budget
        assert json_size(page.structured) <= budget
        assert (page.total, page.cursor is None) == (len(rows), page.last == len(rows))
        assert f"of {len(rows)} rows" in page.text or not rows
        shown += page.structured["rows"]
        lines += page.text.splitlines()[-len(page.structured["rows"]) :] if page.structured["rows"] else []
        cursor = page.cursor
        if cursor is None:
            break
        assert page.structured["rows"]
    prefixes = page.structured["prefixes"]
    assert len(lines) == len(rows)
    assert shown == [[shorten_name(c, prefixes) if type(c) is Name else c for c in one.cells] for one in rows]


def test_a_row_that_has_no_room_is_cut_where_everybody_sees_it() -> None:
    answer = AnswerRows("rows", (), (row(LONG, LONG, "x" * 5_000), row("a", "b", "c")))
    first = answer.page(LEAST_BUDGET)
    assert (first.first, first.last, first.total) == (1, 1, 2)
    assert "characters, cut)" in first.text
    assert token_count(first.text) <= LEAST_BUDGET
    second = answer.page(LEAST_BUDGET, first.cursor)
    assert second.text.endswith('b <- a "c"')


def test_a_cursor_is_of_one_answer() -> None:
    rows = tuple(row(f"t{n}", f"u{n}", "x") for n in range(100))
    cursor = AnswerRows("rows", (), rows).page(LEAST_BUDGET).cursor
    assert AnswerRows("rows", (), rows).page(LEAST_BUDGET, cursor).first > 1
    for other, given_cursor in ((rows[:99], cursor), (rows, "12"), (rows, "7-0123456789ab"), (rows, "x" * 50)):
        with pytest.raises(ConfigError, match="cursor"):
            AnswerRows("rows", (), other).page(LEAST_BUDGET, given_cursor)
    with pytest.raises(ConfigError, match=f"give {LEAST_BUDGET} or more"):
        AnswerRows("rows", (), rows).page(LEAST_BUDGET - 1)


@given(st.text(max_size=300))
def test_what_is_shown_of_a_text_is_one_line_without_fence_or_direction(text: str) -> None:
    for shown in (visible_text(text), quoted_text(text), *text_lines(text)):
        assert len(shown.splitlines()) <= 1
        assert "```" not in shown
        assert not set(shown) & set("\x1b\u202a\u202e\u2066\u2069\u200b\u2028\x85\x7f\ufeff")


@given(st.text(max_size=60), st.text(max_size=60))
def test_tokens_of_a_text_are_those_of_its_lines(first: str, second: str) -> None:
    together = token_count(f"{first}\n{second}")
    assert together <= token_count(first) + 1 + token_count(second)
    assert token_count(first) >= len(first.encode("utf-8", "surrogatepass")) / 8


@pytest.mark.parametrize(
    ("text", "at_least"),
    [("SELECT a FROM t", 5), ("hospital.mimic.mimiciii.icustays.intime", 14), ("4111111111111111", 6), ("日本語", 3)],
)
def test_the_count_is_conservative(text: str, at_least: int) -> None:
    """The second figures are what tokenizers of today's models make of these texts at most, or nearly so."""
    assert token_count(text) >= at_least
