"""Relations that functions name or make: cluster(…), remote(…), dictGet(…), STACK(…), (DESCRIBE t)."""

from __future__ import annotations

import pickle
from types import ModuleType

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.errors import Unparsable
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.fallback import sqlparse_tier as token_tier
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements.masking import fingerprint
from tests.support.lineage_lines import column_lines, lines_of_flows, problems


@pytest.mark.parametrize(
    ("relation", "source"),
    [
        ("cluster('c', db.s)", "db.s"),
        ("cluster('c', db, s)", "db.s"),
        ("cluster('c', 'db', 's', rand())", "db.s"),
        ("clusterAllReplicas('c', 'db.s')", "db.s"),
        ("cluster('c', currentDatabase(), 's')", "s"),
        ("remote('localhost', db.s)", "db.s"),
        ("remote('127.0.0.{1,2}:9000', 'db', 's', 'reader', 'pw-77')", "db.s"),
        ("remoteSecure('[::1]:9440', db.s, 'reader', 'pw-77')", "db.s"),
        ("remote('127.0.0.1', view(select a, b from db.s), 'reader', 'pw-77')", "db.s"),
        ("remote('h', s3('https://b.s3.com/x.csv', 'KEY', 'pw-77'))", "https://b.s3.com/x.csv"),
        ("remote('h:9000', db.s)", "remote"),
        ("remote('h:9000', 'db', 's', 'reader', 'pw-77')", "remote"),
        ("remote('localhost:9001', db.s)", "remote"),
        ("remote('127.0.0.1,10.0.0.5', db.s)", "remote"),
        ("remoteSecure('h:9000', db.s, 'reader', 'pw-77')", "remotesecure"),
        ("remote(my_collection, database = 'db', table = 's')", "remote"),
        ("remote('h', view(select a, b from db.s), 'reader', 'pw-77')", "remote"),
        ("view(select a, b from db.s)", "db.s"),
        ("cluster('c', s3('https://b.s3.com/x.csv', 'KEY', 'pw-77'))", "https://b.s3.com/x.csv"),
        ("dictionary('db.s')", "db.s"),
        ("dictionary(db.s)", "db.s"),
    ],
)
def test_a_clickhouse_function_that_names_a_table_reads_that_table(relation: str, source: str) -> None:
    for query in (f"select a, b from {relation}", f"select x.a, x.b from {relation} as x"):
        statement = parse(f"insert into n (p, q) {query}", "clickhouse")
        assert b"pw-77" not in pickle.dumps(statement)
        assert column_lines(query, "clickhouse") == {f"a = {source}.a", f"b = {source}.b"}


def test_a_clickhouse_function_that_names_a_table_writes_that_table() -> None:
    for function in ("remote('localhost', db.n, 'writer', 'pw-77')", "cluster('c', 'db', 'n')"):
        text = f"insert into function {function} (p) select a from s"
        assert b"pw-77" not in pickle.dumps(parse(text, "clickhouse"))
        assert lines_of_flows(text, "clickhouse") == [{"into db.n", "from s", "p = s.a"}]


@pytest.mark.parametrize("function", ["remote('h', db.n, 'w', 'pw-77')", "mysql('h', 'db', 'n', 'w', 'pw-77')"])
@pytest.mark.parametrize("columns", ["", " (p)"])
def test_what_another_server_is_given_goes_into_no_table_of_this_one(function: str, columns: str) -> None:
    text = f"insert into function {function}{columns} select a from db.n"
    assert b"pw-77" not in pickle.dumps(parse(text, "clickhouse"))
    into = f"into function {function.partition('(')[0]}"
    assert lines_of_flows(text, "clickhouse") == [{into, "from db.n", "a = db.n.a"}]


def test_a_table_of_another_server_is_not_the_one_of_its_name_here() -> None:
    text = "insert into db.n (p) select x.a from remote('h', db.n) x join db.n y using (k)"
    assert lines_of_flows(text, "clickhouse") == [
        {"into db.n", "from remote", "from db.n", "p = remote.a", "* join remote.k", "* join db.n.k"}
    ]
    text = "create table db.n as remote('h', db.n)"
    assert lines_of_flows(text, "clickhouse") == [{"into db.n", "from remote", "* = remote"}]


