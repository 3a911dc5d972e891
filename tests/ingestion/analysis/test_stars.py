"""Stars: expanded where schemas are known, kept and folded through where they are not."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import analysed, column_lines

KNOWN = {"t": "a b c", "u": "k x"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "select * from t", {"a = t.a", "b = t.b", "c = t.c"}),
        ("postgres", "select u.*, t.a from t, u", {"k = u.k", "x = u.x", "a = t.a"}),
        ("bigquery", "select * except (b) from t", {"a = t.a", "c = t.c"}),
        ("bigquery", "select * replace (a + 1 as b) from t", {"a = t.a", "b f t.a", "c = t.c"}),
        ("duckdb", "select * exclude (a, b) from t", {"c = t.c"}),
        ("duckdb", "select columns('^[ab]') from t", {"a = t.a", "b = t.b"}),
        ("duckdb", "select max(columns(* exclude (c))) from t", {"a agg t.a", "b agg t.b"}),
        ("duckdb", "select * like '_' from t, u", {"a = t.a", "b = t.b", "c = t.c", "k = u.k", "x = u.x"}),
        ("duckdb", "select * not like 'a%' from t", {"b = t.b", "c = t.c"}),
        ("duckdb", "select * similar to '[ab]' from t", {"a = t.a", "b = t.b"}),
        ("duckdb", "select columns('a') + 1 from t", {"a f t.a"}),
        ("hive", "select `(b|k)?+.+` from t", {"a = t.a", "c = t.c"}),
        ("hive", "select u.`X.*`, t.`[ab].*` from t join u", {"x = u.x", "a = t.a", "b = t.b"}),
        ("hive", "select `b` from t", {"b = t.b"}),
        ("hive", "select *, b + 1 from t", {"a = t.a", "b = t.b", "c = t.c", "_c1 f t.b"}),
        ("impala", "select x._c1 from (select *, b + 1 from t) x", {"_c1 f t.b"}),
        ("spark", "select `(a)?+.+` from (select a, b from t) d", {"b = t.b"}),
        ("databricks", "select t.* except (a) from t", {"b = t.b", "c = t.c"}),
        ("postgres", "select d.* from (select a as p, * from t) d", {"p = t.a", "a = t.a", "b = t.b", "c = t.c"}),
    ],
)
def test_a_star_over_known_columns_is_those_columns(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect, KNOWN) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("databricks", "select * except (v.b) from t join v on true", {"a = t.a", "b = t.b", "d = v.d"}),
        ("duckdb", "select * exclude (x.B, a) from t, v x", {"b = t.b", "d = v.d"}),
        ("duckdb", "select * rename (v.b as e) from t, v", {"a = t.a", "b = t.b", "e = v.b", "d = v.d"}),
        ("duckdb", "select v.* exclude (v.b) from t, v", {"d = v.d"}),
        ("databricks", "select * except (a.f) from t", {"a = t.a", "b = t.b"}),
    ],
)
def test_a_column_of_one_relation_goes_from_that_alone(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect, {"t": "a b", "v": "b d"}) == expected


@pytest.mark.parametrize(
    ("dialect", "value", "expected"),
    [
        ("snowflake", "object_construct(* exclude a)", "bc"),
        ("snowflake", "object_construct(t.* exclude (a, b))", "c"),
        ("snowflake", "{* exclude a}", "bc"),
        ("snowflake", "{t.* ilike '%B%'}", "b"),
        ("snowflake", "greatest(* exclude b)", "ac"),
        ("bigquery", "to_json(struct(t.* except (a)))", "bc"),
        ("databricks", "to_json(struct(* except (b)))", "ac"),
        ("databricks", "struct(* except (t.b), 1)", "ac"),
        ("duckdb", "struct_pack(*columns(* exclude (b)))", "ac"),
    ],
)
def test_a_star_in_a_function_is_what_its_clauses_leave(dialect: str, value: str, expected: str) -> None:
    lines = {
        line.lower() for line in column_lines(f"select {value} as v from t", dialect, {"t": "a b c", "T": "A B C"})
    }
    assert lines == {f"v f t.{column}" for column in expected}


def test_a_field_of_a_struct_that_a_star_makes() -> None:
    query = "select s.b as x, s.c as y from (select struct(t.* except (a) replace (a as c)) as s from t)"
    assert column_lines(query, "bigquery", {"t": "a b c"}) == {"x = t.b", "y = t.a"}


def test_a_star_in_a_function_over_unknown_columns_is_all_of_them() -> None:
    assert column_lines("select object_construct(* exclude a) as v from t", "snowflake") == {"V f T.*"}


def test_a_star_may_take_the_columns_of_a_pattern() -> None:
    assert column_lines("select * ilike '%b%' exclude (ab) from t", "snowflake", {"T": "A B AB"}) == {"B = T.B"}


def test_rename_in_a_star() -> None:
    schemas = {"T": "A B"}
    assert column_lines("select * exclude (a) rename (b as z) from t", "snowflake", schemas) == {"Z = T.B"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "select * from t", {"* = t"}),
        ("postgres", "with c as (select * from t) select c.* from c", {"* = t"}),
        ("postgres", "with c as (select * from t) select c.a from c", {"a = t.a"}),
        ("postgres", "select a from (select *, 1 as one from t) d", {"a = t.a"}),
        ("postgres", "select one from (select *, b as one from t) d", {"one = t.b"}),
        ("snowflake", "select z from (select * exclude (a) rename (b as z) from t)", {"Z = T.B"}),
        ("bigquery", "select * except (a) from (select * except (b) from t)", {"* = t -a -b"}),
        (
            "postgres",
            "select * from t join u using (k)",
            {"* = t -k", "* = u -k", "k = t.k", "* join t.k", "* join u.k"},
        ),
        ("postgres", "select a from (select * from t, u) d", {"a = t.a|u.a"}),
    ],
)
def test_a_star_over_an_unknown_table_folds_through(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


def test_a_column_that_a_star_left_out_is_not_there() -> None:
    assert column_lines("select a from (select * except (a) from t)", "bigquery") == {"a is constant"}


def test_a_star_in_a_branch_keeps_the_columns_around_it_in_place() -> None:
    lines = column_lines("select p, q from (select x as p, * , y as q from t union all select a, *, b from u) d")
    assert {"p = t.x", "p = u.a", "q = t.y", "q = u.b"} <= lines


def test_stars_of_two_branches_run_beside_each_other() -> None:
    assert column_lines("select * from t union all select * from u") == {"* = t", "* = u"}
    assert column_lines("select a from (select * from t union all select * from u) d") == {"a = t.a", "a = u.a|u.*"}


def test_the_same_form_binds_when_a_schema_arrives() -> None:
    text = "select d.* from (select * from t union all select * from u) d"
    assert column_lines(text, schemas={"t": "a b", "u": "x y"}) == {"a = t.a", "a = u.x", "b = t.b", "b = u.y"}


def test_a_replaced_column_over_an_unknown_table_is_taken_out_of_the_star() -> None:
    assert column_lines("select * replace (upper(a) as a) from t", "bigquery") == {"* = t -a", "a f t.a"}


def test_what_a_statement_names_but_nothing_depends_on_is_kept_apart() -> None:
    lineage = analysed("with c as (select a, b from t) select a from c", schemas={"t": "a b z"})
    assert [str(column) for column in lineage.unused] == ["t.b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select t.* as (x, y) from t", {"x = t.a", "y = t.b"}),
        ("select y from (select q.* as (x, y) from t q)", {"y = t.b"}),
        ("select (row(b, a)).* as (x, y) from t", {"x = t.b", "y = t.a"}),
        ("select v.* as (x) from v", {"x = v.*"}),
        ("select (row(b, a)).* from t", {"_col0 = t.b", "_col1 = t.a"}),
        ("select t.*, u.* from t join u using (a)", {"b = t.b", "c = u.c", "* join t.a", "* join u.a"}),
    ],
)
def test_trinos_stars_take_names_by_position_and_leave_merged_columns_out(text: str, expected: set[str]) -> None:
    assert column_lines(text, "trino", {"t": "a b", "u": "a c"}) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "names"),
    [
        ("trino", "select *, max(c) from (select a + 1, b from t)", ["_col0", "b", "_col2"]),
        ("trino", "select * from (values (1, 2)) v (x) cross join lateral (values 3)", ["x", "_col1", "_col2"]),
        ("trino", "select r[1].x, f(a).x, r.x from t", ["_col0", "_col1", "x"]),
        ("bigquery", "select a, max(b), min(c) as m, max(c) from t group by a", ["a", "f0_", "m", "f1_"]),
    ],
)
def test_outputs_without_names_are_numbered_in_the_end(dialect: str, text: str, names: list[str]) -> None:
    (flow,) = analysed(text, dialect, {"t": "a b c"}).flows
    assert [output.name for output in flow.outputs] == names
