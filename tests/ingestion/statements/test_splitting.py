from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.dialects import DIALECTS
from ingestion.dialects.lexing import tokens
from ingestion.statements import ill_formed, split


def texts(script: str, dialect: str) -> list[str]:
    return [statement.text for statement in split(script, dialect)]


def test_each_statement_has_the_line_where_it_begins() -> None:
    script = "-- first\nselect 1;\n\n/* two\nlines */ select 2;;\n  insert into a\nselect 3 ; -- end"
    assert [(s.text, s.line) for s in split(script, "postgres")] == [
        ("select 1", 2),
        ("select 2", 5),
        ("insert into a\nselect 3", 6),
    ]


@pytest.mark.parametrize("script", ["", "  \n ", ";", ";;\n;", "-- nothing", "/* nothing */;", "\ufeff"])
@pytest.mark.parametrize("dialect", ["postgres", "mysql", "tsql", "oracle"])
def test_a_text_without_statements_has_none(script: str, dialect: str) -> None:
    assert split(script, dialect) == ()


@pytest.mark.parametrize(
    ("dialect", "whole"),
    [
        ("postgres", "select ';', \"a;b\", $$;$$, $q$ ; $$ ; $q$, E'\\';' /* ; /* ; */ ; */ from t -- ;\n where a = 1"),
        ("mysql", "select ';', \";\", `a;b`, '\\';' # ;\n from t -- ;\n where a = 1"),
        ("bigquery", 'select """;""", \';\', r"\\";", `a;b` # ;\n from t'),
        ("oracle", "select q'[';]', ';' from dual"),
        ("snowflake", "select $$';$$ // ;\n from t"),
        ("tsql", "select [a;b], ';' /* ; /* ; */ */ from t"),
        ("spark", "select r'\\', ';', \"it's;\" from t"),
        ("clickhouse", "select '\\';', `a;b` from t"),
    ],
)
def test_semicolons_inside_quotes_and_comments_end_nothing(dialect: str, whole: str) -> None:
    assert texts(f"{whole};\nselect 2", dialect) == [whole, "select 2"]


@pytest.mark.parametrize(
    ("dialect", "block"),
    [
        ("postgres", "create function f() returns int as $$ begin x; end $$ language plpgsql"),
        ("postgres", "create function f() returns int begin atomic select 1; select 2; end"),
        ("oracle", "create or replace procedure p is v number; begin insert into a select 1 from b; end p"),
        ("oracle", "create procedure p (x number default cast(1 as number)) as begin if x then y; end if; end"),
        (
            "oracle",
            "create package body k as procedure a is begin x; end; function b return int is z int; begin"
            " return case when z then 1 end; end b; begin init; end k",
        ),
        ("oracle", "create package k as procedure a; function b return int; end k"),
        (
            "oracle",
            "create type body k as overriding member function a return int is begin return 1; end; static procedure b"
            " is z int; begin x; end b; constructor function k return self as result is begin return; end; end",
        ),
        ("oracle", "declare x number; begin insert into t select 1 from d; end"),
        ("oracle", "create trigger t before insert on x for each row declare v int; begin v := 1; end"),
        (
            "mysql",
            "create procedure p() begin declare exit handler for sqlexception begin undo; end; select 1; end",
        ),
        ("mysql", "create trigger t before insert on x for each row set new.a = 1"),
        ("sqlite", "create trigger t after insert on x begin update y set a = 1; delete from z; end"),
        ("tsql", "begin try select 1; end try begin catch select 2; end catch"),
        ("tsql", "if @x = 1 begin select 1; select 2; end"),
        ("bigquery", "begin insert into a select 1; select case when x then 1 end; end"),
        ("bigquery", "if x then select 1; if y then select 2; end if; end if"),
        ("bigquery", "for r in (select 1) do select 2; end for"),
        ("bigquery", "create procedure p() begin declare x int64; set x = 1; end"),
        ("snowflake", "create procedure p() returns int as declare x int; begin let y := 1; return 1; end"),
        ("snowflake", "create task t warehouse = w as begin insert into a select 1; end"),
        ("snowflake", "execute immediate $$ begin select 1; end $$"),
        ("bigquery", "l: begin insert into a select 1 from b; m: loop leave m; end loop; end"),
        ("databricks", "l: while true do insert into a select b from c; end while l"),
        (
            "trino",
            "with function f(a int) returns int begin if a = 0 then return 1; end if; case a when 1 then return 2;"
            " end case; return 3; end, function g() returns int begin return 1; end select f(b) from t",
        ),
        ("db2", "create procedure p() begin for r as select a from b do insert into c values (r.a); end for; end"),
    ],
)
def test_a_block_stays_together(dialect: str, block: str) -> None:
    assert texts(f"select 0;\n{block};\nselect 9", dialect) == ["select 0", block, "select 9"]


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "tsql", "mysql", "sqlite", "oracle"])
@pytest.mark.parametrize("begin", ["BEGIN", "begin transaction", "BEGIN WORK"])
def test_a_transaction_is_no_block(dialect: str, begin: str) -> None:
    script = f"{begin}; insert into a select case when b then 1 end from c; COMMIT; select 1"
    assert texts(script, dialect) == [begin, "insert into a select case when b then 1 end from c", "COMMIT", "select 1"]


