"""What tells a commit from other statements, and how it is written for people."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import Flow, StatementKind, StatementLineage, TableName, Target, WriteMode
from ingestion.model.table_commits import TableFormat, commit_beginning, commit_format, commit_run, commit_text

WRITE = Flow(Target(TableName(("shop", "t")), WriteMode.APPEND), ())


def test_a_commit_has_a_format_for_its_witness_and_no_source() -> None:
    commit = StatementLineage(StatementKind.INSERT, (WRITE,), witness="Iceberg")
    assert commit_format(commit) is TableFormat.ICEBERG
    assert commit_format(StatementLineage(StatementKind.INSERT, (WRITE,))) is None
    listed = Flow(WRITE.target, (), (), (TableName(("s",)),))
    assert commit_format(StatementLineage(StatementKind.INSERT, (listed,), witness="Iceberg")) is None
    assert commit_format(StatementLineage(StatementKind.INSERT, (WRITE,), witness="ann")) is None


@pytest.mark.parametrize(
    ("table_format", "version", "job", "text"),
    [
        (TableFormat.DELTA, 42, "MERGE by etl", "MERGE by etl, Delta Lake version 42"),
        (TableFormat.ICEBERG, (1 << 63) - 1, "", "Iceberg snapshot 9223372036854775807"),
    ],
)
def test_a_commit_is_written_with_its_version(table_format: TableFormat, version: int, job: str, text: str) -> None:
    assert commit_text(commit_beginning(table_format) + "0f", commit_run(version), job) == text


def test_no_other_statement_is_written_as_a_commit() -> None:
    assert commit_text("engine-0f", commit_run(1), "x") == ""
    assert commit_text("commit-hudi-0f", commit_run(1), "x") == ""
