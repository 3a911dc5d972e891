from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.model import fqn
from ingestion.model.fqn import build_fqn, decode_name, encode_name, search_pattern, split_fqn

names = st.text(min_size=1, max_size=12).filter(lambda name: "__reserved__" not in name)


@given(st.lists(names, min_size=1, max_size=5))
def test_what_is_built_splits_into_the_same_parts(parts: list[str]) -> None:
    assert split_fqn(build_fqn(*parts)) == tuple(parts)


@given(names)
def test_an_encoded_name_holds_no_reserved_character_and_decodes_to_itself(name: str) -> None:
    encoded = encode_name(name)
    assert not any(reserved in encoded for reserved in ('"', ">", "::", "\n", "\r", "\t"))
    assert decode_name(encoded) == name


def test_a_part_with_a_dot_is_quoted_and_others_are_not() -> None:
    assert build_fqn("svc", "db", "sch", "we.ird", "x.y") == 'svc.db.sch."we.ird"."x.y"'
    assert build_fqn("svc", "with space", "a-b") == "svc.with space.a-b"


def test_reserved_characters_travel_as_their_words() -> None:
    assert build_fqn("t", 'a"b') == "t.a__reserved__quote__b"
    assert build_fqn("a::b") == "a__reserved__colon__b"


@pytest.mark.parametrize("parts", [(), ("a", ""), ("",)])
def test_an_empty_part_is_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="needs a text"):
        build_fqn(*parts)


@pytest.mark.parametrize("fqn", ["", "a.", ".a", "a..b", 'a."b', 'a."b"c', '""', 'a."".b'])
def test_what_is_no_name_is_refused(fqn: str) -> None:
    with pytest.raises(ValueError, match="not a fully qualified name"):
        split_fqn(fqn)


def test_a_pattern_leaves_unknown_parts_open_and_disarms_wildcards_in_names() -> None:
    assert search_pattern("svc", None, None, "orders") == "svc.*.*.orders"
    assert search_pattern("svc", "db", None, "or*de?rs\\") == "svc.db.*.or?de?rs?"
    assert search_pattern("svc", None, None, "a.b") == 'svc.*.*."a.b"'


written = st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.lists(written, min_size=1, max_size=4))
def test_names_are_split_as_they_were_joined(parts: list[str]) -> None:
    joined = ""
    for part in parts:
        joined = fqn.join(joined, part)
    assert fqn.split(joined) == parts


def test_an_unclosed_quote_takes_the_rest() -> None:
    assert fqn.join("s.d", "we.ird") == 's.d."we.ird"'
    assert fqn.split('s."a.b".c') == ["s", "a.b", "c"]
    assert fqn.split('s."unclosed.x') == ["s", "unclosed.x"]
