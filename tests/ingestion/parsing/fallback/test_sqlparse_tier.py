"""The last tier's rules: tables surely, columns only where they are plain, nothing where tokens may mislead."""

from __future__ import annotations

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementKind, StatementLineage, WriteMode
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.fallback.sqlparse_tier import parse


def lineage(text: str, dialect: str = "postgres") -> StatementLineage:
    return analyze(parse(text, dialect), lambda _name: None)


def tables(text: str, dialect: str = "postgres") -> tuple[set[str], set[str]]:
    found = lineage(text, dialect)
    return {str(name) for name in found.sources}, {str(name) for name in found.targets}


def columns(text: str, dialect: str = "postgres") -> list[tuple[str, list[str]]]:
    found = lineage(text, dialect)
    return [
        (output.name, [str(source) for reference in output.references for source in reference.sources])
        for flow in found.flows
        for output in flow.outputs
    ]


@pytest.mark.parametrize(
    ("text", "dialect", "sources", "target"),
    [
        ("INSERT INTO t SELECT a FROM s JOIN u ON s.k = u.k, v", "postgres", {"s", "u", "v"}, "t"),
        ("INSERT OVERWRITE TABLE d.t PARTITION (dt = 'x') SELECT a FROM s.u", "spark", {"s.u"}, "d.t"),
        ("REPLACE INTO t SELECT a FROM s", "mysql", {"s"}, "t"),
        ("CREATE OR REPLACE VIEW v (x) AS SELECT a FROM (SELECT a FROM s) q", "postgres", {"s"}, "v"),
        ("CREATE TEMP TABLE t AS (SELECT a FROM s UNION ALL SELECT b FROM u)", "postgres", {"s", "u"}, "t"),
        ("CREATE TABLE t STORED AS PARQUET AS SELECT a FROM s", "hive", {"s"}, "t"),
        ("CREATE TABLE t SELECT a FROM s", "mysql", {"s"}, "t"),
        ("SELECT a INTO #t FROM dbo.s", "tsql", {"dbo.s"}, "#t"),
        ("SELECT a INTO @x FROM s", "mysql", {"s"}, None),
        ("UPDATE t SET a = s.a FROM s WHERE t.k = s.k", "postgres", {"s"}, "t"),
        ("UPDATE x SET x.a = s.a FROM dbo.t x JOIN s ON x.k = s.k", "tsql", {"s"}, "dbo.t"),
        ("UPDATE s JOIN t ON s.k = t.k SET t.a = s.a", "mysql", {"s"}, "t"),
        ("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a", "snowflake", {"s"}, "t"),
        ("MERGE INTO t USING (SELECT k FROM s) AS u USING (k) WHEN MATCHED THEN UPDATE", "duckdb", {"s"}, "t"),
        ("MERGE INTO t x USING (SELECT * FROM s) y ON x.k = y.k WHEN MATCHED THEN DELETE", "oracle", {"s"}, "t"),
        ("SELECT a FROM s WHERE k IN (SELECT k FROM u) AND EXISTS (SELECT 1 FROM v)", "ansi", {"s", "u", "v"}, None),
        ("WITH c AS (SELECT a FROM s), d AS (SELECT a FROM c) INSERT INTO t SELECT a FROM d", "ansi", {"s"}, "t"),
        ("WITH s AS (SELECT a FROM s) SELECT a FROM s", "postgres", {"s"}, None),
        ("WITH RECURSIVE c AS (SELECT a FROM s UNION SELECT a FROM c) SELECT a FROM c", "postgres", {"s"}, None),
        ("WITH c AS (SELECT a FROM unread) SELECT a FROM s", "postgres", {"s"}, None),
        (
            "SELECT EXTRACT(year FROM d), trim(both 'x' FROM e) FROM s WHERE a IS DISTINCT FROM b",
            "postgres",
            {"s"},
            None,
        ),
        ("SELECT a FROM s, LATERAL f(s.b) g, generate_series(1, 2) n JOIN u ON true", "postgres", {"s", "u"}, None),
        ("SELECT x.i FROM s x, x.items y", "bigquery", {"s"}, None),
        ("SELECT a FROM s LATERAL VIEW explode(b) q AS c, d WHERE a > 1", "spark", {"s"}, None),
        ("SELECT a FROM `p-x.d.s` JOIN q-y.d.u ON 1 = 1", "bigquery", {"p-x.d.s", "q-y.d.u"}, None),
        ("SELECT a FROM s WITH (NOLOCK) JOIN u (NOLOCK) ON s.k = u.k", "tsql", {"s", "u"}, None),
        ("SELECT a FROM ((s JOIN u ON s.k = u.k) JOIN v ON v.k = u.k)", "postgres", {"s", "u", "v"}, None),
        ("SELECT a FROM @variable, s", "tsql", {"s"}, None),
        ('SELECT a FROM "A b"."C"', "postgres", {"A b.C"}, None),
    ],
)
def test_tables_stand_where_relations_do(text: str, dialect: str, sources: set[str], target: str | None) -> None:
    assert tables(text, dialect) == (sources, {target} if target else set())