def test_names_spelled_like_keywords_open_no_block() -> None:
    assert texts("select begin, end from t; select a.end, b.begin from c; select 3", "ansi") == [
        "select begin, end from t",
        "select a.end, b.begin from c",
        "select 3",
    ]


def test_go_ends_a_batch_and_a_procedure_reaches_to_it() -> None:
    script = "create proc p as select 1; select 2\nGO\nselect 3; select 4\n go 5 \nselect 'x\nGO\ny'"
    assert [(s.text, s.line) for s in split(script, "tsql")] == [
        ("create proc p as select 1; select 2", 1),
        ("select 3", 3),
        ("select 4", 3),
        ("select 'x\nGO\ny'", 5),
    ]


@pytest.mark.parametrize(
    "script",
    [
        ["truncate table a", "insert into a (b)\nselect b from c where d = 1", "update a\nset b = e.f\nfrom e"],
        [
            "select 1 as a\ninto #t from b",
            "insert into d\nselect a from #t\nunion all\nselect 2",
            "drop table\nif exists #t",
        ],
        ["with y as (select 1 as a)\ninsert into b\nselect a from y", "declare @x int = 5", "set @x = 6", "select 2"],
        [
            "merge into t using s on t.a = s.a\nwhen matched then\nupdate\nset b = 1\nwhen not matched then\ninsert (a)"
            " values (1)",
            "delete from t\nwhere a = 2",
        ],
        ["if object_id('x') is not null\n drop table x", "select a into x from b", "create view v as\nselect 1"],
        ["if 1 = 1\nbegin\nselect 1\nselect 2\nend\nelse\nselect 3", "begin tran", "insert into a\nexec p", "commit"],
        [
            "alter table a\nalter column b int",
            "insert into a\nvalues (1)",
            "select case\nwhen 1 = 1 then 2 end",
            "exec p",
        ],
        ["create table a (\nb int\n)", "select [insert], 'x\nselect 1' /*\nupdate b */ from a"],
    ],
)
def test_a_verb_at_the_start_of_a_line_begins_a_t_sql_statement(script: list[str]) -> None:
    assert texts("\n".join(script), "tsql") == script


def test_a_t_sql_routine_keeps_its_statements() -> None:
    routine = "create or alter procedure p as\nselect 1\ninsert into a\nselect 2"
    assert texts(f"{routine}\ngo\nselect 3", "tsql") == [routine, "select 3"]


def test_a_slash_of_its_own_ends_an_oracle_block() -> None:
    assert texts("begin\n x;\nend;\n/\nselect 4 / 2 from dual\n/\n", "oracle") == [
        "begin\n x;\nend",
        "select 4 / 2 from dual",
    ]


@pytest.mark.parametrize(
    "first",
    [
        "-- begin of report\nSELECT a FROM t",
        "/* the function of t; begin */\nSELECT a FROM t",
        "SELECT 'declare; begin', a FROM t",
        'SELECT "BEGIN", event, task FROM t',
        "CREATE TYPE t AS OBJECT (a NUMBER, MEMBER FUNCTION f RETURN NUMBER)",
        "BEGIN NULL; END",
    ],
)
def test_a_slash_of_its_own_ends_what_only_has_the_words_of_a_block(first: str) -> None:
    found = texts(f"{first}\n/\nINSERT INTO x SELECT b FROM y\n/\n", "oracle")
    assert len(found) == 2
    assert found[1] == "INSERT INTO x SELECT b FROM y"


