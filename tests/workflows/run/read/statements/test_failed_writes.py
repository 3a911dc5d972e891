"""Of a statement that failed it is kept what it was to write, and nothing of its text."""

from __future__ import annotations

import pytest

from ingestion.statements.masking import fingerprint
from workflows.run.read.statements import FailedWrites, StatementRow, rows_of

NO_LOAD = StatementRow(skipped="failed")
LOAD = "INSERT INTO mart.sales SELECT a FROM s WHERE b = 'canary'"


def row(text: str | None, dialect: str = "postgres") -> StatementRow:
    return FailedWrites().row(text, dialect)


def targets(found: StatementRow) -> list[str]:
    assert found.failure is not None
    return [".".join(parts) for parts in found.failure.targets]


def test_a_failed_load_has_its_targets_and_the_template_of_its_later_runs() -> None:
    failed = row(LOAD)
    assert failed.skipped == "failed"
    assert targets(failed) == ["mart.sales"]
    assert failed.failure is not None
    assert failed.failure.template == fingerprint(LOAD.replace("canary", "other"), "postgres")
    assert "canary" not in str(failed)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "SELECT 1 / 0",
        "INSERT INTO mart.sales VALUES ('canary')",
        "DELETE FROM mart.sales WHERE a = 'canary'",
        "DELETE FROM mart.sales USING s WHERE sales.a = s.a",
        "UPDATE mart.sales SET a = 'canary'",
        "COPY mart.sales FROM STDIN",
        "REFRESH MATERIALIZED VIEW mart.sales",
        "CREATE TABLE mart.sales (a int)",
        "INSERT INTO mart.sales SELECT 'open",
        f"{LOAD}; SELECT 1 / 0",
        "DO $$ BEGIN INSERT INTO mart.sales SELECT a FROM s; END $$",
    ],
)
def test_what_loads_nothing_or_may_have_loaded_it_is_no_failed_load(text: str | None) -> None:
    assert row(text) == NO_LOAD


def test_the_load_that_a_text_ends_with_did_not_come_whichever_statement_failed() -> None:
    both = row(f"BEGIN; INSERT INTO first SELECT a FROM s; {LOAD}; COMMIT")
    assert targets(both) == ["mart.sales"]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", f"{LOAD}; ROLLBACK"),
        ("postgres", f"BEGIN; {LOAD}; ROLLBACK; COMMIT"),
        ("tsql", f"{LOAD}; {LOAD.replace('sales', 'daily')}"),
        ("tsql", f"{LOAD} {LOAD.replace('sales', 'daily')}"),
        ("tsql", f"{LOAD}\nGO\n{LOAD.replace('sales', 'daily')}"),
        ("fabric", f"WITH s AS (SELECT 1 AS a) {LOAD} DROP TABLE s"),
    ],
)
def test_a_load_that_may_have_come_or_is_undone_on_purpose_is_no_failed_load(dialect: str, text: str) -> None:
    assert row(text, dialect) == NO_LOAD


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", f"ROLLBACK; {LOAD}"),
        ("tsql", f"WITH s AS (SELECT 1 AS a) {LOAD};"),
        ("tsql", "BULK INSERT mart.sales FROM 'x.csv'"),
        ("tsql", "MERGE mart.sales AS t USING s ON t.a = s.a WHEN MATCHED THEN"),
        ("tsql", "MERGE mart.sales AS t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 1 WHEN NOT MATCHED THEN"
         " INSERT (a) VALUES (1);"),
    ],
)  # fmt: skip
def test_the_only_statement_of_a_text_is_the_one_that_failed(dialect: str, text: str) -> None:
    assert targets(row(text, dialect)) == ["mart.sales"]


@pytest.mark.parametrize(
    ("dialect", "code"),
    [
        ("postgres", "42P07"),
        ("mysql", "1050"),
        ("mysql", "42S01"),
        ("snowflake", "002002"),
        ("oracle", "-955"),
        ("trino", "ALREADY_EXISTS"),
        ("bigquery", "duplicate"),
    ],
)
def test_a_table_that_is_already_there_did_not_fail_to_load(dialect: str, code: str) -> None:
    writes = FailedWrites()
    made = "CREATE TABLE mart.sales AS SELECT a FROM s"
    assert writes.row(made, dialect, "22012").failure
    assert writes.row(made, dialect, code) == NO_LOAD
    assert writes.row(made, dialect).failure
    assert writes.row(LOAD, dialect, code).failure


def test_the_code_of_a_record_is_that_of_its_statement() -> None:
    text = "CREATE TABLE mart.sales AS SELECT a FROM s"
    record = {"source_id": "f:1", "start_time": 1.0, "status": "failed", "text": text}
    found = rows_of([{**record, "error_code": code} for code in ("22012", "42P07")], "postgres")
    assert [row["failure"] is None for row in found] == [False, True]


def test_a_failed_text_with_many_words_before_its_table_is_skipped() -> None:
    text = "INSERT " + "TOP(1) " * 1000 + "INTO t SELECT * FROM s"
    (found,) = rows_of([{"source_id": "f:1", "start_time": 1.0, "status": "failed", "text": text}], "tsql")
    assert (found["skipped"], found["dead"]) == ("failed", None)


def test_texts_that_differ_in_values_are_read_once() -> None:
    writes = FailedWrites()
    first, again = (writes.row(LOAD.replace("canary", value), "postgres") for value in ("1", "2"))
    assert first is again
    assert writes.row(LOAD.replace("sales", "other"), "postgres").failure != first.failure


def test_rows_are_told_of_the_only_statement_of_a_record() -> None:
    record = {"source_id": "f:1", "start_time": 1.0, "rows": 7}
    one, two = ({**record, "text": text} for text in (LOAD, f"{LOAD}; {LOAD.replace('sales', 'daily')}"))
    assert [row["rows"] for row in rows_of([one, two], "postgres")] == [7, None, None]
