"""Which statements leave a table without a row, and which scripts run as they stand."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.statements.emptied_tables import emptied_table, is_straight


@pytest.mark.parametrize(
    ("text", "dialect", "name"),
    [
        ("TRUNCATE t", "postgres", ("t",)),
        ("TRUNCATE TABLE a.t CASCADE;", "postgres", ("a", "t")),
        ("TRUNCATE TABLE t DROP STORAGE", "oracle", ("T",)),
        ("-- nightly\nDELETE FROM [My Stage]", "tsql", ("my stage",)),
        ("DELETE #t", "tsql", ("#t",)),
        ("TRUNCATE TABLE IF EXISTS a.t", "clickhouse", ("a", "t")),
        ("DELETE FROM t WHERE a = 1", "postgres", ()),
        ("DELETE FROM t LIMIT 5", "mysql", ()),
        ("DELETE FROM t USING s", "postgres", ()),
        ("DELETE t OUTPUT deleted.a INTO s", "tsql", ()),
        ("TRUNCATE TABLE t, s", "postgres", ()),
        ("TRUNCATE TABLE t WITH (PARTITIONS (2))", "tsql", ()),
        ("ALTER TABLE t TRUNCATE PARTITION p", "oracle", ()),
        ("INSERT INTO truncate SELECT a FROM s", "postgres", ()),
        ("TRUNCATE", "postgres", ()),
    ],
)
def test_a_table_is_emptied_where_nothing_is_left_of_it(text: str, dialect: str, name: tuple[str, ...]) -> None:
    assert emptied_table(text, dialect_of(dialect)) == name


@pytest.mark.parametrize(
    ("text", "straight"),
    [
        ("CREATE TABLE IF NOT EXISTS t (a int); TRUNCATE t; INSERT INTO t SELECT a FROM s", True),
        ("DROP TABLE IF EXISTS t; SELECT CASE WHEN a THEN 1 ELSE 2 END FROM s", True),
        ("IF @full = 1 TRUNCATE TABLE t", False),
        ("WHILE @n < 3 BEGIN DELETE t END", False),
        ("BEGIN TRAN; TRUNCATE TABLE t; ROLLBACK", False),
        ("SET ROWCOUNT 5; DELETE FROM t", False),
        ("BEGIN DELETE FROM t; EXCEPTION WHEN OTHERS THEN NULL; END", False),
    ],
)
def test_a_script_is_straight_without_branches_loops_and_handlers(text: str, straight: bool) -> None:
    assert is_straight(text) == straight
