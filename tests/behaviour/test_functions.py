"""User-defined functions: from arguments to result, and through a table function to the tables behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ingestion import LineageParser
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Outcome

Opened = Callable[..., Shop]
TABLES = {"public.src": ("a", "b"), "public.tgt": ("a", "b")}


def test_a_scalar_function_passes_lineage_from_its_arguments_to_its_result(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt (a) select my_own(a, b, 'x') from src")
    assert outcome.columns == {("src.a", "tgt.a"), ("src.b", "tgt.a")}


RATES = {**TABLES, "public.rates": ("rate", "code"), "public.extra": ("fee",)}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "postgres",
            "create function rate_of(x text) returns numeric language sql as"
            " $$ select max(rate) from rates where code = x $$",
        ),
        (
            "postgres",
            "create function public.rate_of(x text) returns numeric"
            " return (select max(rate) from rates where code = x)",
        ),
        (
            "postgres",
            "create function rate_of(x text) returns numeric language plpgsql as $$ declare v numeric; begin"
            " select max(rate) into v from rates where code = x; if v is null then return 0; end if; return v; end $$",
        ),
        (
            "tsql",
            "create function dbo.rate_of(@x varchar(9)) returns int as begin declare @v int"
            " select @v = max(rate) from rates where code = @x return @v end",
        ),
        (
            "snowflake",
            "create function rate_of(x text) returns number as 'select max(rate) from rates where code = x'",
        ),
        (
            "bigquery",
            "create function rate_of(x string) returns int64 as ((select max(rate) from rates where code = x))",
        ),
        (
            "mysql",
            "create function rate_of(x text) returns int reads sql data begin declare v int;"
            " select max(rate) into v from rates where code = x; return v; end",
        ),
        (
            "oracle",
            "create or replace function rate_of(x in varchar2) return number is v number; begin"
            " select max(rate) into v from rates where code = x; return v; end;",
        ),
        ("duckdb", "create or replace macro rate_of(x, y := 1) as (select max(rate) from rates where code = x)"),
        (
            "databricks",
            "create function rate_of(x string) returns int return (select max(rate) from rates where code = x)",
        ),
    ],
)
def test_the_tables_that_a_function_reads_are_read_by_what_calls_it(shop: Opened, dialect: str, text: str) -> None:
    made = shop(RATES, dialect=dialect, schema="dbo" if dialect == "tsql" else "public")
    if dialect == "tsql":
        made.add({"dbo.src": ("a", "b"), "dbo.tgt": ("a", "b"), "dbo.rates": ("rate", "code")})
    call = "dbo.rate_of(b)" if dialect == "tsql" else "rate_of(b)"
    outcome = made.run(text, f"insert into tgt (a, b) select {call} + 1, a from src")
    assert {(source.lower(), target.lower()) for source, target in outcome.columns} == {
        ("rates.rate", "tgt.a"),
        ("src.a", "tgt.b"),
    }
    assert _subtypes(outcome, "rates") == {("rate", "a"): {"AGGREGATION"}, ("code", "a"): {"FILTER"}}
    assert _subtypes(outcome, "src") == {("b", "a"): {"FILTER"}, ("a", "b"): {"IDENTITY"}}


def _subtypes(outcome: Outcome, source: str) -> dict[tuple[str, str], set[str]]:
    """By the columns of each column edge from a table, what it says."""
    (found,) = (request for edge, request in outcome.edges.items() if edge[0].lower().endswith(source))
    said: dict[tuple[str, str], set[str]] = {}
    for column in (column for contribution in found.contributions for column in contribution.columns):
        ends = column.from_columns[0].rpartition(".")[2].lower(), column.to_column.rpartition(".")[2].lower()
        said.setdefault(ends, set()).add(column.transformation.subtype.value)
    return said


@pytest.mark.parametrize("late", [False, True])
def test_arguments_are_to_a_value_what_the_body_does_with_them(shop: Opened, late: bool) -> None:
    made = shop({**RATES, "public.tgt": ("a", "b", "c", "d")}, dialect="duckdb")
    body = "create macro f(x, y) as (select max(rate) + y from rates where code = x)"
    outer = "create macro g(p, q) as f(upper(q), p) + (select min(fee) from extra)"
    call = "insert into tgt select f(a, b), f(y := a, x := b), g(a, b), f(a, 1) + b from src"
    outcome = made.run(*([call, outer, body] if late else [body, outer, call]))
    assert _subtypes(outcome, "src") == {
        ("a", "a"): {"FILTER"},
        ("b", "a"): {"TRANSFORMATION"},
        ("a", "b"): {"TRANSFORMATION"},
        ("b", "b"): {"FILTER"},
        ("a", "c"): {"TRANSFORMATION"},
        ("b", "c"): {"FILTER"},
        ("a", "d"): {"FILTER"},
        ("b", "d"): {"TRANSFORMATION"},
    }


@pytest.mark.parametrize(
    ("dialect", "text", "call"),
    [
        (
            "duckdb",
            "create macro m(x, y) as table select rate, y as other from rates where code = x",
            "m(src.a, src.b)",
        ),
        (
            "postgres",
            "create function m(int, y int) returns table (rate int, other int) language sql as"
            " $$ select rate, y from rates where code = $1 and note <> '$2' $$",
            "m(src.a, src.b)",
        ),
        (
            "tsql",
            "create function public.m(@x int, @y int) returns table as"
            " return (select rate, @y as other from rates where code = @x)",
            "public.m(src.a, src.b)",
        ),
        (
            "snowflake",
            "create function m(x int, y int) returns table (rate int, other int) as"
            " 'select rate, y from rates where code = x'",
            "table(m(y => src.b, x => src.a))",
        ),
        (
            "databricks",
            "create function m(x int, y int) returns table (rate int, other int)"
            " return select rate, y from rates where code = x",
            "lateral m(src.a, src.b)",
        ),
    ],
)
def test_arguments_of_a_function_that_gives_rows_are_what_its_body_does_with_them(
    shop: Opened, dialect: str, text: str, call: str
) -> None:
    made = shop({**RATES, "public.tgt": ("a", "b"), "public.rates": ("rate", "code", "note")}, dialect=dialect)
    joined = "cross apply" if dialect == "tsql" else ","
    outcome = made.run(f"insert into tgt (a, b) select m.rate, m.other from src {joined} {call} m", text)
    direct = {(source.lower(), target.lower()) for source, target in outcome.columns}
    assert direct == {("rates.rate", "tgt.a"), ("src.b", "tgt.b")}
    assert {ends: said for ends, said in _subtypes(outcome, "src").items() if ends[0] == "a"} == {("a", ""): {"FILTER"}}


_COMPUTED = [
    ("bigquery", "create temp function f(x int64, y int64, z int64) as (if(x > 0, y + 1, 0))"),
    ("clickhouse", "create function f as (x, y, z) -> if(x > 0, y + 1, 0)"),
    ("databricks", "create function f(x int, y int, z int default 1) returns int return if(x > 0, y + 1, 0)"),
    ("duckdb", "create macro f(x, y, z) as case when x > 0 then y + 1 end"),
    ("hive", "create temporary macro f(x int, y int, z int) case when x > 0 then y + 1 end"),
    ("mysql", "create function f(x int, y int, z int) returns int deterministic begin return if(x > 0, y + 1, 0); end"),
    (
        "oracle",
        "create function f(x number, y number, z number) return number is begin"
        " return case when x > 0 then y + 1 end; end;",
    ),
    (
        "postgres",
        "create function f(int, int, int) returns int language sql as $$ select case when $1 > 0 then $2 + 1 end $$",
    ),
    (
        "postgres",
        "create function f(x int, y int, z int) returns int language plpgsql as"
        " $$ begin return case when x > 0 then y + 1 end; end $$",
    ),
    ("snowflake", "create function f(x int, y int, z int) returns int as $$ iff(x > 0, y + 1, 0) $$"),
    ("trino", "create function f(x int, y int, z int) returns int return if(x > 0, y + 1, 0)"),
    (
        "tsql",
        "create function public.f(@x int, @y int, @z int) returns int as begin"
        " return case when @x > 0 then @y + 1 end end",
    ),
]


@pytest.mark.parametrize(("dialect", "text"), _COMPUTED)
def test_arguments_of_a_function_that_reads_no_table_are_what_its_body_does_with_them(
    shop: Opened, dialect: str, text: str
) -> None:
    made = shop({**TABLES, "public.src": ("a", "b", "c")}, dialect=dialect)
    call = f"insert into tgt (a) select {'public.' if dialect == 'tsql' else ''}f(a, b, c) from src"
    for log in ([text, call], [call, text]):
        outcome = made.run(*log)
        assert _subtypes(outcome, "src") == {("a", "a"): {"CONDITIONAL"}, ("b", "a"): {"TRANSFORMATION"}}
        assert list(outcome.edges) == [("public.src", "public.tgt")]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("duckdb", "create macro f(x) as x, (x, y) as y"),
        ("duckdb", "create macro f(x) as x + 1"),
        ("postgres", "create function f(x int, variadic y int[]) returns int language sql as 'select x'"),
        (
            "postgres",
            "create function f(x int, y int) returns int language plpgsql as"
            " $$ begin if x > 0 then return 1; end if; return y; end $$",
        ),
        (
            "postgres",
            "create function f(x int, y int) returns int language plpgsql as $$ begin if y > 0 then return 1; end if;"
            " return (select max(rate) + x from rates); end $$",
        ),
        ("postgres", "create function f(x int, y int) returns int language plpython3u as $$ return x $$"),
        ("snowflake", "create function f(x int, y int) returns int as 'x +'"),
    ],
)
def test_arguments_of_a_function_whose_body_is_not_understood_may_all_be_its_value(
    shop: Opened, dialect: str, text: str
) -> None:
    """Overloads, several values for one parameter, control flow, other languages and what cannot be parsed."""
    outcome = shop(RATES, dialect=dialect).run(text, "insert into tgt (a) select f(a, b) from src")
    assert {("src.a", "tgt.a"), ("src.b", "tgt.a")} <= outcome.columns
    assert not [end for end, _ in outcome.outcomes if end == "dead"]


def test_an_argument_whose_use_the_body_does_not_show_may_be_the_value(shop: Opened) -> None:
    outcome = shop(RATES).run(
        "create function f(x text) returns numeric return (select max(rate) from rates where code = f.x)",
        "insert into tgt (a) select f(b) from src",
    )
    assert ("src.b", "tgt.a") in outcome.columns


def test_a_function_is_read_by_the_definition_in_force_and_through_another_one(shop: Opened) -> None:
    one = "create function f(x text) returns numeric return (select max(rate) from rates where code = x)"
    outcome = shop(RATES).run(
        one,
        "create function g(x text) returns numeric return (select fee + f(x) from extra)",
        "insert into tgt (a) select g(b) from src",
        one.replace("create function", "create or replace function").replace("max(rate)", "count(*)"),
        "insert into tgt (b) select f('x') from src",
    )
    assert ("rates.rate", "tgt.a") in outcome.columns
    assert ("extra.fee", "tgt.a") in outcome.columns
    assert ("public.rates", "public.tgt") in outcome.edges
    assert {target for source, target in outcome.columns if source == "rates.rate"} == {"tgt.a"}


def test_a_function_that_calls_itself_ends(shop: Opened) -> None:
    outcome = shop(RATES).run(
        "create function f(x text) returns numeric return (select max(rate) + f(x) from rates)",
        "insert into tgt (a) select f(b) from src",
    )
    assert outcome.columns == {("rates.rate", "tgt.a"), ("src.b", "tgt.a")}


def test_a_function_that_also_writes_is_no_view(shop: Opened) -> None:
    outcome = shop(RATES).run(
        "create function f() returns int language plpgsql as $$ begin insert into tgt (b) select fee from extra;"
        " return (select max(rate) from rates); end $$",
        "insert into tgt (a) select f() from src",
    )
    assert ("routine_definition", "") in [(reason, "") for reason, _ in outcome.outcomes]
    assert outcome.columns == set()


def test_a_name_of_the_caller_s_is_not_the_body_s(shop: Opened) -> None:
    """The body's bare names are its own tables', whatever the caller calls its own."""
    outcome = shop({"public.src": ("code", "rate"), "public.tgt": ("a",), "public.rates": ("rate", "code")}).run(
        "create function f(x text) returns numeric return (select max(rate) from rates where code = x)",
        "insert into tgt (a) select f(rates.code) from src rates",
    )
    assert outcome.columns == {("rates.rate", "tgt.a")}
    assert _subtypes(outcome, "src") == {("code", "a"): {"FILTER"}}


def test_a_function_of_which_nothing_is_known_reads_nothing(shop: Opened) -> None:
    outcome = shop(RATES).run("insert into tgt (a) select rate_of(b) + other.thing(a) from src where is_ok(a)")
    assert set(outcome.edges) == {("public.src", "public.tgt")}
    assert outcome.outcomes == (("published", ""),)


def test_a_function_that_is_called_in_a_condition_acts_as_one(shop: Opened) -> None:
    outcome = shop(RATES).run(
        "create function f(x text) returns numeric return (select max(rate) from rates where code = x)",
        "insert into tgt (a) select a from src where b > f(a)",
    )
    assert outcome.columns == {("src.a", "tgt.a")}
    said = [
        c for contribution in outcome.edges["public.rates", "public.tgt"].contributions for c in contribution.columns
    ]
    assert {column.transformation.subtype.value for column in said} == {"FILTER"}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "postgres",
            "create function recent(n int) returns table (one text, two text) language sql as"
            " $$ select b, a from src where a > n $$",
        ),
        (
            "postgres",
            "create function public.recent(n int) returns table (one text, two text) begin atomic"
            " select b, a from src where a > n; end",
        ),
        (
            "postgres",
            "create function recent(n int) returns table (one text, two text) language plpgsql as $$ begin"
            " if n > 0 then return query select b, a from src where a > n; else return query"
            " with s as (select * from src) select b, a from s; end if; return; end $$",
        ),
        ("tsql", "create function recent(@n int) returns table as return (select b as one, a as two from src)"),
        (
            "tsql",
            "create function recent(@n int) returns @rows table ([one] int, two int null, primary key (one)) as begin"
            " if @n > 0 insert into @rows select b, a from src where a > @n;"
            " with s as (select * from src) insert @rows (two) select a from s insert @Rows values (1, 1) return end",
        ),
        (
            "snowflake",
            "create function recent(n int) returns table (one text, two text) as 'select b, a from src where a > n'",
        ),
        ("duckdb", "create temp macro recent(n) as table select b as one, a as two from src where a > n"),
        ("duckdb", "create function recent(n) as table (select b as one, a as two from src where a > n)"),
        ("bigquery", "create or replace table function recent(n int64) as (select b as one, a as two from src)"),
        (
            "bigquery",
            "create table function recent(n int64) returns table<one int64, two int64> as"
            " select b as one, a as two from src where a > n",
        ),
        ("databricks", "create function recent(n int) returns table (one int, two int) return select b, a from src"),
    ],
)
def test_a_table_function_is_read_through(shop: Opened, dialect: str, text: str) -> None:
    schema = {"schema": "main"} if dialect == "duckdb" else {}
    tables = {name.replace("public", schema.get("schema", "public")): columns for name, columns in TABLES.items()}
    made = shop(tables, dialect=dialect, **schema)
    call = "table(recent(7))" if dialect == "snowflake" else "recent(7)"
    outcome = made.run(text, f"insert into tgt (a, b) select r.one, r.two from {call} r")
    assert outcome.columns == {("src.b", "tgt.a"), ("src.a", "tgt.b")}


@pytest.mark.parametrize(
    "more",
    [
        "update @rows set two = 1",
        "insert @rows select one, two from @rows",
        "declare @s table (a int) insert @s select a from src insert @rows (two) select a from @s",
        "insert @rows exec dbo.others",
        "exec dbo.fill",
    ],
)
def test_the_rows_of_a_function_that_does_more_than_insert_them_are_not_known(shop: Opened, more: str) -> None:
    text = (
        "create function dbo.recent() returns @rows table (one int, two int) as begin insert @rows select b, a from src"
        f" {more} return end"
    )
    outcome = shop(TABLES, dialect="tsql").run(text, "insert into tgt (a, b) select r.one, r.two from dbo.recent() r")
    assert outcome.columns == set()


def test_a_function_whose_server_fills_some_columns_is_not_read(shop: Opened) -> None:
    for more in ("k int identity", "k as one * 2", "k rowversion", "k [timestamp]"):
        text = (
            f"create function dbo.recent() returns @rows table ({more}, one int, two int) as begin"
            " insert @rows select b, a from src return end"
        )
        outcome = shop(TABLES, dialect="tsql").run(
            text, "insert into tgt (a, b) select r.one, r.two from dbo.recent() r"
        )
        assert outcome.columns == set(), more


@pytest.mark.parametrize("language", ["sql", "plpgsql"])
@pytest.mark.parametrize(
    ("head", "query", "columns"),
    [
        ("recent() returns setof tgt", "select b, a from src", set()),
        ("recent() returns setof tgt", "select * from src", set()),
        ("recent() returns setof tgt", "select s.* from tgt t join src s on true", set()),
        ("recent() returns setof public.src", "select s.* from src as s", {("src.a", "tgt.a"), ("src.b", "tgt.b")}),
        ("recent() returns setof src", "select * from src", {("src.a", "tgt.a"), ("src.b", "tgt.b")}),
        (
            "recent(out a int, out b int) returns setof record",
            "select b, a from src",
            {("src.b", "tgt.a"), ("src.a", "tgt.b")},
        ),
    ],
)
def test_the_rows_of_a_type_have_its_columns_by_position(
    shop: Opened, language: str, head: str, query: str, columns: set[tuple[str, str]]
) -> None:
    body = query if language == "sql" else f"begin return query {query}; return; end"
    text = f"create function {head} language {language} as $$ {body} $$"
    outcome = shop(TABLES, dialect="postgres").run(text, "insert into tgt (a, b) select r.a, r.b from recent() r")
    assert outcome.columns == columns


@pytest.mark.parametrize(
    "more",
    [
        "(select a from src)",
        "table src",
        "execute 'select a from src'",
        "select a from src for update",
        "with d as (delete from src returning a) select a from d",
    ],
)
def test_a_function_is_not_read_in_part(shop: Opened, more: str) -> None:
    text = (
        "create function recent() returns table (one int) language plpgsql as $$ begin return query select b from src;"
        f" return query {more}; end $$"
    )
    outcome = shop(TABLES, dialect="postgres").run(text, "insert into tgt (a) select one from recent()")
    assert outcome.columns == set()


def test_a_text_that_a_script_runs_is_read_where_it_is_known(shop: Opened) -> None:
    script = (
        "declare @s nvarchar(max) = N'insert into tgt (a) '\nset @s += N'select b from src'\nexec sp_executesql @s\n"
        "if @n > 1 set @s = N'insert into tgt (b) select a from src'\nexec (@s)"
    )
    outcome = shop(TABLES, dialect="tsql").run(script)
    assert outcome.columns == {("src.b", "tgt.a")}


def test_what_passes_through_a_temporary_table_of_a_text_is_followed(shop: Opened) -> None:
    script = (
        "select a into #n from src\n"
        "exec sp_executesql N'select b into #n from src; insert into tgt (a) select b from #n'\n"
        "insert into tgt (b) select a from #n"
    )
    outcome = shop(TABLES, dialect="tsql").run(script)
    assert outcome.columns == {("src.b", "tgt.a"), ("src.a", "tgt.b")}


def test_a_parameter_of_a_function_is_no_column_of_what_it_reads(shop: Opened) -> None:
    text = "create function recent(n int) returns table (one text) as 'select b from src where a > n'"
    outcome = shop(TABLES, dialect="snowflake").run(text, "insert into tgt (a) select one from table(recent(7))")
    said = [
        (column.from_columns[0].rpartition(".")[2], column.transformation.subtype.value)
        for contribution in outcome.edges["public.src", "public.tgt"].contributions
        for column in contribution.columns
    ]
    assert sorted(said) == [("a", "FILTER"), ("b", "IDENTITY")]


def test_a_view_that_takes_parameters_is_read_by_its_name(shop: Opened) -> None:
    made = shop({**TABLES, "public.recent": ("one",)}, dialect="clickhouse")
    outcome = made.run(
        "create view public.recent as select b as one from src where a > {n:Int32}",
        "insert into tgt (a) select one from recent(n = 7)",
    )
    assert ("recent.one", "tgt.a") in outcome.columns


def test_a_function_that_nobody_defined_has_no_place_and_is_no_table(shop: Opened) -> None:
    outcome = shop({**TABLES, "public.recent": ("one",)}).run("insert into tgt (a) select r.one from recent(7) r")
    assert outcome.edges == {}


def test_what_a_trigger_s_function_returns_is_no_value() -> None:
    body = "BEGIN SELECT * INTO NEW FROM src; RETURN NEW; END"
    text = f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$"
    assert LineageParser(text, dialect="postgres").edges == ()
