"""Chunks of a stream, bounded by several sizes at once."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingestion.chunks import chunks_within


def counted(text: str) -> tuple[int, int]:
    return 1, len(text)


def test_a_chunk_ends_at_whichever_bound_comes_first() -> None:
    assert [*chunks_within(["a", "b", "c"], counted, (2, 10))] == [["a", "b"], ["c"]]
    assert [*chunks_within(["aaa", "bb", "c"], counted, (9, 5))] == [["aaa", "bb"], ["c"]]


def test_what_is_larger_than_a_bound_is_alone() -> None:
    assert [*chunks_within(["a", "bbbbbb", "c"], counted, (9, 5))] == [["a"], ["bbbbbb"], ["c"]]


@given(st.lists(st.text(max_size=9), max_size=30), st.integers(1, 5), st.integers(0, 12))
def test_nothing_is_lost_and_no_two_chunks_would_fit_in_one(texts: list[str], count: int, characters: int) -> None:
    found = [*chunks_within(texts, counted, (count, characters))]
    assert [text for chunk in found for text in chunk] == texts
    assert all(len(one) == 1 or (len(one) <= count and len("".join(one)) <= characters) for one in found)
    for chunk, after in pairwise(found):
        assert len(chunk) == count or len("".join((*chunk, after[0]))) > characters
