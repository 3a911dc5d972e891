"""Texts that a T-SQL script puts together in a variable and runs."""

from __future__ import annotations

import pytest

from ingestion.errors import Unparsable
from ingestion.model.outcomes import Outcome
from ingestion.parser import LineageParser
from ingestion.statements import split
from ingestion.statements.routines.bodies import block_steps
from ingestion.statements.routines.session_variables import with_variables
from ingestion.statements.routines.steps import RoutineStep


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


GIVEN = "DECLARE @i int = 0, @s nvarchar(max) = N'INSERT INTO t SELECT a FROM r'\n"
OTHER = "SET @s = N'INSERT INTO t2 SELECT a FROM r2'"


@pytest.mark.parametrize("again", ["DECLARE @s varchar(99)\n", "DECLARE @s varchar(99);\n", ""])
def test_a_variable_ends_with_its_batch(again: str) -> None:
    read = LineageParser(f"{GIVEN}EXEC (@s)\nGO\n{again}EXEC (@s)", dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "t")]
    assert [one.split(": ")[1] for one in read.failures] == ["dynamic_sql"]


@pytest.mark.parametrize(
    "run",
    [
        "DECLARE @s nvarchar(max) = N'SELECT a AS p INTO #x FROM r2';\nEXEC (@s)",
        "EXEC (N'CREATE TABLE #X (p int); INSERT INTO #x SELECT a FROM r2')",
        "EXEC (N'IF OBJECT_ID(''tempdb..#x'') IS NOT NULL DROP TABLE #x SELECT a AS p INTO [#x] FROM r2')",
    ],
)
def test_a_temporary_table_of_a_text_is_none_of_the_script(run: str) -> None:
    text = f"SELECT a AS p INTO #x FROM r1;\n{run};\nINSERT INTO t (p) SELECT p FROM #x"
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage if str(b) in ("#x", "t")] == [("r1", "#x"), ("#x", "t")]
    assert read.failures == ()


def test_a_temporary_table_of_a_text_that_runs_texts_with_it_is_not_followed() -> None:
    text = "INSERT INTO k SELECT a FROM l;\nEXEC ('SELECT a INTO #x FROM r; EXEC (''INSERT INTO t SELECT a FROM #x'')')"
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("l", "k")]
    assert [one.split(": ")[1] for one in read.failures] == ["dynamic_sql"]


def test_a_text_may_fill_a_temporary_table_of_the_script_or_make_one_of_all_sessions() -> None:
    text = (
        "CREATE TABLE #x (p int);\nEXEC (N'INSERT INTO #x SELECT a FROM r');\nINSERT INTO t (p) SELECT p FROM #x;\n"
        "EXEC (N'SELECT a AS p INTO ##y FROM k');\nINSERT INTO u (p) SELECT p FROM ##y"
    )
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "#x"), ("#x", "t"), ("k", "##y"), ("##y", "u")]


@pytest.mark.parametrize(
    "run",
    [
        "DECLARE @d sysname = 'x', @s nvarchar(max)\nSET @s = N'USE [' + @d + N']; INSERT INTO t SELECT a FROM r'\n"
        "EXEC (@s)",
        "EXEC ('USE x; INSERT INTO t SELECT a FROM r')",
        "EXEC ('USE x EXEC fill')",
    ],
)
def test_a_text_that_goes_to_another_database_is_told_and_not_read(run: str) -> None:
    read = LineageParser(f"INSERT INTO k SELECT a FROM l;\n{run}", dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("l", "k")]
    assert [one.split(": ")[1] for one in read.failures] == ["dynamic_sql"]


def test_a_text_that_only_sets_rights_in_another_database_loses_nothing() -> None:
    read = LineageParser("INSERT INTO k SELECT a FROM l;\nEXEC ('USE x; EXEC sp_addrole ''a''')", dialect="tsql")
    assert read.failures == ()


