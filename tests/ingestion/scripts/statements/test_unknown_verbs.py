"""What begins with no verb of SQL is not read; what only holds no lineage is."""

from __future__ import annotations

import pytest

from ingestion.errors import RecordError
from ingestion.model.lineage import LineageType
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
        ("CREATE OR REPLACE STREAMLIT d.s.app FROM '@d.s.code' MAIN_FILE = 'app.py'", "snowflake"),
        ("CREATE NAMED COLLECTION c AS k = 'v'", "clickhouse"),
        ("CREATE MASK m ON t FOR COLUMN c RETURN c ENABLE", "db2"),
        (".LOGON host/user\nDELETE FROM t;", "teradata"),
    ],
)
def test_statements_without_lineage_and_calls_are_read(text: str, dialect: str) -> None:
    assert LineageParser(text, dialect).failures == ()


@pytest.mark.parametrize(
    ("text", "dialect", "told"),
    [
        ("INSERT INTO t SELECT a FROM s;\nCALL web.load()", "postgres", ("line 2: what CALL runs is not known",)),
        ("CREATE PROCEDURE web.load() AS $$ $$;\nCALL web.load()", "postgres", ()),
        ("refresh_all", "tsql", ("line 1: what REFRESH_ALL runs is not known",)),
        ("BEGIN DBMS_OUTPUT.PUT_LINE('x'); refresh_all; END;", "oracle", ("line 1: what is called here is not known",)),
        ("CREATE PROCEDURE p AS BEGIN other_one; END;", "oracle", ()),
        ("EXECUTE sp_addextendedproperty @name = N'd', @value = N'x', @level0type = N'SCHEMA'", "tsql", ()),
        ("EXEC sys.sp_addrolemember 'r', 'u'", "tsql", ()),
        ("IF 1 = 1 BEGIN EXEC sp_dboption 'd', 'x', 'true' END", "tsql", ()),
        ("CALL sp_adduser(1)", "mysql", ("line 1: what CALL runs is not known",)),
        ("EXEC sp_start_job 'nightly'", "tsql", ("line 1: what EXEC runs is not known",)),
        ("CREATE OR REPLACE TASK d.k AS INSERT INTO t (a) SELECT a FROM s;\nEXECUTE TASK k", "snowflake", ()),
        ("ALTER TASK k RESUME;\nEXECUTE TASK k", "snowflake", ("line 2: what EXECUTE runs is not known",)),
        ("CREATE TASK k AS CALL p(1)", "snowflake", ("line 1: what is called here is not known",)),
        (
            "CREATE ALERT k IF (EXISTS (SELECT 1)) THEN CALL p()",
            "snowflake",
            ("line 1: what is called here is not known",),
        ),
        (
            "CREATE PROCEDURE p() RETURNS INT LANGUAGE SQL AS $$ BEGIN RETURN 1; END $$;\nCREATE TASK k AS CALL p()",
            "snowflake",
            (),
        ),
    ],
)
def test_a_call_of_what_the_text_does_not_define_is_told(text: str, dialect: str, told: tuple[str, ...]) -> None:
    parser = LineageParser(text, dialect)
    assert (parser.unread_calls, parser.failures) == (told, ())
    (same,) = LineageParser.of_each([text], dialect)
    assert isinstance(same, LineageParser)
    assert same.unread_calls == told


def test_what_is_prepared_is_read_where_it_stands() -> None:
    for text, dialect in (
        ("PREPARE q (int) AS INSERT INTO t (a) SELECT a FROM s WHERE b = $1; EXECUTE q (1)", "postgres"),
        ("PREPARE q FROM 'INSERT INTO t (a) SELECT a FROM s'; EXECUTE q", "mysql"),
    ):
        parser = LineageParser(text, dialect)
        assert [str(edge.target) for edge in parser.edges if edge.type is LineageType.DIRECT] == ["t.a"]
        assert (parser.failures, parser.unread_calls) == ((), ())


def test_the_statements_beside_are_read() -> None:
    parser = LineageParser("INSERT INTO t (a) SELECT a FROM s; selec x", "postgres")
    assert [str(edge.target) for edge in parser.edges] == ["t.a"]
    assert parser.failures == ("line 1: unknown_verb",)
