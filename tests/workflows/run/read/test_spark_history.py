"""Runs over real event logs, from the configuration to what the catalog says."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession
from sqlalchemy import select, update

from connectors.spark._codecs import decode_stream
from tests.connectors.spark.conftest import History
from tests.support.growing_log import contributions_in
from tests.support.spark_history_runs import configuration, edges_of, run
from workflows.state.segments import rows_of, segment_of
from workflows.state.store import acknowledged, journal, open_state, positions, templates

pytestmark = pytest.mark.spark
EXECUTION_START = b'org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"'


def test_names_end_at_the_services_that_the_configuration_gives_them(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    root = history.root / "sources"
    names = {
        "catalogs": {"spark_catalog": "hive.warehouse", "spark_catalog.sales": "operations.db.shop"},
        "jdbc": [
            {"url": "jdbc:derby:memory:shop", "to": "crm.crm_db"},
            {"tables": ["APP.*"], "to": "crm.crm_db"},
        ],
        "paths": [
            {"prefix": f"{root}/raw", "to": "landing"},
            {"prefix": f"{root}/lake/silver", "to": "spark.lake.silver"},
        ],
    }
    summary = run(configuration(tmp_path, history.logs("sources"), sparkNames=names))

    assert not summary.counts.unresolved
    edges = edges_of(tmp_path)
    raw = f"landing.{root}/raw/orders"
    assert {
        (raw, "operations.db.shop.orders"),
        ("operations.db.shop.orders", "operations.db.shop.texts"),
        ("operations.db.shop.texts", "hive.warehouse.mart.from_hive"),
        ("operations.db.shop.texts", "spark.lake.silver.texts"),
        ("operations.db.shop.orders", "crm.crm_db.APP.ORDERS"),
        ("crm.crm_db.APP.ORDERS", "hive.warehouse.mart.from_jdbc"),
        ("crm.crm_db.APP.ORDERS", "hive.warehouse.mart.from_catalog"),
    } <= edges
    services = {name.split(".")[0] for edge in edges for name in edge}
    assert services == {"landing", "operations", "hive", "crm", "spark"}
    renamed, gone = "hive.warehouse.mart.published", {"hive.warehouse.mart.staged", "hive.warehouse.mart.short_lived"}
    assert {("operations.db.shop.orders", renamed), ("hive.warehouse.mart.viewed", renamed)} <= edges
    assert not {target for _, target in edges} & gone
    texts = "hive.warehouse.mart.swapped", "hive.warehouse.mart.kept"
    assert {edge for edge in edges if edge[1] in texts} == {("operations.db.shop.texts", name) for name in texts}


def test_a_later_run_reads_what_is_new_and_counts_nothing_twice(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    whole = next(history.logs("sources").rglob("events_1_*.zstd"))
    with whole.open("rb") as stream:
        lines = b"".join(decode_stream(stream, "zstd")).splitlines(keepends=True)
    middle = places_of_starts(lines)[12]
    at_once, grown = tmp_path / "at_once", tmp_path / "grown"
    for folder in (at_once, grown):
        (folder / "logs").mkdir(parents=True)
    (at_once / "logs" / "local-1").write_bytes(b"".join(lines))
    expected = run(configuration(at_once, at_once / "logs"))
    file, log = configuration(grown, grown / "logs"), grown / "logs" / "local-1.inprogress"

    log.write_bytes(b"".join(lines[:middle]) + lines[middle][:200])
    counted = [run(file, "run-1").counts]
    assert counted[0].skipped["unfinished"] == 2  # a statement that runs, and an event half written
    again = run(file, "run-2").counts
    assert (again.records_read, again.records_read_before, again.statements) == (0, 0, 0)
    log.write_bytes(b"".join(lines))
    counted.append(run(file, "run-3").counts)
    log.rename(grown / "logs" / "local-1")
    renamed = run(file, "run-4").counts
    assert (renamed.statements, renamed.records_read_before) == (0, expected.counts.records_read)

    unfinished = sum(counts.skipped.get("unfinished", 0) for counts in counted)
    assert sum(counts.statements for counts in counted) - unfinished == expected.counts.statements
    assert sum(counts.published for counts in counted) == expected.counts.published
    assert contributions_in(grown / "catalog.db") == contributions_in(at_once / "catalog.db")


def test_after_each_run_the_catalog_says_what_names_hold_that_are_swapped_nightly(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    whole = next(history.logs("sources").rglob("events_1_*.zstd"))
    with whole.open("rb") as stream:
        lines = b"".join(decode_stream(stream, "zstd")).splitlines(keepends=True)
    nights = [n for n, line in enumerate(lines) if b"SaveAsV1TableCommand" in line and b"`swapped_new`" in line]
    (tmp_path / "logs").mkdir()
    file = configuration(tmp_path, tmp_path / "logs")
    for number, (until, source) in enumerate(zip((*nights[1:], None), ("orders", "orders", "texts"), strict=True)):
        (tmp_path / "logs" / "local-1.inprogress").write_bytes(b"".join(lines[:until]))
        run(file, f"night {number}")
        held = {(one.rpartition(".")[2], other.rpartition(".")[2]) for one, other in edges_of(tmp_path)}
        assert {edge for edge in held if edge[1] in ("swapped", "kept")} == {(source, "swapped"), (source, "kept")}
        assert not {target for _, target in held} & {"swapped_new", "kept_new"}


def places_of_starts(lines: list[bytes]) -> list[int]:
    """The places right behind the start events of executions, whose ends come later."""
    return [number for number, line in enumerate(lines, 1) if line.startswith(b'{"Event":"' + EXECUTION_START)]


def test_a_run_names_the_files_that_are_no_logs_and_the_writes_that_it_did_not_understand(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs = tmp_path / "logs" / "0131-cluster" / "eventlog"
    logs.mkdir(parents=True)
    start = '{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecution%s","executionId":%d,"time":%d%s}\n'
    for name, kinds in (("eventlog", ("VendorInsertInto",)), ("nightly.log", ("VendorInsertInto", "PhotonWriteStage"))):
        lines = []
        for number, kind in enumerate(kinds):
            plan = f',"physicalPlanDescription":"== Physical Plan ==\\n{kind} (2)\\n+- LocalTableScan (1)\\n\\n\\n"'
            lines += [start % ("Start", number, 1, plan), start % ("End", number, 2, ',"errorMessage":""')]
        (logs / name).write_text("".join(lines))
    (logs / "stdout").write_text("what a driver printed")
    file = configuration(tmp_path, tmp_path / "logs")
    file.write_text(file.read_text().replace("successThreshold: 50", "successThreshold: 0"))
    summary = run(file)
    assert dict(summary.counts.dead) == {"unsupported:VendorInsertInto": 2, "unsupported:PhotonWriteStage": 1}
    assert dict(summary.counts.skipped) == {"not_an_event_log": 1}
    assert summary.warnings[-2:] == (
        f"1 file beside the event logs is none: file:{logs}/stdout",
        "3 writes not understood: VendorInsertInto 2, PhotonWriteStage 1",
    )
    assert run(file, "again").counts.statements == 0


PLAN = """== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (3)
+- WriteFiles (2)
   +- Scan parquet spark_catalog.sales.orders (1)


