"""Which tables a statement is about that makes, fills and reads none."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.scripts.touched_tables import touched_tables

TOUCHED: dict[str, dict[str, list[str]]] = {
    "postgres": {
        "ALTER TABLE IF EXISTS ONLY web.t ADD CONSTRAINT c CHECK (a > 1), OWNER TO x": ["web.t"],
        "ANALYZE (SKIP_LOCKED, VERBOSE) web.t (a, b), web.u": ["web.t", "web.u"],
        "CLUSTER VERBOSE web.t USING i": ["web.t"],
        "COMMENT ON COLUMN web.t.a IS 'secret'": ["web.t"],
        "COMMENT ON MATERIALIZED VIEW web.v IS 'x'": ["web.v"],
        "COMMENT ON TRIGGER g ON web.t IS 'x'": ["web.t"],
        "COPY web.t (a, b) FROM STDIN": ["web.t"],
        "CREATE INDEX ON ONLY web.t USING gin (a)": ["web.t"],
        "CREATE PUBLICATION p FOR TABLE web.t, ONLY web.u": ["web.t", "web.u"],
        "CREATE STATISTICS s ON a, b FROM web.t": ["web.t"],
        "DROP POLICY IF EXISTS p ON web.t": ["web.t"],
        "GRANT SELECT (a), UPDATE ON TABLE web.t, web.u TO app WITH GRANT OPTION": ["web.t", "web.u"],
        "LOCK TABLE ONLY web.t, web.u IN SHARE MODE NOWAIT": ["web.t", "web.u"],
        "REFRESH MATERIALIZED VIEW CONCURRENTLY web.v": ["web.v"],
        "REINDEX (VERBOSE) TABLE CONCURRENTLY web.t": ["web.t"],
        "REVOKE GRANT OPTION FOR ALL ON web.t FROM app CASCADE": ["web.t"],
        "SECURITY LABEL ON TABLE web.t IS 'x'": ["web.t"],
        "TRUNCATE web.t, ONLY web.u RESTART IDENTITY": ["web.t", "web.u"],
        "VACUUM (FULL, ANALYZE) web.t (a)": ["web.t"],
    },
    "databricks": {
        "ANALYZE TABLE web.t COMPUTE STATISTICS FOR COLUMNS a, b": ["web.t"],
        "MSCK REPAIR TABLE web.t": ["web.t"],
        "OPTIMIZE web.t ZORDER BY (a)": ["web.t"],
        "REFRESH web.t": ["web.t"],
        "UNCACHE TABLE IF EXISTS web.t": ["web.t"],
        "VACUUM web.t RETAIN 168 HOURS": ["web.t"],
    },
    "mysql": {
        "FLUSH LOCAL TABLES web.t, web.u": ["web.t", "web.u"],
        "LOCK TABLES web.t READ, web.u WRITE": ["web.t", "web.u"],
    },
    "oracle": {"CREATE PUBLIC SYNONYM s FOR web.t": ["WEB.T"]},
    "teradata": {"COLLECT STATISTICS COLUMN (a) ON web.t": ["web.t"], "COMMENT ON web.t AS 'x'": ["web.t"]},
    "tsql": {
        "ALTER INDEX ALL ON web.t REBUILD": ["web.t"],
        "DENY SELECT ON OBJECT::web.t TO app": ["web.t"],
        "DISABLE TRIGGER g ON web.t": ["web.t"],
        "UPDATE STATISTICS web.t (i) WITH FULLSCAN": ["web.t"],
    },
}
NONE = {
    "bigquery": ["EXPORT TABLE METADATA FROM web.t"],
    "mysql": ["ANALYZE FORMAT=JSON SELECT a FROM web.t", "FLUSH PRIVILEGES", "GRANT ALL ON web.* TO 'u'@'h'"],
    "oracle": ["CREATE SYNONYM s FOR web.t@far", "GRANT READ ON DIRECTORY d TO app"],
    "postgres": [
        "CREATE TABLE web.t (a int)",
        "GRANT ALL ON ALL TABLES IN SCHEMA web TO app",
        "GRANT USAGE ON FOREIGN DATA WRAPPER w TO app",
        "GRANT reader TO app",
        "REINDEX INDEX i",
        "SELECT a FROM web.t",
        "VACUUM",
    ],
    "snowflake": ["GRANT CREATE DATABASE ON ACCOUNT TO ROLE r", "GRANT USAGE ON WAREHOUSE w TO ROLE r"],
    "spark": ["ANALYZE TABLES IN web COMPUTE STATISTICS", "CACHE TABLE web.t AS SELECT a FROM web.u"],
    "tsql": ["ENABLE TRIGGER g ON ALL SERVER", "GRANT SELECT ON SCHEMA::web TO app"],
}


@pytest.mark.parametrize("dialect", sorted(TOUCHED))
def test_the_tables_that_a_statement_only_touches_are_named(dialect: str) -> None:
    expected = TOUCHED[dialect]
    assert {text: list(map(".".join, touched_tables(text, dialect_of(dialect)))) for text in expected} == expected


@pytest.mark.parametrize("dialect", sorted(NONE))
def test_of_what_is_no_table_or_told_by_its_lineage_none_is_named(dialect: str) -> None:
    assert [text for text in NONE[dialect] if list(touched_tables(text, dialect_of(dialect)))] == []
