"""Bodies come apart into the statements that they run, whatever the dialect's way of writing them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.dialects import DIALECTS
from ingestion.model.outcomes import Outcome
from ingestion.statements import split
from ingestion.statements.routines.bodies import block_steps, routines_in, take_apart
from ingestion.statements.routines.steps import RoutineStep

PLPGSQL = """CREATE OR REPLACE PROCEDURE etl.load(p_day date, n int) LANGUAGE plpgsql SET search_path = etl, public
AS $$
DECLARE
  v_total numeric := 0;
BEGIN
  CREATE TEMP TABLE tmp AS SELECT * FROM src WHERE d = p_day;
  IF n > 0 THEN
    INSERT INTO a SELECT x FROM tmp;
  ELSIF n = 0 THEN
    NULL;
  ELSE
    INSERT INTO b (x) SELECT x FROM tmp WHERE CASE WHEN y = 1 THEN true ELSE false END;
  END IF;
  <<again>>
  LOOP
    EXIT again WHEN n > 3;
    UPDATE c SET n = c.n + 1;
  END LOOP;
  CALL nested(p_day);
  PERFORM other.proc(1);
EXCEPTION WHEN OTHERS THEN
  INSERT INTO errors SELECT * FROM failed;
END $$"""

TSQL = """CREATE PROCEDURE dbo.Load @day date, @n int = 3 AS
BEGIN
 SET NOCOUNT ON
 DECLARE @rows TABLE (id int, v int)
 INSERT INTO @rows (id, v) SELECT id, v FROM src WHERE d = @day
 BEGIN TRY
   IF EXISTS (SELECT 1 FROM chk)
   BEGIN
     INSERT INTO tgt SELECT id, CASE WHEN v = 1 THEN 2 ELSE 3 END FROM @rows UNION ALL SELECT a, b FROM more
   END
   ELSE UPDATE t SET x = s.y FROM t JOIN s ON s.id = t.id
   MERGE INTO m USING (SELECT * FROM u) s ON m.id = s.id
     WHEN MATCHED THEN UPDATE SET m.v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
   WITH q AS (SELECT a FROM w) INSERT INTO r SELECT a FROM q
   SELECT id INTO #tmp FROM @rows
   EXEC dbo.Nested @day
 END TRY
 BEGIN CATCH
   INSERT INTO errs (m) SELECT message FROM failed
   THROW
 END CATCH
