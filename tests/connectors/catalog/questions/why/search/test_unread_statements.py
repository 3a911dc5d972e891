"""Dead letters tell of what nothing is known: no suspicion comes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.catalog.questions.why.facts import TimeRange
from connectors.catalog.questions.why.search import unread_statements
from ingestion.errors import ConfigError

TABLES = ("s.d.p.orders", 's.d.p."Order lines"', "s.d.p.others")
WITHIN = TimeRange(1_000_000, 2_000_000)


def letters(file: Path, *given: tuple[float | None, str]) -> Path:
    lines = [json.dumps({"reason": "unparsable", "time": time, "masked": text}) for time, text in given]
    file.write_text("\n".join(lines))
    return file


def test_statements_of_the_time_that_name_a_table_are_counted(tmp_path: Path) -> None:
    file = letters(
        tmp_path / "dead.jsonl",
        (1_500.0, "MERGE INTO p.ORDERS o USING x ON ?"),
        (None, "UPDATE orders SET a = ?"),
        (500.0, "DELETE FROM orders"),
        (1_500.0, "DELETE FROM reorders"),
        (1_500.0, ""),
    )
    (told,) = unread_statements(file, TABLES, WITHIN)
    assert told == "statements that name s.d.p.orders could not be read (2 unparsable): what they did is not told"


@pytest.mark.parametrize("text", ["no json", "[]", "{}"])
def test_another_file_is_refused_without_its_content(tmp_path: Path, text: str) -> None:
    (tmp_path / "other").write_text(text)
    with pytest.raises(ConfigError, match="is no file of dead letters"):
        list(unread_statements(tmp_path / "other", TABLES, WITHIN))
    with pytest.raises(ConfigError, match="No such file"):
        list(unread_statements(tmp_path / "none", TABLES, WITHIN))