def test_the_arguments_of_another_systems_function_are_no_columns() -> None:
    text = "select m.b, s.a from s, mysql(creds, database = shop, table = 'b') m"
    assert problems(text, "clickhouse", {"s": "a creds shop"}) == []
    assert column_lines(text, "clickhouse", {"s": "a creds shop"}) >= {"a = s.a"}
    assert not any("creds" in line or "shop" in line for line in column_lines(text, "clickhouse"))


def test_a_clickhouse_function_over_a_file_takes_a_list_of_columns() -> None:
    text = "insert into function s3('https://b.s3.com/x.csv', 'KEY', 'pw-77', 'CSV') (p) select a from s"
    assert b"pw-77" not in pickle.dumps(parse(text, "clickhouse"))
    assert lines_of_flows(text, "clickhouse") == [{"into https://b.s3.com/x.csv", "from s", "p = s.a"}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("dictGet('db.d', 'a', id)", {"v f db.d.a", "v filter s.id"}),
        ("dictGetString(db.d, 'a', id)", {"v f db.d.a", "v filter s.id"}),
        ("dictGetOrDefault('d', 'a', id, b)", {"v f d.a", "v filter s.id", "v f s.b"}),
        ("dictGet('d', ('a', 'b'), tuple(id))", {"v f d.a", "v f d.b", "v filter s.id"}),
        ("dictGet('d', c, id)", {"v f d.*", "v filter s.id"}),
        ("dictGet('d', 'a', id, at)", {"v f d.a", "v filter s.id", "v filter s.at"}),
        ("joinGet('db.j', 'a', id)", {"v f db.j.a", "v filter s.id"}),
        ("dictHas('d', id)", {"v f s.id"}),
        ("dictGet(concat('d_', c), 'a', id)", {"v f s.c", "v f s.id"}),
    ],
)
def test_what_a_lookup_gives_comes_out_of_the_dictionary(value: str, expected: set[str]) -> None:
    assert column_lines(f"select {value} as v from s", "clickhouse") == expected


def test_a_lookup_reads_its_dictionary_even_where_it_gives_no_column_of_it() -> None:
    assert "from d" in lines_of_flows("insert into n select 1 as x from s where dictHas('d', s.id)", "clickhouse")[0]


@pytest.mark.parametrize(
    "text",
    [
        "select a from clusterAllReplicas('c', 'db', '{}')",
        "select a from dictionary('{}')",
        "select dictGetUInt64OrDefault('{}', 'a', id, 0) from s",
        "select dictGetDate('{}', 'a', id) from s",
        "select joinGetOrNull('{}', 'a', id) from s",
    ],
)
def test_two_statements_that_name_two_relations_in_strings_are_two_templates(text: str) -> None:
    assert fingerprint(text.format("one"), "clickhouse") != fingerprint(text.format("two"), "clickhouse")


@pytest.mark.parametrize("tier", [sqlfluff_tier, token_tier])
def test_the_other_tiers_do_not_follow_a_lookup(tier: ModuleType) -> None:
    found = analyze(
        tier.parse("insert into n select id, dictGet('d', 'a', id) as v from s", "clickhouse"), lambda _: None
    )
    assert [(output.name, len(output.references)) for output in found.flows[0].outputs] == [("id", 1), ("v", 0)]
    assert any(problem.kind is ProblemKind.UNSUPPORTED for problem in found.problems)


@pytest.mark.parametrize("dialect", ["spark", "databricks", "hive"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select stack(2, 'a', x, 'b', y) as (k, v) from s", {"k is constant", "v f s.x", "v f s.y"}),
        ("select id, stack(2, 'a', x, 'b', y) from s", {"id = s.id", "col0 is constant", "col1 f s.x", "col1 f s.y"}),
        ("select stack(2, x, y, z) as (k, v) from s", {"k f s.x", "k f s.z", "v f s.y"}),
        ("select id, k, v from s lateral view stack(1, 'a', x) u as k, v", {"id = s.id", "k is constant", "v f s.x"}),
        (
            "select u.k, v from s lateral view outer explode(map('a', x, z, y)) u as k, v",
            {"k f s.z", "v f s.x", "v f s.y"},
        ),
        ("select explode(map('a', x)) from s", {"key is constant", "value f s.x"}),
        (
            "select posexplode(map(z, x)) as (p, k, v) from s",
            {"p is constant", "k f s.z", "v f s.x"},
        ),
        ("select posexplode(xs) as (p, v) from s", {"p if s.xs", "v f s.xs", "* filter s.xs"}),
        ("select posexplode(array(x, y)) as (p, v) from s", {"p is constant", "v f s.x", "v f s.y"}),
        ("select p from s lateral view outer posexplode(xs) u as p, v", {"p if s.xs", "* filter s.xs"}),
        ("select p, v from s lateral view posexplode(array(x)) u as p, v", {"p is constant", "v f s.x"}),
        (
            "select inline(array(named_struct('k', 'a', 'v', x), named_struct('k', 'b', 'v', y))) from s",
            {"k is constant", "v f s.x", "v f s.y"},
        ),
        ("select json_tuple(j, 'a', k), z from s", {"c0 f s.j", "c1 f s.j", "c1 f s.k", "z = s.z"}),
        ("select v.c1 from s lateral view json_tuple(j, 'a', 'b') v", {"c1 f s.j"}),
        ("select v.x, y from s lateral view inline(xs) v", {"x f s.xs", "y f s.y|s.xs", "* filter s.xs"}),
        ("select explode(m) as (k, v) from s", {"k f s.m", "v f s.m", "* filter s.m"}),
    ],
)
def test_each_column_of_a_generator_is_made_of_its_own_arguments(dialect: str, query: str, expected: set[str]) -> None:
    assert column_lines(query, dialect) == expected


