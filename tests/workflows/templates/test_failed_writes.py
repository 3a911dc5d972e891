"""Of a statement that failed it is kept what it was to write, and nothing of its text."""

from __future__ import annotations

from typing import Any

import pytest

from ingestion.masking import fingerprint
from workflows.reading.statements import rows_of
from workflows.templates.failed_writes import FailedWrites

LOAD = "INSERT INTO mart.sales SELECT a FROM s WHERE b = 'canary'"


def row(text: str | None, dialect: str = "postgres") -> dict[str, Any]:
    return FailedWrites().row(text, dialect)


def test_a_failed_load_has_its_targets_and_the_template_of_its_later_runs() -> None:
    failed = row(LOAD)
    assert failed["skipped"] == "failed"
    assert failed["failure"]["targets"] == [["mart", "sales"]]
    assert failed["failure"]["template"] == fingerprint(LOAD.replace("canary", "other"), "postgres")
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
    assert row(text) == {"skipped": "failed"}


def test_the_load_that_a_text_ends_with_did_not_come_whichever_statement_failed() -> None:
    both = row(f"BEGIN; INSERT INTO first SELECT a FROM s; {LOAD}; COMMIT")
    assert both["failure"]["targets"] == [["mart", "sales"]]


def test_texts_that_differ_in_values_are_read_once() -> None:
    writes = FailedWrites()
    first, again = (writes.row(LOAD.replace("canary", value), "postgres") for value in ("1", "2"))
    assert first is again
    assert writes.row(LOAD.replace("sales", "other"), "postgres")["failure"] != first["failure"]


def test_rows_are_told_of_the_only_statement_of_a_record() -> None:
    record = {"source_id": "f:1", "start_time": 1.0, "rows": 7}
    one, two = ({**record, "text": text} for text in (LOAD, f"{LOAD}; {LOAD.replace('sales', 'daily')}"))
    assert [row["rows"] for row in rows_of([one, two], "postgres")] == [7, None, None]
