"""The order in which `*` gives the columns of joined and unpivoted relations: it decides what positions mean."""

from __future__ import annotations

import sqlite3

import duckdb
import pytest

from tests.support.lineage_lines import analysed, lines_of_flows

TABLES = {"t": "a j k b", "u": "c k j d", "v": "k e a"}
JOINS = (
    "t join u using (k)",
    "t join u using (k, j)",
    "t join u using (j, k)",
    "t left join u using (k)",
    "t right join u using (k)",
    "t right join u using (j, k)",
    "t natural join u",
    "t natural right join u",
    "t join u using (k) join v using (k)",
    "t join u using (k) right join v using (k)",
    "t natural join u natural join v",
    "t natural join u natural right join v",
    "t left join u using (k) natural right join v",
)
STANDARD = (
    *("k a j b c j d", "k j a b c d", "j k a b c d", "k a j b c j d", "k a j b c j d", "j k a b c d", "j k a b c d"),
    *("j k a b c d", "k a j b c j d e a", "k a j b c j d e a", "k a j b c d e", "k a j b c d e", "k a j b c j d e"),
)
KEPT_SIDE = (
    *("k a j b c j d", "j k a b c d", "j k a b c d", "k a j b c j d", "k c j d a j b", "k j c d a b", "j k a b c d"),
    *("k j c d a b", "k a j b c j d e a", "k e a a j b c j d", "k a j b c d e", "k a e j b c d", "k a e j b c j d"),
)
"""Of the standard as PostgreSQL gives them, and as MariaDB does."""


def names(text: str, dialect: str) -> str:
    upper = {table.upper(): columns.upper() for table, columns in TABLES.items()}
    (flow,) = analysed(text, dialect, TABLES | upper).flows
    return " ".join(output.name for output in flow.outputs).lower()


@pytest.mark.parametrize("dialect", ["bigquery", "mariadb", "mysql", "oracle", "postgres", "snowflake", "spark"])
def test_merged_columns_come_first(dialect: str) -> None:
    expected = KEPT_SIDE if dialect in ("mariadb", "mysql") else STANDARD
    found = tuple(names(f"select * from {join}", dialect) for join in JOINS)
    assert dict(zip(JOINS, found, strict=True)) == dict(zip(JOINS, expected, strict=True))


def test_merged_columns_stay_where_the_left_side_has_them() -> None:
    duck, lite = duckdb.connect(), sqlite3.connect(":memory:")
    for table, columns in TABLES.items():
        for connection in (duck, lite):
            connection.execute(f"create table {table} ({', '.join(f'{name} int' for name in columns.split())})")
    for join in JOINS:
        text = f"select * from {join}"
        for dialect, cursor in (("duckdb", duck.execute(text)), ("sqlite", lite.execute(text))):
            assert names(text, dialect) == " ".join(column[0] for column in cursor.description or ()), (dialect, join)


def test_a_star_of_an_unknown_table_keeps_the_column_that_it_gives_itself() -> None:
    (lines,) = lines_of_flows("create table n as select * from t join u using (k)", "duckdb")
    assert {"* = t", "* = u -k"} <= lines
    (lines,) = lines_of_flows("create table n as select * from t right join u using (k)", "duckdb")
    assert {"k = u.k", "* = t -k", "* = u -k"} <= lines


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [("bigquery", "b v n"), ("duckdb", "b n v"), ("snowflake", "b n v"), ("spark", "b n v"), ("tsql", "b v n")],
)
def test_an_unpivot_gives_name_and_value_in_its_dialects_order(dialect: str, expected: str) -> None:
    assert names("select * from t unpivot (v for n in (a, j, k))", dialect) == expected


@pytest.mark.parametrize("dialect", ["databricks", "duckdb", "redshift", "snowflake"])
def test_an_output_without_columns_may_be_what_a_later_name_means(dialect: str) -> None:
    lineage = analysed("select count(*) as n, n / 2 as h from t", dialect)
    (reference,) = lineage.flows[0].outputs[1].references
    assert not reference.certain
    assert [problem.kind.value for problem in lineage.problems] == ["ambiguous_column"]
    known = analysed("select count(*) as n, n / 2 as h from t", dialect, {"t": "a", "T": "A"})
    assert known.flows[0].outputs[1].references == ()


def test_in_a_union_columns_around_stars_are_opposite_each_other_and_each_is_there_once() -> None:
    text = "create table x as select a as i, *, a as k from s union all select b, *, b from r"
    (flow,) = analysed(text, "postgres").flows
    named = {output.name: {str(one.sources[0]) for one in output.references} for output in flow.outputs}
    assert [output.name for output in flow.outputs] == ["i", "*", "*", "k"]
    assert (named["i"], named["k"]) == ({"s.a", "r.b"}, {"s.a", "r.b"})


@pytest.mark.parametrize(
    ("join", "left", "right"),
    [("natural join u", "id s q n", "id s k"), ("join u using (s, id)", "s id q n", "s id k")],
)
def test_sparks_star_of_a_table_begins_with_the_columns_that_a_join_makes_one(join: str, left: str, right: str) -> None:
    schemas = {"t": "q id n s", "u": "k id s", "w": "b"}
    for name, expected in (("t", left), ("u", right)):
        query = f"select {name}.* from t {join} join w on w.b = 1"
        (flow,) = analysed(query, "spark", schemas).flows
        assert [output.name for output in flow.outputs] == expected.split()
        (flow,) = analysed(query, "postgres", schemas).flows
        assert [output.name for output in flow.outputs] == schemas[name].split()