def test_inline_has_a_column_for_each_field_of_the_structs_that_an_array_has_by_its_type() -> None:
    schemas = {"n": "p q r", "s": "xs:ARRAY<STRUCT<a:INT,b:STRING>> k"}
    expected = {"p f s.xs", "q f s.xs", "r = s.k", "* filter s.xs"}
    assert column_lines("insert into n select inline(xs), k from s", "spark", schemas) == expected
    text = "insert into n select v.*, k from s lateral view outer inline(xs) v"
    assert column_lines(text, "databricks", schemas) == expected


def test_the_columns_of_a_generator_take_their_places_in_an_insert() -> None:
    schemas = {"n": "p q r"}
    assert column_lines("insert into n select stack(1, 'a', x), y from s", "spark", schemas) == {
        "p is constant",
        "q f s.x",
        "r = s.y",
    }


@pytest.mark.parametrize("tier", [sqlfluff_tier, token_tier])
def test_the_other_tiers_give_no_column_where_a_generator_gives_several(tier: ModuleType) -> None:
    found = analyze(tier.parse("insert into n select stack(1, 'a', x) as (k, v), y from s", "spark"), lambda _: None)
    assert [flow.outputs for flow in found.flows] == [()]
    assert found.problems


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select column_name, extra from (describe s)", {"column_name is constant", "extra is constant"}),
        ("select column_name from (describe select a from s)", {"column_name is constant"}),
        ("select d.name from (show all tables) d", {"name is constant"}),
        ("select name from (show tables)", {"name is constant"}),
        ("select column_name, max from (summarize s)", {"column_name is constant", "max agg s.*"}),
        ("select min from (summarize select a from s)", {"min agg s.a"}),
    ],
)
def test_what_duckdb_tells_of_a_table_is_no_table(query: str, expected: set[str]) -> None:
    assert column_lines(f"create table n as {query}", "duckdb") == expected


def test_a_column_may_be_called_as_what_tells_of_a_table() -> None:
    lines = column_lines("create table n as select show, f(desc) as d from s", "duckdb")
    assert lines == {"show = s.show", "d f s.desc"}


@pytest.mark.parametrize("tier", [sqlfluff_tier, token_tier])
def test_the_other_tiers_take_no_table_from_what_tells_of_one(tier: ModuleType) -> None:
    with pytest.raises(Unparsable):
        tier.parse("create table n as select column_name from (describe s)", "duckdb")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "clickhouse(host 'localhost' port 9000 table 's' db 'e' user 'u' password 'pw-77')",
            {"id = e.s.id", "a = e.s.a"},
        ),
        ("clickhouse(table 's')", {"id = s.id", "a = s.a"}),
        ("clickhouse(query 'select id, x as a from e.s')", {"id = e.s.id", "a = e.s.x"}),
        ("clickhouse(user 'u' query $$select id, x as a from e.s;$$)", {"id = e.s.id", "a = e.s.x"}),
        ("http(url 'http://h/x.tsv' format 'TSV')", {"id = http://h/x.tsv.id", "a = http://h/x.tsv.a"}),
    ],
)
def test_a_dictionary_is_loaded_from_its_source(source: str, expected: set[str]) -> None:
    columns = "(id UInt64, a Decimal(3, 2) default 0)"
    text = f"create or replace dictionary d on cluster c {columns} primary key id source({source})"
    assert b"pw-77" not in pickle.dumps(parse(text, "clickhouse"))
    assert column_lines(text, "clickhouse") == expected


