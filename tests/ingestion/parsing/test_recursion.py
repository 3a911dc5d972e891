"""Whether a WITH item that names itself reads itself or a table, by dialect, through every parser."""

from __future__ import annotations

from types import ModuleType

import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.dialects import dialect_of
from ingestion.errors import Unparsable
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.fallback import sqlparse_tier as token_tier
from ingestion.parsing.sqlglot import tier as sqlglot_tier

SELF_REFERENCE = "INSERT INTO t WITH c AS (SELECT a FROM s UNION ALL SELECT a FROM c) SELECT a FROM c"
BEFORE_INSERT = "WITH c AS (SELECT a FROM s UNION ALL SELECT a FROM c) INSERT INTO t SELECT a FROM c"
RECURSIVE = {"tsql", "fabric", "oracle", "db2", "snowflake", "sqlite"}
KEYWORD_NEEDED = {"postgres", "redshift", "mysql", "duckdb", "trino", "bigquery", "clickhouse", "spark", "hive"}


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier, token_tier], ids=["sqlglot", "sqlfluff", "tokens"])
@pytest.mark.parametrize("dialect", sorted(RECURSIVE | KEYWORD_NEEDED))
def test_every_parser_gives_the_sources_that_the_dialect_means(dialect: str, tier: ModuleType) -> None:
    assert dialect_of(dialect).recursion_without_keyword == (dialect in RECURSIVE)
    understood = 0
    for statement in (SELF_REFERENCE, BEFORE_INSERT):
        try:
            lineage = analyze(tier.parse(statement, dialect), lambda _name: None)
        except Unparsable:  # one of the two forms is no statement of this dialect
            continue
        understood += 1
        assert {str(name).lower() for name in lineage.sources} == ({"s"} if dialect in RECURSIVE else {"s", "c"})
    assert understood
