"""sqlfluff's tier: sqlglot's lineage where both read the text, tables where columns are not followed."""

from __future__ import annotations

import pytest
from sqlfluff.core.parser import Parser

from ingestion.analysis.analyzer import analyze
from ingestion.analysis.form import Select, Star
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementLineage
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.fallback import _sqlfluff_tree, sqlfluff_tier
from ingestion.parsing.fallback.sqlfluff_tier import parse
from ingestion.parsing.sqlglot import tier as sqlglot_tier


def lineage(text: str, dialect: str = "postgres") -> StatementLineage:
    return analyze(parse(text, dialect), lambda _name: None)


def edges(found: StatementLineage) -> set[tuple[str, str, str, bool]]:
    return {
        (output.name, str(source), reference.transformation.subtype.value, reference.transformation.masking)
        for flow in found.flows
        for output in flow.outputs
        for reference in (*output.references, *flow.indirect)
        for source in reference.sources
    }


BOTH = [
    "INSERT INTO t (x, y) SELECT s.a, b AS c FROM s",
    "CREATE TABLE t AS SELECT q.a + q.b AS ab, sum(q.c) AS total FROM s AS q GROUP BY 1",
    "CREATE VIEW v (x) AS SELECT CASE WHEN a > 1 THEN b ELSE c END FROM s",
    "INSERT INTO t SELECT d.a FROM (SELECT a, k FROM s WHERE z = 'x') d LEFT JOIN u ON d.k = u.k WHERE u.m IS NULL",
    "WITH c AS (SELECT a AS b FROM s) SELECT c.b FROM c",
    "WITH c (x) AS (SELECT a FROM s) INSERT INTO t SELECT x FROM c",
    "INSERT INTO t SELECT a FROM s UNION ALL SELECT b FROM u",
    "INSERT INTO t SELECT a FROM s UNION SELECT b FROM u",
    "INSERT INTO t SELECT a FROM s EXCEPT SELECT b FROM u",
    "INSERT INTO t SELECT * FROM s",
    "INSERT INTO t SELECT q.*, u.a FROM s q JOIN u USING (k)",
    "INSERT INTO t SELECT a FROM s WHERE k IN (SELECT k FROM u WHERE u.z = 1)",
    "CREATE TABLE t AS SELECT count(*) AS n, count(a) AS m, CAST(max(b) AS int) AS b FROM s HAVING count(c) > 2",
    "CREATE TABLE t AS SELECT sum(v) OVER (PARTITION BY w ORDER BY u) AS r FROM s ORDER BY u",
    "SELECT a FROM s ORDER BY 1",
    "CREATE TABLE t AS SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC) AS p FROM s",
    "CREATE TABLE t AS SELECT string_agg(a, ',') WITHIN GROUP (ORDER BY b, c) AS p FROM s",
    "CREATE TABLE t AS SELECT sum(a) FILTER (WHERE b > 1) AS p FROM s",
]


def test_the_compiled_parser_reads_what_the_other_one_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = [text.replace(" FROM", " FROM (", 1) for text in BOTH]
    found: list[list[StatementLineage | str]] = []
    for parser in (_sqlfluff_tree._PARSER, Parser):
        monkeypatch.setattr(_sqlfluff_tree, "_PARSER", parser)
        found.append([read_or_refused(text) for text in (*BOTH, *cut)])
    assert found[0] == found[1]


def read_or_refused(text: str) -> StatementLineage | str:
    try:
        return lineage(text)
    except Unparsable as error:
        return str(error)


@pytest.mark.parametrize("text", BOTH)
def test_both_trees_give_the_same_lineage(text: str) -> None:
    ours, theirs = lineage(text), analyze(sqlglot_tier.parse(text, "postgres"), lambda _name: None)
    assert (ours.kind, ours.sources, ours.targets) == (theirs.kind, theirs.sources, theirs.targets)
    assert edges(ours) == edges(theirs)
    assert ours.problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t AS SELECT a AS b FROM s WHERE b > 1",
        "CREATE TABLE t AS SELECT a AS b, k AS r FROM s QUALIFY r = 1",
    ],
)
def test_conditions_use_output_names_as_the_dialect_does(text: str) -> None:
    ours, theirs = lineage(text, "snowflake"), analyze(sqlglot_tier.parse(text, "snowflake"), lambda _name: None)
    assert edges(ours) == edges(theirs)


