"""LineageParser: the lineage of a text in one object."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest

from ingestion import LineageParser, QueryMasker, lineage_graph
from ingestion.analysis.analyzer import analyze
from ingestion.errors import ConfigError, ParseTimeout, RecordError, Templated, Unparsable
from ingestion.model.lineage import NameKind, StatementLineage


def pairs(parser: LineageParser) -> set[tuple[str, str]]:
    return {(str(source), str(target)) for source, target in parser.column_lineage}


def test_an_insert_has_sources_a_target_and_its_columns() -> None:
    parser = LineageParser("INSERT INTO mart.t (x, y) SELECT s.a, upper(u.b) FROM s JOIN raw.u AS u ON s.id = u.id")
    assert [str(name) for name in parser.source_tables] == ["s", "raw.u"]
    assert [str(name) for name in parser.target_tables] == ["mart.t"]
    assert parser.intermediate_tables == ()
    assert pairs(parser) == {("s.a", "mart.t.x"), ("raw.u.b", "mart.t.y")}
    assert parser.table_aliases == {"u": "raw.u"}


def test_edges_tell_direct_from_indirect() -> None:
    parser = LineageParser("INSERT INTO t (x) SELECT CASE WHEN s.f > 1 THEN s.a END FROM s WHERE s.k = 'secret'")
    kinds = {(str(edge.source), edge.type.value, edge.subtype.value) for edge in parser.edges}
    assert kinds == {
        ("s.a", "DIRECT", "TRANSFORMATION"),
        ("s.f", "INDIRECT", "CONDITIONAL"),
        ("s.k", "INDIRECT", "FILTER"),
    }
    assert all("secret" not in edge.expression for edge in parser.edges)
    assert pairs(parser) == {("s.a", "t.x"), ("s.f", "t.x")}


def test_names_print_as_the_query_wrote_them() -> None:
    parser = LineageParser("INSERT INTO Mart.Sales SELECT * FROM RAW.Orders", dialect="snowflake")
    assert [str(name) for name in parser.source_tables] == ["RAW.Orders"]
    assert [str(name) for name in parser.target_tables] == ["Mart.Sales"]


def test_a_bare_select_has_no_target_and_bare_columns() -> None:
    parser = LineageParser("SELECT a AS x FROM s")
    assert parser.target_tables == ()
    assert pairs(parser) == {("s.a", "x")}


def test_a_script_has_intermediate_tables() -> None:
    parser = LineageParser("CREATE TABLE b AS SELECT x FROM a; INSERT INTO c SELECT x FROM b")
    assert [str(name) for name in parser.source_tables] == ["a"]
    assert [str(name) for name in parser.intermediate_tables] == ["b"]
    assert [str(name) for name in parser.target_tables] == ["c"]


def test_a_schema_expands_stars_and_places_positions() -> None:
    schema = {"s": {"a": "int", "b": "text"}, "t": {"x": "int", "y": "text"}}
    parser = LineageParser("INSERT INTO t SELECT * FROM s", dialect="postgres", schema=schema)
    assert pairs(parser) == {("s.a", "t.x"), ("s.b", "t.y")}


def test_a_qualified_schema_serves_a_bare_name_that_only_it_can_mean() -> None:
    parser = LineageParser("SELECT * FROM orders", schema={"shop.orders": {"a": "int"}})
    assert pairs(parser) == {("orders.a", "a")}


@pytest.mark.parametrize(
    ("dialect", "made"),
    [
        ("postgres", "create view a as select * from f(1)"),
        ("postgres", "create table a as select f.*, 1 as q from f(1) f"),
        ("clickhouse", "create table a as mysql('h', 'e', 's', 'u', 'pw-77')"),
        ("clickhouse", "create table a (k Int8) as mysql('h', 'e', 's', 'u', 'pw-77')"),
    ],
)
def test_what_is_made_of_a_function_has_the_columns_that_are_read_of_it(dialect: str, made: str) -> None:
    parser = LineageParser(f"{made}; insert into o select k from a", dialect)
    assert [(str(source), str(target)) for source, target in parser.column_lineage] == [("a.k", "o.k")]
    assert parser.problems == ()
    assert ("*",) not in parser.whole_columns.values()


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("clickhouse", "insert into function {0}('h', d.t) select a from x; insert into b select a from {0}('k', d.u)"),
        ("tsql", "insert into {0}(s, @q) select a from x; insert into b select a from {0}(s, @r)"),
    ],
)
def test_what_a_function_is_given_is_not_what_another_call_of_it_gives(dialect: str, text: str) -> None:
    name = "remote" if dialect == "clickhouse" else "openquery"
    parser = LineageParser(text.format(name), dialect)
    assert parser.intermediate_tables == ()
    assert [str(table) for table in parser.target_tables] == [f"FUNCTION {name}", "b"]
    assert [str(table) for table in parser.source_tables] == ["x", name]


def test_without_a_schema_a_star_stays_a_star() -> None:
    assert pairs(LineageParser("INSERT INTO t SELECT * FROM s")) == {("s.*", "t.*")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CREATE TABLE a AS SELECT * FROM t JOIN u ON t.k = u.k WHERE t.x = 1",
            {("t.x", "a.*", "FILTER"), ("t.k", "a.*", "JOIN"), ("u.k", "a.*", "JOIN")},
        ),
        ("SELECT * FROM t WHERE x = 1", {("t.x", "*", "FILTER")}),
        (
            "DELETE FROM t WHERE x = 1 AND k IN (SELECT k FROM u)",
            {("t.x", "t.*", "FILTER"), ("t.k", "t.*", "FILTER"), ("u.k", "t.*", "FILTER")},
        ),
        ("INSERT INTO a SELECT * FROM t WHERE x = 1", {("t.x", "a.*", "FILTER")}),
    ],
)
def test_conditions_stand_where_a_statement_gives_no_column_by_name(text: str, expected: set[tuple[str, ...]]) -> None:
    parser = LineageParser(text)
    decisive = [edge for edge in parser.edges if edge.type.value == "INDIRECT"]
    assert {(str(edge.source), str(edge.target), edge.subtype.value) for edge in decisive} == expected
    assert all(edge.certain for edge in decisive)
    assert {source for source, _, _ in expected} <= {str(column) for column in parser.referenced_columns}


def test_a_column_that_may_be_of_two_tables_is_uncertain() -> None:
    parser = LineageParser("INSERT INTO t (x) SELECT a FROM s, u")
    assert {(str(edge.source), edge.certain) for edge in parser.edges} == {("s.a", False), ("u.a", False)}


def test_a_target_column_that_position_alone_gives_is_uncertain_without_its_schema() -> None:
    (edge,) = LineageParser("INSERT INTO t SELECT a FROM s").edges
    assert (str(edge.target), edge.certain) == ("t.a", False)
    (edge,) = LineageParser("INSERT INTO t SELECT a FROM s", schema={"t": {"x": "int"}}).edges
    assert (str(edge.target), edge.certain) == ("t.x", True)


def test_what_is_emptied_by_a_delete_is_written() -> None:
    parser = LineageParser("INSERT INTO u SELECT a FROM t; DELETE FROM t; TRUNCATE s")
    assert [str(name) for name in parser.intermediate_tables] == ["t"]


def test_one_bad_statement_costs_itself_only_and_is_named_by_line() -> None:
    parser = LineageParser("INSERT INTO t SELECT a FROM s;\nINSERT INTO u SELECT a FROM (((s;\nSELECT 1")
    assert [str(name) for name in parser.target_tables] == ["t"]
    assert len(parser.failures) == 1
    assert parser.failures[0].startswith("line 2: ")


def test_a_column_that_nobody_reads_makes_no_edge_but_is_referenced() -> None:
    parser = LineageParser("WITH w AS (SELECT a, b FROM s) SELECT a FROM w", schema={"s": {"a": "int", "b": "int"}})
    assert {str(edge.source) for edge in parser.edges} == {"s.a"}
    assert {str(column) for column in parser.referenced_columns} == {"s.a", "s.b"}


def test_what_is_renamed_and_swapped_is_followed() -> None:
    parser = LineageParser(
        "CREATE TABLE a AS SELECT x AS p FROM s; CREATE TABLE b AS SELECT y AS p FROM u;"
        "ALTER TABLE a RENAME TO c; ALTER TABLE b RENAME TO a; ALTER TABLE c RENAME TO b;"
        "INSERT INTO t (x) SELECT p FROM a; INSERT INTO t (y) SELECT p FROM b",
        dialect="postgres",
    )
    assert pairs(parser) == {("s.x", "b.p"), ("u.y", "a.p"), ("a.p", "t.x"), ("b.p", "t.y")}
    parser = LineageParser(
        "CREATE TABLE d.n AS SELECT x FROM s; ALTER TABLE d.n SWAP WITH d.t; INSERT INTO u (x) SELECT x FROM d.t",
        dialect="snowflake",
    )
    assert pairs(parser) == {("s.X", "d.t.X"), ("d.t.X", "u.X")}
    parser = LineageParser(
        "CREATE TABLE d.o AS SELECT x FROM s; ALTER TABLE d.o RENAME TO n; CREATE VIEW v AS SELECT x FROM d.n",
        dialect="redshift",
    )
    assert pairs(parser) == {("s.x", "d.n.x"), ("d.n.x", "v.x")}
    parser = LineageParser(
        "CREATE TABLE d.n AS SELECT x FROM s; ALTER TABLE d.n SWAP WITH d.t; INSERT INTO u (x) SELECT x FROM d.t",
        dialect="snowflake",
    )
    assert [str(name) for name in parser.source_tables] == ["s"]


def test_a_block_is_the_statements_in_it() -> None:
    text = "DO $$ DECLARE v int; BEGIN INSERT INTO t (x, y) SELECT v, a FROM s; END $$"
    assert pairs(LineageParser(text, dialect="postgres")) == {("s.a", "t.y")}
    text = "DECLARE v INT64 DEFAULT 1; INSERT INTO t (x, y) SELECT v, a FROM s"
    assert pairs(LineageParser(text, dialect="bigquery")) == {("s.a", "t.y")}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "CREATE PROC p @d date AS BEGIN IF @d > 1 INSERT INTO t (x) SELECT a FROM s WHERE d = @d END"),
        (
            "snowflake",
            "CREATE PROCEDURE p() RETURNS INT LANGUAGE SQL AS $$ BEGIN INSERT INTO t (x) SELECT a FROM s; END $$",
        ),
        ("bigquery", "CREATE PROCEDURE d.p(OUT n INT64) BEGIN INSERT INTO t (x) SELECT a FROM s; SET n = 1; END"),
        ("oracle", "CREATE PACKAGE BODY k AS PROCEDURE p IS BEGIN INSERT INTO t (x) SELECT a FROM s; END; END k;"),
        ("snowflake", "CREATE TASK k SCHEDULE = '5 minute' AS INSERT INTO t (x) SELECT a FROM s"),
        ("snowflake", "CREATE PIPE k AUTO_INGEST = TRUE AS COPY INTO t (x) FROM (SELECT a FROM s)"),
    ],
)
def test_a_routine_is_the_statements_that_it_runs(dialect: str, text: str) -> None:
    parser = LineageParser(text, dialect)
    assert {(source.lower(), target.lower()) for source, target in pairs(parser)} == {("s.a", "t.x")}
    assert parser.failures == ()


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("duckdb", "create macro m(x) as table select a from s where k = x; create table t as select a from m(1)"),
        ("bigquery", "create table function m(x int64) as (select a from s); create table t as select a from m(1)"),
        ("clickhouse", "create view m as select a from s where k = {x:Int8}; create table t as select a from m(x = 1)"),
    ],
)
def test_a_function_that_gives_rows_stands_between_what_it_reads_and_what_reads_it(dialect: str, text: str) -> None:
    parser = LineageParser(text, dialect)
    assert [(str(a), str(b)) for a, b in parser.column_lineage] == [("s.a", "m.a"), ("m.a", "t.a")]
    assert [str(name) for name in parser.intermediate_tables] == ["m"]
    assert (parser.problems, parser.failures) == ((), ())


def test_a_macro_that_holds_statements_is_a_routine() -> None:
    parser = LineageParser("replace macro m (x int) as (insert into t select a from s; delete from u;); ", "teradata")
    assert [(str(a), str(b)) for a, b in parser.table_lineage] == [("s", "t")]
    assert parser.failures == ()


def test_what_a_routine_puts_together_as_it_runs_is_told() -> None:
    text = "CREATE PROCEDURE p() AS BEGIN INSERT INTO t (x) SELECT a FROM s; EXECUTE IMMEDIATE :q; END"
    parser = LineageParser(text, "snowflake")
    assert parser.edges
    assert parser.failures == ("line 1: dynamic_sql",)
    with pytest.raises(Unparsable, match="dynamic_sql"):
        LineageParser("CREATE PROCEDURE p() AS BEGIN EXECUTE IMMEDIATE :q; END", "snowflake")


def test_text_that_is_run_is_a_block_or_told() -> None:
    text = "EXECUTE IMMEDIATE $$ BEGIN INSERT INTO t (x) SELECT a FROM s; END $$"
    assert pairs(LineageParser(text, "snowflake")) == {("s.A", "t.X")}
    parser = LineageParser("INSERT INTO t (x) SELECT a FROM s; EXEC sp_executesql @q", "tsql")
    assert parser.failures == ("line 1: dynamic_sql",)


def test_a_statement_without_lineage_that_no_parser_takes_is_no_failure() -> None:
    text = (
        "ALTER WAREHOUSE w SET WAREHOUSE_SIZE = 'LARGE'; CREATE STREAM r ON TABLE s; INSERT INTO t (x) SELECT a FROM s"
    )
    assert LineageParser(text, "snowflake").failures == ()
    assert LineageParser("CREATE STAGE k URL = 's3://b/p' ENCRYPTION = (TYPE = 'X')", "snowflake").edges == ()
    assert LineageParser("INSERT INTO t (x) SELECT a FROM s; SELECT 1 +", "snowflake").failures


def test_text_that_is_no_sql_raises() -> None:
    with pytest.raises(Unparsable):
        LineageParser("INSERT INTO t SELECT a FROM s WHERE x = 'never closed")


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("clickhouse", "select * from s3('https://u:SECRET@b/x?sig=SECRET', 'k', 'SECRET', 'CSV')"),
        ("clickhouse", "insert into function s3('https://b/x?sig=SECRET', 'CSV') select a from t"),
        ("clickhouse", "select a from s3Cluster('c.d', 'https://b/x', 'k', 'SECRET/k.', 'CSV')"),
        ("clickhouse", "insert into t (a) select a from azureBlobStorage('AccountKey=SECRET/;B=1', 'c', 'x.csv')"),
        ("clickhouse", "insert into function azureBlobStorage('AccountKey=SECRET/;B=1', 'c', 'x') select a from t"),
        ("clickhouse", "insert into function mysql(c, password = 'SECRET') select a from t"),
        ("doris", "select a from s3('ACCESS_KEY' = 'SECRET/a.b', 'uri' = 's3://b/x.csv')"),
        ("tsql", "select a from openrowset(bulk 'https://a/c/x.csv?sig=SECRET', format = 'CSV') with (a int 1) as r"),
        ("duckdb", "copy (select a from 'https://u:SECRET@h/x.parquet?s=SECRET') to 's3://k:SECRET@b/o?sig=SECRET'"),
        ("snowflake", "copy into t from 'azure://a/b?sig=SECRET' credentials = (azure_sas_token = 'SECRET')"),
        ("redshift", "unload ('select a from t') to 's3://b/u?x=SECRET' secret_access_key 'SECRET'"),
        ("postgres", "copy t from '/x?sig=SECRET'"),
        ("mysql", "load data infile '/x?sig=SECRET' into table t"),
        ("bigquery", "export data options (uri = 'gs://b/x?sig=SECRET') as select a from t"),
        ("spark", "insert into t select * from csv.`s3://u:SECRET@b/x?sig=SECRET`"),
        ("hive", "insert overwrite directory 's3a://k:SECRET@b/o' select a from t"),
        ("hive", "load data inpath 's3://u:SECRET@b/x?sig=SECRET' into table t"),
    ],
)
def test_a_path_leaves_without_login_and_signature(dialect: str, text: str) -> None:
    parser = LineageParser(text, dialect)
    assert parser.edges
    assert "SECRET" not in repr((parser.edges, parser.source_tables, parser.target_tables, parser.problems))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "insert into t (a) select q.a from openrowset('P', 's;Pwd=SECRET.x', 'select a from d.u') q"),
        ("tsql", "insert into t (a) select q.a from openrowset('P', 'Pwd=SECRET.x', d.u) q"),
        ("clickhouse", "insert into t (a) select a from s3(concat({base:String}, 'x'), 'k', 'SECRET/k.d', 'CSV')"),
        ("duckdb", "create table t as select a from read_csv(getvariable('p'), dateformat = '%d.SECRET')"),
    ],
)
def test_no_other_argument_stands_in_for_a_path_that_is_not_constant(dialect: str, text: str) -> None:
    parser = LineageParser(text, dialect)
    assert [name.kind for name in parser.source_tables] == [NameKind.FUNCTION]
    assert "SECRET" not in repr((parser.edges, parser.source_tables, parser.target_tables, parser.problems))


def test_a_parser_that_overruns_its_time_is_killed() -> None:
    columns = ", ".join(f"CASE WHEN a{n} > 1 THEN (SELECT max(b{n}) FROM u) END AS c{n}" for n in range(20_000))
    with pytest.raises(ParseTimeout):
        LineageParser(f"INSERT INTO t SELECT {columns} FROM s", timeout_seconds=0.05)
    assert LineageParser("SELECT a FROM s", timeout_seconds=0.05).column_lineage


def test_an_unknown_dialect_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="postgres"):
        LineageParser("SELECT 1", dialect="postgress")


def test_the_masker_is_public_too() -> None:
    assert QueryMasker("postgres").mask("SELECT 1 FROM t WHERE name = 'x'") == "SELECT ? FROM t WHERE name = ?"


def test_a_long_script_costs_what_its_statements_cost() -> None:
    parser = LineageParser("; ".join(f"INSERT INTO t{n + 1} SELECT a FROM t{n}" for n in range(3_000)))
    begun = time.process_time()
    assert [str(name) for name in (*parser.source_tables, *parser.target_tables)] == ["t0", "t3000"]
    assert len(parser.intermediate_tables) == 2_999
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO Stock SELECT Stock.item, m.pieces FROM stock JOIN web.moves m ON m.item = Stock.item",
        "INSERT INTO kept SELECT * FROM arrivals, f(arrivals.id) WHERE day = 3",
        "CREATE TABLE prices AS SELECT item, price FROM prices WHERE price > 0",
        "UPDATE a.customers c SET level = l.level FROM levels l WHERE l.customer = c.id",
        "WITH moved AS (DELETE FROM queue RETURNING id) INSERT INTO done (id) SELECT id FROM moved",
        "SELECT region, (SELECT max(day) FROM days) FROM orders, customers",
    ],
)
def test_a_statement_alone_says_what_it_says_beside_another(text: str) -> None:
    alone, beside = LineageParser(text, "postgres"), LineageParser(f"SELECT 1 AS one; {text}", "postgres")
    assert alone.edges
    assert alone.to_dict() == beside.to_dict()
    assert alone.table_aliases == beside.table_aliases
    assert alone.referenced_columns == beside.referenced_columns


def test_a_statement_whose_analysis_fails_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(statement: Any, schema_of: Any) -> StatementLineage:
        if "marked" in repr(statement):
            raise IndexError("of SELECT 'secret-canary'")
        return analyze(statement, schema_of)

    monkeypatch.setattr("ingestion.analysis.analyzer.analyze", failing)
    bad, good = "INSERT INTO marked (a) SELECT a FROM s", "INSERT INTO t (x) SELECT s.a FROM s"
    parser = LineageParser(f"{good};\n{bad};\n{good.replace('t (x)', 'u (x)')}")
    assert pairs(parser) == {("s.a", "t.x"), ("s.a", "u.x")}
    (failure,) = parser.failures
    assert failure.startswith("line 2: analysis_failed: IndexError at test_lineage_parser.py")
    graph = lineage_graph([bad, good])
    assert [failure.partition(": IndexError")[0] for failure in graph.failures] == ["[0] line 1: analysis_failed"]
    assert set(graph.tables) == {"s", "t"}
    with pytest.raises(RecordError, match="analysis_failed") as caught:
        LineageParser(bad)
    assert "canary" not in str(caught.value) + "".join(parser.failures)


@pytest.mark.parametrize("likes", ["CREATE TABLE a LIKE a", "CREATE TABLE a LIKE b; CREATE TABLE b LIKE a"])
def test_tables_that_are_like_themselves_have_no_known_columns(likes: str) -> None:
    parser = LineageParser(f"{likes}; INSERT INTO x (k) SELECT a.k FROM a", "mysql")
    assert (pairs(parser), parser.failures) == ({("a.k", "x.k")}, ())


@pytest.mark.parametrize(
    ("dialect", "made", "tables"),
    [
        ("postgres", "CREATE TABLE a AS SELECT x, y + 1 AS z FROM s WHERE k = 1 WITH NO DATA", {("s", "a")}),
        ("redshift", "CREATE TABLE IF NOT EXISTS a AS SELECT x, y AS z FROM s WITH NO DATA", {("s", "a")}),
        (
            "teradata",
            "CREATE TABLE a AS (SELECT x, y AS z FROM s) WITH NO DATA AND STATS PRIMARY INDEX (x)",
            {("s", "a")},
        ),
        ("db2", "CREATE TABLE a AS (SELECT x, y AS z FROM s) DEFINITION ONLY", {("s", "a")}),
        ("clickhouse", "CREATE TABLE a EMPTY AS SELECT x, y AS z FROM s", {("s", "a")}),
        ("postgres", "CREATE TEMP TABLE a AS SELECT x, y AS z FROM s WITH NO DATA", set()),
        ("teradata", "CREATE VOLATILE TABLE a AS (SELECT x, y AS z FROM s) WITH NO DATA", set()),
    ],
)
def test_a_table_that_is_made_without_rows_has_the_columns_of_its_query_alone(
    dialect: str, made: str, tables: set[tuple[str, str]]
) -> None:
    alone = LineageParser(made, dialect)
    assert (pairs(alone), {(str(one), str(other)) for one, other in alone.table_lineage}) == (set(), tables)
    filled = LineageParser(f"{made}; INSERT INTO a SELECT p, q FROM r; INSERT INTO t SELECT * FROM a", dialect)
    found = {(source.lower(), target.lower()) for source, target in pairs(filled)}
    assert found == {("r.p", "a.x"), ("r.q", "a.z"), ("a.x", "t.x"), ("a.z", "t.z")}


@pytest.mark.parametrize(
    ("dialect", "made"),
    [
        ("postgres", "CREATE TABLE a AS SELECT x FROM s WITH DATA"),
        ("teradata", "CREATE TABLE a AS (SELECT x FROM s) WITH DATA"),
        ("postgres", "CREATE MATERIALIZED VIEW a AS SELECT x FROM s WITH NO DATA"),
    ],
)
def test_what_is_filled_at_once_or_when_it_is_refreshed_is_made_of_its_query(dialect: str, made: str) -> None:
    assert pairs(LineageParser(made, dialect)) == {("s.x", "a.x")}


def test_what_fills_a_variable_alone_leads_to_no_column() -> None:
    parser = LineageParser("DECLARE @s nvarchar(max)\nSELECT @s = q FROM texts WHERE id = 1\nEXEC (@s)", "tsql")
    assert (parser.edges, parser.failures) == ((), ("line 3: dynamic_sql",))


def test_what_is_read_behind_written_rows_is_not_written_with_them() -> None:
    parser = LineageParser("INSERT INTO t VALUES (1) SELECT a INTO m FROM r", "tsql")
    assert [(str(source), str(target)) for source, target in parser.table_lineage] == [("r", "m")]


def test_many_texts_in_one_call_are_scripts_of_their_own() -> None:
    """The second does not read what the first made, and one that cannot be read costs no other."""
    texts = [
        "CREATE TABLE t AS SELECT a FROM one; INSERT INTO u SELECT * FROM t",
        "INSERT INTO u SELECT * FROM t",
        "SELECT {{ name }} FROM t",
        "INSERT INTO v SELECT x.b FROM s x",
        "",
        "SELECT 'that never ends",
    ] * 80
    found = list(LineageParser.of_each(texts, "postgres", {"s": {"b": "int"}, "v": {"w": "int"}}))
    assert len(found) == len(texts)
    for text, one in zip(texts[:6], found[-6:], strict=True):
        if isinstance(one, RecordError):
            with pytest.raises(type(one), match=re.escape(str(one))):
                LineageParser(text, "postgres")
            continue
        alone = LineageParser(text, "postgres", {"s": {"b": "int"}, "v": {"w": "int"}})
        assert (one.edges, one.table_lineage, one.failures) == (alone.edges, alone.table_lineage, alone.failures)
    assert [type(one) for one in found[:4]] == [LineageParser, LineageParser, Templated, LineageParser]


def test_what_was_given_before_whoever_gives_texts_fails_is_parsed_first() -> None:
    def texts() -> Iterator[str]:
        yield from ["INSERT INTO t SELECT a FROM s"] * 900
        raise OSError("the disk is gone")

    for given, error in (
        (texts(), OSError),
        (["INSERT INTO t SELECT a FROM s"] * 900 + cast("list[str]", [5, "SELECT 1"]), TypeError),
    ):
        found = 0
        with pytest.raises(error):
            for _ in LineageParser.of_each(given):
                found += 1
        assert found == 900


def test_a_dialect_that_is_none_is_told_before_the_first_text() -> None:
    with pytest.raises(ConfigError):
        next(LineageParser.of_each([], "klingon"))


def test_what_is_cloned_beside_tables_is_no_table() -> None:
    script = "/* copies */ CREATE DATABASE staging CLONE prod; CREATE STAGE s CLONE r; CREATE TABLE t CLONE prod.core.t"
    parser = LineageParser(script, "snowflake")
    assert [(str(one.source), str(one.target)) for one in parser.edges if "core" not in str(one.source)] == []
    assert [table.dotted for table in parser.source_tables] == ["PROD.CORE.T"]
    assert parser.failures == ()