@pytest.mark.parametrize(
    "source",
    [
        "mysql(host 'h' table 's' password 'pw-77')",
        "null()",
    ],
)
def test_a_dictionary_from_another_system_has_no_source_and_no_secret(source: str) -> None:
    text = f"create dictionary d (id UInt64, a Date) primary key (id) source({source}) range(min a max a) comment 'c'"
    statement = parse(text, "clickhouse")
    assert statement.writes == ()
    assert b"pw-77" not in pickle.dumps(statement)


@pytest.mark.parametrize(
    "source",
    [
        "host 'h' port 9000 db 'e' table 's' password 'pw-77'",
        "host 'h' query 'select id, a from e.s' password 'pw-77'",
        "host 'localhost' port 9001 db 'e' table 's' password 'pw-77'",
        "port 9001 db 'e' table 's' password 'pw-77'",
    ],
)
def test_a_dictionary_from_another_clickhouse_says_so_and_has_no_table_of_this_one(source: str) -> None:
    text = f"create dictionary d (id UInt64, a Date) primary key (id) source(clickhouse({source})) layout(flat())"
    assert b"pw-77" not in pickle.dumps(parse(text, "clickhouse"))
    assert problems(text, "clickhouse") == problems("select id from remote('h', e.s)", "clickhouse")
    assert problems(text, "clickhouse") != []
    assert lines_of_flows(text, "clickhouse") == [{"into d", "from remote", "id = remote.id", "a = remote.a"}]


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (
            "d (k Int8, j Int8) as mysql('h', 'e', 's', 'u', 'pw-77')",
            {"into d", "from mysql", "k is constant", "j is constant"},
        ),
        ("d (k Int8, index i k type minmax) as merge('e', '^s')", {"into d", "from merge", "k is constant"}),
        ("d on cluster c (k Int8) as remote('localhost', e.s)", {"into d", "from e.s", "k = e.s.k"}),
        (
            "d (k Int8) as s3('https://b/x.csv', 'CSV') comment 'c'",
            {"into d", "from https://b/x.csv", "k = https://b/x.csv.k"},
        ),
        ("d as dictionary('e.s')", {"into d", "from e.s", "* = e.s"}),
        ("d as dictionary(e.s) comment 'c'", {"into d", "from e.s", "* = e.s"}),
        ("d (k Int8) as dictionary('e.s');", {"into d", "from e.s", "k = e.s.k"}),
    ],
)
def test_a_table_over_a_function_has_the_columns_that_it_declares(definition: str, expected: set[str]) -> None:
    text = f"create table {definition}"
    assert b"pw-77" not in pickle.dumps(parse(text, "clickhouse"))
    assert lines_of_flows(text, "clickhouse") == [expected]


@pytest.mark.parametrize(
    ("dialect", "query", "expected"),
    [
        ("postgres", "select jsonb_each.value from t, jsonb_each(t.a)", {"value f t.a"}),
        ("postgres", "select unnest.unnest from t, unnest(t.a)", {"unnest f t.a"}),
        ("postgres", "select xmltable.* from t, xmltable('/r' passing t.a columns n int path '@n')", {"n f t.a"}),
        ("sqlite", "select json_each.value from t, json_each(t.a)", {"value f t.a"}),
    ],
)
def test_a_function_without_an_alias_is_called_by_its_name(dialect: str, query: str, expected: set[str]) -> None:
    assert {line for line in column_lines(query, dialect) if not line.startswith("*")} == expected


@pytest.mark.parametrize(
    ("function", "outputs"),
    [
        ("g(t.a) with ordinality as f(i, s, o)", "i s o"),
        ("g(t.a) with ordinality as f(i)", "i ordinality"),
        ("g(t.a) with ordinality as f", "f ordinality"),
        ("jsonb_each(t.a) with ordinality as f(k, v, n)", "k v n"),
        ("jsonb_each(t.a) with ordinality as f(k, v)", "k v ordinality"),
    ],
)
def test_the_number_of_a_row_is_a_column_where_the_list_has_no_name_for_it(function: str, outputs: str) -> None:
    found = column_lines(f"select f.* from t, {function}")
    assert {line.split(" ")[0] for line in found if not line.startswith("*")} == set(outputs.split())
