"""Commits of tables in a run: filed once each, told by `why`, each with an end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.growing_log import SPARK
from tests.support.run_in_session import command_line, run

pytestmark = pytest.mark.spark

DAY = 86_400_000
BEGIN = 1_790_000_000_000
SETTINGS = f"""\
source:
  type: table-commits
  serviceName: lake
  sourceConfig: {{config: {{type: DatabaseLineage, tablePaths: [lake, "odd*"]}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{successThreshold: 0, openMetadataServerConfig: {{hostPort: embedded}}}}
headwater:
  spark: {{master: "local[2]", conf: {json.dumps(SPARK)}}}
  catalog: {{file: catalog.db}}
  deadLetters: dead.jsonl
  state: {{url: state.db}}
  sparkNames: {{paths: [{{prefix: FOLDER/lake/, to: lake.db}}]}}
"""


def commit(folder: Path, version: int, operation: str, rows: int, who: str) -> None:
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    metrics = {"numDeletedRows" if operation == "DELETE" else "numOutputRows": str(rows)}
    about = {"timestamp": BEGIN + version * DAY, "operation": operation, "operationMetrics": metrics, "userName": who}
    about["operationParameters"] = {"predicate": '["(card = canary-4111)"]'}
    actions = [{"commitInfo": about}, {"add": {"path": "p", "dataChange": operation != "OPTIMIZE"}}]
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))


def dead_letters(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "dead.jsonl").read_text().splitlines()]


def test_each_commit_has_an_end_and_why_names_the_one_that_is_unlike_the_others(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("FOLDER", str(tmp_path)))
    orders = tmp_path / "lake" / "shop" / "orders"
    for version in range(4):
        commit(orders, version, "WRITE", 100, "etl")
    commit(orders, 4, "OPTIMIZE", 0, "etl")
    (tmp_path / "odd[1]" / "metadata").mkdir(parents=True)
    snapshot = {"snapshot-id": 7, "timestamp-ms": BEGIN, "summary": {"operation": "append"}}
    iceberg = {"format-version": 2, "snapshots": [snapshot]}
    (tmp_path / "odd[1]" / "metadata" / "v1.metadata.json").write_text(json.dumps(iceberg))

    counts = run(tmp_path).counts

    assert (counts.skipped, counts.dead) == ({"table_commit": 5, "maintenance": 1}, {})

    commit(orders, 5, "DELETE", 40, "ann")
    (orders / "_delta_log" / f"{6:020}.json").write_text('{"commitInfo": {"canary-4111')
    with (orders / "_delta_log" / f"{7:020}.json").open("wb") as huge:
        huge.truncate((64 << 20) + 1)
    summary = run(tmp_path)
    assert summary.counts.skipped == {"table_commit": 1}
    assert list(summary.counts.dead.values()) == [1, 1]
    assert summary.counts.records_read_before == 6
    letters = sorted((one["source_id"][-8:], one["reason"].partition(":")[0]) for one in dead_letters(tmp_path))
    assert letters == [("6.json:1", "malformed_record"), ("7.json:1", "too_large")]

    told = command_line(tmp_path, "why", "shop.orders", "--catalog", "catalog.db", "--days", "0")
    assert "another statement writes it: DELETE by ann, Delta Lake version 5" in told.output
    assert "shop.orders is written by nothing that is known here: its last commit is DELETE by ann" in told.output
    left = [path for path in tmp_path.rglob("*") if path.is_file() and "_delta_log" not in path.parts]
    assert not [path for path in left if b"canary-4111" in path.read_bytes()]


def test_a_folder_without_tables_is_told(tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("FOLDER", str(tmp_path)))
    told = command_line(tmp_path, "run", "-c", "lineage.yaml")
    assert told.exit_code == 2
    assert "holds no table of Delta Lake or Iceberg" in told.output