@pytest.mark.parametrize("comment", ["", "-- all of it\n", "/* all of it */ "])
def test_a_slash_of_its_own_inside_a_block_divides(comment: str) -> None:
    block = "DECLARE\n c NUMBER := 4;\nBEGIN\n c := c\n/\n2; -- end\nEND"
    assert texts(f"{comment}{block};\n/\nSELECT 1 FROM d\n/", "oracle") == [block, "SELECT 1 FROM d"]


def test_a_notebook_is_its_cells() -> None:
    cells = [
        "-- Databricks notebook source\n-- MAGIC %md Sales",
        "create table a as select b\nfrom c",
        "select 1; select 2",
        "%python\nx = 'a;b'; y",
        "%sql\nselect d from e",
    ]
    found = split("\n\n-- COMMAND ----------\n\n".join(cells), "databricks")
    assert [(s.text, s.line) for s in found] == [
        ("create table a as select b\nfrom c", 6),
        ("select 1", 11),
        ("select 2", 11),
        ("%python\nx = 'a;b'; y", 15),
        ("select d from e", 20),
    ]


def test_delimiter_changes_what_ends_a_statement() -> None:
    script = "select 0;\nDELIMITER $$\ncreate procedure p() begin select 1; select 2; end$$\nDELIMITER ;\nselect 3;"
    assert texts(script, "mysql")[-2:] == ["create procedure p() begin select 1; select 2; end", "select 3"]


@pytest.mark.parametrize("dialect", ["oracle", "postgres", "tsql"])
def test_a_mark_of_the_encoding_is_no_part_of_the_text(dialect: str) -> None:
    script = "\ufeffcreate procedure p as\n  a int;\nbegin\n  delete from t;\nend;"
    assert split(script, dialect) == split(script[1:], dialect)


def test_a_sign_at_a_lines_end_ends_a_statement_of_db2() -> None:
    script = (
        "connect to x@\ncreate procedure p ()\nbegin\n  delete from a; delete from b;\nend@\n"
        "insert into t@y select '@\n' from \"u@\" -- v@\n@\nselect 1; select 2"
    )
    assert texts(script, "db2") == [
        "connect to x",
        "create procedure p ()\nbegin\n  delete from a; delete from b;\nend",
        "insert into t@y select '@\n' from \"u@\"",
        "select 1",
        "select 2",
    ]


def test_a_psql_script_loses_its_client_commands_and_copied_rows() -> None:
    script = "\\set x 1\n\\timing on\ncopy t from stdin;\n1\tit's\n\\.\nselect 1;\n\\q\n"
    assert [(s.text, s.line) for s in split(script, "postgres")] == [("select 1", 6)]


def test_line_ends_that_a_log_escaped_are_line_ends() -> None:
    assert texts("-- why\\nselect 1\\n from t;\\r\\nselect '\\n'", "postgres") == ["select 1\n from t", "select '\\n'"]


def test_comments_that_mysql_runs_are_text() -> None:
    script = "/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50001 VIEW `v` AS select 1 AS `x` */;"
    assert " ".join(texts(script, "mysql")[0].split()) == "CREATE ALGORITHM=UNDEFINED VIEW `v` AS select 1 AS `x`"


def test_an_unterminated_text_stays_whole_and_is_named() -> None:
    script = "select 1; select 'abc; select 2"
    assert texts(script, "postgres") == ["select 1", "select 'abc; select 2"]
    assert ill_formed("select 1;\n select 'abc", "postgres") == "unterminated quote ' opened in line 2"


@pytest.mark.parametrize(
    ("dialect", "text", "reason"),
    [
        ("postgres", 'select "a', 'unterminated quote "'),
        ("postgres", "select $x$ a $$", "unterminated dollar-quoted string"),
        ("postgres", "select /* /* */", "unterminated comment"),
        ("tsql", "select [a", "unterminated quote ["),
        ("oracle", "select q'[a'", "unterminated quote '"),
        ("ansi", "select (a", "unbalanced parentheses: 1 opened, 0 closed"),
        ("ansi", "select a) from (b", "unbalanced parentheses: closed before opened"),
        ("ansi", "select (a)) from (b", "unbalanced parentheses: closed before opened"),
    ],
)
def test_what_no_parser_should_see_is_named_without_its_text(dialect: str, text: str, reason: str) -> None:
    assert (ill_formed(text, dialect) or "").startswith(reason)


