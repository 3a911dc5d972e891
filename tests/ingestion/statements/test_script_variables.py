"""Variables that a text sets before it names tables by them."""

from __future__ import annotations

import pytest

from ingestion.parser import LineageParser
from ingestion.statements import split
from ingestion.statements.script_variables import with_own_variables


def _filled(text: str, dialect: str) -> str:
    return list(with_own_variables(split(text, dialect), dialect))[-1].text


@pytest.mark.parametrize("dialect", ["databricks", "hive", "spark"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set n=raw.s;\nselect a from ${n}", "select a from raw.s"),
        ("set hivevar:n=s;\nselect a from ${hivevar:n}_old", "select a from s_old"),
        ("set n=s;\nset n=u;\nselect a from ${N}", "select a from u"),
        ("set d=raw;\nset n=${d}.s;\nselect a from ${hiveconf:n}", "select a from raw.s"),
        ("set my.day='2020-01-01';\nselect a from s where d = ${my.day}", "select a from s where d = '2020-01-01'"),
        ("select a from ${n}", "select a from ${n}"),
        ("set n=s;\nselect a from ${n}.${m}", "select a from s.${m}"),
        ("set n=s, u where 1;\nselect a from ${n}", "select a from ${n}"),
        ("set n=s;\nset n=(select 1);\nselect a from ${n}", "select a from ${n}"),
    ],
)
def test_a_marked_variable_is_what_was_set_last(dialect: str, text: str, expected: str) -> None:
    assert _filled(text, dialect) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set n = 'r.s';\nselect a from table($n)", "select a from IDENTIFIER('r.s')"),
        ("set n = 'r.s';\nselect a from identifier( $N ), t", "select a from IDENTIFIER('r.s'), t"),
        ("set (m, n) = ('u', 's');\nselect a from identifier($n)", "select a from IDENTIFIER('s')"),
        ("set n = 's';\nselect $n, $1 from t", "select $n, $1 from t"),
        ("set n = (select 's');\nselect a from table($n)", "select a from table($n)"),
        ("set n = 'r.' || 's';\nselect a from table($n)", "select a from table($n)"),
        ("set n = 's';\nset n = 3;\nselect a from table($n)", "select a from table($n)"),
    ],
)
def test_a_variable_names_a_relation_where_a_clause_says_so(text: str, expected: str) -> None:
    assert _filled(text, "snowflake") == expected


@pytest.mark.parametrize("dialect", ["postgres", "tsql"])
def test_other_dialects_keep_their_texts(dialect: str) -> None:
    statements = split("set n = 's';\nselect a from t where b = '$n ${n}'", dialect)
    assert tuple(with_own_variables(statements, dialect)) == statements


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hive", "set n=raw.s;\ninsert into t select a from ${n};\ninsert into u select a from ${m};"),
        (
            "snowflake",
            "set n = 'raw.s';\ninsert into t select a from table($n);\ninsert into u select a from table($m);",
        ),
    ],
)
def test_a_script_is_read_with_its_own_variables_and_says_which_it_lacks(dialect: str, text: str) -> None:
    read = LineageParser(text, dialect=dialect)
    assert [(str(a), str(b)) for a, b in read.table_lineage] == [("raw.s", "t")]
    (failure,) = read.failures
    assert str(failure).startswith("line 3: templated")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create type a.t as table (x int)\ngo\ndeclare @v a.t", "declare @v TABLE (x int)"),
        ("create type [a].[T] as table(x int)\ngo\ndeclare @n int, @v as t", "declare @n int, @v as TABLE (x int)"),
        ("create type a.t as table (x int)\ngo\ndeclare @v b.t", "declare @v b.t"),
        ("create type a.t as table (x int)\ngo\nexec p @n, @v", "exec p @n, @v"),
        ("create type a.t as table (x int)\ngo\ncreate type b.t as table (y int)\ngo\ndeclare @v t", "declare @v t"),
        ("create type a.t from int\ngo\ndeclare @v a.t", "declare @v a.t"),
    ],
)
def test_a_table_variable_has_the_columns_of_its_type(text: str, expected: str) -> None:
    assert _filled(text, "tsql") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("declare c cursor for select a from s; load from c of cursor insert into t", "(select a from s)"),
        ("declare c cursor for q; load from c of cursor insert into t", "c"),
        ("declare c cursor database d for select a from s; load from c of cursor insert into t", "c"),
        ("declare c cursor for select a from s; load from c of del insert into t", "c"),
    ],
)
def test_a_load_has_the_query_of_its_cursor(text: str, expected: str) -> None:
    assert _filled(text, "db2").split("from ", 1)[1].partition(" of ")[0] == expected
