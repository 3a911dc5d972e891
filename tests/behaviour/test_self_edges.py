"""A table that feeds itself: what its columns make of each other is lineage, and no question turns in it for ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.start_lists import start_lists
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Outcome, Warehouse, catalog_with, publish
from workflows.cli import app

Opened = Callable[..., Shop]
STOCK = ("sku", "unit", "pieces", "worth", "note", "seen")
TABLES = {"public.stock": STOCK, "public.feed": ("sku", "unit")}


def column_edges(outcome: Outcome) -> set[tuple[str, str, str]]:
    """(source, target, subtype) of every column edge; a target `stock.*` is every row of it."""
    return {
        (_short(source), _short(one.to_column) if one.to_column else f"{request.to_entity.name}.*", str(how))
        for request in outcome.requests
        for contribution in request.contributions
        for one in contribution.columns
        for how in (one.transformation.subtype,)
        for source in one.from_columns
    }


def _short(fqn: str) -> str:
    return ".".join(fqn.split(".")[-2:])


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        (
            "postgres",
            "update stock set worth = unit * pieces",
            {("unit", "worth", "TRANSFORMATION"), ("pieces", "worth", "TRANSFORMATION")},
        ),
        (
            "postgres",
            "update stock set pieces = pieces + 1 where seen is null",
            {("pieces", "pieces", "TRANSFORMATION"), ("seen", "pieces", "FILTER")},
        ),
        ("postgres", "update stock set note = 'none' where sku = 7", {("sku", "note", "FILTER")}),
        (
            "postgres",
            "update stock set note = case when pieces > 0 then 'in' else 'out' end",
            {("pieces", "note", "CONDITIONAL")},
        ),
        (
            "postgres",
            "insert into stock (sku, note) select sku, seen from stock where unit > 3",
            {("sku", "sku", "IDENTITY"), ("seen", "note", "IDENTITY"), ("unit", "*", "FILTER")},
        ),
        ("postgres", "delete from stock where seen < '2020-01-01'", {("seen", "*", "FILTER")}),
        (
            "postgres",
            "insert into stock (sku, unit) values (1, 2) on conflict (sku) do update set worth = stock.unit * 2",
            {("unit", "worth", "TRANSFORMATION"), ("sku", "worth", "JOIN")},
        ),
        (
            "mysql",
            "insert into stock (sku, pieces) values (1, 2)"
            " on duplicate key update pieces = pieces + values(pieces), worth = unit",
            {("pieces", "pieces", "TRANSFORMATION"), ("unit", "worth", "IDENTITY")},
        ),
        (
            "clickhouse",
            "alter table stock update worth = unit * pieces where sku > 0",
            {("unit", "worth", "TRANSFORMATION"), ("pieces", "worth", "TRANSFORMATION"), ("sku", "worth", "FILTER")},
        ),
        ("clickhouse", "alter table stock delete where sku = 3", {("sku", "*", "FILTER")}),
        ("tsql", "delete top (5) from stock where seen < 3", {("seen", "*", "FILTER")}),
        ("db2", "delete from STOCK where SEEN < current timestamp - 90 days", {("seen", "*", "FILTER")}),
        ("doris", "delete from stock partition p1 where seen < 3", {("seen", "*", "FILTER")}),
    ],
)
def test_what_a_table_makes_of_itself_is_published(
    shop: Opened, dialect: str, statement: str, expected: set[tuple[str, str, str]]
) -> None:
    outcome = shop(TABLES, dialect=dialect).run(statement)
    assert outcome.outcomes == (("published", ""),)
    assert column_edges(outcome) == {(f"stock.{a}", f"stock.{b}", how) for a, b, how in expected}


def test_a_statement_that_reads_nothing_of_its_table_has_no_source(shop: Opened) -> None:
    outcome = shop(TABLES).run("update stock set note = 'x'", "delete from stock", "delete from stock where 1 = 1")
    assert sorted(outcome.outcomes) == [("skipped", "delete"), ("skipped", "no_source"), ("skipped", "no_source")]
    assert not outcome.requests


def test_that_a_table_is_read_by_what_writes_it_says_nothing_without_a_column(shop: Opened) -> None:
    made = shop({**TABLES, "public.bare": ()})
    alone = made.run("insert into bare select * from bare")
    assert (alone.outcomes, alone.requests) == ((("skipped", "self_reference"),), ())
    assert made.run("insert into bare select f.* from bare b cross join feed f").edges.keys() == {
        ("public.feed", "public.bare")
    }


def test_the_target_of_a_merge_is_among_what_it_is_made_of(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "merge into stock t using feed f on f.sku = t.sku"
        " when matched then update set worth = t.unit * t.pieces + f.unit"
    )
    made = {(source, target) for source, target, how in column_edges(outcome) if how == "TRANSFORMATION"}
    assert made == {(source, "stock.worth") for source in ("stock.unit", "stock.pieces", "feed.unit")}
    assert ("stock.sku", "stock.worth", "JOIN") in column_edges(outcome)


@pytest.mark.parametrize(
    "change",
    [
        "merge into self as d using feed s on d.sku = s.sku when matched then update set unit = d.unit + s.unit",
        "merge into self using feed s on self.sku = s.sku when matched then update set unit = self.unit + s.unit",
        "insert into self (unit) select d.unit + s.unit from feed s join self as d on d.sku = s.sku",
        "insert into self (unit) select self.unit + s.unit from feed s join self on self.sku = s.sku",
    ],
)
def test_a_dynamic_table_that_is_refreshed_by_a_change_of_itself(shop: Opened, change: str) -> None:
    tables = {"public.kept": ("SKU", "UNIT"), "public.feed": ("SKU", "UNIT")}
    text = f"create dynamic table kept (sku int, unit int) target_lag = '1 day' warehouse = w refresh using ({change})"
    outcome = shop(tables, dialect="snowflake").run(text)
    assert outcome.outcomes == (("published", ""),)
    made = {(source, target) for source, target, how in column_edges(outcome) if how == "TRANSFORMATION"}
    assert made == {("kept.UNIT", "kept.UNIT"), ("feed.UNIT", "kept.UNIT")}


def test_what_decides_in_a_temporary_table_decides_over_what_is_written_from_it(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create temp table held as select sku, unit from stock",
        "update held set unit = unit * 2",
        "delete from held where sku > 7",
        "insert into feed (unit) select unit from held",
    )
    assert column_edges(outcome) == {
        *(("stock.unit", "feed.unit", how) for how in ("IDENTITY", "TRANSFORMATION")),
        ("stock.sku", "feed.*", "FILTER"),
    }


GENERATED = [
    ("postgres", "create table line (a int, b int, c int generated always as (a + b) stored)"),
    ("mysql", "create table line (a int, b int, c int as (a + b) virtual not null, key by_a (a))"),
    ("mariadb", "create table line (a int, b int, c int default (a + b))"),
    ("tsql", "create table line (a int, b int, c as a + b persisted not null)"),
    ("oracle", "create table line (a int, b int, c int generated always as (a + b) virtual)"),
    ("sqlite", "create table line (a int, b int, c int as (a + b) stored)"),
    ("duckdb", "create table line (a int, b int, c as (a + b))"),
    ("snowflake", "create table line (a int, b int, c int as (a + b))"),
    ("databricks", "create table line (a int, b int, c int generated always as (a + b)) using delta"),
    ("bigquery", "create table line (a int64, b int64, c int64 generated always as (a + b) stored)"),
    ("clickhouse", "create table line (a Int8, b Int8, c Int8 materialized a + b codec(ZSTD)) engine = Memory"),
    ("clickhouse", "create table line (a Int8, b Int8, c Int8 alias a + b) engine = Memory"),
    ("clickhouse", "create table line (a Int8, b Int8, c Int8 default a + b) engine = Memory"),
    ("db2", "create table line (a int, b int, c int generated always as (a + b))"),
    ("starrocks", "create table line (a int, b int, c int as a + b)"),
    ("vertica", "create table line (a int, b int, c int default a + b, d date default sysdate)"),
    ("postgres", "alter table line add column c int generated always as (a + b) stored"),
    ("postgres", "alter table line alter column c set expression as (a + b)"),
    ("tsql", "alter table line add c as a + b, note int"),
    ("oracle", "alter table line add (c generated always as (a + b) virtual, note int)"),
    ("mysql", "alter table line change old c int as (a + b) after b"),
    ("clickhouse", "alter table line modify column c Int8 materialized a + b"),
]


@pytest.mark.parametrize(("dialect", "statement"), GENERATED)
def test_a_generated_column_is_made_of_others_of_its_table(shop: Opened, dialect: str, statement: str) -> None:
    columns = ("A", "B", "C") if dialect in ("oracle", "snowflake", "db2") else ("a", "b", "c")
    outcome = shop({"public.line": columns}, dialect=dialect).run(statement)
    assert outcome.outcomes == (("published", ""),)
    a, b, c = (f"line.{name}" for name in columns)
    assert column_edges(outcome) == {(a, c, "TRANSFORMATION"), (b, c, "TRANSFORMATION")}


def test_a_generated_column_stands_before_the_query_that_fills_the_others(shop: Opened) -> None:
    outcome = shop({"public.line": ("a", "b", "c"), "public.feed": ("a", "b")}, dialect="mysql").run(
        "create table line (a int, b int, `as` int, c int as (a + b) stored) as select f.a, f.b as b from feed as f"
    )
    assert column_edges(outcome) == {
        ("feed.a", "line.a", "IDENTITY"),
        ("feed.b", "line.b", "IDENTITY"),
        ("line.a", "line.c", "TRANSFORMATION"),
        ("line.b", "line.c", "TRANSFORMATION"),
    }


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("postgres", "create table line (a int, b int generated always as identity, c int default 7)"),
        ("mysql", "create table line (a int, b timestamp default current_timestamp, c int default (1 + 1))"),
        ("tsql", "create table line (a int, b datetime2 generated always as row start, c int default 3)"),
        ("clickhouse", "create table line (a Int8, b DateTime default now(), c Int8) engine = Memory"),
        ("teradata", "alter table line rename a as c"),
    ],
)
def test_what_makes_a_column_of_no_other_is_a_definition(shop: Opened, dialect: str, statement: str) -> None:
    outcome = shop({"public.line": ("a", "b", "c")}, dialect=dialect).run(statement)
    assert outcome.outcomes == (("skipped", "definition"),)


def test_what_files_hold_is_no_column_of_the_table_over_them(shop: Opened) -> None:
    text = "create external table line (a int as (value:x::int), b int) location = @files"
    assert not shop({"public.line": ("A", "B", "VALUE")}, dialect="snowflake").run(text).requests


def test_a_generated_column_of_a_temporary_table_is_made_of_what_is_written_to_the_others(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create temp table held (u int, twice int generated always as (u * 2) stored)",
        "insert into held (u) select unit from stock",
        "insert into feed (unit) select twice from held",
    )
    (edge,) = outcome.edges.values()
    (column,) = (one for contribution in edge.contributions for one in contribution.columns)
    assert (_short(column.from_columns[0]), _short(column.to_column)) == ("stock.unit", "feed.unit")
    assert column.expression == "stock.unit * ?"


MADE_OF_UNIT = ("stock.unit", "stock.worth", "stock.pieces", "report.worth")
LOG = (
    "insert into stock (sku, unit, pieces) select sku, unit, 1 from feed",
    "update stock set worth = unit * pieces",
    "update stock set note = note || '.' where sku > 3",
    "update stock set pieces = worth",
    "insert into report (worth, note) select worth, note from stock",
)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = tmp_path_factory.mktemp("self") / "catalog.db"
    tables: Mapping[str, Sequence[str]] = {**TABLES, "public.report": ("worth", "note")}
    with catalog_with(file, {f"svc.db.{name}": columns for name, columns in tables.items()}) as (platform, _catalog):
        publish(platform, LOG, Warehouse())
    yield file


def test_a_table_is_no_neighbour_of_itself(catalog: Path) -> None:
    with open_catalog(catalog) as connection:
        found = start_lists(connection).content
    assert {one.entity.fqn.rpartition(".")[2] for one in found.used} == {"feed", "stock"}
    assert "report" not in {one.entity.fqn.rpartition(".")[2] for one in found.uncovered}


def asked(catalog: Path, *question: str) -> Any:
    answer = CliRunner().invoke(app, [*question, "--catalog", str(catalog), "--format", "json"])
    assert answer.exit_code in (0, 1, 4), answer.output
    return json.loads(answer.stdout)


def test_a_change_of_a_column_reaches_what_its_own_table_makes_of_it(catalog: Path) -> None:
    report = asked(catalog, "impact", "--ddl", "alter table stock drop column unit")
    (change,) = report["changes"]
    broken = {one["name"] for one in change["effects"] if one["kind"] == "breaks"}
    assert broken == {f"svc.db.public.{name}" for name in MADE_OF_UNIT if name != "stock.unit"}


def test_columns_that_feed_each_other_are_walked_once(catalog: Path) -> None:
    found = asked(catalog, "impact", "stock.worth")
    reached = [one["column"] for one in found["impacted"]]
    assert sorted(reached) == ["svc.db.public.report.worth", "svc.db.public.stock.pieces"]


def test_an_explanation_goes_through_the_table_and_ends_where_values_come_from(catalog: Path) -> None:
    found = asked(catalog, "explain", "report.worth")
    assert found["base_columns"]["direct"] == ["svc.db.public.feed.unit"]


def test_a_column_that_only_feeds_itself_is_where_its_values_come_from(catalog: Path) -> None:
    found = asked(catalog, "explain", "report.note")
    assert found["base_columns"] == {"direct": ["svc.db.public.stock.note"], "indirect": ["svc.db.public.feed.sku"]}
    (chain,) = (one for one in found["chain"] if one["column"] == "svc.db.public.stock.note")
    assert [(one["source"], one["expression"]) for one in chain["direct"]] == [
        ("svc.db.public.stock.note", "stock.note || ?")
    ]


def test_a_tag_follows_the_data_within_a_table(catalog: Path, tmp_path: Path) -> None:
    policy = tmp_path / "tags.yaml"
    policy.write_text("{version: 1, rules: [{tag: PII.Sensitive, from: {columns: [feed.unit]}}]}", encoding="utf-8")
    tagged = {one["column"] for one in asked(catalog, "policy", "plan", str(policy))["changes"]}
    assert tagged == {f"svc.db.public.{name}" for name in ("feed.unit", *MADE_OF_UNIT)}
