"""Texts that a T-SQL script puts together in a variable and runs."""

from __future__ import annotations

import pytest

from ingestion.parser import LineageParser


@pytest.mark.parametrize(
    "text",
    [
        "DECLARE @s nvarchar(max) = N'INSERT INTO t SELECT a FROM r'; EXEC (@s)",
        "DECLARE @s nvarchar(max) = N'INSERT INTO t SELECT a FROM r' EXEC (@s)",
        "DECLARE @s nvarchar(max), @t sysname\nSET @t = 't'\nSET @s = N'INSERT ' + @t\nSET @s += N' SELECT a FROM r'\n"
        "EXEC sp_executesql @s",
        "DECLARE @s nvarchar(max);\nSELECT @s = N'INSERT INTO t SELECT a FROM r WHERE d > @d';\n"
        "EXEC sys.sp_executesql @stmt = @s, @params = N'@d date', @d = '2020-01-01';",
        "DECLARE @s varchar(99) = 'DELETE FROM x'\nGO\n"
        "DECLARE @s varchar(99) = 'INSERT INTO t SELECT a FROM r'\nEXEC (@s)",
        "DECLARE @s varchar(99) = 'INSERT INTO t SELECT a FROM r'\nIF @x = 1\nBEGIN\n  EXEC (@s)\nEND",
    ],
)
def test_a_script_runs_the_text_that_it_has_given_a_variable(text: str) -> None:
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "t")]
    assert read.failures == ()


def test_a_text_is_run_where_it_stands_among_the_statements_of_a_script() -> None:
    text = (
        "INSERT INTO t SELECT a FROM r;\nDECLARE @s nvarchar(99) = N'EXEC sp_rename ''t'', ''o''';\nEXEC (@s);\n"
        "INSERT INTO v SELECT a FROM o;"
    )
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "o"), ("o", "v")]


@pytest.mark.parametrize(
    "text",
    [
        "DECLARE @s nvarchar(99) = N'INSERT INTO t SELECT a FROM r';\nSELECT @s = text FROM jobs;\nEXEC (@s)",
        "DECLARE @s nvarchar(99) = N'INSERT INTO t SELECT a FROM r';\nIF @x = 1 SET @s = 'DELETE FROM t';\nEXEC (@s)",
        "DECLARE @s nvarchar(99) = N'INSERT INTO t SELECT a FROM r';\nEXEC (@s) AT far",
        "SET @s = N'INSERT INTO t SELECT a FROM r';\nEXEC (@s)",
        "CREATE PROCEDURE p AS DECLARE @s varchar(99) = 'INSERT INTO t SELECT a FROM r'\nGO\nEXEC (@s)",
    ],
)
def test_a_script_that_may_run_another_text_says_so(text: str) -> None:
    read = LineageParser(f"INSERT INTO k SELECT a FROM l;\n{text}", dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("l", "k")]
    assert [one.split(": ")[1] for one in read.failures] == ["dynamic_sql"]