@pytest.mark.parametrize("text", ["select ')' from t -- (", 'select "(" from t', "select (a), (b)", ""])
def test_balanced_text_is_well_formed(text: str) -> None:
    assert ill_formed(text, "postgres") is None


def test_a_thousand_statements_and_a_megabyte_of_rows_are_cheap() -> None:
    script = "\n".join(f"begin; insert into a{n} select x from b where y = ';'; commit;" for n in range(1000))
    assert len(split(script, "postgres")) == 3000
    rows = "insert into t values " + ",".join(f"('it''s {n}; ', {n})" for n in range(40_000)) + ";"
    assert len(rows) > 1_000_000 - 100_000
    assert len(split(rows, "postgres")) == 1


DIALECT = st.sampled_from(sorted(DIALECTS))
PIECES = st.sampled_from(
    [
        "select a",
        "'x;y'",
        ";",
        "\n",
        "-- c;\n",
        "/* ; */",
        "(b)",
        "begin",
        "end",
        "case",
        '"n;m"',
        "insert into t",
        "1.5",
    ]
)


@given(st.lists(PIECES, max_size=30).map(" ".join), DIALECT)
def test_splitting_loses_no_token(script: str, dialect: str) -> None:
    def words(text: str) -> list[str]:
        return [token.text for token in tokens(text, dialect) if token.text != ";"]

    if ill_formed(script, dialect) is None:
        together = "\n".join(statement.text for statement in split(script, dialect))
        assert words(together) == words(script)


@given(st.text(alphabet=st.characters(codec=None), max_size=200), DIALECT)
def test_any_text_splits(text: str, dialect: str) -> None:
    for statement in split(text, dialect):
        assert statement.text
        assert 1 <= statement.line <= text.count("\n") + text.count("\\n") + text.count("\\r") + 1


NOISE = st.lists(
    st.sampled_from([*"'\"`$[]()/*-#;\\\n eErRqQgGo{}!", "BEGIN", "END", "$a$", "DELIMITER x"]), max_size=60
)


@given(NOISE.map("".join), DIALECT)
def test_quotes_in_disorder_split(text: str, dialect: str) -> None:
    split(text, dialect)
    ill_formed(text, dialect)


def test_a_script_that_declares_variables_stays_together() -> None:
    script = "-- load\ndeclare x int64 default 1; set x = 2; select x from t"
    assert texts(script, "bigquery") == [script.partition("\n")[2]]
    assert len(texts("select 0; select 1", "bigquery")) == 2


def test_a_compound_trigger_is_one_statement_with_all_its_sections() -> None:
    trigger = (
        "CREATE TRIGGER t FOR INSERT ON o COMPOUND TRIGGER BEFORE STATEMENT IS BEGIN INSERT INTO a SELECT b FROM c;"
        " END BEFORE STATEMENT; AFTER EACH ROW IS n NUMBER; BEGIN IF x THEN NULL; END IF; END AFTER EACH ROW; END t"
    )
    found = [statement.text for statement in split(f"{trigger};\n/\nINSERT INTO d SELECT e FROM f;", "oracle")]
    assert found == [trigger, "INSERT INTO d SELECT e FROM f"]


@pytest.mark.parametrize("dialect", ["snowflake", "dremio"])
def test_the_place_of_a_file_is_no_comment(dialect: str) -> None:
    text = "put file:///in/*.csv @s; select 1 // no file:///x; y\n; put file://*.py @s overwrite = true;\nselect 2"
    assert [statement.text.split()[0] for statement in split(text, dialect)] == ["put", "select", "put", "select"]


def test_the_commands_of_snowsql_are_no_statements() -> None:
    text = "!set variable_substitution=true\n!SOURCE a.sql\ninsert into t select a from s;\n!print it's done\nselect 1"
    assert [(statement.text, statement.line) for statement in split(text, "snowflake")] == [
        ("insert into t select a from s", 3),
        ("select 1", 5),
    ]
    assert split("!source a.sql\n!source b.sql", "snowflake") == ()
    kept = "select a != b, 'x\n!set y' from m\n!forecast(1)"
    assert [statement.text for statement in split(kept, "snowflake")] == [kept]


