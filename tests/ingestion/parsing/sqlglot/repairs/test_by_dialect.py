"""Statements of dialects that sqlglot refuses, or takes wrong, as they stand."""

from __future__ import annotations

from types import ModuleType

import pytest

from ingestion import LineageParser
from ingestion.dialects import dialect_of
from ingestion.errors import Unparsable
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.fallback import sqlparse_tier as token_tier
from ingestion.parsing.sqlglot.repairs.by_dialect import needs_repair
from ingestion.statements.masking import fingerprint
from tests.support.lineage_lines import analysed, column_lines, lines_of_flows


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("databricks", "create or refresh streaming live table n (x int) comment 'c' as select x from s", {"x = s.x"}),
        (
            "databricks",
            "create streaming table n (constraint c expect (x > 1) on violation drop row) as select x from stream(s)",
            {"x = s.x"},
        ),
        (
            "databricks",
            "create live table n (p int, constraint c expect (p in (1, 2)), q int) as select x, y from s",
            {"p = s.x", "q = s.y"},
        ),
        ("databricks", "create or replace table n shallow clone s version as of 3", {"* = s"}),
        ("databricks", "create table if not exists n deep clone s", {"* = s"}),
        ("bigquery", "create or replace table d.n clone d.s options (labels = [('a', 'b')])", {"* = d.s"}),
        ("bigquery", "create table if not exists n copy d.s options (description = 'x')", {"* = d.s"}),
        ("hive", "export table d.s partition (ds = '1') to '/x/n'", {"* = d.s"}),
        ("hive", "import table n from '/x/s'", {"* = /x/s"}),
        ("hive", "import external table n partition (ds = '1') from '/x/s' location '/y'", {"* = /x/s"}),
        (
            "databricks",
            "create or replace table n deep clone c.d.s tblproperties ('k' = 'v')",
            {"* = c.d.s"},
        ),
        ("databricks", "create table n shallow clone delta.`/m/s` location '/m/n'", {"* = /m/s"}),
        ("databricks", "replace table n clone s timestamp as of '2024-01-01'", {"* = s"}),
        ("spark", "replace table n using iceberg as select x from s", {"x = s.x"}),
        (
            "databricks",
            "apply changes into n from stream(s) keys (k) ignore null updates where r = 1"
            " apply as delete when op = 'D' sequence by q"
            " columns * except (op, q) stored as scd type 1 track history on * except (r)",
            {"* = s -op -q", "* filter s.r", "* filter s.op", "* sort s.q"},
        ),
        (
            "databricks",
            "create flow f as auto cdc into n from stream(s) keys (k) sequence by q columns (k, x)",
            {"k = s.k", "x = s.x", "* sort s.q"},
        ),
        (
            "databricks",
            "create or refresh streaming table n (k int) flow auto cdc from stream(s) keys (k) sequence by q",
            {"* = s", "* sort s.q"},
        ),
        ("databricks", "create flow f comment 'c' as insert into once n by name select x from s", {"x = s.x"}),
        ("spark", "insert overwrite directory 's3://b/n' using parquet select x from s", {"x = s.x"}),
        ("spark", "insert overwrite directory using csv options (path 's3://b/n', h 'y') select x from s", {"x = s.x"}),
        (
            "spark",
            "with c as (select x from s) insert overwrite directory '/n' using a.b.c options (q '|') select x from c",
            {"x = s.x"},
        ),
        ("spark", "create temporary view n using parquet options (path 's3://b/s')", {"* = s3://b/s"}),
        (
            "spark",
            "create or replace temp view n (x int, y decimal(3, 1)) using csv options ('path' = 's3://b/s', sep ';')",
            {"x = s3://b/s.x", "y = s3://b/s.y"},
        ),
        (
            "databricks",
            "merge into n using s on n.k = s.k when matched then update set * except (x)",
            {"* = s -x", "* join n.k", "* join s.k"},
        ),
        (
            "databricks",
            "merge into n using s on n.k = s.k when not matched then insert * except (x)",
            {"* = s -x", "* join n.k", "* join s.k"},
        ),
        ("hive", "insert overwrite table n partition (d = 'v') if not exists select x from s", {"x = s.x"}),
        ("doris", "insert into n partition (p, q) with label l (a) select x from s", {"a = s.x"}),
        ("mysql", "insert into n partition (p, q) (a) select x from s", {"a = s.x"}),
        ("mysql", "select x from s into outfile '/n.csv' fields terminated by ','", {"x = s.x"}),
        (
            "mysql",
            "select x into outfile '/n.csv' lines terminated by ';' from s where y = 1",
            {"x = s.x", "* filter s.y"},
        ),
        ("starrocks", "select x from s into outfile 's3://b/n' format as csv properties ('k' = 'v')", {"x = s.x"}),
        ("clickhouse", "select x from s into outfile 'n.csv' truncate format CSV", {"x = s.x"}),
        ("clickhouse", "alter table d.n on cluster c modify query select x from s", {"x = s.x"}),
        ("sqlite", "update or ignore n set a = s.x from s", {"a = s.x"}),
        ("postgres", "update n set (a) = (select x from s)", {"a = s.x"}),
        ("postgres", "update n set (a) = row (s.x) from s", {"a = s.x"}),
        ("postgres", "update n set a = s.x from s where current of c", {"a = s.x"}),
        (
            "postgres",
            "create or replace recursive view n (p) as select x from s union all select u.x from n join u on u.k = n.p",
            {"p = s.x", "p = u.x", "* join u.k", "* join s.x", "* join u.x"},
        ),
        (
            "redshift",
            "merge into n using s on n.k = s.k remove duplicates",
            {"* = s", "* join n.k", "* join s.k"},
        ),
        (
            "duckdb",
            "merge into n using (select k, x as y from s) u using (k) when matched then update set y = u.y",
            {"y = s.x", "* join n.k", "* join s.k"},
        ),
        ("db2", "insert into n (a) select x concat y from s", {"A f S.X", "A f S.Y"}),
        ("db2", "declare global temporary table session.n as (select x from s) definition only", {"X is constant"}),
        ("dremio", "create vds n as select x from s", {"x = s.x"}),
        ("druid", "insert into n select x from s partitioned by day clustered by x", {"x = s.x"}),
        ("druid", "replace into n overwrite all select x from s partitioned by day", {"x = s.x"}),
        ("exasol", "import into n from local csv file 'in.csv'", {"* = in.csv"}),
        ("exasol", "export n into local csv file 'out.csv'", {"* = N"}),
        ("exasol", "export (select x from s) into csv at 'h' file 'out.csv'", {"X = S.X"}),
        ("postgres", "update n set a = s.x from s where current of c", {"a = s.x"}),
        ("tsql", "update n set a = b where current of c", {"a = n.b"}),
        (
            "sqlite",
            "update or ignore n set a = s.x from s where s.k = n.k",
            {"a = s.x", "* filter s.k", "* filter n.k"},
        ),
        ("snowflake", "copy files into @n/p from @s/q", {"* = @s/q"}),
        ("snowflake", "copy files into '@n/p' from '@s/q' files = ('f.csv')", {"* = @s/q"}),
        ("snowflake", "define view n as select x from s", {"X = S.X"}),
        ("fabric", "create table n as clone of s", {"* = s"}),
        ("hive", "create view n partitioned on (d) as select x, d from s", {"x = s.x", "d = s.d"}),
        ("impala", "upsert into n (a) select x from s", {"a = s.x"}),
        ("impala", "insert into n (a) [shuffle] select straight_join x from s", {"a = s.x"}),
        ("informix", 'select first 5 x from s where y = "text"', {"x = s.x", "* filter s.y"}),
        ("informix", "select x from s where y > 1 into temp n", {"x = s.x", "* filter s.y"}),
        (
            "spark",
            "merge with schema evolution into n using s on n.k = s.k when matched then update set a = s.x",
            {"a = s.x", "* join n.k", "* join s.k"},
        ),
        ("tsql", "delete top (5) percent from n where b = 1", {"* filter n.b"}),
        ("bigquery", "select o from d.s as s cross join s.arr with offset o", {"o if d.s.arr", "* filter d.s.arr"}),
        ("starrocks", "insert into n with label l (a) select x from s", {"a = s.x"}),
        ("teradata", "create view n as select x, y (title 'Y') from s", {"x = s.x", "y = s.y"}),
        ("teradata", "sel x (named p), y (title 'Y') from s", {"p = s.x", "y = s.y"}),
        (
            "tsql",
            "update n set a.b += s.x from n a join s on s.k = a.k",
            {"b f n.b", "b f s.x", "* join s.k", "* join n.k"},
        ),
        ("tsql", "select x from openrowset(bulk 'd/f.csv', format = 'CSV') with (x int 1) as r", {"x = d/f.csv.x"}),
        ("vertica", "select x from s limit 1 over (partition by y order by z)", {"x = s.x"}),
        ("vertica", "create table n as select x from s segmented by hash(x) all nodes", {"x = s.x"}),
        ("athena", "unload (select x from s) to 's3://b/p' with (format = 'PARQUET')", {"x = s.x"}),
    ],
)
def test_the_lineage_is_that_of_the_statement_as_written(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "place"),
    [
        (
            "spark",
            "insert overwrite directory using parquet options (k 'v', path = 's3://b/n') select x from s",
            "s3://b/n",
        ),
        ("spark", "insert overwrite local directory '/n' using csv options (path '/other') select x from s", "/n"),
        ("clickhouse", "select x from s into outfile 'n.csv' format CSV", "n.csv"),
        ("mysql", "select x into dumpfile '/n.bin' from s", "/n.bin"),
    ],
)
def test_rows_that_go_to_files_go_to_that_place(dialect: str, text: str, place: str) -> None:
    assert {f"into {place}", "from s"} <= lines_of_flows(text, dialect)[0]


