"""Words that look like columns, or like columns of another case, and what they mean."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import column_lines, problems


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("tsql", "select dbo.f(t.b) as y, db.dbo.g(t.c) as z from t", {"y f t.b", "z f t.c"}),
        ("oracle", "select pkg.f(b) as y, own.pkg.g(c) as z from t", {"Y f T.B", "Z f T.C"}),
        ("postgres", "select s.f(a) as x from t", {"x f t.a"}),
        ("bigquery", "select ds.f(a) as x, hll_count.extract(b) as y from t", {"x f t.a", "y f t.b"}),
        ("snowflake", "select db.s.f(a) as x from t", {"X f T.A"}),
        ("spark", "select db.f(a) as x from t", {"x f t.a"}),
        ("duckdb", "select main.f(a) as x from t", {"x f t.a"}),
    ],
)
def test_what_qualifies_a_function_is_no_column(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("tsql", "select t.a.value('/r', 'int') as x, b.ToString() as y from t", {"x f t.a", "y f t.b"}),
        (
            "tsql",
            "select n.c.value('.', 'int') as x from t cross apply t.b.nodes('/r') as n(c)",
            {"x f t.b", "* filter t.b"},
        ),
        ("tsql", "select t.g.STAsText() as x from t", {"x f t.g"}),
        ("oracle", "select t.x.getClobVal() as y from t", {"Y f T.X"}),
        ("duckdb", "select a.upper() as x, t.b.trim() as y from t", {"x f t.a", "y f t.b"}),
    ],
)
def test_a_method_is_of_its_column(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("oracle", "level, rownum, user, uid, sysdate, seq.nextval"),
        ("postgres", "user, current_role, current_user, current_date, localtime"),
        ("redshift", "user, sysdate, current_user_id"),
        ("tsql", "user, session_user, current_timestamp"),
        ("teradata", "date, time, user, session, database"),
        ("snowflake", "current_user, current_date, seq.nextval"),
        ("db2", "current date, current timestamp, current_user, user"),
        ("exasol", "rownum, sysdate, user"),
        ("flink", "current_time, LOCALTIMESTAMP, user, localtime"),
    ],
)
def test_words_of_the_session_are_no_columns(dialect: str, words: str) -> None:
    assert {line.partition(" ")[2] for line in column_lines(f"select {words} from t", dialect)} == {"is constant"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("oracle", 'select "USER", t."LEVEL" from t', {"USER = T.USER", "LEVEL = T.LEVEL"}),
        ("spark", "select user, level, date from t", {"user = t.user", "level = t.level", "date = t.date"}),
        ("snowflake", "select level from t", {"LEVEL = T.LEVEL"}),
    ],
)
def test_words_that_may_be_columns_are(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


def test_a_hierarchical_query_has_a_level_of_its_own() -> None:
    lines = column_lines("select id, level from t start with up is null connect by prior id = up", "snowflake")
    assert lines == {"ID = T.ID", "LEVEL is constant", "* filter T.UP", "* join T.ID", "* join T.UP"}


LOWER = {"T": "a b k", "U": "c k", "N": "x y"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a from (select * from t) q", {"A = T.a"}),
        ("with q as (select * from t) select q.a, b from q", {"A = T.a", "B = T.b"}),
        ("select a from (select * from t union all select * from t) q order by a", {"A = T.a", "* sort T.a"}),
        ("select * exclude (a, k) from t", {"b = T.b"}),
        ("select * exclude (k) replace (a + 1 as b) rename (a as z) from t", {"Z = T.a", "b f T.a"}),
        ("select * from t join u using (k)", {"K = T.k", "a = T.a", "b = T.b", "c = U.c", "* join T.k", "* join U.k"}),
        (
            "select * from t unpivot (v for n in (a, b))",
            {"k = T.k", "N is constant", "V = T.a", "V = T.b", "* filter T.a", "* filter T.b"},
        ),
        ("insert into n (y) select a from t", {"y = T.a"}),
        ("update n set y = t.a from t", {"y = T.a"}),
    ],
)
def test_columns_of_another_case_than_the_dialects_bare_names_are_found(text: str, expected: set[str]) -> None:
    assert column_lines(text, "snowflake", LOWER) == expected
    assert problems(text, "snowflake", LOWER) == []


def test_a_catalog_that_keeps_case_serves_a_dialect_that_ignores_it() -> None:
    schemas = {"t": "CustomerID Name", "u": "customerid City"}
    assert column_lines("select CustomerID from (select * from t) q", "tsql", schemas) == {"customerid = t.CustomerID"}
    assert "CustomerID = t.CustomerID" in column_lines("select * from t natural join u", "duckdb", schemas)
    lines = column_lines("select * from t union all by name select * from u", "duckdb", schemas)
    assert {"CustomerID = t.CustomerID", "CustomerID = u.customerid"} <= lines


def test_two_columns_that_differ_in_case_alone_stay_two() -> None:
    text = 'select "a", a, x."A" from (select * from t) x'
    assert column_lines(text, "snowflake", {"T": "a A"}) == {"a = T.a", "A = T.A"}