END"""


def texts(steps: tuple[RoutineStep, ...]) -> list[str]:
    return [" ".join(step.text.split()) for step in steps if step.text]


def calls(steps: tuple[RoutineStep, ...]) -> list[tuple[str, ...]]:
    return [step.calls for step in steps if step.calls]


def steps_of(text: str, dialect: str) -> tuple[RoutineStep, ...]:
    routine = take_apart(text, dialect)
    assert routine is not None
    return routine.steps


def test_plpgsql_is_looked_through() -> None:
    routine = take_apart(PLPGSQL, "postgres")
    assert routine is not None
    assert (routine.name, routine.path) == (("etl", "load"), ("etl", "public"))
    assert texts(routine.steps) == [
        "CREATE TEMP TABLE tmp AS SELECT * FROM src WHERE d = :p_day",
        "INSERT INTO a SELECT x FROM tmp",
        "INSERT INTO b (x) SELECT x FROM tmp WHERE CASE WHEN y = 1 THEN true ELSE false END",
        "UPDATE c SET n = c.n + 1",
        "INSERT INTO errors SELECT * FROM failed",
    ]
    assert calls(routine.steps) == [("nested",), ("other", "proc")]


@pytest.mark.parametrize(
    "statements",
    [
        ["SELECT a INTO t FROM copy", "INSERT INTO u SELECT a FROM t"],
        ["SELECT a INTO t FROM\ncopy", "INSERT INTO u SELECT a FROM t"],
        ["SELECT x AS copy INTO t FROM s", "UPDATE copy SET a = 1"],
        ["INSERT INTO u SELECT s.a FROM s FULL MERGE JOIN r ON s.a = r.a", "DELETE FROM copy"],
        ["UPDATE t SET a = 1 FROM t JOIN copy ON copy.a = t.a", "DELETE FROM copy"],
        ["CREATE VIEW v AS WITH x AS (SELECT a FROM s) SELECT a FROM x WITH CHECK OPTION"],
        ["CREATE TABLE t WITH (HEAP) AS WITH x AS (SELECT a FROM s) SELECT a FROM x", "INSERT INTO u SELECT b FROM r"],
    ],
)
def test_a_statement_of_t_sql_goes_on_where_none_can_end(statements: list[str]) -> None:
    assert texts(steps_of(f"CREATE PROCEDURE p AS {' '.join(statements)}", "tsql")) == [
        " ".join(text.split()) for text in statements
    ]


@pytest.mark.parametrize("between", [" ", "\n"])
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE t ADD id int IDENTITY PRIMARY KEY",
        "ALTER DATABASE d SET RECOVERY FULL",
        "DECLARE c CURSOR FOR SELECT a FROM t FOR UPDATE",
        "DROP VIEW view",
        "EXEC sp_refreshview view",
    ],
)
@pytest.mark.parametrize("following", ["INSERT INTO u SELECT a FROM s", "UPDATE u SET a = s.a FROM s"])
def test_a_statement_of_t_sql_ends_with_a_word_that_stands_in_the_middle_of_others(
    statement: str, between: str, following: str
) -> None:
    steps = steps_of(f"CREATE PROCEDURE p AS BEGIN {statement}{between}{following} END", "tsql")
    assert texts(steps)[-1] == following


def test_t_sql_needs_no_semicolons() -> None:
    steps = steps_of(TSQL, "tsql")
    assert texts(steps) == [
        "CREATE TABLE [#@rows] (id int, v int)",
        "INSERT INTO [#@rows] (id, v) SELECT id, v FROM src WHERE d = @day",
        "INSERT INTO tgt SELECT id, CASE WHEN v = 1 THEN 2 ELSE 3 END FROM [#@rows] UNION ALL SELECT a, b FROM more",
        "UPDATE t SET x = s.y FROM t JOIN s ON s.id = t.id",
        "MERGE INTO m USING (SELECT * FROM u) s ON m.id = s.id WHEN MATCHED THEN UPDATE SET m.v = s.v"
        " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)",
        "WITH q AS (SELECT a FROM w) INSERT INTO r SELECT a FROM q",
        "SELECT id INTO #tmp FROM [#@rows]",
        "INSERT INTO errs (m) SELECT message FROM failed",
    ]
    assert calls(steps) == [("dbo", "nested")]


@pytest.mark.parametrize(
    ("dialect", "text", "found"),
    [
        (
            "snowflake",
            "CREATE PROCEDURE p(d DATE) RETURNS STRING LANGUAGE SQL AS $$ DECLARE n INT; BEGIN"
            " LET rs RESULTSET := (SELECT a FROM q); INSERT INTO t SELECT a, :n FROM s WHERE x = :d;"
            " IF (n > 1) THEN INSERT INTO u SELECT b FROM v; END IF; RETURN 'ok';"
            " EXCEPTION WHEN OTHER THEN RETURN 'bad'; END; $$",
            ["INSERT INTO t SELECT a, :n FROM s WHERE x = :d", "INSERT INTO u SELECT b FROM v"],
        ),
        (
            "snowflake",
            "CREATE PROCEDURE p() RETURNS STRING LANGUAGE SQL AS 'BEGIN INSERT INTO t SELECT ''x'', a FROM s; END'",
            ["INSERT INTO t SELECT 'x', a FROM s"],
        ),
        (
            "snowflake",  # what has no colon in SQL is a column, and before an arrow a parameter
            "CREATE PROCEDURE p() RETURNS STRING LANGUAGE SQL AS $$ DECLARE a INT; rowcount INT; BEGIN"
            " a := (SELECT max(k) FROM q); rowcount := (SELECT n FROM r); INSERT INTO t SELECT a, :a AS b FROM s,"
            " TABLE(GENERATOR(ROWCOUNT => :rowcount)); END $$",
            [
                "WITH headwater_variable_0 AS (SELECT max(k) FROM q), headwater_variable_1 AS (SELECT n FROM r)"
                " INSERT INTO t SELECT a, (SELECT * FROM headwater_variable_0) AS b FROM s,"
                " TABLE(GENERATOR(ROWCOUNT => (SELECT * FROM headwater_variable_1)))"
            ],
        ),
        (
            "tsql",
            "CREATE PROCEDURE p AS BEGIN SELECT TOP (1) @a = k FROM q ORDER BY k SELECT DISTINCT TOP 1 @b = m FROM r"
            " INSERT INTO t SELECT TOP 1 a, @a FROM s RAISERROR('x', 0, 1) WITH NOWAIT"
            " INSERT INTO u SELECT b FROM v DBCC FREEPROCCACHE WITH NO_INFOMSGS INSERT INTO w SELECT c FROM x END",
            [
                "WITH headwater_variable_0 AS (SELECT k FROM q ORDER BY k)"
                " INSERT INTO t SELECT TOP 1 a, (SELECT * FROM headwater_variable_0) AS [@a] FROM s",
                "INSERT INTO u SELECT b FROM v",
                "INSERT INTO w SELECT c FROM x",
            ],
        ),
        (
            "tsql",
            "CREATE PROCEDURE p AS BEGIN DROP TABLE IF EXISTS #w ALTER TABLE k DROP COLUMN IF EXISTS m"
            " ALTER TABLE k ALTER COLUMN n int IF EXISTS (SELECT 1 FROM q) INSERT INTO t SELECT a FROM s END",
            [
                "DROP TABLE IF EXISTS #w",
                "ALTER TABLE k DROP COLUMN IF EXISTS m",
                "ALTER TABLE k ALTER COLUMN n int",
                "INSERT INTO t SELECT a FROM s",
            ],
        ),
        (
            "snowflake",
            "CREATE TASK nightly WAREHOUSE = w SCHEDULE = '5 minute' AS INSERT INTO a SELECT b FROM c",
            ["INSERT INTO a SELECT b FROM c"],
        ),
        (
            "bigquery",
            "CREATE PROCEDURE ds.p(IN x INT64) BEGIN DECLARE d, e DATE DEFAULT CURRENT_DATE();"
            " WHILE x > 1 DO INSERT INTO ds.t SELECT a, e FROM ds.s; END WHILE; CALL ds.other(1);"
            " EXCEPTION WHEN ERROR THEN SELECT 1; END",
            ["INSERT INTO ds.t SELECT a, :e FROM ds.s"],
        ),
        (
            "oracle",
            "CREATE OR REPLACE PROCEDURE hr.p (p_id IN NUMBER) IS v NUMBER; BEGIN DELETE FROM t WHERE id = p_id;"
            " FORALL i IN 1..9 INSERT INTO u SELECT a FROM b; COMMIT; EXCEPTION WHEN OTHERS THEN ROLLBACK; END p;",
            ["DELETE FROM t WHERE id = :p_id", "INSERT INTO u SELECT a FROM b"],
        ),
        (
            "mysql",
            "CREATE DEFINER=`root`@`%` PROCEDURE p(IN d DATE) MODIFIES SQL DATA BEGIN DECLARE done INT DEFAULT 0;"
            " DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; SET done = done + 1;"
            " lbl: LOOP LEAVE lbl; END LOOP; REPLACE INTO r SELECT x, d FROM s; END",
            ["REPLACE INTO r SELECT x, :d FROM s"],
        ),
        ("mysql", "CREATE PROCEDURE p() INSERT INTO a SELECT b FROM c", ["INSERT INTO a SELECT b FROM c"]),
        (
            "redshift",
            "CREATE PROCEDURE p() AS $body$ BEGIN INSERT INTO a SELECT b FROM c; END; $body$ LANGUAGE plpgsql",
            ["INSERT INTO a SELECT b FROM c"],
        ),
        (
            "postgres",
            "CREATE PROCEDURE p() BEGIN ATOMIC INSERT INTO a SELECT b FROM c; DELETE FROM d; END",
            ["INSERT INTO a SELECT b FROM c", "DELETE FROM d"],
        ),
    ],
)
def test_each_dialect_s_way_is_understood(dialect: str, text: str, found: list[str]) -> None:
    assert texts(steps_of(text, dialect)) == found


@pytest.mark.parametrize(
    ("dialect", "text", "found"),
    [
        ("bigquery", "BEGIN INSERT INTO a SELECT b FROM c; END", "INSERT INTO a SELECT b FROM c"),
        ("postgres", "DO $$ BEGIN INSERT INTO a SELECT b FROM c; END $$", "INSERT INTO a SELECT b FROM c"),
        ("postgres", "DO LANGUAGE plpgsql 'BEGIN DELETE FROM a; END'", "DELETE FROM a"),
        ("snowflake", "EXECUTE IMMEDIATE $$ INSERT INTO a SELECT b FROM c $$", "INSERT INTO a SELECT b FROM c"),
        (
            "snowflake",
            "EXECUTE IMMEDIATE $$ BEGIN INSERT INTO a SELECT b FROM c; END $$",
            "INSERT INTO a SELECT b FROM c",
        ),
        (
            "oracle",
            "DECLARE n NUMBER; BEGIN INSERT INTO a SELECT n, b FROM c; END;",
            "INSERT INTO a SELECT :n, b FROM c",
        ),
        ("tsql", "IF 1 = 1 BEGIN INSERT INTO a SELECT b FROM c END", "INSERT INTO a SELECT b FROM c"),
    ],
)
def test_blocks_without_a_name_come_apart_too(dialect: str, text: str, found: str) -> None:
    assert texts(block_steps(text, dialect)) == [found]


@pytest.mark.parametrize(
    ("dialect", "body", "found"),
    [
        ("postgres", "EXECUTE 'INSERT INTO a SELECT b FROM c';", ["INSERT INTO a SELECT b FROM c"]),
        ("postgres", "EXECUTE 'INSERT INTO a ' || 'SELECT b FROM c';", ["INSERT INTO a SELECT b FROM c"]),
        (
            "snowflake",
            "LET s := 'INSERT INTO a SELECT b FROM c'; EXECUTE IMMEDIATE :s;",
            ["INSERT INTO a SELECT b FROM c"],
        ),
        ("bigquery", 'EXECUTE IMMEDIATE "INSERT INTO a SELECT b FROM c";', ["INSERT INTO a SELECT b FROM c"]),
        ("oracle", "EXECUTE IMMEDIATE q'[INSERT INTO a SELECT b FROM c]';", ["INSERT INTO a SELECT b FROM c"]),
    ],
)
def test_constant_dynamic_sql_is_followed(dialect: str, body: str, found: list[str]) -> None:
    assert texts(block_steps(f"BEGIN {body} END;", dialect)) == found


def test_constant_dynamic_sql_of_t_sql_is_followed() -> None:
    text = """CREATE PROCEDURE p AS
    DECLARE @sql nvarchar(max) = N'insert into a select b from c'
    EXEC(@sql) EXEC sp_executesql N'insert into d select e from f' EXEC('delete from g')"""
    assert texts(steps_of(text, "tsql")) == [
        "insert into a select b from c",
        "insert into d select e from f",
        "delete from g",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "EXEC sp_executesql @text, N'@since date', @since = '2026-01-01'",
        "EXEC sp_executesql @stmt = @text, @params = N'@since date', @since = '2026-01-01'",
        "EXEC @result = sp_executesql @text",
        "EXEC sys.sp_executesql @text",
        "EXEC [sp_executesql] N'insert into kept select b from raw'",
        "EXEC ((@text))",
        "EXEC ('insert into ' + @table + ' select b from raw')",
        "EXEC (@first + N' select b' + ' from raw')",
        "SET @empty = 'insert into ' + @table + ' select b from raw' EXEC (@empty)",
        "SELECT @empty = N'insert into kept select b from raw' EXEC (@empty)",
    ],
)
def test_a_text_of_t_sql_that_constants_make_is_followed_whole(body: str) -> None:
    declared = """DECLARE @text nvarchar(max) = N'insert into kept select b from raw',
        @table sysname = 'kept', @first varchar(99) = 'insert into kept', @empty nvarchar(max) = N''"""
    assert [step.text for step in block_steps(f"BEGIN {declared} {body} END", "tsql")] == [
        "insert into kept select b from raw"
    ]


@pytest.mark.parametrize(
    "filled",
    [
        "SELECT @table = name FROM settings",
        "FETCH NEXT FROM names INTO @table",
        "EXEC dbo.find_name @table OUTPUT",
        "SET @table = dbo.current_name()",
        "SET @table += @other",
        "SET @table -= 1",
        "IF @weekly = 1 SET @table = 'weekly'",
        "IF @weekly = 1 SET @table = ''",
        "SET @table = (SELECT name FROM settings)",
        "SELECT @table += name FROM settings",
        "UPDATE settings SET @table = name WHERE id = 1",
        "; WITH s AS (SELECT name FROM settings) SELECT @table = name FROM s",
        "EXEC @table = dbo.current_name",
    ],
)
def test_a_text_of_t_sql_that_something_else_fills_is_told_and_not_guessed(filled: str) -> None:
    body = f"DECLARE @table sysname = 'daily' {filled} EXEC ('insert into ' + @table + ' select b from raw')"
    assert block_steps(f"BEGIN {body} END", "tsql")[-1] == RoutineStep(problem=Outcome.DYNAMIC_SQL)


@pytest.mark.parametrize("given", ["SET @table += '_old'", "SELECT @table += N'_old'", "SET @table = @table + '_old'"])
@pytest.mark.parametrize("around", ["{}", "IF @old = 1 BEGIN {} END", "WHILE @n < 3 BEGIN SET @table = 'daily' {} END"])
def test_a_variable_of_t_sql_has_the_text_that_it_was_given_last(given: str, around: str) -> None:
    run = "EXEC ('insert into ' + @table + ' select b' + CHAR(13) + CHAR(10) + 'from raw')"
    steps = block_steps(f"BEGIN DECLARE @table sysname = 'daily' {around.format(f'{given} {run}')} END", "tsql")
    assert steps == (RoutineStep("insert into daily_old select b\r\nfrom raw"),)


@pytest.mark.parametrize(
    "passed",
    [
        "IF @old = 1 SET @table = 'old'",
        "IF @old = 1 BEGIN SET @table = 'old' SET @old = 0 END",
        "IF @old = 1 PRINT 'x' ELSE SET @table = 'old'",
        "WHILE @old < 3 BEGIN SET @old += 1 SET @table += '_old' END",
        "BEGIN TRY SET @table = 'old' END TRY BEGIN CATCH PRINT 'x' END CATCH",
        "again: SET @table = 'old' IF @old < 3 GOTO again",
    ],
)
def test_a_text_of_t_sql_is_not_known_behind_what_may_have_been_passed_over(passed: str) -> None:
    body = f"DECLARE @old int, @table sysname = 'daily' {passed} EXEC ('insert into ' + @table + ' select b from raw')"
    assert block_steps(f"BEGIN {body} END", "tsql") == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


def test_what_a_loop_gives_a_variable_may_have_been_given_before() -> None:
    run = "EXEC ('insert into ' + @table + ' select b from raw')"
    body = f"DECLARE @table sysname = 'a' WHILE @n < 3 BEGIN {run} SET @table = 'b' {run} END"
    assert block_steps(f"BEGIN {body} END", "tsql") == (
        RoutineStep(problem=Outcome.DYNAMIC_SQL),
        RoutineStep("insert into b select b from raw"),
    )


def test_a_text_of_t_sql_may_rename() -> None:
    (step,) = block_steps("EXEC ('EXEC sp_rename ''a'', ''b''')", "tsql")
    assert step.text == "EXEC sp_rename 'a', 'b'"


def test_an_empty_text_runs_nothing_and_is_as_a_part_another_text() -> None:
    ending = "DECLARE @ending sysname = '' IF @old = 1 SET @ending = '_old'"
    (step,) = block_steps(f"BEGIN {ending} EXEC ('insert into kept' + @ending + ' select b from raw') END", "tsql")
    assert step == RoutineStep(problem=Outcome.DYNAMIC_SQL)


def test_an_empty_text_is_none_of_what_it_is_given_to() -> None:
    given = "DECLARE @a sysname = '', @b sysname IF @old = 1 SET @a = '_old' SET @b = @a"
    (step,) = block_steps(f"BEGIN {given} EXEC ('insert into kept' + @b + ' select b from raw') END", "tsql")
    assert step == RoutineStep(problem=Outcome.DYNAMIC_SQL)


@pytest.mark.parametrize("default", ["IF @table IS NULL SET @table = 'daily'", "SET @table += '_x'"])
def test_whoever_calls_a_procedure_fills_its_parameters(default: str) -> None:
    text = f"CREATE PROCEDURE p @table sysname AS BEGIN {default} EXEC ('insert into ' + @table + ' select 1') END"
    (routine,) = routines_in(text, "tsql")
    assert routine.steps == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


@pytest.mark.parametrize(
    "kept", ["IF @table = 'x' PRINT 'y'", "WHILE (@table = 'x') BREAK", "EXEC dbo.check_it @table = @table"]
)
def test_what_a_variable_is_compared_with_or_passed_to_does_not_fill_it(kept: str) -> None:
    body = f"DECLARE @table sysname = 'daily' {kept} EXEC ('insert into ' + @table + ' select b from raw')"
    assert block_steps(f"BEGIN {body} END", "tsql")[-1] == RoutineStep("insert into daily select b from raw")


def test_a_table_variable_is_no_temporary_table_of_its_name() -> None:
    body = "DECLARE @t TABLE (a int) INSERT @t SELECT a FROM s INSERT #t SELECT b FROM u INSERT o SELECT a FROM @t"
    assert [step.text for step in block_steps(f"BEGIN {body} END", "tsql")] == [
        "CREATE TABLE [#@t] (a int)",
        "INSERT [#@t] SELECT a FROM s",
        "INSERT #t SELECT b FROM u",
        "INSERT o SELECT a FROM [#@t]",
    ]


def test_a_table_variable_is_read_where_a_statement_names_it_alone() -> None:
    written = "INSERT o SELECT [@t].a, '@t', b AS [@t] FROM @T JOIN u ON u.a = \"@t\".a /* @t */ WHERE u.b = @tt"
    steps = block_steps(f"BEGIN DECLARE @t TABLE (a int) {written} END", "tsql")
    assert [step.text for step in steps] == ["CREATE TABLE [#@t] (a int)", written.replace("@T", "[#@t]")]


@pytest.mark.parametrize(
    "text",
    [
        "EXEC other.sys.sp_executesql N'insert into kept select b from raw'",
        "EXEC @result = far.other.sys.sp_executesql N'insert into kept select b from raw'",
        "EXEC ('insert into kept select b from raw') AT far WITH RESULT SETS NONE",
    ],
)
def test_a_text_that_runs_elsewhere_is_not_read_as_one_of_this_database(text: str) -> None:
    assert block_steps(f"BEGIN DECLARE @result int {text} END", "tsql") == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


def test_a_text_that_doubles_from_variable_to_variable_ends() -> None:
    doubled = " ".join(f"DECLARE @v{n + 1} nvarchar(max) = @v{n} + @v{n}" for n in range(60))
    steps = block_steps(f"BEGIN DECLARE @v0 nvarchar(max) = 'insert into kept ' {doubled} EXEC (@v60) END", "tsql")
    assert steps == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


@pytest.mark.parametrize(
    "place", ["AT archive", "AT [far server];", "AS USER = 'loader' AT archive", "AT DATA_SOURCE lake"]
)
def test_a_text_that_another_server_runs_means_none_of_the_tables_here(place: str) -> None:
    steps = block_steps(f"BEGIN EXEC ('insert into kept select b from raw') {place} DELETE FROM raw END", "tsql")
    assert steps[0] == RoutineStep(problem=Outcome.DYNAMIC_SQL)
    assert [step.text for step in steps[1:]] == ["DELETE FROM raw"]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("postgres", "EXECUTE 'INSERT INTO ' || v || ' SELECT 1';"),
        ("postgres", "EXECUTE format('INSERT INTO %I SELECT 1', v);"),
        ("oracle", "EXECUTE IMMEDIATE v;"),
    ],
)
def test_dynamic_sql_that_is_put_together_says_so(dialect: str, body: str) -> None:
    assert block_steps(f"BEGIN {body} END;", dialect) == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


def test_a_text_that_is_set_twice_is_not_constant() -> None:
    body = "DECLARE s text; BEGIN s := 'INSERT INTO a SELECT 1'; s := 'INSERT INTO b SELECT 1'; EXECUTE s; END"
    assert block_steps(body, "postgres") == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


def test_a_variable_is_no_column_and_a_column_no_variable() -> None:
    text = (
        "CREATE PROCEDURE p(amount numeric, day date) LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO t (day, amount) SELECT o.day, amount FROM o WHERE o.day = day; END $$"
    )
    assert texts(steps_of(text, "postgres")) == [
        "INSERT INTO t (day, amount) SELECT o.day, :amount FROM o WHERE o.day = :day"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "insert into t select t.a from s join t on s.k = t.k",
        "update t set a = 1",
        "insert into u select a from (select a from t) x",
        "merge into t using s on t.k = s.k when matched then update set a = s.a",
    ],
)
def test_a_relation_is_one_though_a_variable_is_called_the_same(text: str) -> None:
    body = f"create procedure p() language plpgsql as $$ declare t int; begin {text}; end $$"
    assert [step.text for step in steps_of(body, "postgres")] == [text]
    years = "insert into u select extract(year from t) from s"
    body = f"create procedure p() language plpgsql as $$ declare t date; begin {years}; end $$"
    assert [step.text for step in steps_of(body, "postgres")] == [years.replace("from t", "from :t")]


def test_an_option_of_the_session_is_no_variable_of_t_sql() -> None:
    body = "create procedure p as begin set statistics io on; update statistics dbo.t; end"
    assert [step.text for step in steps_of(body, "tsql") if step.text and ":" in step.text] == []


def test_what_a_loop_or_cursor_fetched_is_read_through() -> None:
    text = (
        "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ DECLARE c CURSOR FOR SELECT id, amount FROM staging; v_id int;"
        " v_amount numeric; r record; BEGIN"
        " FOR r IN SELECT k, v FROM pairs LOOP INSERT INTO t (a) VALUES (r.v); END LOOP;"
        " OPEN c; LOOP FETCH c INTO v_id, v_amount; INSERT INTO u (b) VALUES (v_amount); END LOOP; END $$"
    )
    assert texts(steps_of(text, "postgres")) == [
        "WITH headwater_variable_0 AS (SELECT k, v FROM pairs)"
        " INSERT INTO t (a) VALUES ((SELECT r.v FROM headwater_variable_0 r))",
        "WITH headwater_variable_1 AS (SELECT amount FROM staging)"
        " INSERT INTO u (b) VALUES ((SELECT * FROM headwater_variable_1))",
    ]


def test_what_select_into_filled_is_read_through() -> None:
    body = "DECLARE top numeric; BEGIN SELECT max(x) INTO top FROM o; INSERT INTO t SELECT a, top FROM s; END"
    assert texts(block_steps(body, "postgres")) == [
        "WITH headwater_variable_0 AS (SELECT max(x) FROM o)"
        ' INSERT INTO t SELECT a, (SELECT * FROM headwater_variable_0) AS "top" FROM s'
    ]


def test_another_language_has_no_steps_and_says_which() -> None:
    routine = take_apart("CREATE PROCEDURE p() RETURNS STRING LANGUAGE JAVASCRIPT AS 'return 1'", "snowflake")
    assert routine is not None
    assert (routine.language, routine.steps) == ("javascript", ())


@pytest.mark.parametrize("text", ["CREATE TABLE t (a int)", "SELECT 1", "", "CREATE VIEW v AS SELECT 1"])
def test_what_is_no_routine_is_none(text: str) -> None:
    assert take_apart(text, "postgres") is None


WORDS = """create procedure p ( ) as begin end if then else loop for r in select a from t insert into ; declare case
when exec execute 'x' $$ set @v = := end fetch c while do merge with values , . return call"""
words = st.sampled_from(WORDS.split())


@given(st.lists(words, max_size=40), st.sampled_from(sorted(DIALECTS)))
def test_no_text_is_beyond_it(parts: list[str], dialect: str) -> None:
    text = " ".join(parts)
    take_apart(text, dialect)
    block_steps(text, dialect)


@pytest.mark.parametrize(
    ("dialect", "script", "found"),
    [
        # a block without its END, and one with an END too many
        ("mysql", "CREATE PROCEDURE p() BEGIN IF x THEN {0}; END", ["{0}"]),
        ("tsql", "CREATE PROCEDURE p AS BEGIN IF 1 = 1 BEGIN {0} END\nGO\n{1}", ["{0}", "{1}"]),
        ("postgres", "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN {0}; END; END; $$; {1}", ["{0}", "{1}"]),
        # quotes inside quotes
        (
            "postgres",
            "CREATE PROCEDURE p() LANGUAGE plpgsql AS $body$ BEGIN EXECUTE $${0}$$; PERFORM '$body'; END $body$; {1}",
            ["{0}", "{1}"],
        ),
        ("snowflake", "CREATE PROCEDURE p() AS $$ BEGIN {0}; RETURN 'a;$b'; END $$; {1}", ["{0}", "{1}"]),
        ("mysql", "CREATE PROCEDURE p() BEGIN {0}; SELECT 'END; BEGIN' AS `end`; /* END */ {1}; END", ["{0}", "{1}"]),
        # separators that are none
        (
            "tsql",
            "CREATE PROCEDURE p AS IF 1 = 1 BEGIN ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK IMMEDIATE; {0} END"
            "\nGO\n{1}",
            ["ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK IMMEDIATE", "{0}", "{1}"],
        ),
        ("tsql", "CREATE PROCEDURE p AS\n/*\nGO\n*/\n{0}\n-- GO\nSELECT 'x\nGO\ny'\nGO\n{1}", ["{0}", "{1}"]),
        ("oracle", "CREATE PROCEDURE p IS v NUMBER; BEGIN v := 4\n/\n2; {0}; END;\n/\n{1};", ["{0}", "{1}"]),
        ("oracle", "CREATE PROCEDURE p IS BEGIN /*\n/\n*/ {0}; END; -- done\n/\n{1};", ["{0}", "{1}"]),
        # labels and jumps
        ("postgres", "DO $$ <<all>> BEGIN <<one>> WHILE true LOOP {0}; EXIT one; END LOOP one; END all $$", ["{0}"]),
        ("oracle", "BEGIN <<one>> {0}; GOTO two; <<two>> {1}; END;", ["{0}", "{1}"]),
        ("mysql", "CREATE PROCEDURE p() a: BEGIN b: LOOP {0}; ITERATE b; LEAVE a; END LOOP b; END a", ["{0}"]),
        ("tsql", "CREATE PROCEDURE p AS\nagain:\n{0}\nIF @n < 3 GOTO again\n{1}", ["{0}", "{1}"]),
        # handlers inside handlers
        (
            "postgres",
            "DO $$ BEGIN BEGIN NULL; EXCEPTION WHEN unique_violation OR others THEN BEGIN {0};"
            " EXCEPTION WHEN OTHERS THEN {1}; END; END; END $$",
            ["{0}", "{1}"],
        ),
        (
            "tsql",
            "CREATE PROCEDURE p AS BEGIN TRY {0} END TRY BEGIN CATCH BEGIN TRY {1} END TRY BEGIN CATCH THROW END CATCH"
            " END CATCH",
            ["{0}", "{1}"],
        ),
        # no semicolon anywhere
        (
            "tsql",
            "CREATE PROC p AS SET NOCOUNT ON {0} IF @@ROWCOUNT > 0 {1} ELSE SET @i = 1 {0} WHILE @i < 3 BEGIN {1} END"
            " RETURN 0",
            ["{0}", "{1}", "{0}", "{1}"],
        ),
    ],
)
def test_what_is_built_to_mislead_does_not(dialect: str, script: str, found: list[str]) -> None:
    inserts = ("INSERT INTO a SELECT b FROM c", "INSERT INTO d SELECT e FROM f")
    found_texts: list[str] = []
    for statement in split(script.format(*inserts), dialect):
        routine = take_apart(statement.text, dialect)
        block = block_steps(statement.text, dialect) if statement.text[:2] in ("DO", "BE") else ()
        steps = routine.steps if routine is not None else block or (RoutineStep(statement.text),)
        assert not [step for step in steps if step.problem or step.calls]
        found_texts += texts(steps)
    assert found_texts == [one.format(*inserts) for one in found]


@pytest.mark.parametrize(
    ("dialect", "body", "value"),
    [
        (
            "tsql",
            "DECLARE @v int DECLARE c CURSOR LOCAL FOR WITH q AS (SELECT v FROM s) SELECT v FROM q OPEN c"
            " FETCH NEXT FROM c INTO @v INSERT INTO t (a) VALUES (@v) CLOSE c",
            "(SELECT * FROM headwater_variable_0)",
        ),
        (
            "mysql",
            "BEGIN DECLARE x INT; DECLARE c CURSOR FOR WITH q AS (SELECT v FROM s) SELECT v FROM q; OPEN c;"
            " FETCH c INTO x; INSERT INTO t (a) VALUES (x); END",
            "(SELECT * FROM headwater_variable_0)",
        ),
        (
            "bigquery",
            "FOR r IN (WITH q AS (SELECT v FROM s) SELECT v FROM q) DO INSERT INTO t (a) VALUES (r.v); END FOR",
            "(SELECT r.v FROM headwater_variable_0 r)",
        ),
    ],
)
def test_a_cursor_over_a_query_with_parts_is_read_through(dialect: str, body: str, value: str) -> None:
    assert texts(block_steps(body, dialect)) == [
        f"WITH headwater_variable_0 AS (WITH q AS (SELECT v FROM s) SELECT v FROM q) INSERT INTO t (a) VALUES ({value})"
    ]


def test_a_prepared_text_is_run_where_it_is_constant_and_is_no_call() -> None:
    body = (
        "BEGIN SET @s = CONCAT('INSERT INTO ', t, ' SELECT 1'); PREPARE one FROM @s; EXECUTE one;"
        " SET @z = 'INSERT INTO a SELECT b FROM c'; PREPARE two FROM @z; EXECUTE two; DEALLOCATE PREPARE two;"
        " PREPARE three FROM 'DELETE FROM d'; EXECUTE three USING @z; END"
    )
    assert block_steps(body, "mysql") == (
        RoutineStep(problem=Outcome.DYNAMIC_SQL),
        RoutineStep("INSERT INTO a SELECT b FROM c"),
        RoutineStep("DELETE FROM d"),
    )


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("tsql", "DECLARE @s nvarchar(max) = N'INSERT INTO ' + @t + N' SELECT 1' EXEC(@s) EXEC sp_executesql @s"),
        ("tsql", "DECLARE @s nvarchar(max) SET @s = 'INSERT INTO a SELECT 1' SET @s = @s + @t EXEC (@s)"),
        ("postgres", "DO $$ DECLARE s text := 'INSERT INTO '; BEGIN s := s || t; EXECUTE s; EXECUTE s USING t; END $$"),
        ("snowflake", "BEGIN EXECUTE IMMEDIATE 'INSERT INTO ' || t || ' SELECT 1'; END"),
        ("bigquery", "BEGIN EXECUTE IMMEDIATE CONCAT('INSERT INTO ', t, ' SELECT 1'); END"),
    ],
)
def test_a_text_made_of_variables_is_told_and_not_guessed(dialect: str, body: str) -> None:
    assert block_steps(body, dialect) == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)


@pytest.mark.parametrize("dialect", ["postgres", "tsql", "oracle", "mysql", "snowflake", "bigquery"])
def test_a_very_long_body_loses_no_statement(dialect: str) -> None:
    end = "" if dialect == "tsql" else ";"
    body = "\n".join(f"INSERT INTO t{number} SELECT a FROM s WHERE b = {number}{end}" for number in range(3_000))
    steps = block_steps(f"BEGIN\n{body}\nEND{end}", dialect)
    assert [step.text.split()[2] for step in steps] == [f"t{number}" for number in range(3_000)]


@pytest.mark.parametrize(
    ("dialect", "change"),
    [
        ("postgres", "INSERT INTO t (a) SELECT x FROM s RETURNING b INTO v"),
        ("postgres", "UPDATE ONLY t AS k SET a = 1 RETURNING c, k.b INTO STRICT w, v"),
        ("postgres", "WITH d AS (SELECT x FROM s) INSERT INTO t SELECT x FROM d RETURNING b INTO v"),
        ("oracle", "DELETE FROM t WHERE a = 1 RETURNING b BULK COLLECT INTO v"),
    ],
)
def test_of_what_a_change_gives_a_variable_nothing_is_told(dialect: str, change: str) -> None:
    begin = "DO $$ DECLARE v int; w int; BEGIN {} END $$" if dialect == "postgres" else "DECLARE v INT; BEGIN {} END;"
    first, second = block_steps(begin.format(f"{change}; INSERT INTO l (b) SELECT v FROM q;"), dialect)
    assert first.text == change.partition(" RETURNING")[0]
    assert second.text == "INSERT INTO l (b) SELECT :v FROM q"


@pytest.mark.parametrize(
    ("fill", "query"),
    [
        (
            "SELECT d.id INTO v FROM dim d; IF NOT FOUND THEN INSERT INTO dim VALUES (1) RETURNING id INTO v; END IF",
            "SELECT d.id FROM dim d",
        ),
        (
            "INSERT INTO dim VALUES (1) RETURNING id INTO v; IF v IS NULL THEN SELECT d.id INTO v FROM z d; END IF",
            "SELECT d.id FROM z d",
        ),
    ],
)
def test_what_a_change_gives_takes_no_query_from_a_variable(fill: str, query: str) -> None:
    steps = block_steps(f"DO $$ DECLARE v int; BEGIN {fill}; INSERT INTO l (b) SELECT v FROM q; END $$", "postgres")
    items = f"headwater_variable_0 AS ({query})"
    assert steps[-1].text == f'WITH {items} INSERT INTO l (b) SELECT (SELECT * FROM headwater_variable_0) AS "v" FROM q'


def test_a_value_that_is_reckoned_from_a_query_is_no_query() -> None:
    body = "DECLARE @x INT = (SELECT max(a) FROM m) + 1; SET @x = (SELECT b FROM n) * 2; INSERT t (k) SELECT @x FROM s"
    assert texts(block_steps(f"BEGIN {body} END", "tsql")) == ["INSERT t (k) SELECT @x FROM s"]


def test_a_text_that_a_query_has_replaced_is_not_run() -> None:
    body = "DECLARE s text; BEGIN s := 'INSERT INTO a SELECT b FROM c'; SELECT q INTO s FROM jobs; EXECUTE s; END"
    assert block_steps(f"DO $$ {body} $$", "postgres") == (RoutineStep(problem=Outcome.DYNAMIC_SQL),)
