"""Tables of ClickHouse's that hold another one's rows, by the names that their definitions give it."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import analysed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE TABLE d (a Int8) ENGINE = Distributed(c, 'my-db', 't.x')", ("my-db", "t.x")),
        ("CREATE TABLE d (a Int8) ENGINE = Buffer('', 't.x', 16)", ("t.x",)),
        ("CREATE DICTIONARY d (a Int8) PRIMARY KEY a SOURCE(CLICKHOUSE(DB 'my.db' TABLE 't.x'))", ("my.db", "t.x")),
        ("CREATE TABLE d AS SELECT a FROM dictionary('lib.names')", ("lib", "names")),
    ],
)
def test_a_name_in_quotes_is_one_name_whatever_it_holds(text: str, expected: tuple[str, ...]) -> None:
    (flow,) = analysed(text, "clickhouse").flows
    assert [name.parts for name in flow.sources] == [expected]
