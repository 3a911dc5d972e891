from __future__ import annotations

import time

import pytest

from ingestion.dialects import dialect_of
from ingestion.statements import clean, split
from ingestion.statements.cleaning import with_compiled_branches


@pytest.mark.parametrize(
    ("dialect", "text", "cleaned"),
    [
        ("postgres", "  select 1 ; ;\n", "select 1"),
        ("postgres", "-- a\n/* b /* c */ */\nselect 1 -- d\n/* e */ -- f", "select 1"),
        ("mysql", "# a\nselect 1 # b", "select 1"),
        ("snowflake", "// a\nselect 1 // b", "select 1"),
        ("postgres", "select 1 # 2", "select 1 # 2"),
        ("postgres", "select /* kept */ 1", "select /* kept */ 1"),
        ("postgres", "select '-- x'", "select '-- x'"),
        ("postgres", "/* only */ -- comments", ""),
        ("snowflake", "create or replace view v copy  grants as select 'copy grants'", None),
        ("mysql", "set statement max_time=.1, x='for' for\ninsert into t select 1", "insert into t select 1"),
        ("mysql", "set statement_timeout = 1", "set statement_timeout = 1"),
        ("tsql", "[dbo].sp_rename 't.a', 'b', 'COLUMN';", "EXEC [dbo].sp_rename 't.a', 'b', 'COLUMN'"),
        ("oracle", "select /*+ parallel(4) */ a from t -- x", "select /*+ parallel(4) */ a from t"),
        (
            "clickhouse",
            "insert into t select lower(a) from input('a String') format CSV\n1,secret",
            "insert into t select lower(a) from input('a String') format CSV",
        ),
        (
            "clickhouse",
            "insert into t select format, a from input('a String, format String') where format = a",
            "insert into t select format, a from input('a String, format String') where format = a",
        ),
        ("postgres", "EXPLAIN ANALYZE VERBOSE insert into t select a from s", "insert into t select a from s"),
        ("postgres", "explain (costs off, analyze, buffers) create table t as table s", "create table t as table s"),
        ("mariadb", "ANALYZE FORMAT=JSON delete from t where a > 1", "delete from t where a > 1"),
        *(
            (dialect, text, text)
            for dialect, text in (
                ("postgres", "explain insert into t select a from s"),
                ("postgres", "explain (analyze off) insert into t select a from s"),
                ("postgres", "explain analyze select a from s"),
                ("postgres", "analyze update"),
                ("starrocks", "explain analyze insert into t select a from s"),  # which takes back what it wrote
            )
        ),
        ("clickhouse", "select input, format from s format JSON", "select input, format from s format JSON"),
        ("clickhouse", "insert into t format CSV\n1,it's, select", "insert into t format CSV"),
        (
            "clickhouse",
            "insert into d.format (format) format Values (1)",
            "insert into d.format (format) format Values",
        ),
        ("clickhouse", "insert into t select format y from s", "insert into t select format y from s"),
        (
            "clickhouse",
            "insert into t select a from input('format String') order by format desc format MyOwn x",
            "insert into t select a from input('format String') order by format desc format MyOwn",
        ),
    ],
)
def test_what_surrounds_a_statement_goes(dialect: str, text: str, cleaned: str | None) -> None:
    if cleaned is None:
        cleaned = "create or replace view v  as select 'copy grants'"
    assert clean(text, dialect) == cleaned


def test_a_merge_with_a_leading_comment_keeps_all_its_branches() -> None:
    merge = "merge into t using s on t.a = s.a when matched then update set b = s.b when not matched then insert (s.a)"
    assert clean(f"/* nightly */ {merge};", "snowflake") == merge


def test_escaped_line_ends_inside_strings_stay() -> None:
    assert clean("select 'a\\nb'\\nfrom t", "postgres") == "select 'a\\nb'\nfrom t"


def test_a_text_with_real_lines_keeps_the_escapes_of_its_comments() -> None:
    assert clean("select a -- c:\\new\n from t", "postgres") == "select a -- c:\\new\n from t"


@pytest.mark.parametrize(
    ("text", "compiled"),
    [
        ("return $if a < 21 $then clob $else json $end;", "return  clob ;"),
        ("$IF a $THEN x $ELSIF b $THEN y $END z", " x  z"),
        ("$if a\n $then insert 1;\n $else insert 2;\n $end", "\n insert 1;\n  insert 2;\n "),
        ("$if a $then x $if b $then y $else z $end $end", " x  y  "),
        ("$error 'no ' || a $end x", " x"),
        ("select '$if a $then' from $$b", "select '$if a $then' from $$b"),
        ("$if a $then x", " x"),
    ],
)
def test_of_what_is_compiled_on_a_condition_one_part_is_read_or_each_whole_statement(text: str, compiled: str) -> None:
    assert with_compiled_branches(text, dialect_of("oracle")) == compiled


def test_a_package_that_is_compiled_on_conditions_is_one_statement() -> None:
    script = "create package body p as\n$if a $then procedure q is begin null; end; $end\nend;\n/\nselect 1 from dual;"
    assert [(one.line, one.text[:12]) for one in split(script, "oracle")] == [(1, "create packa"), (5, "select 1 fro")]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "select a" + ", 'b' as param" * 5_000 + " from t"),
        ("oracle", "select a from t" + " create java source named s" * 5_000),
    ],
)
def test_a_long_script_is_searched_for_what_is_no_sql_of_it_but_once(dialect: str, text: str) -> None:
    start = time.process_time()
    assert [one.text for one in split(text, dialect)] == [text]
    assert time.process_time() - start < 2


def test_what_stands_in_a_java_source_is_no_sql_and_ends_with_the_line_that_runs_it() -> None:
    java = "create java source named \"S\" as class S { String p = 'it';\n// it's; }\n}\n/\nselect a from t"
    assert [(one.text, one.line) for one in split(java, "oracle")] == [
        ('create java source named "S" as', 1),
        ("select a from t", 5),
    ]
