"""What begins with no verb of SQL is not read; what only holds no lineage is."""

from __future__ import annotations

import pytest

from ingestion.errors import RecordError
from ingestion.parser import LineageParser


@pytest.mark.parametrize(
    "text", ["CREATE TABEL t AS SELECT a FROM s", "DROP VEIW v", "garbage", "garbage here", "selec x"]
)
def test_words_that_are_no_statement_are_a_failure(text: str) -> None:
    with pytest.raises(RecordError, match="line 1: unknown_verb"):
        LineageParser(text, "postgres")


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("VACUUM t", "postgres"),
        ("EXPLAIN SELECT 1", "postgres"),
        ("CREATE QUOTA q", "postgres"),
        ("GRANT SELECT ON t TO u", "snowflake"),
        ("GRANT USAGE ON DATABASE <% env.db %> TO DATABASE ROLE IDENTIFIER('<% env.db %>.R')", "snowflake"),
        ("GRANT ROLE IDENTIFIER('{{ role }}') TO ROLE IDENTIFIER('{{ other }}')", "snowflake"),
        ("TRUNCATE TABLE IDENTIFIER('{{ db }}.s.t')", "snowflake"),
        ("refresh_all", "tsql"),
        ("EXEC pkg.refresh('all')", "oracle"),
        ("ALTER FUNCTION f(int) OWNER TO u", "postgres"),
        ("CREATE PACKAGE p AS\n  TYPE t IS TABLE OF NUMBER;\n  PROCEDURE q(a IN VARCHAR2);\nEND;\n/", "oracle"),
        ("BEGIN\n  log_it(1);\n  refresh_all;\nEND;", "oracle"),
        ("PROMPT loading\nSET ECHO ON\nINSERT INTO t (a) SELECT a FROM s;", "oracle"),
        (".LOGON host/user\nDELETE FROM t;", "teradata"),
    ],
)
def test_statements_without_lineage_and_calls_are_read(text: str, dialect: str) -> None:
    assert LineageParser(text, dialect).failures == ()


def test_the_statements_beside_are_read() -> None:
    parser = LineageParser("INSERT INTO t (a) SELECT a FROM s; selec x", "postgres")
    assert [str(edge.target) for edge in parser.edges] == ["t.a"]
    assert parser.failures == ("line 1: unknown_verb",)
