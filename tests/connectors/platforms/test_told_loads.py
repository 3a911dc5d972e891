"""What exports tell of a statement that failed, and of how many rows one wrote."""

from __future__ import annotations

import json

import pytest

from tests.support.query_log_exports import read_export
from workflows.run.read.statements import rows_of

INSERT = "INSERT INTO t SELECT a FROM s WHERE b = 'canary'"
EXPORTS = {
    "snowflake": (
        "query_text,warehouse_name,execution_status,error_code,error_message,start_time,rows_produced,rows_inserted\n"
        f"{INSERT},w,FAIL,100132,Division by zero: canary,2026-11-20 08:00:00,,\n"
        f"{INSERT},w,SUCCESS,,,2026-11-20 08:00:00,1,1200\n"
    ),
    "databricks": (
        "statement_text,executed_by,execution_status,error_message,start_time,produced_rows,written_rows\n"
        f"{INSERT},etl,FAILED,[CANARY] canary,2026-11-20 08:00:00,,\n"
        f"{INSERT},etl,FINISHED,,2026-11-20 08:00:00,1,1200\n"
    ),
    "redshift": (
        "query_text,query_label,status,error_message,start_time,returned_rows\n"
        f"{INSERT},nightly,failed,Divide by zero canary,2026-11-20 08:00:00,0\n"
        f"{INSERT},nightly,success,,2026-11-20 08:00:00,1200\n"
        f"{INSERT},nightly,success,,2026-11-20 08:00:00,0\n"
    ),
    "trino": (
        "query,query_state,catalog,error_code,failure_message,create_time,written_rows\n"
        f"{INSERT},FAILED,shop,DIVISION_BY_ZERO,canary,2026-11-20 08:00:00,0\n"
        f"{INSERT},FINISHED,shop,,,2026-11-20 08:00:00,1200\n"
    ),
    "another": (
        "sql,status,error_code,error,start_time,rows_affected\n"
        f"{INSERT},failed,CANARY,canary,2026-11-20 08:00:00,\n"
        f"{INSERT},ok,,,2026-11-20 08:00:00,1200\n"
    ),
}
CODES = {"snowflake": "100132", "trino": "DIVISION_BY_ZERO"}


@pytest.mark.parametrize("platform", EXPORTS)
def test_a_failure_has_its_code_alone_and_a_write_its_rows(platform: str) -> None:
    failed, ran, *others = read_export(EXPORTS[platform].encode())
    assert (failed["status"], failed["error_code"]) == ("failed", CODES.get(platform))
    assert (ran["status"], ran["error_code"], ran["rows"]) == (None, None, 1200)
    assert [one["rows"] for one in others] == [None] * len(others), "a result without rows says nothing of a write"
    assert "canary" not in str({**failed, "text": ""}).lower()


def test_fields_of_fields_tell_the_same() -> None:
    job = {"query": INSERT, "job_id": "j", "creation_time": "2026-11-20T08:00:00Z", "state": "DONE"}
    failed = {**job, "error_result": {"reason": "invalidQuery", "message": "canary"}}
    statistics = {"inserted_row_count": "1200", "deleted_row_count": "7", "updated_row_count": "34"}
    lines = "\n".join(json.dumps(one) for one in (failed, {**job, "dml_statistics": statistics}))
    first, second = read_export(lines.encode())
    assert (first["status"], first["error_code"], first["rows"]) == ("failed", "invalidQuery", None)
    assert (second["status"], second["error_code"], second["rows"]) == (None, None, 1234)


def test_rows_that_a_merge_inserts_and_updates_are_added_up_and_aliases_of_one_count_are_not() -> None:
    merge = "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT ROW"
    lines = [f"{merge},w,SUCCESS,2026-11-20 08:00:00,{counts}\n" for counts in ("1,10,990", ",,1000", "1,,", ",,")]
    header = "query_text,warehouse_name,execution_status,start_time,rows_produced,rows_inserted,rows_updated\n"
    merges = read_export((header + "".join(lines)).encode())
    assert [one["rows"] for one in merges] == [1000, 1000, 1, None]
    aliases = f"sql,status,start_time,rows_written,rows_affected\n{INSERT},ok,2026-11-20 08:00:00,1200,1200\n"
    assert [one["rows"] for one in read_export(aliases.encode())] == [1200]


def test_a_line_of_postgres_has_its_sqlstate() -> None:
    place = '2026-11-20 08:00:00.000 UTC,"etl","shop",7,"[local]",6a.7,1,"INSERT",2026-11-20 08:00:00 UTC,3/1,0'
    line = f'{place},ERROR,22012,"division by zero: canary",,,,,,"{INSERT}",9,,"psql","client backend",,0\n'
    (failed,) = read_export(line.encode())
    assert (failed["status"], failed["error_code"]) == ("failed", "22012")


def test_of_a_text_that_is_cut_nothing_is_read_where_it_failed() -> None:
    """Redshift's own query_text is cut: what the whole statement is called by is not known."""
    header, line = EXPORTS["redshift"].splitlines()[:2]
    long = line.replace("b = 'canary'", "b IN (" + "1, " * 2000)[:4000]
    text, rest = long, line[line.index(",nightly") :]
    (failed,) = read_export(f'{header}\n"{text}"{rest}\n'.encode())
    assert (failed["status"], failed["text"]) == ("failed", ";")
    (row,) = rows_of([failed], "redshift")
    assert (row["skipped"], row.get("failure")) == ("failed", None)


TAKEN = {
    "another": ("sql,start_time,bytes_read,credits_used", "x,2026-11-20,1.5e3,0.25", 1500, 0.25),
    "athena": ("Query,QueryExecutionId,Status.State,Statistics.DataScannedInBytes", "x,1,SUCCEEDED,77", 77, None),
    "bigquery": ("query,job_id,creation_time,total_bytes_processed,total_bytes_billed", "x,1,2026-11-20,5,9", 9, None),
    "databricks": ("statement_text,executed_by,start_time,read_bytes", "x,etl,2026-11-20,12", 12, None),
    "nothing": ("sql,start_time,bytes_read,credits_used", "x,2026-11-20,-1,many", None, None),
    "snowflake": (
        "QUERY_TEXT,WAREHOUSE_NAME,START_TIME,BYTES_SCANNED,CREDITS_USED_CLOUD_SERVICES",
        "x,w,2026-11-20,4096,0.000012",
        4096,
        0.000012,
    ),
    "trino": ("query,query_state,catalog,create_time,physical_input_bytes", "x,FINISHED,c,2026-11-20,8", 8, None),
}


@pytest.mark.parametrize("platform", sorted(TAKEN))
def test_what_a_statement_took_is_told_as_the_platform_counts_it(platform: str) -> None:
    header, row, size, credits = TAKEN[platform]
    (record,) = read_export(f"{header}\n{row}\n".encode())
    assert (record["bytes"], record["credits"]) == (size, credits)
