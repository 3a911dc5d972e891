"""The queries that statements hold which begin with another word."""

from __future__ import annotations

import pytest

from ingestion.statements.inner_queries import inner_query, prepared_text


@pytest.mark.parametrize(
    ("dialect", "text", "query"),
    [
        ("bigquery", "SET (x, y) = ((SELECT max(a) FROM t), (SELECT b FROM u))",
         "SELECT (SELECT max(a) FROM t), (SELECT b FROM u)"),
        ("bigquery", "SET x = 3", None),
        ("db2", "DECLARE c CURSOR DATABASE d FOR SELECT a FROM t", None),
        ("db2", "DECLARE c CURSOR FOR SELECT a FROM t FOR READ ONLY", "SELECT a FROM t"),
        ("db2", "DECLARE c CURSOR FOR prepared", None),
        ("mysql", "PREPARE p FROM 'SELECT a FROM t'", "SELECT a FROM t"),
        ("postgres", "COPY (DELETE FROM t RETURNING a) TO STDOUT", None),
        ("postgres", "COPY (SELECT a FROM t) TO STDOUT", "SELECT a FROM t"),
        ("postgres", "COPY s.t TO STDOUT", "SELECT * FROM s.t"),
        ("postgres", "COPY t FROM STDIN", None),
        ("postgres", 'COPY t (a, "B") TO PROGRAM \'gzip\'', 'SELECT a, "B" FROM t'),
        ("postgres", "FETCH 10 FROM c", None),
        ("postgres", "PREPARE p (int) AS SELECT a FROM t WHERE b = $1", "SELECT a FROM t WHERE b = $1"),
        ("postgres", "PREPARE p AS INSERT INTO t SELECT 1", None),
        ("redshift", 'declare "SQL_CUR1" cursor with hold for select a from t;', "select a from t"),
        ("trino", "PREPARE p FROM TABLE t", "TABLE t"),
        ("tsql", "DECLARE @x INT = (SELECT max(a) FROM t)", "SELECT max(a) FROM t"),
        ("tsql", "SET @c = CURSOR FOR SELECT a FROM t FOR UPDATE OF a", "SELECT a FROM t"),
    ],
)  # fmt: skip
def test_a_statement_gives_the_rows_of_the_query_in_it(dialect: str, text: str, query: str | None) -> None:
    assert inner_query(text, dialect) == query


@pytest.mark.parametrize(
    ("dialect", "text", "prepared"),
    [
        ("postgres", "PREPARE p (int) AS DELETE FROM t WHERE b = $1;", "DELETE FROM t WHERE b = $1"),
        ("mysql", "PREPARE p FROM 'INSERT INTO t SELECT a FROM s'", "INSERT INTO t SELECT a FROM s"),
        ("mysql", "PREPARE p FROM @held", ""),
        ("db2", "PREPARE p FROM held", ""),
        ("trino", "PREPARE p FROM DELETE FROM t", "DELETE FROM t"),
        ("postgres", "PREPARE TRANSACTION 'night'", None),
        ("postgres", "DEALLOCATE p", None),
    ],
)  # fmt: skip
def test_a_statement_is_prepared_as_its_text_stands(dialect: str, text: str, prepared: str | None) -> None:
    assert prepared_text(text, dialect) == prepared
