from __future__ import annotations

import pytest

from ingestion.statements import holds_sql


@pytest.mark.parametrize(
    ("text", "is_sql"),
    [
        ("42", False), ("01b1c2d3-0604-aa11", False), ("ann smith", False), ("nightly load of 'select'", False),
        ("2026-11-20 08:00:00", False), ("\"from\"", False), ("/* select */ x", False),
        ("SELECT 1", True), ("frobnicate t from s", True), ("from t select a", True), ("(values 1)", True),
    ],
)  # fmt: skip
def test_a_text_without_any_word_of_sql_is_none(text: str, is_sql: bool) -> None:
    assert holds_sql(text, "postgres") is is_sql