@pytest.mark.parametrize(
    "text",
    [
        f"IF @i = 1\nBEGIN\n  END CONVERSATION @h\n  {OTHER}\nEND\nEXEC (@s)",
        f"IF @i = 1\nBEGIN\n  BEGIN CONVERSATION TIMER (@h)\nEND\nIF @i = 2 BEGIN\n  {OTHER}\nEND\nEXEC (@s)",
        f"IF @i = 1\nBEGIN\n  BEGIN DIALOG @h FROM SERVICE a TO SERVICE 'b'\n  {OTHER}\nEND\nEXEC (@s)",
        f"WHILE @i < 3 IF @i > 1 BEGIN EXEC (@s); {OTHER}; SET @i += 1; END",
        f"WHILE @i < 3 BEGIN TRY EXEC (@s) END TRY BEGIN CATCH {OTHER} END CATCH",
        f"WHILE @i < 3\nBEGIN\n  IF @i = 1 END CONVERSATION @h\n  EXEC (@s)\n  {OTHER}\nEND",
        "SET @s = (SELECT q FROM jobs)\nIF @i = 1 SET @s = ''\nEXEC (@s)",
    ],
)
def test_a_script_may_have_given_a_variable_another_text(text: str) -> None:
    read = LineageParser(f"INSERT INTO k SELECT a FROM l;\n{GIVEN}{text}", dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("l", "k")]
    assert {one.split(": ")[1] for one in read.failures} == {"dynamic_sql"}


def test_a_conversation_of_services_is_no_block() -> None:
    text = (
        "BEGIN DIALOG CONVERSATION @h FROM SERVICE a TO SERVICE 'b'\nINSERT INTO t SELECT a FROM r\n"
        "END CONVERSATION @h\nINSERT INTO u SELECT a FROM q"
    )
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "t"), ("q", "u")]


@pytest.mark.parametrize(
    ("type_", "table"),
    [
        ("varchar(5)", None),
        ("varchar", None),
        ("int", None),
        ("dbo.short", None),
        ("[nvarchar](6)", "orders"),
        ("varchar(max)", "orders"),
        ("AS sysname", "orders"),
        ("char(6)", "orders"),
    ],
)
def test_a_variable_holds_of_a_text_what_its_type_does(type_: str, table: str | None) -> None:
    text = (
        f"INSERT INTO k SELECT a FROM l;\nDECLARE @n {type_} = 'orders', @s varchar(99)\n"
        "SET @s = 'INSERT INTO ' + @n + '_old SELECT a FROM r'\nEXEC (@s)"
    )
    read = LineageParser(text, dialect="tsql")
    found = [(str(a), str(b)) for a, b in read.table_lineage if str(a) == "r"]
    assert found == ([("r", f"{table}_old")] if table else [])
    assert len(read.failures) == (table is None)


def test_a_text_that_is_run_often_does_not_make_a_script_large() -> None:
    text = "DECLARE @s varchar(max) = '" + "x" * 50_000 + "'\n" + "EXEC (@s);\n" * 500
    read = [one.text for one in with_variables(split(text, "tsql"), "tsql")]
    assert sum(map(len, read)) < 2 * 550_000 + len(text)
    assert read[-1] == "EXEC (@s)"
    steps = block_steps(f"BEGIN {text} END", "tsql")
    assert steps[-1] == RoutineStep(problem=Outcome.DYNAMIC_SQL)


def test_many_loops_of_one_statement_are_read() -> None:
    text = GIVEN + "WHILE @i < 1 SET @i = 1\n" * 5_000 + "EXEC (@s)"
    assert block_steps(f"BEGIN {text} END", "tsql") == (RoutineStep("INSERT INTO t SELECT a FROM r"),)


@pytest.mark.parametrize("space", ["\n", " ", "; "])
@pytest.mark.parametrize(
    "written",
    [
        "SELECT a AS p INTO t FROM r",
        "INSERT INTO t (p) SELECT a FROM r",
        "WITH x AS (SELECT a FROM r) INSERT INTO t SELECT a FROM x",
        "DECLARE @j int INSERT INTO t (p) SELECT a FROM r",
    ],
)
def test_what_is_written_behind_a_declaration_is_read(written: str, space: str) -> None:
    read = LineageParser(f"DECLARE @i int = 1{space}{written}", dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "t")]
    assert read.failures == ()


