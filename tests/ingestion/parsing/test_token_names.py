"""Names read off tokens: relations, aliases, common tables, in the spelling of each dialect."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.errors import Templated
from ingestion.parsing.token_names import alias_at, common_tables, name_at, relation_at, relation_name


def code(text: str, dialect: str = "postgres") -> Code:
    return Code.of(text, dialect_of(dialect))


@pytest.mark.parametrize(
    ("text", "dialect", "parts"),
    [
        ('Mart."Sales"', "postgres", ("mart", "Sales")),
        ("db..t", "tsql", ("db", "dbo", "t")),
        ("#rows", "tsql", ("#rows",)),
        ("my-project.d.t", "bigquery", ("my-project", "d", "t")),
        ("`my-project.d.t`", "bigquery", ("my-project", "d", "t")),
        ("parquet.`/data/x`", "spark", ("/data/x",)),
        ('"https://u:secret@h".t', "postgres", ("https://h", "t")),
    ],
)
def test_a_relation_s_name_in_the_spelling_of_its_dialect(text: str, dialect: str, parts: tuple[str, ...]) -> None:
    name, end = relation_name(code(f"{text} AS a", dialect), 0)
    assert name is not None
    assert name.parts == parts
    assert alias_at(code(f"{text} AS a", dialect), end)[0].lower() == "a"


def test_no_name_is_none() -> None:
    assert name_at(code("(SELECT 1)"), 0) is None
    assert relation_name(code("'a'"), 0) == (None, 0)
    assert name_at(code("a."), 0) is None


def test_a_name_that_is_bound_later_is_refused() -> None:
    with pytest.raises(Templated):
        relation_at(code("IDENTIFIER($t)", "snowflake"), 0)
    assert relation_at(code("IDENTIFIER('t')", "snowflake"), 0) is not None


def test_what_may_follow_a_relation_is_no_alias() -> None:
    assert alias_at(code("t WHERE a"), 1) == ("", 1)
    assert alias_at(code("t x WHERE a"), 1) == ("x", 2)


def test_common_tables_wherever_they_stand() -> None:
    read = code("WITH a AS (SELECT 1), b (x) AS MATERIALIZED (WITH c AS (SELECT 2) SELECT * FROM c) SELECT 3")
    assert [item.name for item in common_tables(read)] == ["a", "b", "c"]
    assert not any(item.recursive for item in common_tables(read))
    assert [item.recursive for item in common_tables(code("WITH RECURSIVE r AS (SELECT 1) SELECT 2"))] == [True]
