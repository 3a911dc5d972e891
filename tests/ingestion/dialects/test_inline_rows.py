import pytest

from ingestion.dialects import dialect_of
from ingestion.dialects.inline_rows import row_format
from ingestion.dialects.lexing import tokens


@pytest.mark.parametrize(
    ("text", "name", "behind_query"),
    [
        ("INSERT INTO t FORMAT CSV 1,'it", "CSV", False),
        ("INSERT INTO t (a, select) FORMAT CSV 1,x", "CSV", False),
        ("INSERT INTO t (select) FORMAT CSV 1,x", "CSV", False),
        ("INSERT INTO t (select, a) SETTINGS x = 1 FORMAT CSV 1,x", "CSV", False),
        ("INSERT INTO select FORMAT CSV 1,x", "CSV", False),
        ("INSERT INTO d.select FORMAT `CSV` 1,x", "`CSV`", False),
        ('INSERT INTO format FORMAT "CSV" 1,x', '"CSV"', False),
        ("INSERT INTO t FORMAT Values (1)", "Values", False),
        ("INSERT INTO t SELECT a FROM input('a String') FORMAT CSV x", "CSV", True),
        ("INSERT INTO t (a) (SELECT a FROM input('a String')) FORMAT CSV x", "CSV", True),
        ("WITH x AS (SELECT 1) INSERT INTO t FORMAT CSV x", "CSV", False),
    ],
)
def test_rows_stand_behind_the_format_of_an_insert(text: str, name: str, behind_query: bool) -> None:
    found = row_format(tokens(text, dialect_of("clickhouse")))
    assert found is not None
    assert (found.token.text, found.behind_query) == (name, behind_query)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t SELECT a FROM s FORMAT Null",
        "INSERT INTO t SELECT format x FROM s",
        "INSERT INTO t (a) (SELECT a FROM s) FORMAT Null",
        "INSERT INTO format SELECT a FROM s",
        "INSERT INTO input (a) SELECT a FROM s FORMAT Null",
        "INSERT INTO t (format) VALUES (1)",
        "SELECT a FROM t FORMAT CSV",
    ],
)
def test_none_stand_where_nothing_reads_them(text: str) -> None:
    assert row_format(tokens(text, dialect_of("clickhouse"))) is None
