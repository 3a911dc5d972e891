"""Fully qualified names and search patterns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from connectors.catalog.contract import fqn
from connectors.catalog.store.queries.search import glob

names = st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.lists(names, min_size=1, max_size=4))
def test_names_are_split_as_they_were_joined(parts: list[str]) -> None:
    joined = ""
    for part in parts:
        joined = fqn.join(joined, part)
    assert fqn.split(joined) == parts


def test_parts_with_dots_are_quoted() -> None:
    assert fqn.join("s.d", "we.ird") == 's.d."we.ird"'
    assert fqn.split('s."a.b".c') == ["s", "a.b", "c"]
    assert fqn.split('s."unclosed.x') == ["s", "unclosed.x"]


def test_wildcards_are_no_other_syntax() -> None:
    assert glob("a*b?c") == "a*b?c"
    assert glob("a[b]") == "a[[]b]"
    assert glob(r"a\*b\\c\?") == r"a[*]b\c[?]"
