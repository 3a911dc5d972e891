"""What a record's rows say does not depend on the records before it, save that a template's text comes once."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.records import RECORD_SCHEMA
from ingestion.analysis.symbolic import dumps
from ingestion.dialects import DIALECTS
from ingestion.model.lineage import Flow, StatementKind, StatementLineage, TableName, Target, WriteMode
from ingestion.model.namespaces import is_readable
from workflows.run.read.statements import Row, rows_of

TEMPLATES = (
    "insert into t select a, {} from s where b = {} and c in ({}, {})",
    "insert into t select a -> {} as x, {} from s order by {}",
    "insert into t select * from read_csv({}) union all select {}",
    "create table t as select cast(a as varchar({})), {} as label from s group by {}",
    "create table t as select * from s -- {}",
    "create table t (a int) location {}",
    "create function f() returns int as {} language sql",
    "create view v as select {{{{ {} }}}} as x from s",
    "copy t from {} with (format csv)",
    "update t set a = {} from s where s.b = {}",
    "merge into t using s on t.a = s.a when matched then update set b = {}",
    "select set_config('search_path', {}, false)",
    "select f({})",
    "set search_path to {}",
    "with x as (select {} as a from s) insert into t select a from x limit {}",
    "exec sp_rename {}, {}",
    "delete from t where a = {}",
    "insert into t values ({}, {})",
    "/* {} */ insert into t select a from s where b = {};",
    "{}create table t (a int) location = {}",
    "{}create table t like {}",
    "delete from t {} where a = {}",
    "copy t from{}stdin",
    "create table t copy{}grants as select {} from s",
    "alter table t rename {}",
    "alter table t swap{}with s",
    "{}delete from t where a = {}",
    "{}select {} into t from s",
    "insert into t values ({}) output {}",
    "insert into t select a {} from s where b = {}",
)
VALUES = st.sampled_from(
    (
        "1", "2", "1.5", "0x1F", "12345678901", "'a'", "'b''c'", "'a;b'", "'a -- b'", "'/x/y.csv'", "'s3://b/c'",
        "E'a\\'b'", "N'x'", "$$select 1$$", "$$select a from r$$", '"q"', '"r"', "null", "a", "('x')", "'search_path'",
        "date '2026-01-01'", "'select'", "'open", "1 -- c\n", "1 /* c */", "`q`", "[q]", "?", "",
        "'x from y'", "'a into b'", "/* from */", "/*c*/", "-- from\n", "/*! , c */", "/*M! , c */", "$x$ from $x$",
        "\ufeff", "/**/\ufeff", "\u200b", "\x00", "\x01", "\x02", "\x03", "\x05", "\u0130", "\n/\n", "@s/a",
        "p-1.d.t", ".5", "1e5", "12L",
    )
)  # fmt: skip
STATEMENTS = st.builds(
    lambda template, values: template.format(*values), st.sampled_from(TEMPLATES), st.tuples(*[VALUES] * 4)
)


def record(text: str) -> Row:
    return {**dict.fromkeys(RECORD_SCHEMA.fieldNames()), "source_id": "log.csv:2", "text": text}


def said(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "text" and value is not None} for row in rows]


@settings(max_examples=400)
@given(st.lists(STATEMENTS, min_size=2, max_size=8), st.sampled_from(sorted(DIALECTS)))
def test_the_rows_of_a_record_do_not_depend_on_those_before_it(texts: list[str], dialect: str) -> None:
    alone = [row for text in texts for row in said(rows_of([record(text)], dialect))]
    assert said(rows_of([record(text) for text in texts * 2], dialect)) == alone * 2


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "mysql", "tsql"])
def test_the_text_of_a_template_is_in_its_first_row_alone(dialect: str) -> None:
    texts = [f"insert into t select a, {value} from s where b = '{value}'" for value in range(3)]
    rows = rows_of([record(text) for text in texts], dialect)
    assert [row.get("text") for row in rows] == [texts[0], None, None]
    assert len({row["fingerprint"] for row in rows}) == 1


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    [
        ("postgres", "delete from t where a = 'x from y'", "delete from t where a = 'z'"),
        ("postgres", "delete from t /* from */ where a = 1", "delete from t /* all */ where a = 1"),
        ("postgres", "\x01begin", " begin"),
        ("hive", "\ufeffcreate table t (a int) location = '/a'", "\ufeffcreate table t (a int) location = '/b'"),
        ("postgres", "/* a */\ufeffcreate table t like 's3://b/c'", "/* a */\ufeffcreate table t like 'c'"),
        ("snowflake", "create table t copy/**/grants as select 1", "create table t copy grants as select 1"),
        ("postgres", "copy t from/**/stdin", "copy t from stdin"),
    ],
)
def test_what_tells_two_records_apart_does_so_after_one_another(dialect: str, first: str, second: str) -> None:
    alone = said(rows_of([record(first)], dialect)) + said(rows_of([record(second)], dialect))
    assert said(rows_of([record(first), record(second)], dialect)) == alone


def test_what_mariadb_alone_runs_is_part_of_the_statement() -> None:
    texts = ["insert into t select a /*M!100100 , b */ from s", "insert into t select a , b from s"]
    rows = rows_of([record(text) for text in texts], "mariadb")
    assert len({row["fingerprint"] for row in rows}) == 1
    assert "/*" not in str(rows[0]["text"])


def test_a_plan_is_the_same_template_and_the_same_record_however_it_was_written_down() -> None:
    name = TableName(("shop", "orders"), "Shop.Orders")
    flow = Flow(Target(TableName(("mart", "daily")), WriteMode.APPEND), (), (), (name,))
    lineage = StatementLineage(StatementKind.INSERT, (flow, flow))
    written = replace(lineage, flows=(flow, replace(flow, sources=(replace(name, written="shop.ORDERS"),))))
    assert dumps(lineage) != dumps(written)
    one, other = (
        rows_of([{**record(""), "text": None, "symbolic": dumps(each)}], "spark")[0] for each in (lineage, written)
    )
    assert one["fingerprint"]
    assert (one["fingerprint"], one["digest"]) == (other["fingerprint"], other["digest"])


@pytest.mark.parametrize(
    "text", ["use ${db}", "use &db", "use <db>", "use {{ db }}", "set search_path to {{ s }}, public"]
)
def test_a_session_whose_schema_a_template_names_is_in_no_known_schema(text: str) -> None:
    (row,) = rows_of([record(text)], "spark")
    (schema,) = cast("list[str]", row["set_path"])
    assert (row["dead"], row["sets"], is_readable([schema])) == ("templated", True, False)


def test_what_runs_by_itself_is_no_routine_where_its_head_has_a_template() -> None:
    made = "create task t warehouse = {} as insert into t1 select a from s1"
    rows = [rows_of([record(made.format(name))], "snowflake")[0] for name in ("<WAREHOUSE>", "{{ w }}", "w")]
    assert [(row.get("dead"), row.get("skipped")) for row in rows] == [
        ("templated", None),
        ("templated", None),
        (None, "routine_definition"),
    ]


def test_a_template_that_leaves_the_text_ill_formed_is_the_reason() -> None:
    (row,) = rows_of([record("insert into t select (a {% if x %}) {% endif %} from s where b = 'it")], "spark")
    assert row["dead"] == "templated"


@pytest.mark.parametrize(
    ("dialect", "columns", "place"),
    [
        # no schemas below databases: what USE picks is the schema
        ("mysql", {"database": "Shop"}, ("Shop", "Shop")),
        ("mysql", {"database": "default", "schema": "shop"}, ("default", "shop")),
        ("hive", {"database": "Shop"}, ("shop", "shop")),
        ("clickhouse", {"database": "shop"}, ("shop", "shop")),
        ("teradata", {"database": "SHOP"}, ("shop", "shop")),
        ("mysql", {}, (None, None)),
        # a case that the dialect ignores makes no second table
        ("tsql", {"database": "Shop", "schema": "DBO"}, ("shop", "dbo")),
        ("trino", {"database": "Hive", "schema": "Web"}, ("hive", "web")),
        # what a log tells is a name as it is, and not one that a statement has without quotes
        ("postgres", {"database": "Shop", "schema": "Web"}, ("Shop", "Web")),
        ("snowflake", {"database": "Shop", "schema": "web"}, ("Shop", "web")),
        ("bigquery", {"database": "my-project", "schema": "Web"}, ("my-project", "Web")),
    ],
)
def test_a_records_own_place_is_as_its_platform_has_it(
    dialect: str, columns: dict[str, str], place: tuple[str | None, str | None]
) -> None:
    (row,) = rows_of([{**record("insert into t select a from s"), **columns}], dialect)
    assert (row["database"], row["schema"]) == place


PLACES = {
    "log.csv:2": ("log.csv", 2),
    "log.csv:17": ("log.csv", 17),
    "a:b.csv:3": ("a:b.csv", 3),
    "app#4": ("app", 4),
    "app-1#x": ("app-1", 0),
    "log.csv:": ("", 0),
    "7": ("", 7),
    "log.csv:\u0663": ("log.csv", 3),
    "log.csvx:5": ("log.csvx", 5),
}


@pytest.mark.parametrize("ids", [[*PLACES], [*PLACES][:2], ["log.csv:2", "log.csvx:5"], *([one] for one in PLACES)])
def test_a_records_place_does_not_depend_on_those_that_are_read_with_it(ids: list[str]) -> None:
    found = rows_of([{**record("select 1"), "source_id": one} for one in ids], "postgres")
    assert [(row["file"], row["line"]) for row in found] == [PLACES[one] for one in ids]


def test_rows_that_say_the_same_are_each_of_their_own_record() -> None:
    texts = ["use a", "insert into t select 1", "use a", "insert into t select 2", "use b; insert into t select 3"]
    found = rows_of([{**record(text), "source_id": f"f:{line}"} for line, text in enumerate(texts)], "snowflake")
    assert [(row["line"], row["position"], row["sets"]) for row in found] == [
        *((0, 0, True), (1, 0, False), (2, 0, True), (3, 0, False), (4, 0, True), (4, 1, False))
    ]
    assert [row["text"] is not None for row in found] == [False, True, False, False, False, False]
    assert len({row["fingerprint"] for row in found[1::2]}) == 1