@pytest.mark.parametrize("tier", [sqlfluff_tier, token_tier])
def test_the_other_tiers_do_not_take_rows_that_go_to_a_file_for_a_mere_query(tier: ModuleType) -> None:
    with pytest.raises(Unparsable):
        tier.parse("select x from s into outfile '/n.csv'", "mysql")


def test_a_view_over_what_only_its_format_knows_has_no_source_and_no_secret() -> None:
    text = "create temporary view n using org.apache.spark.sql.jdbc options (dbtable 's.t', password 'pw-77')"
    lineage = analysed(text, "spark")
    assert lineage.flows == ()
    assert [(change.name.dotted, change.temporary) for change in lineage.changes] == [("n", True)]


@pytest.mark.parametrize(
    "text",
    [
        "insert overwrite directory using parquet options ('path' = '{}') select x from s",
        "insert overwrite directory using parquet options (path '{}') select x from s",
        "create temporary view v using csv options ('path' '{}')",
        "create temporary view v using csv options (path = '{}')",
    ],
)
def test_two_statements_over_two_paths_are_two_templates(text: str) -> None:
    assert fingerprint(text.format("/a"), "spark") != fingerprint(text.format("/b"), "spark")


@pytest.mark.parametrize("action", ["matched then update", "matched then update set *", "not matched then insert"])
def test_a_star_in_a_merge_of_duckdb_goes_by_places(action: str) -> None:
    text = f"merge into n using (select x, y from s) u on n.a = u.y when {action}"
    found = column_lines(text, "duckdb", {"n": "a b", "s": "x y"})
    assert {"a = s.x", "b = s.y"} <= found


