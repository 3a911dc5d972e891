"""What a search takes for wildcards."""

from __future__ import annotations

from connectors.catalog.search.service import glob


def test_wildcards_are_no_other_syntax() -> None:
    assert glob("a*b?c") == "a*b?c"
    assert glob("a[b]") == "a[[]b]"
    assert glob(r"a\*b\\c\?") == r"a[*]b\c[?]"