@pytest.mark.parametrize(
    "run",
    [
        "INSERT INTO t (p) EXEC (@s)",
        "INSERT INTO t (p) EXECUTE sys.sp_executesql @stmt = @s",
        "INSERT t EXEC sp_executesql @s, N'@i int', @i = 1",
        "IF @i = 1 INSERT INTO t (p) EXEC (@s + N' WHERE b = 1')",
    ],
)
@pytest.mark.parametrize("around", ["{}", "BEGIN {} END", "CREATE PROCEDURE q AS BEGIN {} END"])
def test_rows_of_a_text_in_a_variable_are_those_of_its_query(run: str, around: str) -> None:
    text = around.format(f"DECLARE @i int = 1, @s nvarchar(99) = N'SELECT a FROM r';\n{run}")
    read = LineageParser(text, dialect="tsql")
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("r", "t")]
    assert (read.failures, read.problems) == ((), ())


@pytest.mark.parametrize(
    "run",
    [
        "INSERT INTO t (p) EXEC (@s) AT far",
        "INSERT INTO t (p) EXEC other.sys.sp_executesql @s",
        "INSERT INTO t (p) EXEC p @s",
        "SET @s = (SELECT q FROM jobs)\nINSERT INTO t (p) EXEC (@s)",
    ],
)
def test_rows_of_what_is_not_known_are_told_as_such(run: str) -> None:
    read = LineageParser(f"DECLARE @s nvarchar(99) = N'SELECT a FROM r';\n{run}", dialect="tsql")
    assert read.table_lineage == ()
    assert [one.subject for one in read.problems] == ["rows of a procedure"]


@pytest.mark.parametrize("after", ["EXEC (@s)", "SELECT a AS p INTO t FROM r"])
def test_rows_that_are_written_out_end_an_insert(after: str) -> None:
    steps = block_steps(
        f"BEGIN DECLARE @s nvarchar(99) = N'DELETE FROM r' INSERT INTO k VALUES (1) {after} END", "tsql"
    )
    assert [one.text for one in steps] == [
        "INSERT INTO k VALUES (1)",
        "DELETE FROM r" if after.startswith("EXEC") else after,
    ]


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ("EXEC ('SELECT a FROM y SELECT b FROM z')", {"y.a", "z.b"}),
        ("EXEC sp_executesql N'SELECT a FROM y; SELECT b FROM z'", {"y.a", "z.b"}),
        ("EXEC ('SELECT @v = 1 SELECT a FROM y')", {"y.a"}),
    ],
)
def test_the_rows_of_all_queries_of_a_text_are_inserted(given: str, rows: set[str]) -> None:
    read = LineageParser(f"INSERT INTO t (p) {given}", dialect="tsql")
    assert {(str(edge.source), str(edge.target)) for edge in read.edges} == {(row, "t.p") for row in rows}


def test_a_text_that_does_more_than_give_rows_is_not_read_in_part() -> None:
    with pytest.raises(Unparsable, match="more than one statement"):
        LineageParser("INSERT INTO t (p) EXEC ('UPDATE q SET a = 1 SELECT a FROM y')", dialect="tsql")


@pytest.mark.parametrize(
    ("behind", "known"),
    [("SET @s = 'INSERT INTO u SELECT b FROM q'; GOTO again", False), ("IF @@ERROR = 1205 GOTO again", True)],
)
def test_a_text_that_a_jump_back_runs_again_is_known_where_it_is_the_same(behind: str, known: bool) -> None:
    given = "DECLARE @s nvarchar(max); SET @s = 'INSERT INTO t SELECT a FROM r'"
    written = f"{given}; again: EXEC (@s); {behind}"
    found = RoutineStep("INSERT INTO t SELECT a FROM r") if known else RoutineStep(problem=Outcome.DYNAMIC_SQL)
    assert block_steps(f"BEGIN {written} END", "tsql") == (found,)
