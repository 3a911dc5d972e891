"""Which tables get rows of values or of a client, told from what stands before the rows."""

from __future__ import annotations

import pytest

from ingestion.model.outcomes import Outcome
from workflows.run.read.statements import ValueRows, rows_of

FILLING = [
    ("postgres", "INSERT INTO shop.kinds (id, value) VALUES (1, 'a')", ["shop.kinds"]),
    ("postgres", "COPY shop.kinds (id) FROM STDIN WITH (FORMAT csv)", ["shop.kinds"]),
    ("postgres", "COPY shop.kinds FROM PROGRAM 'gunzip'", ["shop.kinds"]),
    ("postgres", "COPY shop.kinds TO STDOUT", []),
    ("postgres", "INSERT INTO shop.kinds DEFAULT VALUES", ["shop.kinds"]),
    ("mysql", "INSERT INTO kinds SET value = 'x (y'", ["kinds"]),
    ("mysql", "REPLACE INTO kinds VALUES (1), (2)", ["kinds"]),
    ("tsql", "INSERT TOP (5) INTO dbo.kinds VALUES (1)", ["dbo.kinds"]),
    ("tsql", "INSERT INTO #kinds VALUES (1)", []),
    ("oracle", "INSERT /*+ append */ INTO shop.kinds VALUES (1)", ["SHOP.KINDS"]),
    ("snowflake", 'INSERT INTO "Values" (a) VALUES (1)', ["Values"]),
    ("clickhouse", "INSERT INTO shop.kinds FORMAT JSONEachRow", ["shop.kinds"]),
    ("teradata", "INS kinds (1, 'a')", []),
    ("postgres", "INSERT INTO kinds SELECT 1", []),
]


@pytest.mark.parametrize(("dialect", "text", "filled"), FILLING, ids=lambda one: one if isinstance(one, str) else "")
def test_what_is_filled_is_told_and_nothing_of_the_rows(dialect: str, text: str, filled: list[str]) -> None:
    (row,) = rows_of([{"source_id": "log:1", "text": text, "dialect": dialect}], dialect)
    assert [".".join(parts) for parts in row["filled"] or ()] == filled  # type: ignore[attr-defined]
    assert row["text"] is None or row["skipped"] is None


def test_statements_that_begin_alike_share_what_is_told_of_them() -> None:
    rows = ValueRows()
    first, second = (
        rows.filled_tables(Outcome.INSERT_VALUES, f"INSERT INTO kinds VALUES ({number})", "postgres")
        for number in (1, 2)
    )
    assert first is second
    assert rows.filled_tables(Outcome.SELECT, "SELECT 1", "postgres") is None
