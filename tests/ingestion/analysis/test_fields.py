"""Fields of structs and objects that the query itself builds: each is what it was built of, and nothing beside it."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import column_lines, expression_of, problems

STRUCT = "select struct(m.a as a, m.b as b, struct(m.c as x, m.d as y) as n) as s from m"
OBJECT = "select object_construct('a', x, 'b', y, 'n', object_construct('x', p, 'z', q)) as o from t"


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("bigquery", f"select s.a from ({STRUCT})", {"a = m.a"}),
        ("bigquery", f"with c as ({STRUCT}), e as (select c.s as t from c) select e.t.n.x from e", {"x = m.c"}),
        ("bigquery", f"select s.n.* from ({STRUCT})", {"x = m.c", "y = m.d"}),
        ("bigquery", f"select S.A as z from ({STRUCT})", {"z = m.a"}),
        ("spark", "select v.s.x, t.a from values (named_struct('x', 1)) v (s), t", {"a = t.a", "x is constant"}),
        ("bigquery", "select struct<x int64, y string>(a, b).y from m", {"y f m.b"}),
        (
            "bigquery",
            "select s.a from (select struct(a, b) as s from m union all select struct(p, q) from n)",
            {"a = m.a", "a = n.p"},
        ),
        (
            "snowflake",
            "select o:b as v from (select object_construct('a', x, 'b', y) as o from t "
            "union all select object_construct('b', p, 'c', q) from u)",
            {"V f T.Y", "V f U.P"},
        ),
        (
            "bigquery",
            "select i.a from (select [struct(a, b), struct(c, d)] as l from m), unnest(l) as i",
            {"a f m.a", "a f m.c"},
        ),
        (
            "bigquery",
            "select i.x from (select array_agg(struct(a as x, b as y) order by k) as l from m), unnest(l) as i",
            {"x agg m.a", "x sort m.k", "* filter m.k"},
        ),
        (
            "bigquery",
            "select x, y from unnest((select array_agg(struct(a as x, b as y)) from m))",
            {"x agg m.a", "y agg m.b"},
        ),
        ("bigquery", "select array(select as struct a, b from u)[offset(0)].b", {"b f u.b"}),
        ("bigquery", "select if(k, struct(a as x, b as y), struct(c, d)).x from m", {"x f m.a", "x f m.c", "x if m.k"}),
        ("bigquery", "select any_value(s).b from (select struct(a, b) as s from m)", {"b agg m.b"}),
        (
            "bigquery",
            "select json_value(j, '$.a') as v from (select json_object('a', x, 'b', y) as j from t)",
            {"v f t.x"},
        ),
        (
            "snowflake",
            f"select o:a::int as v, o['b'] as w, get(o, 'a') as g, o:n.x as z from ({OBJECT})",
            {"V f T.X", "W f T.Y", "G f T.X", "Z f T.P"},
        ),
        (
            "snowflake",
            "select f.value:b as v from (select array_agg(object_construct('a', x, 'b', y)) as l from t), "
            "lateral flatten(input => l) f",
            {"V agg T.Y"},
        ),
        (
            "spark",
            "select s.a, s['b'] as w from (select named_struct('a', x, 'b', y) as s from t)",
            {"a = t.x", "w f t.y"},
        ),
        (
            "spark",
            "select e.p from (select collect_list(struct(x as p, y as q)) as l from t) lateral view explode(l) v as e",
            {"p agg t.x"},
        ),
        (
            "duckdb",
            "select s.a, struct_extract(s, 'b') as w from (select {'a': x, 'b': y} as s from t)",
            {"a = t.x", "w f t.y"},
        ),
        ("trino", "select cast(row(a, b) as row(x int, y int)).x from t", {"_col0 f t.a"}),
        (
            "postgres",
            "select j->'n'->>'x' as v from "
            "(select json_build_object('a', x, 'n', jsonb_build_object('x', p, 'z', q)) as j from t) d",
            {"v f t.p"},
        ),
    ],
)
def test_a_field_is_what_it_was_built_of(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("trino", "select row(a, b)[1] as v from t", {"v f t.a|t.b"}),
        ("clickhouse", "select tuple(a, b).1 as v from t", {"v f t.a|t.b"}),
        ("snowflake", "select o:c as v from (select object_construct('a', x, k, y) as o from t)", {"V f T.X|T.Y"}),
        ("bigquery", "select f(struct(a as x, b as y)).x from t", {"x f t.a", "x f t.b"}),
    ],
)
def test_a_field_that_may_be_any_is_no_certain_one(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


KNOWN = {"t": "a b ts", "u": "k l:ARRAY<STRUCT<a:INT64,b:STRING>>"}
EACH = {"a agg t.a", "b agg t.b", "ts agg t.ts"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        (
            "bigquery",
            "select array_agg(t order by ts desc limit 1)[offset(0)].* except (ts) from t",
            {"a agg t.a", "b agg t.b", "a sort t.ts", "b sort t.ts"},
        ),
        ("bigquery", "select any_value(t).* from t", EACH),
        ("bigquery", "select array_agg(r)[offset(0)].b from (select as struct * from t) r", {"b agg t.b"}),
        ("bigquery", "select (select as struct t.a, t.b from t).*", {"a = t.a", "b = t.b"}),
        ("postgres", "select (max(t)).* from t", EACH),
        ("bigquery", "select x.* from u, unnest(u.l) as x", {"a f u.l", "b f u.l", "* filter u.l"}),
        (
            "bigquery",
            "select x.*, p from u, u.l as x with offset as p",
            {"a f u.l", "b f u.l", "p if u.l", "* filter u.l"},
        ),
        ("bigquery", "select array_agg(v order by v.z limit 1)[offset(0)].* from v", {"* = v"}),
    ],
)
def test_all_fields_of_a_value(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect, KNOWN) == expected


def test_one_of_two_whole_rows_has_the_columns_of_both() -> None:
    common = "with c as (select * from t), p as (select * except (x) from w)"
    text = f"{common} select if(c.k > 1, c, p).* from c join p using (k)"
    assert {"* = t", "* = w -x"} <= column_lines(text, "bigquery")
    lines = column_lines(text, "bigquery", {"t": "k a", "w": "k x b"})
    assert {"k f t.k", "k f w.k", "a f t.a", "a f w.b", "a if t.k"} <= lines


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("bigquery", "create table z as select f(x).*, k from v"),
        ("bigquery", "create table z as select if(a, b, c).*, k from v"),
        ("bigquery", "create table z as select v.s.*, k from v"),
        ("postgres", "create table z as select (f(x)).*, k from v"),
    ],
)
def test_fields_that_nothing_names_make_no_certain_column(dialect: str, text: str) -> None:
    lines = column_lines(text, dialect)
    assert "k = v.k" in lines and not any(line.startswith("* = ") for line in lines)
    assert ("unsupported", "fields of a value of unknown type") in problems(text, dialect)


def test_what_follows_fields_that_nothing_names_is_counted_from_the_end() -> None:
    assert "c = v.k" in column_lines("insert into z select v.s.*, v.k from v", "bigquery", {"z": "a b c"})


def test_a_fields_expression_shows_no_name_out_of_a_string() -> None:
    text = f"select o:n.x as v, o:q as w from ({OBJECT})"
    assert expression_of(text, "V", "snowflake") == {"JSON_EXTRACT(T.P, ?)"}
    shown = "select any_value(s).x as v from (select struct(a as x, b as y) as s from t)"
    assert expression_of(shown, "v", "bigquery") == {"ANY_VALUE(STRUCT(? => t.a, ? => t.b)).?"}


def test_fields_of_constants_alone_come_from_nowhere() -> None:
    rows = "(values (array[2, 5]), (array[7, 8])) as x (numbers)"
    text = f"select n, t.k from {rows} cross join unnest(numbers) with ordinality as u (n, o), t"
    assert column_lines(text, "clickhouse", {"t": "k"}) == {"k = t.k", "n is constant"}
