"""What a name means: case, quotes, candidates, the query around, output names, fields and whole rows."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import analysed, column_lines, lines_of_flows, problems

T = {"t": "a b k", "u": "b c k"}
JOINED = {"t": "k a", "u": "k b", "v": "k c", "w": "k d"}


def test_a_known_schema_settles_an_unprefixed_name() -> None:
    assert column_lines("select c, a from t, u", schemas=T) == {"c = u.c", "a = t.a"}


def test_a_known_schema_that_lacks_the_name_leaves_it_to_the_unknown_table() -> None:
    assert column_lines("select x from t, w", schemas={"t": "a b"}) == {"x = w.x"}


def test_a_known_schema_that_has_the_name_excludes_the_unknown_table() -> None:
    assert column_lines("select a from t, w", schemas={"t": "a b"}) == {"a = t.a"}


def test_no_column_is_number_nought() -> None:
    assert column_lines("select $0 as x, $1 as y from t", "snowflake", {"T": "A B"}) == {"X is constant", "Y = T.A"}


@pytest.mark.parametrize("text", ["select t.$1, $2 from t", "select q.$1, q.$2 from (select a, b from t) q"])
def test_a_position_is_a_column_with_a_prefix_and_without(text: str) -> None:
    assert column_lines(text, "snowflake", {"T": "A B"}) == {"$1 = T.A", "$2 = T.B"}


def test_a_name_in_two_known_tables_is_ambiguous_and_says_so() -> None:
    assert column_lines("select b from t, u", schemas=T) == {"b = t.b|u.b"}
    assert problems("select b from t, u", schemas=T) == [("ambiguous_column", "b")]


def test_two_unknown_tables_are_both_candidates() -> None:
    assert column_lines("select a from t, u") == {"a = t.a|u.a"}
    assert problems("select a from t, u") == [("ambiguous_column", "a")]


def test_a_table_that_is_read_twice_is_one_candidate() -> None:
    assert column_lines("select a from t x, t y") == {"a = t.a"}


def test_the_same_candidates_in_two_branches_are_one_reference() -> None:
    (flow,) = analysed("select a from t, u union all select a from t, u").flows
    (reference,) = flow.outputs[0].references
    assert [str(source) for source in reference.sources] == ["t.a", "u.a"]


def test_a_prefix_elsewhere_in_the_query_settles_a_name_between_unknown_tables() -> None:
    assert column_lines("select a from t, u where u.a = t.k") == {"a = u.a", "* filter u.a", "* filter t.k"}


def test_a_prefix_earlier_in_the_statement_settles_it_too() -> None:
    text = "select a from (select u.a as p from u) d join t on t.k = d.p join u on u.k = d.p"
    assert "a = u.a" in column_lines(text)


def test_a_derived_table_that_lacks_the_name_is_no_candidate() -> None:
    assert column_lines("select a from (select b from t) d, u") == {"a = u.a"}


def test_a_column_that_a_known_schema_does_not_have_is_reported_and_no_edge() -> None:
    assert column_lines("select t.z, a from t", schemas=T) == {"z is constant", "a = t.a"}
    assert problems("select t.z from t", schemas=T) == [("unknown_column", "t.z")]


def test_a_name_is_looked_for_outside_only_when_nothing_inside_can_have_it() -> None:
    text = "select (select max(u.c) from u where a = u.k) as m from t"
    assert "m filter t.a" in column_lines(text, schemas=T)


def test_an_unknown_table_inside_comes_before_an_unknown_one_outside() -> None:
    assert "m filter u.a" in column_lines("select (select max(u.c) from u where a = 1) as m from t")


def test_a_name_that_is_known_outside_and_possible_inside_stays_ambiguous() -> None:
    lines = column_lines("select (select max(u.c) from u where a = 1) as m from t", schemas={"t": "a b"})
    assert "m filter u.a|t.a" in lines


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", 'select A, "A" from T', {"a = t.a", "A = t.A"}),
        (
            "snowflake",
            'select totalprice, "totalprice" from t',
            {"TOTALPRICE = T.TOTALPRICE", "totalprice = T.totalprice"},
        ),
        ("oracle", "select a from S.T", {"A = S.T.A"}),
        ("mysql", "select A from T", {"a = T.a"}),
        ("bigquery", "select T.A from d.Tab t", {"a = d.Tab.a"}),
        ("spark", "select `A` from `T`", {"a = t.a"}),
        ("tsql", "select [A b] from [T]", {"a b = t.a b"}),
        ("clickhouse", "select A from T", {"A = T.A"}),
        ("bigquery", "with Cte as (select a from t) select a from cTE", {"a = t.a"}),
    ],
)
def test_names_fold_as_their_dialect_folds_them(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


def test_the_catalogs_own_case_wins_and_another_case_finds_it() -> None:
    assert column_lines("select a, B from t", "snowflake", {"T": "a B"}) == {"A = T.a", "B = T.B"}
    assert column_lines('select "a" from t', "snowflake", {"T": "a A"}) == {"a = T.a"}


@pytest.mark.parametrize(
    "dialect", ["snowflake", "redshift", "databricks", "spark", "teradata", "duckdb", "clickhouse"]
)
def test_an_output_may_use_the_name_of_an_earlier_one_when_no_column_has_it(dialect: str) -> None:
    name = "T" if dialect == "snowflake" else "t"
    column = "A" if dialect == "snowflake" else "a"
    lines = column_lines("select a as x, x + 1 as y from t", dialect, {name: column})
    assert lines == {
        f"{'X' if dialect == 'snowflake' else 'x'} = {name}.{column}",
        f"{'Y' if dialect == 'snowflake' else 'y'} f {name}.{column}",
    }


def test_a_long_chain_of_aliases_leads_to_the_column_that_it_begins_with() -> None:
    aliases = ", ".join(f"c{number} + 1 as c{number + 1}" for number in range(300))
    lines = column_lines(f"select a as c0, {aliases} from t where c300 > 1", "clickhouse", {"t": "a"})
    assert {"c300 f t.a", "* filter t.a"} <= lines


def test_a_column_comes_before_an_earlier_output_of_the_same_name() -> None:
    lines = column_lines("select b as a, a + 1 as y from t", "spark", schemas=T)
    assert lines == {"a = t.b", "y f t.a"}


def test_without_a_schema_an_earlier_output_and_a_column_are_both_candidates() -> None:
    assert column_lines("select b as a, a + 1 as y from t", "spark") == {"a = t.b", "y f t.a|t.b"}


def test_a_column_that_was_used_already_is_no_output_name() -> None:
    assert column_lines("select upper(a) as a, a || 'x' as y from t", "snowflake") == {"A f T.A", "Y f T.A"}


@pytest.mark.parametrize("dialect", ["bigquery", "postgres", "mysql", "trino", "oracle"])
def test_dialects_without_lateral_aliases_mean_the_column(dialect: str) -> None:
    lines = {line.lower() for line in column_lines("select a as x, x as y from t", dialect)}
    assert lines == {"x = t.a", "y = t.x"}


def test_group_by_means_an_output_only_when_no_column_is_known_by_the_name() -> None:
    assert "* group t.a" in column_lines("select lower(a) as x, count(*) as n from t group by x")
    assert "* group t.x" in column_lines("select lower(a) as x, count(*) as n from t group by x", schemas={"t": "a x"})


def test_having_may_use_output_names_where_the_dialect_lets_it() -> None:
    assert "* filter t.a" in column_lines("select sum(a) as s from t having s > 1", "mysql")
    assert "* filter t.s" in column_lines("select sum(a) as s from t having s > 1", "postgres")


def test_where_may_use_output_names_in_sqlite_where_no_column_is_called_so() -> None:
    assert "* filter t.a" in column_lines("select a as x from t where x > 1", "sqlite", {"t": "a b"})
    assert "* filter t.b" in column_lines("select a as b from t where b > 1", "sqlite", {"t": "a b"})


def test_an_empty_name_is_a_string_in_sqlite() -> None:
    assert column_lines('select "" <= a as x from t', "sqlite", {"t": "a b"}) == {"x f t.a"}
    assert column_lines('select "" as x from t', "sqlite") == {"x is constant"}
    assert problems('select "" <= 1 as x', "sqlite") == []


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("sqlite", "select b from t where a in u", {"* filter t.a", "* filter u.x", "from u"}),
        ("sqlite", "select a not in d.w as n from t", {"n f t.a", "n f d.w.*", "from d.w"}),
        ("sqlite", "with w as (select x as y from u) select b from t where a in w", {"* filter u.x", "from u"}),
        ("clickhouse", "select b from t where a in u", {"* filter t.a", "* filter u.x", "from u"}),
        ("clickhouse", "select b from t where (a, b) not in d.w", {"* filter t.b", "* filter d.w.*", "from d.w"}),
    ],
)
def test_a_relation_behind_in_is_read(dialect: str, text: str, expected: set[str]) -> None:
    (lines,) = lines_of_flows(text, dialect, {"t": "a b", "u": "x"})
    assert lines >= expected


@pytest.mark.parametrize(
    "text",
    [
        "select [1, 2] as u, b from t where a in u",
        "with [1, 2] as u select b from t where a in u",
        "select b from t array join t.n as u where a in u.k",
    ],
)
def test_what_clickhouse_names_in_a_query_is_no_relation_behind_in(text: str) -> None:
    (lines,) = lines_of_flows(text, "clickhouse", {"t": "a b n"})
    assert {line for line in lines if line.startswith("from")} == {"from t"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("bigquery", "select t.a.b.c from t", {"c f t.a"}),
        ("spark", "select a.b, m['k'] as v, arr[0].f from t", {"b f t.a", "v f t.m", "f f t.arr"}),
        ("postgres", "select (t.a).b from t", {"b f t.a"}),
        ("postgres", "select (t).a from t", {"a = t.a"}),
        ("snowflake", "select a:b.c as x from t", {"X f T.A"}),
        ("bigquery", "select x.y.z from d.x", {"z f d.x.y"}),
    ],
)
def test_a_field_comes_from_its_column(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


def test_a_relations_name_as_a_value_is_all_of_its_columns() -> None:
    assert column_lines("select to_jsonb(d) as j from (select a, b from t) d") == {"j f t.a", "j f t.b"}
    assert column_lines("select count(t.*) as n from t", schemas={"t": "a"}) == {"n agg# t.a"}
    assert column_lines("select t as r from t") == {"r f t.t|t.*"}


def test_a_using_column_is_one_column_of_the_result() -> None:
    assert column_lines("select * from t join u using (k)", schemas={"t": "k a", "u": "k b"}) == {
        "k = t.k",
        "a = t.a",
        "b = u.b",
        "* join t.k",
        "* join u.k",
    }


def test_natural_join_merges_what_both_sides_have() -> None:
    lines = column_lines("select * from t natural join u", schemas={"t": "k a", "u": "k b"})
    assert lines == {"k = t.k", "a = t.a", "b = u.b", "* join t.k", "* join u.k"}


def test_a_prefix_may_carry_schema_and_database() -> None:
    assert column_lines("select s.t.a, t.b from d.s.t") == {"a = d.s.t.a", "b = d.s.t.b"}


def test_where_a_table_has_a_column_of_its_own_name_that_comes_before_a_schema_of_it() -> None:
    assert column_lines("select s.s.a from s", "spark", {"s": "a s"}) == {"a f s.s"}
    assert column_lines("select s.s.a from s.s", "spark", {"s.s": "a s"}) == {"a = s.s.a"}
    assert column_lines("select s.s.a from s", "spark", {"s": "a b"}) == {"a = s.a"}


def test_a_schema_before_a_name_may_be_that_of_the_query_around() -> None:
    text = "select a from web.t where exists (select 1 from t where web.t.a = t.f)"
    assert column_lines(text, schemas={"web.t": "a", "t": "f"}) == {"a = web.t.a", "* filter web.t.a", "* filter t.f"}


def test_a_name_without_a_relation_around_is_a_variable_where_sessions_have_some() -> None:
    assert problems("select v, session.w", "spark") == []
    assert problems("select system.session.v from t", "databricks", {"t": "a"}) == []
    assert problems("select v from t", "spark", {"t": "a"}) == [("unknown_column", "v")]
    assert problems("select v", "postgres") == [("unknown_column", "v")]


def test_what_a_table_of_files_tells_of_the_file_is_no_column_of_it() -> None:
    text = "select a, _metadata.file_path, t._metadata.row_index as r from t"
    for schemas in ({}, {"t": "a"}):
        assert column_lines(text, "databricks", schemas) == {"a = t.a", "file_path is constant", "r is constant"}
        assert problems(text, "databricks", schemas) == []
    assert column_lines("select _metadata.f from t", "spark", {"t": "_metadata"}) == {"f f t._metadata"}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [("spark", "select _metadata.a from t as _metadata"), ("clickhouse", "select _part.a from t _part")],
)
def test_a_relation_that_is_called_as_a_hidden_column_has_columns(dialect: str, text: str) -> None:
    assert column_lines(text, dialect) == {"a = t.a"}


def test_of_several_columns_of_a_name_spark_merges_the_first() -> None:
    (flow,) = analysed("select * from t join u using (k), v join w using (k)", "spark", JOINED).flows
    assert [(output.name, str(output.references[0].sources[0])) for output in flow.outputs] == [
        ("k", "t.k"),
        ("a", "t.a"),
        ("b", "u.b"),
        ("k", "v.k"),
        ("c", "v.c"),
        ("d", "w.d"),
    ]
    assert problems("select * from t, v join w using (k)", "spark", JOINED) == []


def test_the_parameters_of_a_lambda_are_no_columns() -> None:
    assert column_lines("select filter(arr, x -> x > lim) as r from t", "spark") == {"r f t.arr", "r f t.lim"}


@pytest.mark.parametrize(
    ("dialect", "item", "name"),
    [
        ("postgres", "(a ->> 'z')::int", "int4"),
        ("postgres", "a = 1", "?column?"),
        ("postgres", "a::text", "a"),
        ("postgres", "case when a then b else (select max(c) from u) end", "max"),
        ("postgres", "case when a then b else 1::bigint end", "case"),
        ("postgres", "case when a then b end", "case"),
        ("postgres", "jsonb_object_agg(a, b)", "jsonb_object_agg"),
        ("postgres", "string_agg(a, ',')", "string_agg"),
        ("redshift", "listagg(a, ',') within group (order by b)", "listagg"),
        ("bigquery", "max(a)", "f0_"),
        ("duckdb", "count(*)", "count_star()"),
        ("spark", "count(*)", "count(1)"),
        ("databricks", "COUNT(1)", "count(1)"),
        ("trino", "max(a)", "_col0"),
    ],
)
def test_an_unnamed_output_has_the_name_that_the_system_gives_it(dialect: str, item: str, name: str) -> None:
    lines = column_lines(f"select {item} from t", dialect)
    assert {line.partition(" ")[0] for line in lines if line[0] != "*"} == {name}


@pytest.mark.parametrize("schemas", [{"t": "id p", "w": "k"}, {"w": "k"}])
def test_the_fields_of_an_unnested_array_are_columns_in_bigquery(schemas: dict[str, str]) -> None:
    text = "select (select value.s from unnest(p) where key = 'x') as v from t"
    assert column_lines(text, "bigquery", schemas) == {"v f t.p", "v filter t.p"}


def test_a_field_that_the_query_around_has_too_is_ambiguous() -> None:
    text = "select (select v from unnest(p) where key = 'x') as v from t"
    assert column_lines(text, "bigquery", {"t": "p key"}) == {"v f t.p", "v filter t.p|t.key", "v filter t.p"}


def test_an_aliased_array_has_fields_where_no_table_can_have_the_name() -> None:
    text = "select (select max(v) from unnest(p) e where id > 1) as m from t"
    assert column_lines(text, "bigquery", {"t": "id p"}) == {"m agg t.p", "m filter t.id", "m filter t.p"}
    assert column_lines(text, "bigquery") == {"m agg t.p|t.v", "m filter t.p|t.id", "m filter t.p"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select t.a, web.t.b, x.web.t.c as c from web.t", {"a = web.t.a", "b = web.t.b", "c = web.t.c"}),
        ("select o.a, t.b, web.t.c, O.d from web.t as o", {"a = web.t.a", "b = web.t.b", "c = web.t.c", "d = web.t.d"}),
        ("select t.a from web.t, shop.t", {"a = web.t.a"}),
        ("select t.a from web.t as o, shop.t", {"a = shop.t.a"}),
        ("select t.a from web.t as o, shop.u as t", {"a = shop.u.a"}),
        ('select T.a from u as "t", u as "x"', {"a = u.a"}),
    ],
)
def test_a_qualifier_means_the_first_relation_that_is_called_so_and_an_alias_hides_a_name(
    text: str, expected: set[str]
) -> None:
    assert column_lines(text) == expected


def test_duckdb_may_leave_the_schema_out_between_a_database_and_a_table() -> None:
    for schemas in ({}, {"db1.main.t": "a db1"}):
        assert column_lines("select db1.t.a from db1.main.t", "duckdb", schemas) == {"a = db1.main.t.a"}
    text = "select db1.t.a from db1.main.t as o, db2.main.t as t"
    assert column_lines(text, "duckdb", {"db1.main.t": "b", "db2.main.t": "b db1"}) == {"a f db2.main.t.db1"}


def test_an_item_of_with_sees_those_before_it_and_the_last_of_one_name_is_meant_outside() -> None:
    text = "with c as (select x as a from s), d as (select a as b from c), c as (select b as a from d) select a from c"
    assert column_lines(text) == {"a = s.x"}
    assert column_lines("with d as (select a from c), c as (select x as a from s) select d.a from d") == {"a = c.a"}
    inner = "with c as (select x as a from s) select a from (with d as (select a from c) select a from d) q"
    assert column_lines(inner) == {"a = s.x"}


_SIDES = {"t": "k a", "u": "k b", "v": "b k c", "w": "c d"}


@pytest.mark.parametrize(
    ("relations", "expected"),
    [
        (  # t's k is no side of the inner join, and stands beside the one that it makes
            "t join (u join v using (k)) on t.a = u.b",
            {"k = t.k", "a = t.a", "k = u.k", "b = u.b", "b = v.b", "c = v.c"}
            | {"* join t.a", "* join u.b", "* join u.k", "* join v.k"},
        ),
        (
            "t left join (u join v using (b)) on t.k = c",
            {"k = t.k", "a = t.a", "b = u.b", "k = u.k", "k = v.k", "c = v.c"}
            | {"* join t.k", "* join u.b", "* join v.b", "* join v.c"},
        ),
        (  # both have a column that they merge: of the outer one the right side is a join
            "t left join (v join w using (c)) using (k)",
            {"k = t.k", "a = t.a", "c = v.c", "b = v.b", "d = w.d"}
            | {"* join t.k", "* join v.k", "* join v.c", "* join w.c"},
        ),
        (
            "t natural join (v natural join w)",
            {"k = t.k", "a = t.a", "c = v.c", "b = v.b", "d = w.d"}
            | {"* join t.k", "* join v.k", "* join v.c", "* join w.c"},
        ),
        (
            "(t natural join u) natural left join (v natural join w)",
            {"k = t.k", "b = u.b", "a = t.a", "c = v.c", "d = w.d"}
            | {"* join t.k", "* join u.k", "* join u.b", "* join v.k", "* join v.b", "* join v.c", "* join w.c"},
        ),
    ],
)
@pytest.mark.parametrize("dialect", ["postgres", "mysql", "trino", "duckdb"])
def test_a_join_in_parentheses_merges_its_own_columns(dialect: str, relations: str, expected: set[str]) -> None:
    text = f"select * from {relations}"
    assert column_lines(text, dialect, schemas=_SIDES) == expected
    assert problems(text, dialect, schemas=_SIDES) == []


@pytest.mark.parametrize("dialect", ["postgres", "tsql", "snowflake", "spark", "mysql", "bigquery"])
@pytest.mark.parametrize("middle", ["u", "u as u", "(select b, c from u) u"])
def test_a_join_that_is_joined_needs_no_parentheses(dialect: str, middle: str) -> None:
    plain = f"select t.a, u.c, w.d from t left join {middle} join w on u.b = w.b on w.k = t.k"
    bracketed = f"select t.a, u.c, w.d from t left join ({middle} join w on u.b = w.b) on w.k = t.k"
    found = {line.lower() for line in column_lines(plain, dialect)}
    assert found == {line.lower() for line in column_lines(bracketed, dialect)}
    assert {"a = t.a", "c = u.c", "d = w.d", "* join w.b", "* join w.k"} <= found
    assert problems(plain, dialect) == []


@pytest.mark.parametrize(
    "text", ["(u join w on {0}) on t.a = d", "u join w on {0} on t.a = d", "u join w on {0} on d = a"]
)
def test_the_condition_of_a_join_that_is_joined_sees_its_own_sides_alone(text: str) -> None:
    schemas = {"t": "a b k", "u": "b c k", "w": "d e"}
    query = f"select a from t join {text.format('b = e')}"
    assert column_lines(query, schemas=schemas) == {"a = t.a", "* join u.b", "* join w.e", "* join t.a", "* join w.d"}
    assert problems(query, schemas=schemas) == []


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "trino"])
@pytest.mark.parametrize("join", ["join w using (k, b)", "natural join w"])
def test_what_stands_before_a_comma_has_no_part_in_the_join_behind_it(dialect: str, join: str) -> None:
    schemas = {"t": "a k x", "u": "a b k", "w": "c k b"}
    found = column_lines(f"select t.x, u.c from t, (select u.k, c from u {join}) u", dialect, schemas)
    plain = column_lines(f"select t.x, w.c from t, u {join}", dialect, schemas)
    assert plain == found
    assert problems(f"select t.x, w.c from t, u {join}", dialect, schemas) == []
    assert "* join t.k" not in plain


def test_sqlite_joins_from_left_to_right() -> None:
    schemas = {"t": "a k", "u": "b", "w": "c k"}
    assert column_lines("select c from t, u join w using (k)", "sqlite", schemas) == {
        "c = w.c", "* join t.k", "* join w.k"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "schemas"),
    [
        ("SELECT b FROM t JOIN u ON t.k = u.k", {"u": "k b"}),
        ("SELECT u.b, b FROM t JOIN u ON t.k = u.k", {}),
    ],
)
def test_that_the_right_side_of_clickhouses_join_has_a_name_does_not_say_that_the_left_one_has_none(
    query: str, schemas: dict[str, str]
) -> None:
    assert problems(query, "clickhouse", schemas) == [("ambiguous_column", "b")]
    assert problems(query, "postgres", schemas) == []


def test_that_the_left_side_of_clickhouses_join_has_a_name_is_enough() -> None:
    assert problems("SELECT t.b, b FROM t JOIN u ON t.k = u.k", "clickhouse") == []


@pytest.mark.parametrize(
    ("known", "read", "unsure"),
    [
        ({"t": "a b"}, {"* filter u.*"}, []),
        ({"t": "a u", "u": "c"}, {"* filter t.u"}, []),
        ({}, {"* filter t.u|u.*"}, [("ambiguous_column", "u")]),
    ],
)
def test_what_clickhouse_has_behind_in_is_a_column_before_a_relation(
    known: dict[str, str], read: set[str], unsure: list[tuple[str, str]]
) -> None:
    query = "select a from t where a in u"
    assert column_lines(query, "clickhouse", known) == {"a = t.a", "* filter t.a", *read}
    assert problems(query, "clickhouse", known) == unsure
    of_sqlite = {"* filter u.c"} if "u" in known else {"* filter u.*"}
    assert column_lines(query, "sqlite", known) == {"a = t.a", "* filter t.a", *of_sqlite}
    assert problems(query, "sqlite", known) == []


@pytest.mark.parametrize(
    ("known", "read", "unsure"),
    [
        ({"t": "a"}, "* filter t.a", []),
        ({"t": "a b"}, "* filter t.b", []),
        ({}, "* filter t.b|t.a", [("ambiguous_column", "b")]),
    ],
)
def test_an_output_that_sqlite_knows_in_where_comes_after_columns(
    known: dict[str, str], read: str, unsure: list[tuple[str, str]]
) -> None:
    query = "select a as b from t where b = 0"
    assert column_lines(query, "sqlite", known) == {"b = t.a", read}
    assert problems(query, "sqlite", known) == unsure