def test_names_fold_as_their_dialect_folds_them() -> None:
    (flow,) = lineage('INSERT INTO T SELECT A FROM "S"."u"', "snowflake").flows
    assert flow.target is not None
    assert (flow.target.name.parts, [name.parts for name in flow.sources]) == (("T",), [("S", "u")])
    assert lineage('INSERT INTO T SELECT A FROM "S"').flows[0].sources[0].parts == ("S",)


def test_plain_columns_are_followed() -> None:
    text = "INSERT INTO t (x, y, z) SELECT s.a, s.b AS c, b d FROM s"
    assert columns(text) == [("x", ["s.a"]), ("y", ["s.b"]), ("z", ["s.b"])]
    assert columns("CREATE VIEW v AS SELECT q.a, b FROM s q") == [("a", ["s.a"]), ("b", ["s.b"])]


def test_a_column_of_several_tables_keeps_its_candidates() -> None:
    (flow,) = lineage("INSERT INTO t SELECT a FROM s, u").flows
    assert [str(source) for source in flow.outputs[0].references[0].sources] == ["s.a", "u.a"]


def test_more_than_a_column_is_marked_and_keeps_its_place() -> None:
    found = lineage("INSERT INTO t (x, y, z) SELECT a, f(b) AS g, c FROM s")
    assert columns("INSERT INTO t (x, y, z) SELECT a, f(b) AS g, c FROM s")[::2] == [("x", ["s.a"]), ("z", ["s.c"])]
    assert [(problem.kind, problem.subject) for problem in found.problems] == [(ProblemKind.UNSUPPORTED, "g")]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t SELECT a FROM (SELECT b AS a FROM s) q",
        "INSERT INTO t SELECT a FROM s UNION ALL SELECT b FROM u",
        "INSERT INTO t SELECT * EXCEPT (a) FROM s",
        "INSERT INTO t WITH c AS (SELECT a FROM s) SELECT a FROM c",
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a",
    ],
)
def test_columns_that_are_not_sure_are_not_given(text: str) -> None:
    found = lineage(text)
    assert not [reference for flow in found.flows for output in flow.outputs for reference in output.references]
    assert ProblemKind.UNSUPPORTED in {problem.kind for problem in found.problems}
    assert found.sources


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("", "postgres"),
        ("SELECT 1", "postgres"),
        ("INSERT INTO t VALUES (1)", "postgres"),
        ("CREATE TABLE t (a int)", "postgres"),
        ("CREATE FUNCTION f() RETURNS int AS SELECT a FROM s", "postgres"),
        ("DROP TABLE s", "postgres"),
        ("DELETE FROM t USING s WHERE t.k = s.k", "postgres"),
        ("INSERT INTO t SELECT a FROM s; INSERT INTO u SELECT a FROM v", "postgres"),
        ("INSERT INTO t SELECT a FROM s INSERT INTO u SELECT a FROM v", "tsql"),
        ("INSERT INTO t SELECT a FROM {{ ref('s') }}", "postgres"),
        ("INSERT INTO t SELECT (a FROM s", "postgres"),
        ("INSERT INTO t SELECT a) FROM (s", "postgres"),
        ("INSERT INTO t SELECT 'C:\\' AS a, ' FROM x, ' FROM s", "postgres"),
        ("INSERT INTO t SELECT a # FROM x\nFROM s", "postgres"),
        ("INSERT OVERWRITE DIRECTORY '/x' SELECT a FROM s", "hive"),
        ("what ever FROM s", "postgres"),
        ("INSERT INTO t WITH a AS (SELECT k FROM s) oops b AS (SELECT k FROM a) SELECT k FROM b", "snowflake"),
        ("INSERT INTO t WITH a AS (SELECT k FROM s) b (k) AS (SELECT k FROM a) SELECT k FROM b", "snowflake"),
        ("INSERT INTO t SELECT x.k FROM  AS x JOIN s ON x.k = s.k", "snowflake"),
        ("INSERT INTO t SELECT s.k FROM  LEFT OUTER JOIN s ON x.k = s.k", "snowflake"),
    ],
)
def test_lineage_is_never_made_up(text: str, dialect: str) -> None:
    with pytest.raises(Unparsable):
        parse(text, dialect)