@pytest.mark.parametrize("comment", ["/* a */", "/* a\n b */", "/* a */ /* b */ /* c\n*/"])
def test_a_statement_behind_a_comment_keeps_lines_like_commands_of_sqlplus(comment: str) -> None:
    query, block = "select a\n from t\n order by a\ndesc", "begin\n a;\nexit\nwhen c; end"
    script = f"{comment} {query};\n{comment} set echo off\n{comment} {block};\n/"
    assert texts(script, "oracle") == [query, block]


@pytest.mark.parametrize(
    "following",
    [
        "DESCRIBE TABLE v",
        "(SELECT a FROM q)",
        "WITH data AS (SELECT a FROM r) SELECT a FROM data",
        "WITH cs (a) AS (SELECT a FROM r) SELECT a FROM cs",
        "LIST TABLES",
        "SIGNAL SQLSTATE '1'",
        "EXPLAIN PLAN FOR SELECT a FROM s",
    ],
)
def test_the_sign_of_db2_ends_a_statement_before_what_may_begin_one(following: str) -> None:
    for first in ("CREATE VIEW v AS SELECT a FROM s", "COMMIT", "DELETE FROM o WHERE a = 5"):
        assert texts(f"{first}@\n{following}@", "db2") == [first, following]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT a FROM s@\nWHERE a > 1",
        "SELECT a FROM s@\nWITH UR",
        "SELECT a FROM s@\nJOIN t@\nON s@.a = t@.a",
        "INSERT INTO o@\n(a) SELECT a FROM s",
        "UPDATE o@\nSET a = 1",
    ],
)
def test_the_sign_of_db2_is_of_a_name_before_what_goes_on_with_a_statement(statement: str) -> None:
    assert texts(f"{statement}@\nSELECT b FROM r@", "db2") == [statement, "SELECT b FROM r"]


def test_a_label_before_a_block_is_part_of_it() -> None:
    block = "<<main>>\ndeclare\n x int;\nbegin\n insert into a select b from c;\nend"
    for label in ("<<main>>", "<< main >>"):
        labelled = block.replace("<<main>>", label)
        assert texts(f"{labelled};\n/\ninsert into d select e from f;", "oracle") == [
            labelled,
            "insert into d select e from f",
        ]


def test_the_commands_of_sqlplus_are_no_statements() -> None:
    script = """REM it's a script
set echo on
column a format a30
whenever sqlerror exit -
  failure
insert into t
select a
from s
start with a = 1
connect by prior a = b;
exec p(1)
prompt next;
update t
set a = 1
where b = 'x';
begin
  for r in (select 1 from dual) loop
    exit when true;
  end loop;
end;
/
spool off
set transaction read only;
connect scott/tiger
@@next.sql
create view v as
select * from t match_recognize (pattern (x)
define x as a > 1);
"""
    found = [(statement.line, statement.text.split()[0]) for statement in split(script, "oracle")]
    assert found == [(6, "insert"), (11, "exec"), (13, "update"), (16, "begin"), (23, "set"), (26, "create")]


def test_execute_goes_on_behind_a_dash_and_a_dot_runs_nothing() -> None:
    call = "execute p( -\n  'A', -\n  b => 1 )\n"
    script = f"{call}select 1 from s;\n.\ncomment on table t is 'x';\nselect 2 from s\n.\nexec q;\n"
    found = [(statement.line, " ".join(statement.text.split())) for statement in split(script, "oracle")]
    assert found == [
        (1, "execute p( 'A', b => 1 )"),
        (4, "select 1 from s"),
        (6, "comment on table t is 'x'"),
        (7, "select 2 from s"),
        (9, "exec q"),
    ]


@pytest.mark.parametrize(
    "text", ["select a\nfrom s\nstart with b = 1", "update t\nset a = 1", "alter table t rename\ncolumn a to b"]
)
def test_a_lone_statement_of_oracle_stays_whole(text: str) -> None:
    assert [statement.text for statement in split(text, "oracle")] == [text]


