"""What a statement that failed would have written, told from its words."""

import pytest

from ingestion.dialects import dialect_of
from ingestion.parsing.targets import written_tables


@pytest.mark.parametrize(
    ("dialect", "sql", "names"),
    [
        ("ansi", "INSERT INTO mart.sales SELECT a FROM t", "mart.sales"),
        ("ansi", "insert into sales (a, b) select 1 / 0, 'into x' from t", "sales"),
        ("spark", "INSERT OVERWRITE TABLE mart.sales PARTITION (d = 1) SELECT a FROM t", "mart.sales"),
        ("spark", "INSERT OVERWRITE DIRECTORY '/out' SELECT a FROM t", ""),
        ("hive", "FROM s INSERT INTO TABLE a SELECT x INSERT OVERWRITE TABLE b SELECT y", "a b"),
        ("snowflake", "INSERT ALL INTO a INTO b SELECT x FROM s", "A B"),
        ("mysql", "REPLACE INTO `my shop`.`sales` SELECT a FROM t", "my shop.sales"),
        ("postgres", "WITH c AS (SELECT 1) INSERT INTO web.t SELECT * FROM c", "web.t"),
        ("postgres", 'MERGE INTO "Web".t AS x USING s ON true WHEN MATCHED THEN UPDATE SET a = 1', "Web.t"),
        ("postgres", "CREATE TABLE IF NOT EXISTS web.t AS SELECT 1", "web.t"),
        ("postgres", "CREATE TEMP TABLE t AS SELECT 1", ""),
        ("postgres", "CREATE VIEW v AS SELECT 1", ""),
        ("postgres", "CREATE MATERIALIZED VIEW web.v AS SELECT 1", "web.v"),
        ("snowflake", "create or replace transient table db.s.t as select 1", "DB.S.T"),
        ("postgres", "COPY web.t (a, b) FROM STDIN", "web.t"),
        ("postgres", "COPY (SELECT a FROM t) TO STDOUT", ""),
        ("postgres", "COPY t TO '/x'", ""),
        ("snowflake", "COPY INTO t FROM @stage", "T"),
        ("snowflake", "COPY INTO @stage FROM t", ""),
        ("hive", "LOAD DATA INPATH '/x' OVERWRITE INTO TABLE mart.t", "mart.t"),
        ("bigquery", "LOAD DATA OVERWRITE d.t FROM FILES (format = 'CSV')", "d.t"),
        ("tsql", "BULK INSERT dbo.t FROM 'x.csv'", "dbo.t"),
        ("tsql", "SELECT a INTO dbo.t FROM s", "dbo.t"),
        ("tsql", "SELECT a INTO #t FROM s", ""),
        ("tsql", "INSERT INTO tempdb..#t SELECT a FROM s", ""),
        ("tsql", "INSERT INTO @t SELECT a FROM s", ""),
        ("mysql", "SELECT a INTO @x FROM s", ""),
        ("bigquery", "INSERT INTO my-project.d.t SELECT a FROM s", "my-project.d.t"),
        ("bigquery", "INSERT INTO `my-project.d.t` SELECT a FROM s", "my-project.d.t"),
        ("snowflake", "INSERT INTO IDENTIFIER('x') SELECT a FROM s", ""),
        ("spark", "INSERT INTO {{ ref('x') }} SELECT a FROM s", ""),
        ("oracle", "INSERT INTO t@far SELECT a FROM s", ""),
        ("ansi", "SELECT a FROM t", ""),
        ("ansi", "DROP TABLE t", ""),
        ("ansi", "", ""),
        ("ansi", "INSERT", ""),
        ("postgres", "UPDATE web.t SET a = s.a FROM s", ""),
        ("postgres", "WITH c AS (SELECT 1 AS a) DELETE FROM web.t USING c WHERE t.a = c.a", ""),
        ("postgres", "REFRESH MATERIALIZED VIEW web.v", ""),
    ],
)
def test_the_table_that_a_statement_is_to_write(dialect: str, sql: str, names: str) -> None:
    found = written_tables(sql, dialect_of(dialect))
    assert " ".join(one.dotted for one in found).split() == names.split()


@pytest.mark.parametrize(
    ("dialect", "sql", "names"),
    [
        ("snowflake", "CREATE STREAM st ON TABLE mart.t", ""),
        ("snowflake", "CREATE TAG x ON TABLE mart.t AS SELECT 1", ""),
        ("spark", "CREATE OR REFRESH STREAMING TABLE t AS SELECT a FROM s", "t"),
        ("teradata", "CREATE MULTISET TABLE t, NO FALLBACK AS (SELECT a FROM s) WITH DATA NO PRIMARY INDEX", "t"),
        ("clickhouse", "CREATE MATERIALIZED VIEW mv TO tgt AS SELECT a FROM s", ""),
        ("clickhouse", "CREATE MATERIALIZED VIEW mv ENGINE = Memory AS SELECT a AS to FROM s", "mv"),
    ],
)
def test_no_table_is_named_that_another_word_of_the_statement_means(dialect: str, sql: str, names: str) -> None:
    assert [one.dotted for one in written_tables(sql, dialect_of(dialect))] == names.split()


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE mart.t LIKE mart.s",
        "CREATE TABLE mart.t (LIKE mart.s INCLUDING ALL)",
        "CREATE TABLE mart.t AS SELECT a FROM s WITH NO DATA",
    ],
)
def test_a_table_that_is_made_without_rows_is_not_filled(sql: str) -> None:
    assert written_tables(sql, dialect_of("postgres")) == ()


def test_words_before_a_name_may_be_many() -> None:
    repeated = "INSERT " + "TOP(1) " * 1000 + "INTO t SELECT a FROM s"
    assert written_tables(repeated, dialect_of("tsql")) == ()
    names = ["-".join(["my"] * 1000), "d", "t"]
    assert written_tables(f"INSERT INTO {'.'.join(names)} SELECT a FROM s", dialect_of("bigquery"))[0].parts == (
        *names,
    )