(1) Scan parquet spark_catalog.sales.orders
Output [1]: [day#1]
Location: InMemoryFileIndex [file:/w/orders]

(2) WriteFiles
Input [1]: [day#1]

(3) Execute InsertIntoHadoopFsRelationCommand
Input: []
Arguments: file:/w/t, false, Parquet, [path=file:/w/t], Append, `spark_catalog`.`mart`.`%s`, x, [day]
"""


def log_of(*targets: str) -> str:
    """The event log of an application that writes each of these tables out of the orders."""
    sql = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
    events: list[dict[str, object]] = [
        {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "local-1", "Timestamp": 1, "User": "u"}
    ]
    for number, target in enumerate(targets):
        begun = 1_700_000_000_000 + number * 1000
        start = {"Event": f"{sql}Start", "executionId": number, "description": "save at Job.scala:1", "details": ""}
        events.append({**start, "physicalPlanDescription": PLAN % target, "sparkPlanInfo": {}, "time": begun})
        events.append({"Event": f"{sql}End", "executionId": number, "time": begun + 500})
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def as_an_older_version_left_it(state: Path, catalog: Path) -> None:
    """Other fingerprints for the plans, which were seen long ago too, and with them other record digests."""
    store = open_state(str(state))
    with store.write() as connection:
        connection.execute(update(positions).values(version="an older one", complete_since=1000.0))
        connection.execute(update(templates).values(version="an older one", symbolic=b"of old modules"))
        for segment in connection.execute(select(journal)).all():
            rows = rows_of(bytes(segment.content))
            old = pc.binary_join_element_wise(pa.scalar("old"), rows["fingerprint"], "")
            rows = rows.set_column(rows.schema.get_field_index("fingerprint"), rows.schema.field("fingerprint"), old)
            other = pc.add(rows["digest"], 1)
            rows = rows.set_column(rows.schema.get_field_index("digest"), rows.schema.field("digest"), other)
            changed = update(journal).where(journal.c.id == segment.id)
            connection.execute(changed.values(content=segment_of(rows).content))
        for row in connection.execute(select(acknowledged)).all():
            stored = json.loads(row.digests)
            words = [[kind, f"old{key}", *rest, 1.0, last] for kind, key, *rest, _first, last in stored]
            changed = update(acknowledged).where(acknowledged.c.target == row.target)
            connection.execute(changed.values(digests=json.dumps(words), digest="of old keys"))
    store.close()
    with sqlite3.connect(catalog) as connection:
        connection.execute("update contributions set key = 'old' || key")


def plans_by_target(folder: Path) -> dict[str, list[str]]:
    """The keys of the plans that speak of each table now."""
    found: dict[str, list[str]] = {}
    for said in sorted(contributions_in(folder / "catalog.db"), key=lambda said: (said.target, said.producer)):
        found.setdefault(said.target.rpartition(".")[2], []).append(said.producer.removeprefix("plan "))
    return found


def test_what_was_published_under_older_keys_ends_where_its_records_are_read_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "local-1").write_text(log_of("daily", "weekly"))
    (logs / "local-2").write_text(log_of("monthly").replace("local-1", "local-2"))
    file = configuration(tmp_path, logs)
    run(file, "first")
    before = plans_by_target(tmp_path)
    assert [len(keys) for keys in before.values()] == [1, 1, 1]
    as_an_older_version_left_it(tmp_path / "state.db", tmp_path / "catalog.db")
    (logs / "local-2").unlink()
    run(file, "second")
    found = plans_by_target(tmp_path)
    # Of the record that is gone nothing says that it is not true any more.
    assert found == {**before, "monthly": [f"old{key}" for key in before["monthly"]]}