@pytest.mark.parametrize(
    ("text", "dialect", "sources", "target"),
    [
        ("UPDATE x SET x.a += s.a FROM dbo.t AS x JOIN s ON x.k = s.k", "tsql", {"s"}, "dbo.t"),
        ("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a", "snowflake", {"s"}, "t"),
        ("SELECT a INTO #t FROM dbo.s", "tsql", {"dbo.s"}, "#t"),
        ("INSERT OVERWRITE TABLE t PARTITION (d = 'x') SELECT a FROM s", "sparksql", {"s"}, "t"),
        ("INSERT INTO t SELECT q.b FROM s LATERAL VIEW explode(a) q AS b", "spark", {"s"}, "t"),
        ("WITH c AS (SELECT a FROM s) SELECT a FROM c, LATERAL f(c.a) g", "postgres", {"s"}, None),
    ],
)
def test_tables_are_kept_where_columns_are_not_followed(
    text: str, dialect: str, sources: set[str], target: str | None
) -> None:
    found = lineage(text, "spark" if dialect == "sparksql" else dialect)
    assert {str(name) for name in found.sources} == sources
    assert {str(name) for name in found.targets} == ({target} if target else set())


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE TABLE t AS SELECT q.a FROM s q DISTRIBUTED BY (a)", "greenplum"),
        ("CREATE TABLE t AS SELECT q.a FROM s q SEGMENTED BY HASH(a) ALL NODES", "vertica"),
        ("CREATE TABLE t ON COMMIT DROP AS SELECT q.a FROM s q", "postgres"),
        ("INSERT t WITH (TABLOCK) SELECT q.a FROM s q", "tsql"),
        ("INSERT INTO t SELECT q.a FROM s q WITH UR", "db2"),
    ],
)
def test_columns_are_followed_through_clauses_that_only_a_warehouse_has(text: str, dialect: str) -> None:
    found = lineage(text, dialect)
    assert [str(name).lower() for name in (*found.sources, *found.targets)] == ["s", "t"]
    assert {source.lower() for _, source, kind, _ in edges(found) if kind == "IDENTITY"} == {"s.a"}
    assert found.problems == ()


def test_a_column_is_left_out_of_the_relation_that_stands_before_it() -> None:
    text = "CREATE TABLE t AS SELECT * EXCEPT (u.a, w) FROM s JOIN u ON true"
    both = [tier.parse(text, "databricks").writes[0].query for tier in (sqlfluff_tier, sqlglot_tier)]
    by_sqlfluff, by_sqlglot = (query.projections for query in both if isinstance(query, Select))
    assert by_sqlfluff == by_sqlglot == (Star(excluded=("w",), changed_of=((("u", "a"), ""),)),)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("INSERT INTO t SELECT q.b FROM s LATERAL VIEW explode(a) q AS b", "spark"),
        ("CREATE TABLE t AS SELECT JSON_OBJECTAGG(a VALUE b) AS p FROM s", "oracle"),
    ],
)
def test_columns_that_were_not_followed_are_marked(text: str, dialect: str) -> None:
    found = lineage(text, dialect)
    assert {problem.kind for problem in found.problems} == {ProblemKind.UNSUPPORTED}
    assert edges(found) == set()


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("INSERT INTO t SELECT a FROM s WHERE ((", "postgres"),
        ("INSERT INTO t SELECT a ~~~ FROM s ???", "postgres"),
        ("SELECT 1", "postgres"),
        ("DROP TABLE s", "postgres"),
        ("CREATE TABLE t (a int)", "postgres"),
        ("INSERT INTO t SELECT a FROM s; INSERT INTO u SELECT a FROM v", "postgres"),
        ("", "postgres"),
    ],
)
def test_what_it_does_not_understand_whole_is_refused(text: str, dialect: str) -> None:
    with pytest.raises(Unparsable):
        sqlfluff_tier.parse(text, dialect)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("CREATE TABLE t AS SELECT a, b FROM s UNION ALL BY NAME SELECT b, a FROM u", "duckdb"),
        ("CREATE TABLE t AS SELECT a, b FROM s INNER UNION ALL BY NAME SELECT b, c FROM u", "bigquery"),
        ("CREATE TABLE t AS SELECT * EXCLUDE (b) FROM s", "redshift"),
    ],
)
def test_columns_whose_order_is_not_the_lists_are_not_followed(text: str, dialect: str) -> None:
    found = lineage(text, dialect)
    assert {str(name) for name in found.targets} == {"t"}
    assert not edges(found)


def test_conversions_behind_a_value_are_no_columns() -> None:
    found = lineage("INSERT INTO t (a) SELECT SUM(s.a (FLOAT)) FROM s", "teradata")
    assert {(output, source) for output, source, *_ in edges(found)} == {("a", "s.a")}


@pytest.mark.parametrize(
    ("text", "dialect", "words"),
    [
        ("SELECT CAST(a AS DATE FORMAT 'secret') AS x FROM s", "teradata", "DATE FORMAT ?"),
        ("SELECT CAST(a AS ENUM('secret')) AS x FROM s", "mysql", "ENUM(?)"),
        ("SELECT CAST(a AS DECIMAL(10, 2)) AS x FROM s", "mysql", "DECIMAL(10, 2)"),
        ("SELECT SUM(a) OVER (ORDER BY b ROWS 98765 PRECEDING) AS x FROM s", "postgres", "ROWS ? PRECEDING"),
    ],
)
def test_of_the_literals_in_a_type_or_frame_only_a_types_numbers_are_told(text: str, dialect: str, words: str) -> None:
    assert words in str(lineage(text, dialect))


def test_a_url_in_a_quoted_name_keeps_no_login_and_no_signature() -> None:
    found = edges(lineage('INSERT INTO t SELECT s."https://u:secret@h/a?sig=secret" AS "ftp://u:secret@h/b" FROM s'))
    assert {(name, source) for name, source, *_ in found} == {("ftp://h/b", "s.https://h/a")}
