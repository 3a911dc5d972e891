"""The names of a statement need no word of its columns."""

from __future__ import annotations

import pytest

from ingestion.analysis.analyzer import mentions, names_in, without_schema
from ingestion.parsing.sqlglot.tier import parse


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TEMP TABLE t AS WITH w AS (SELECT f(a) AS a FROM s) SELECT a FROM w JOIN u ON true",
        "INSERT INTO t SELECT *, (SELECT max(b) FROM v WHERE v.a = s.a) FROM s WHERE EXISTS (SELECT 1 FROM x)",
        "UPDATE t SET a = a + 1",
        "UPDATE t SET a = s.a FROM s WHERE s.id = t.id",
        "DELETE FROM t WHERE a IN (SELECT a FROM s)",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = t.a + s.a",
        "CREATE VIEW v AS SELECT a FROM s UNION SELECT g(b) FROM (SELECT b FROM r ORDER BY h(b)) q",
        "CREATE TABLE t (LIKE s)",
        "ALTER TABLE t RENAME TO u",
    ],
)
def test_they_are_those_of_the_whole_analysis(text: str) -> None:
    statement = parse(text, "postgres")
    assert mentions(statement) == names_in(without_schema(statement))
    assert mentions(without_schema(statement)) == mentions(statement)
    assert list(mentions(statement).names())
