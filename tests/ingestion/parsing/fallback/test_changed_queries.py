"""No tier behind sqlglot's takes the name of a query that a statement changes through for a table."""

from __future__ import annotations

import pytest

from ingestion.errors import Unparsable
from ingestion.parsing.fallback import sqlfluff_tier, sqlparse_tier


@pytest.mark.parametrize("tier", [sqlfluff_tier, sqlparse_tier])
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "WITH c AS (SELECT a, b FROM t) UPDATE c SET a = s.x FROM c JOIN s ON s.b = c.b"),
        ("tsql", "WITH b AS (SELECT a FROM s), c (p, q) AS (SELECT a, b FROM t) INSERT INTO c SELECT a, a FROM b"),
        ("tsql", "UPDATE x SET x.a = s.k FROM s JOIN (SELECT a, b FROM t) AS x ON s.i = x.b"),
        ("tsql", "UPDATE x SET x.a = s.k FROM s CROSS APPLY dbo.f(s.i) x"),
        ("oracle", "UPDATE (SELECT a, b FROM t UNION ALL SELECT a, b FROM u) x SET a = b"),
        ("db2", "MERGE INTO (SELECT a, k FROM t) AS x USING s ON x.k = s.k WHEN MATCHED THEN UPDATE SET a = s.v"),
        ("oracle", "INSERT INTO (SELECT a FROM t) SELECT c FROM s"),
        ("db2", "SELECT a FROM FINAL TABLE (UPDATE (SELECT a FROM t FETCH FIRST 5 ROWS ONLY) SET a = 1)"),
        ("oracle", "INSERT ALL INTO (SELECT a FROM t) VALUES (p) INTO u VALUES (q) SELECT p, q FROM s"),
    ],
)
def test_a_query_is_no_target(tier: object, dialect: str, text: str) -> None:
    parse = sqlfluff_tier.parse if tier is sqlfluff_tier else sqlparse_tier.parse
    with pytest.raises(Unparsable):
        parse(text, dialect)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("tsql", "UPDATE x SET x.a = s.k FROM t AS x JOIN (SELECT k, i FROM s) AS s ON s.i = x.b"),
        ("oracle", "INSERT INTO t (a) SELECT x.a FROM (SELECT a FROM s) x"),
    ],
)
def test_a_query_that_is_read_beside_the_target_is_no_matter(dialect: str, text: str) -> None:
    assert [str(write.target.name) for write in sqlparse_tier.parse(text, dialect).writes if write.target] == ["t"]