@pytest.mark.parametrize("dialect", ["bigquery", "postgres", "snowflake", "tsql"])
@pytest.mark.parametrize("end", ["group bye a", "oder by a", "order bye a", "x gruop by a", "as x gruop by a"])
def test_a_clause_that_is_misspelt_is_no_alias(end: str, dialect: str) -> None:
    for text in (f"create table n as select a from s {end}", f"insert into n select a from s, u {end}"):
        with pytest.raises(Unparsable):
            parse(text, dialect)
    assert parse("insert into n select a from s x order by a", dialect).writes


def test_a_table_may_have_the_name_of_what_is_made_of_it() -> None:
    assert tables("CREATE TABLE orders AS (SELECT a FROM orders)") == ({"orders"}, {"orders"})
    assert tables("INSERT INTO t WITH orders AS (SELECT a FROM orders) SELECT a FROM orders") == ({"orders"}, {"t"})
    assert tables("INSERT INTO t SELECT a FROM s LEFT JOIN u ON s.a = u.a") == ({"s", "u"}, {"t"})


def test_beyond_ten_thousand_tokens_and_a_hundred_levels_it_still_answers() -> None:
    wide = "INSERT INTO t SELECT a FROM s WHERE k IN (" + ", ".join(map(str, range(20_000))) + ")"
    deep = "INSERT INTO t SELECT a FROM " + "(SELECT a FROM " * 300 + "s" + ") q" * 300
    assert tables(wide) == tables(deep) == ({"s"}, {"t"})


def test_the_kind_and_the_mode_follow_the_verb() -> None:
    assert parse("INSERT OVERWRITE TABLE t SELECT a FROM s", "spark").writes[0].target.mode is WriteMode.OVERWRITE  # type: ignore[union-attr]
    assert parse("CREATE VIEW v AS SELECT a FROM s", "spark").kind is StatementKind.CREATE_VIEW
    assert parse("CREATE TEMPORARY TABLE v AS SELECT a FROM s", "spark").writes[0].target.temporary  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("UPDATE LOW_PRIORITY t SET a = 1", "mysql"),
        ("SELECT s.a FROM FROM t s", "bigquery"),
        ("INSERT TOP (5) INTO t SELECT a FROM s", "tsql"),
    ],
)
def test_a_word_of_the_statement_is_no_target(text: str, dialect: str) -> None:
    with pytest.raises(Unparsable):
        parse(text, dialect)


def test_a_text_that_the_first_tier_would_misread_is_read_as_it_understands_it() -> None:
    merge = "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET *"
    assert tables(merge, "spark") == ({"s"}, {"t"})


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("INSERT INTO t (a, b, c) SELECT * FROM s JOIN u USING (k)", "postgres"),
        ("INSERT INTO t (a, b, c) SELECT * FROM s NATURAL LEFT JOIN u", "mysql"),
        ("INSERT INTO t (a, b) SELECT k, v FROM s UNPIVOT (v FOR n IN (x, y)) p", "tsql"),
        ("CREATE TABLE t AS SELECT * FROM s PIVOT (SUM(a) FOR m IN (1, 2))", "oracle"),
        (
            "INSERT INTO t (a) SELECT n FROM s MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (x) DEFINE x AS y)",
            "trino",
        ),
        ("CREATE TABLE t AS SELECT a FROM s |> EXTEND a * 2 AS b", "bigquery"),
        ("CREATE VIEW t AS WITH toDate(at) AS d SELECT d FROM s", "clickhouse"),
    ],
)
def test_columns_that_are_not_those_of_the_tables_are_not_followed(text: str, dialect: str) -> None:
    assert tables(text, dialect) == ({"s", "u"} & {*text.split()}, {"t"})
    assert not any(sources for _, sources in columns(text, dialect))


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("INSERT INTO t (a, b) SELECT CURRENT TIMESTAMP, s.b FROM s", "db2"),
        ("INSERT INTO t (a, b) SELECT ora_rowscn, s.b FROM s", "oracle"),
        ("CREATE TABLE t AS SELECT [x * 2 FOR x IN xs] AS a, s.b FROM s", "duckdb"),
    ],
)
def test_a_word_that_is_a_value_is_no_column(text: str, dialect: str) -> None:
    assert [sources for _, sources in columns(text, dialect)] == [[], [f"s.{'b' if dialect == 'duckdb' else 'B'}"]]


def test_a_table_of_bigquerys_legacy_sql_stands_in_brackets() -> None:
    assert tables("SELECT a FROM [lib-1:web.s], [web.u]", "bigquery")[0] == {"lib-1:web.s", "web.u"}