def test_what_a_comment_of_a_template_says_ends_no_statement() -> None:
    script = "SELECT a {# it's; here #} FROM s;\nSELECT '{#; #}' AS b {# not ended"
    found = split(script, "postgres")
    assert [(" ".join(one.text.split()), one.line) for one in found] == [
        ("SELECT a FROM s", 1),
        ("SELECT '{#; #}' AS b {#", 2),
    ]


@pytest.mark.parametrize(
    ("declared", "verb"),
    [
        ("DECLARE @i int = 1", "SELECT a AS p INTO n FROM r"),
        ("DECLARE @i int = 1, @j int", "INSERT INTO t SELECT a FROM r"),
        ("DECLARE @i int = CASE WHEN 1 = 1 THEN 1 END", "SELECT a INTO n FROM r"),
        ("DECLARE @t TABLE (a int, b int DEFAULT 1)", "SELECT a INTO n FROM r"),
        ("DECLARE @c CURSOR", "SELECT a INTO n FROM r"),
        ("DECLARE @i int", "WITH x AS (SELECT a FROM r)\nSELECT a INTO n FROM x"),
    ],
)
def test_a_declaration_of_variables_ends_before_the_next_verb(declared: str, verb: str) -> None:
    assert [one.text for one in split(f"{declared}\n{verb}", "tsql")] == [declared, verb]


@pytest.mark.parametrize(
    "cursor",
    [
        "DECLARE c CURSOR FOR SELECT a FROM s",
        "DECLARE c INSENSITIVE CURSOR FOR\nSELECT a FROM s",
        "DECLARE c CURSOR FAST_FORWARD FOR\nWITH x AS (SELECT a FROM s)\nSELECT a FROM x",
        "DECLARE c CURSOR FOR\nSELECT a FROM s\nUNION ALL\nSELECT a FROM r",
        "DECLARE c CURSOR FOR SELECT a FROM s FOR UPDATE OF a",
    ],
)
def test_a_cursor_goes_to_the_end_of_its_query(cursor: str) -> None:
    after = "SELECT a INTO n FROM r"
    assert [one.text for one in split(f"{cursor}\n{after}", "tsql")] == [cursor, after]


@pytest.mark.parametrize(
    "script",
    [
        ["INSERT INTO t VALUES (1)", "SELECT a INTO m FROM r"],
        ["INSERT t DEFAULT VALUES", "SELECT SCOPE_IDENTITY()"],
        ["DECLARE @s nvarchar(max)", "SET @s = 'INSERT INTO t SELECT a FROM r'", "EXEC (@s)"],
        ["UPDATE t SET a = r.b FROM r WHERE r.k = t.k", "SET @n = @@ROWCOUNT", "DELETE FROM u WHERE k = 2"],
        ["INSERT INTO t SELECT a FROM r EXCEPT SELECT b FROM q", "UPDATE u SET b = 1", "TRUNCATE TABLE [v]", "USE d"],
        ["WITH x AS (SELECT a FROM r) INSERT INTO t SELECT a FROM x", "INSERT INTO q EXEC p", "SELECT 1"],
        ["WITH x AS (SELECT a FROM r) SELECT a INTO #x FROM x", "INSERT INTO t SELECT a FROM #x", "DROP TABLE #x"],
        ["SET NOCOUNT ON", "SET IDENTITY_INSERT t ON", "INSERT INTO t (a) SELECT a FROM r", "RETURN"],
        [
            "IF OBJECT_ID('t') IS NOT NULL DROP TABLE t",
            "CREATE TABLE t (a int)",
            "BEGIN TRAN",
            "DELETE FROM t",
            "COMMIT",
        ],
        ["IF EXISTS (SELECT 1 FROM r) UPDATE t SET a = 1 ELSE INSERT INTO t SELECT a FROM r", "PRINT 'x'"],
        [
            "SELECT CASE WHEN a = 1 THEN 2 END FROM r OPTION (RECOMPILE)",
            "EXEC p @a = 1",
            'SELECT a FROM "r"',
            "SELECT 1",
        ],
        ["DROP TABLE IF EXISTS t", "SELECT a INTO t FROM r"],
        ["ALTER TABLE t ADD k int IDENTITY PRIMARY KEY", "UPDATE t SET a = 1", "INSERT INTO t SELECT a FROM r"],
        ["ALTER DATABASE d SET RECOVERY FULL", "INSERT INTO t SELECT a FROM r"],
        ["DECLARE c CURSOR FOR SELECT a FROM r FOR UPDATE", "UPDATE t SET a = 1"],
        ["BEGIN DISTRIBUTED TRAN", "DELETE FROM t", "INSERT INTO t SELECT distributed FROM r", "COMMIT"],
    ],
)
def test_a_verb_of_t_sql_begins_a_statement_where_the_one_before_can_end(script: list[str]) -> None:
    assert texts(" ".join(script), "tsql") == script
    assert texts("\n".join(script), "tsql") == script


