"""Which tables a statement shows, checks or repairs, and which statement it only explains."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.scripts.inspected_tables import (
    held_statement,
    inspected_column,
    inspected_database,
    inspected_tables,
)

INSPECTED: dict[str, dict[str, list[str]]] = {
    "clickhouse": {
        "DESCRIBE TABLE web.t": ["web.t"],
        "SYSTEM FLUSH LOGS": [],
        "SYSTEM STOP MERGES": [],
        "SYSTEM STOP MERGES web.t": ["web.t"],
    },
    "databricks": {
        "CONVERT TO DELTA parquet.`/data/x`": [],
        "CONVERT TO DELTA web.t PARTITIONED BY (a DATE)": ["web.t"],
        "DESCRIBE DETAIL '/data/x'": [],
        "DESCRIBE FUNCTION abs": [],
        "DESCRIBE QUERY SELECT a FROM web.t": [],
        "DESCRIBE TABLE EXTENDED web.t": ["web.t"],
        "GENERATE symlink_format_manifest FOR TABLE web.t": ["web.t"],
        "SHOW PARTITIONS web.t": ["web.t"],
        "SHOW TABLES IN web": [],
    },
    "db2": {"SET INTEGRITY FOR web.t, web.u IMMEDIATE CHECKED": ["WEB.T", "WEB.U"], "SET SCHEMA web": []},
    "duckdb": {
        "DESCRIBE": [],
        "PRAGMA memory_limit='1GB'": [],
        "PRAGMA table_info('web.t')": ["web.t"],
        "SUMMARIZE web.t": ["web.t"],
    },
    "impala": {"SHOW TABLE STATS web.t": ["web.t"]},
    "mysql": {
        "CACHE INDEX web.t, web.u IN hot": ["web.t", "web.u"],
        "EXPLAIN FOR CONNECTION 4": [],
        "EXPLAIN web.t": ["web.t"],
        "LOAD INDEX INTO CACHE web.t": ["web.t"],
        "SHOW COLUMNS FROM t FROM web": ["web.t"],
        "SHOW CREATE TABLE web.t": ["web.t"],
        "SHOW TABLE STATUS FROM web": [],
        "SHOW VARIABLES LIKE 'x'": [],
    },
    "redshift": {"ATTACH MASKING POLICY p ON web.t (a) TO PUBLIC": ["web.t"], "SHOW TABLE web.t": ["web.t"]},
    "snowflake": {"DESC USER u": [], "SHOW COLUMNS IN TABLE web.t": ["WEB.T"], "SHOW GRANTS ON TABLE web.t": ["WEB.T"]},
    "teradata": {"HELP SESSION": [], "HELP TABLE web.t": ["web.t"], "LOCKING web.t FOR ACCESS SELECT 1": ["web.t"]},
    "trino": {"SHOW STATS FOR (SELECT a FROM web.t)": [], "SHOW STATS FOR web.t": ["web.t"]},
    "tsql": {
        'DBCC CHECKIDENT ("web.t", RESEED, 0)': ["web.t"],
        "DBCC CHECKTABLE ('[web].[t]') WITH NO_INFOMSGS": ["web.t"],
        "DBCC CLEANTABLE (shop, 'web.t')": ["web.t"],
        "DBCC TRACEON (1222, -1)": [],
    },
}
HELD: dict[str, dict[str, str]] = {
    "bigquery": {"ASSERT EXISTS (SELECT a FROM t) AS 'x'": "SELECT EXISTS (SELECT a FROM t)"},
    "clickhouse": {"EXPLAIN header = 1 SELECT a FROM t": "SELECT a FROM t"},
    "databricks": {"DESCRIBE QUERY SELECT a FROM t": "SELECT a FROM t"},
    "duckdb": {"DESCRIBE (FROM t)": "FROM t)", "DESCRIBE t": "", "EXPLAIN FROM t": "FROM t"},
    "mysql": {"EXPLAIN FORMAT=JSON INSERT INTO t SELECT a FROM s": "INSERT INTO t SELECT a FROM s", "EXPLAIN t": ""},
    "oracle": {"EXPLAIN PLAN SET STATEMENT_ID = 'x' INTO p FOR SELECT a FROM t": "SELECT a FROM t"},
    "postgres": {
        "DECLARE c CURSOR FOR SELECT a FROM t FOR READ ONLY": "SELECT a FROM t",
        "EXPLAIN (ANALYZE, FORMAT JSON) WITH x AS (SELECT 1) SELECT a FROM x": "WITH x AS (SELECT 1) SELECT a FROM x",
        "SELECT a FROM t": "",
    },
}


@pytest.mark.parametrize("dialect", sorted(INSPECTED))
def test_the_tables_that_a_statement_shows_or_checks(dialect: str) -> None:
    found = {
        text: [".".join(name) for name in inspected_tables(Code.of(text, dialect_of(dialect)))]
        for text in INSPECTED[dialect]
    }
    assert found == INSPECTED[dialect]


@pytest.mark.parametrize("dialect", sorted(HELD))
def test_the_statement_that_another_explains_or_holds(dialect: str) -> None:
    assert {text: held_statement(text, dialect_of(dialect)) for text in HELD[dialect]} == HELD[dialect]


def test_a_column_and_a_database_that_are_shown() -> None:
    mysql, tsql = dialect_of("mysql"), dialect_of("tsql")
    assert inspected_column(Code.of("DESC web.t a", mysql)) == (("web", "t"), "a")
    assert inspected_column(Code.of("DESC web.t", mysql)) is None
    assert inspected_database(Code.of("SHOW FULL TABLES FROM web", mysql)) == ("web",)
    assert inspected_database(Code.of("DBCC CHECKDB ('shop')", tsql)) == ("shop",)
    assert inspected_database(Code.of("DBCC CHECKDB", tsql)) == ()
