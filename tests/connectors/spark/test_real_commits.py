"""The logs of tables that real jobs wrote in Delta Lake and Iceberg, as their commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.table_commits._commits import Commit, delta_commit, iceberg_commits


def commits(folder: Path) -> list[Commit]:
    delta = [delta_commit(int(file.stem), file.read_bytes(), 0.0) for file in folder.rglob("_delta_log/*[0-9].json")]
    newest = {file.parent: file for file in sorted(folder.rglob("metadata/*.metadata.json"), key=_number)}
    return delta + [commit for file in newest.values() for commit in iceberg_commits(file.read_bytes())]


def _number(file: Path) -> int:
    return int(file.name.split(".")[0].lstrip("v").split("-")[0])


@pytest.mark.parametrize(
    ("form", "operations"),
    [("delta", {"WRITE", "CREATE TABLE AS SELECT"}), ("iceberg", {"append", "overwrite", "delete"})],
)
def test_what_jobs_did_is_told_with_rows_times_and_engine(formats: Path, form: str, operations: set[str]) -> None:
    found = commits(formats / form)
    writes = [commit for commit in found if commit.changes_rows]
    assert len(writes) > 20
    assert operations <= {commit.operation for commit in writes}
    assert all(commit.time and commit.who for commit in found)
    assert sum(commit.rows is not None for commit in writes) > len(writes) * 3 / 4