@pytest.mark.parametrize(
    "text",
    [
        "create or refresh streaming table n as select LIVE.s.x from stream(LIVE.s)",
        "create live table n comment 'c' as select x from live.s",
        "create temporary live view n as select x from LIVE.s",
        "create or refresh materialized view n as select x from LIVE.s",
        "create materialized view n cluster by (x) as select x from LIVE.s",
        "create or refresh private streaming table n as select x from stream(s)",
        "create flow f as insert into LIVE.n by name select x from stream(LIVE.s)",
        "apply changes into LIVE.n from stream(LIVE.s) keys (k) sequence by q columns (x)",
        "create flow f as auto cdc into LIVE.n from LIVE.s keys (k) columns (x)",
        "create or refresh streaming table n as select s.x from stream(r) r join q on f(q.k, r.k), LIVE.s",
        "create live table n as select s.x from (LIVE.s join LIVE.q on s.k = q.k)",
        "create live table n as with c as (select x from LIVE.s) select x from c",
    ],
)
def test_a_pipeline_calls_its_own_tables_live(text: str) -> None:
    (lines,) = lines_of_flows(text, "databricks")
    assert lines >= {"into n", "from s", "x = s.x"}


@pytest.mark.parametrize(
    "text",
    [
        "insert into n select x from live.s",
        "create or replace table n as select x from live.s",
        "create or replace materialized view n as select x from live.s",
        "create materialized view d.n as select x from live.s",
        "create or refresh streaming table n as select x from stream(c.live.s)",
    ],
)
def test_elsewhere_live_is_a_schema(text: str) -> None:
    assert [name.parts[-2:] for name in analysed(text, "databricks").sources] == [("live", "s")]