@pytest.mark.parametrize(
    "statement",
    [
        "MERGE t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (a) VALUES (1)"
        " WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action, deleted.a INTO l",
        "GRANT SELECT, INSERT, CREATE TABLE ON t TO u WITH GRANT OPTION",
        "REVOKE GRANT OPTION FOR SELECT ON t FROM u",
        "DECLARE c CURSOR FOR SELECT a FROM r FOR UPDATE OF a",
        "CREATE TRIGGER x ON t AFTER INSERT, UPDATE AS IF UPDATE(a) DELETE FROM l INSERT INTO l SELECT a FROM inserted",
        "CREATE SECURITY POLICY p ADD BLOCK PREDICATE f(a) ON t"
        " AFTER INSERT, ADD BLOCK PREDICATE f(a) ON u BEFORE DELETE",
        "ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES z (a) ON DELETE SET NULL ON UPDATE CASCADE",
        "ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES z (a) ON UPDATE SET NULL",
        "ALTER TABLE t ALTER COLUMN a int",
        "ALTER DATABASE d SET RECOVERY SIMPLE",
        "INSERT INTO t (a) OUTPUT inserted.a INTO l SELECT a FROM r WITH (NOLOCK) UNION ALL SELECT b FROM q",
        "SELECT a FROM r WHERE b IN (SELECT c FROM d) EXCEPT (SELECT e FROM f) INTERSECT SELECT g FROM h",
        "SELECT a, [set], [update] FROM r INNER MERGE JOIN q ON r.k = q.k",
        "SELECT a FROM r FULL MERGE JOIN q ON r.k = q.k",
        "UPDATE t SET a = CASE WHEN b = 1 THEN 2 ELSE 3 END, [select] = 1"
        " OUTPUT deleted.a INTO l FROM t JOIN s ON s.k = t.k",
        "CREATE VIEW v WITH SCHEMABINDING AS WITH x AS (SELECT a FROM dbo.r) SELECT a FROM x",
        "CREATE TABLE t WITH (DISTRIBUTION = HASH(a)) AS SELECT a FROM r",
        "BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV')",
        "SELECT a FROM r -- UPDATE t SET a = 1",
        "SELECT 'x UPDATE t SET a = 1' /* DELETE FROM t */ FROM r",
        "EXECUTE AS USER = 'u'",
        "DECLARE @a int = (SELECT MAX(a) FROM r), @b int",
    ],
)
def test_what_goes_on_with_a_statement_of_t_sql_begins_none(statement: str) -> None:
    assert len(texts(statement, "tsql")) == 1


@pytest.mark.parametrize(
    "first",
    ["SELECT (1)", "SELECT a FROM [r]", 'SELECT a FROM "r"', "SELECT 'é'", "SELECT a FROM é\u00a0", "/**/SELECT 1"],
)
@pytest.mark.parametrize("second", ["INSERT t(a)SELECT 1", "update t set a=1", "EXEC(@s)", "\tDelete\tt"])
def test_a_verb_of_t_sql_is_seen_whatever_stands_beside_it(first: str, second: str) -> None:
    assert texts(f"\n{first} {second}", "tsql") == [first.strip("\u00a0/*"), second.strip()]


@pytest.mark.parametrize("unit", ["\n", " ", "\n ", " a\n", "if", "(select ", "a=set\n"])
def test_a_megabyte_of_what_may_stand_before_a_verb_of_t_sql_is_cheap(unit: str) -> None:
    filled = unit * (1_000_000 // len(unit))
    assert texts(f"SELECT a FROM r WHERE {filled}", "tsql")[0].startswith("SELECT a FROM r WHERE")
