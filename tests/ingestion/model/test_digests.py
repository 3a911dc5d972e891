"""One digest for all: what tells contents apart, and what it does not depend on."""

from __future__ import annotations

from ingestion.model.digests import digest


def test_parts_are_kept_apart() -> None:
    assert digest("a", "bc") != digest("ab", "c") != digest("abc")
    assert digest("a", "b") == digest(b"a", b"b")


def test_the_size_is_in_bytes_and_a_key_changes_all_of_it() -> None:
    assert [len(digest("a", size=size)) for size in (6, 12, 16)] == [12, 24, 32]
    assert digest("a", key=b"one") != digest("a", key=b"other")


def test_a_text_that_no_encoding_has_is_digested() -> None:
    assert digest("\ud800") != digest("\ud801")


def test_it_is_the_same_on_every_machine() -> None:
    assert digest("select ?") == "463370614033620505a3273ba9970c85"
