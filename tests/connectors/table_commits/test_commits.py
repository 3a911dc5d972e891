"""What files of commits say, and what is told of those that are none."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from connectors.table_commits._commits import Commit, UnreadableCommit, delta_commit, iceberg_commits
from ingestion.model.lineage import StatementKind

ADD = {"add": {"path": "part-0.parquet", "dataChange": True, "stats": '{"numRecords":3,"x":"canary"}'}}
WRITTEN = 1_790_000_000.5


def delta(*actions: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(action) for action in actions).encode()


def info(**said: Any) -> dict[str, Any]:
    return {"commitInfo": {"timestamp": 1_790_000_000_000, **said}}


@pytest.mark.parametrize(
    ("operation", "metrics", "kind", "rows"),
    [
        ("WRITE", {"numOutputRows": "100"}, StatementKind.INSERT, 100),
        ("STREAMING UPDATE", {"numOutputRows": "7"}, StatementKind.INSERT, 7),
        (
            "MERGE",
            {"numOutputRows": "50", "numTargetRowsInserted": "2", "numTargetRowsUpdated": "1"},
            StatementKind.MERGE,
            3,
        ),
        ("UPDATE", {"numUpdatedRows": "4", "numCopiedRows": "90"}, StatementKind.UPDATE, 4),
        ("DELETE", {"numDeletedRows": "249"}, StatementKind.DELETE, 249),
        ("DELETE", {}, StatementKind.DELETE, None),
        ("WRITE", {"num_added_rows": 3, "num_added_files": 1}, StatementKind.INSERT, 3),
        ("UPDATE", {"num_updated_rows": 1, "num_copied_rows": 2}, StatementKind.UPDATE, 1),
        ("DELETE", {"num_deleted_rows": 5}, StatementKind.DELETE, 5),
        ("MERGE", {"num_output_rows": 9, "num_target_rows_inserted": 2}, StatementKind.MERGE, 2),
        ("COPY INTO", {"numOutputRows": "9" * 40}, StatementKind.COPY, None),
    ],
)
def test_a_commit_tells_its_operation_and_the_rows_that_changed(
    operation: str, metrics: dict[str, str], kind: StatementKind, rows: int | None
) -> None:
    said = info(operation=operation, operationMetrics=metrics, operationParameters={"predicate": "['id = canary']"})
    found = delta_commit(42, delta(said, ADD), WRITTEN)
    assert (found.version, found.time, found.kind, found.rows) == (42, 1_790_000_000.0, kind, rows)
    assert found.changes_rows
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    ("said", "who", "user"),
    [
        ({"userName": "ann", "job": {"jobName": "nightly", "jobId": "7"}}, "nightly", "ann"),
        ({"userName": "ann", "job": {"jobId": "7"}}, "7", "ann"),
        ({"userName": "ann", "engineInfo": "Databricks-Runtime/15.4"}, "ann", "ann"),
        ({"engineInfo": "Apache-Spark/4.0.5 Delta-Lake/4.0.1"}, "Apache-Spark", None),
        ({"engineInfo": "delta-rs:1.2.0"}, "delta-rs", None),
        ({"userName": 5, "job": "x"}, "", None),
        ({"userName": "a\nb\x00" + "c" * 200}, "a b " + "c" * 76, "a b " + "c" * 76),
    ],
)
def test_who_committed_is_the_job_else_the_user_else_the_engine(said: Any, who: str, user: str | None) -> None:
    found = delta_commit(1, delta(info(operation="WRITE", **said), ADD), WRITTEN)
    assert (found.who, found.user) == (who, user)


def test_what_leaves_the_rows_as_they_are_changes_none() -> None:
    rewritten = {"add": {"path": "a", "dataChange": False, "stats": json.dumps({"x": '"dataChange":true'})}}
    assert not delta_commit(1, delta(info(operation="OPTIMIZE"), rewritten), WRITTEN).changes_rows
    assert not delta_commit(1, delta(info(operation="SET TBLPROPERTIES")), WRITTEN).changes_rows


def test_a_commit_without_provenance_is_nobody_s_at_the_time_of_its_file() -> None:
    assert delta_commit(3, delta(ADD), WRITTEN) == Commit(3, WRITTEN, "commit", changes_rows=True)
    literal = delta_commit(3, delta(info(operation="WRITE; it's 'canary'", timestamp=-1), ADD), WRITTEN)
    assert (literal.operation, literal.time) == ("commit", WRITTEN)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b'{"add":{}}\n{"commitInfo":{"opera', b"<html>", b"[" * 200_000, b'{"commitInfo": }']
)
def test_what_is_no_commit_of_delta_lake_is_told_without_its_content(content: bytes) -> None:
    with pytest.raises(UnreadableCommit, match=r"not a commit of Delta Lake|not JSON"):
        delta_commit(1, content, WRITTEN)


def iceberg(*snapshots: Any, **said: Any) -> bytes:
    return json.dumps({"format-version": 2, "snapshots": list(snapshots), **said}).encode()


def snapshot(number: int, **summary: str) -> dict[str, Any]:
    return {"snapshot-id": number, "timestamp-ms": 1_790_000_000_000 + number, "summary": summary}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_snapshots_of_an_iceberg_table_are_its_commits(pack: Any) -> None:
    content = pack(
        iceberg(
            snapshot(1, operation="append", **{"added-records": "100", "spark.app.id": "local-1"}),
            snapshot(2, operation="delete", **{"deleted-records": "5", "trino_query_id": "q", "trino_user": "ann"}),
            snapshot(3, operation="replace", **{"added-records": "95", "engine-name": "flink"}),
            {"snapshot-id": 4, "timestamp-ms": 1_790_000_000_004},
        )
    )
    found = list(iceberg_commits(content))
    assert [(one.version, one.operation, one.rows, one.who, one.changes_rows) for one in found] == [
        (1, "append", 100, "spark", True),
        (2, "delete", 5, "ann", True),
        (3, "replace", 95, "flink", False),
        (4, "commit", None, "", True),
    ]
    assert [one.kind for one in found[:2]] == [StatementKind.INSERT, StatementKind.DELETE]


def test_a_snapshot_that_leaves_the_files_as_they_are_changes_no_rows() -> None:
    none = snapshot(1, operation="delete", **{"total-data-files": "2", "total-records": "9"})
    marked = snapshot(2, operation="delete", **{"total-data-files": "2", "added-position-deletes": "4"})
    found = list(iceberg_commits(iceberg(none, marked)))
    assert [(one.rows, one.changes_rows) for one in found] == [(None, False), (4, True)]


@pytest.mark.parametrize(
    ("parents", "log", "current", "kept"),
    [
        ({1: None, 2: 1, 3: 2}, [1, 2], 2, [1, 2]),  # 3 is on a branch
        ({1: None, 2: 1, 3: 2}, [1, 2, 3, 1], 1, [1]),  # back to 1
        ({1: None, 2: 1, 3: 1}, [1, 2, 1, 3], 3, [1, 3]),
        ({1: None, 2: 1, 3: 1}, [1, 2, 3], 3, [1, 3]),
        ({1: None, 2: 1, 3: 2}, [1, 3], 3, [1, 2, 3]),  # the branch became the table
        ({1: None, 2: 1, 3: None}, [1, 2, 3], 3, [1, 2, 3]),  # CREATE OR REPLACE TABLE
        ({2: 1, 3: 2}, [], 3, [2, 3]),  # 1 has expired
        ({1: 2, 2: 1}, [], 2, [1, 2]),
        ({1: None, 2: 1}, [], None, [1, 2]),
    ],
)
def test_snapshots_of_branches_and_those_rolled_back_are_no_commits_of_the_table(
    parents: dict[int, int | None], log: list[int], current: int | None, kept: list[int]
) -> None:
    snapshots = [snapshot(number) | {"parent-snapshot-id": parent} for number, parent in parents.items()]
    entries = [{"snapshot-id": number, "timestamp-ms": 1} for number in log]
    content = iceberg(*snapshots, **{"snapshot-log": entries, "current-snapshot-id": current})
    assert [one.version for one in iceberg_commits(content)] == kept


@pytest.mark.parametrize(
    "content",
    [
        b"{}", b"[]", b"", b'{"format-version": 2, "snap', iceberg({"summary": {}}), iceberg("x"),
        iceberg(snapshots=7), gzip.compress(iceberg(), mtime=0)[:-9], b"\x1f\x8b\x08nonsense", b"[" * 200_000,
    ],
)  # fmt: skip
def test_what_is_no_metadata_of_iceberg_is_told_without_its_content(content: bytes) -> None:
    with pytest.raises(UnreadableCommit):
        list(iceberg_commits(content))