@pytest.mark.parametrize(
    ("query", "sources"),
    [
        ("select q.a, live.b from stream(s) as live join q on q.k = live.k", {"a = q.a", "b = s.b"}),
        ("with live as (select b from s) select f(q.a, live.b) as b from live cross join q", {"b f q.a", "b f s.b"}),
    ],
)
def test_an_alias_in_a_pipeline_may_be_called_live(query: str, sources: set[str]) -> None:
    assert column_lines(f"create or refresh streaming table n as {query}", "databricks") >= sources


@pytest.mark.parametrize(
    "value", ["max(live.b)", "f(a, live.b)", "extract(day from live.b)", "a is distinct from live.b"]
)
def test_what_a_pipeline_reads_of_a_column_called_live_is_a_field(value: str) -> None:
    query = f"create or refresh streaming table n as select a, {value} as x from s"
    lines = column_lines(query, "databricks", {"s": "a live"})
    assert any(line.startswith("x ") and line.endswith(" s.live") for line in lines)


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        (
            "mysql",
            "with c as (select a from s) update low_priority n set x = (select max(a) from c)",
            {"x agg s.a"},
        ),
        ("tsql", "with c as (select a from s) update top (5) n set x = c.a from c", {"x = s.a"}),
        (
            "databricks",
            "with c as (select a, k from s) merge with schema evolution into n using c on true"
            " when matched then update set x = c.a",
            {"x = s.a"},
        ),
    ],
)
def test_what_changes_rows_behind_a_with_is_read_as_it_is_without(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) >= expected
    assert lines_of_flows(text, dialect)[0] >= {"into n", "from s"}


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE LOW_PRIORITY t SET a = 1",
        "REPLACE DELAYED t (a) SELECT b FROM s",
        "UPDATE IGNORE t SET a = 1",
        "UPDATE t SET a = DEFAULT(b)",
        "SELECT VALUE (a) FROM t",
        "SELECT HIGH_PRIORITY DISTINCT a FROM t",
        "SELECT STRAIGHT_JOIN ALL a FROM t",
        "SELECT SQL_NO_CACHE DISTINCTROW a FROM t",
        "WITH x AS (VALUES (1)) SELECT * FROM x",
    ],
)
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_what_sqlglot_misreads_of_mysql_is_found_however_it_is_spelled(text: str, dialect: str) -> None:
    assert needs_repair(text, dialect_of(dialect))
    assert needs_repair(text.lower(), dialect_of(dialect))


@pytest.mark.parametrize("unit", ["select ", "select a | ", "|> select a; "])
def test_a_megabyte_of_queries_before_a_pipe_is_cheap(unit: str) -> None:
    assert needs_repair(unit * (1_000_000 // len(unit)) + "select a from t |> where b", dialect_of("bigquery"))


@pytest.mark.parametrize(
    "text",
    [
        "insert into t (a) format CSV 1,it's",
        "insert into t format Native select a from s",
        "insert into t settings async_insert = 1 format Values (1)",
    ],
)
def test_the_rows_that_a_client_sends_to_clickhouse_are_no_query(text: str) -> None:
    read = LineageParser(text, dialect="clickhouse")
    assert ([str(table) for table in read.target_tables], read.column_lineage) == (["t"], ())
