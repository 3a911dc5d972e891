from __future__ import annotations

import pytest

from connectors.encodings import text_encoding


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"select 1", "utf-8"),
        ("größe".encode(), "utf-8"),
        ("größe".encode("latin-1"), "latin-1"),
        ("“größe” – 5 €".encode("cp1252"), "cp1252"),
        ("größe\x85\x81".encode("latin-1"), "latin-1"),
        ("größe und größe".encode() + "größe".encode("latin-1"), "utf-8"),
        ("select 1".encode("utf-16"), "utf-16"),
        ("select 1".encode("utf-16-le"), "utf-16-le"),
        ("select 1".encode("utf-16-be"), "utf-16-be"),
        (b"query\n" + b"select 1\n" * 100 + b"select '\0'\n", "utf-8"),
        (b"query\0\nselect 1\n", None),
        (b"PAR1\n" + b"\x15\x04\x00\x00" * 100, None),
    ],
)
def test_the_encoding_of_a_text_is_told_from_its_bytes(content: bytes, encoding: str | None) -> None:
    assert text_encoding(content, whole=True) == encoding


def test_a_character_that_is_cut_says_nothing() -> None:
    assert text_encoding("select größe".encode()[:-2]) == "utf-8"
    assert text_encoding("größe, maß".encode()[:-1]) == "utf-8"
