"""Runs that go wrong, or find nothing: one clear sentence, the right exit code, counts that add up."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from connectors.openmetadata.http import RetryPolicy
from ingestion.errors import TargetDown
from tests.support.catalog_contents import Catalog, ingest, opened
from tests.support.run_in_session import command_line
from workflows import target
from workflows.config import load_config
from workflows.counts import RunSummary
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

pytestmark = pytest.mark.spark
HEADER = "query_text,start_time,session_id,status\n"


def configuration(folder: Path, server: dict[str, Any] | None = None, **ours: Any) -> Path:
    content = {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "s",
            "serviceConnection": {"config": {"type": "Postgres"}},
            "sourceConfig": {"config": {"type": "DatabaseLineage", "queryLogFilePath": str(folder / "log.csv")}},
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": server or {"hostPort": "embedded"}},
        "headwater": {
            "catalog": {"file": str(folder / "catalog.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            **ours,
        },
    }
    file = folder / "lineage.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def run(folder: Path, statements: Sequence[str], *settings: str) -> RunSummary:
    """A run over statements of one session, a second apart, in the process and the Spark session of the test."""
    rows = [
        '"{}",2026-01-01 00:00:{:02d},s1,'.format(text.replace('"', '""'), number)
        for number, text in enumerate(statements)
    ]
    (folder / "log.csv").write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    return run_workflow(load_config(configuration(folder), settings), RunOptions("test"), LoggedProgress())


def test_an_empty_log_says_so(spark: SparkSession, tmp_path: Path) -> None:
    summary = run(tmp_path, [])
    assert summary.counts.statements == 0
    assert any("empty" in warning for warning in summary.warnings)


def test_a_log_without_lineage_says_so(spark: SparkSession, tmp_path: Path) -> None:
    summary = run(tmp_path, ["SELECT 1", "BEGIN", "GRANT SELECT ON t TO u"])
    assert summary.counts.skipped == {"select": 1, "transaction": 1, "grant": 1}
    assert any("lineage" in warning for warning in summary.warnings)


def test_a_function_that_is_defined_and_read_as_a_view_is_no_temporary_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    definition = "CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql AS $$ SELECT x + 1 $$"
    summary = run(tmp_path, [definition, "CREATE TABLE t AS SELECT f(a) AS b FROM s"])
    assert summary.counts.skipped == {"routine_definition": 1}


def test_damage_of_a_file_costs_that_file_and_is_told_by_kind_and_file(spark: SparkSession, tmp_path: Path) -> None:
    def records(table: str) -> bytes:
        rows = (f"INSERT INTO {table}_{n} (a) SELECT a FROM {table},2026-01-01 00:00:00,s1,\n" for n in range(200))
        return (HEADER + "".join(rows)).encode()

    damaged = bytearray(gzip.compress(records("damaged")))
    damaged[-6] ^= 1
    log = tmp_path / "log.csv"
    log.mkdir()
    (log / "damaged.csv.gz").write_bytes(damaged)
    (log / "cut.csv.gz").write_bytes(gzip.compress(records("cut"))[:-300])
    nul = b"INSERT INTO n (a) SELECT '\0',2026-01-01 00:00:00,s1,\n"
    (log / "notes.csv").write_text("what we did\non Monday\n")
    (log / "whole.csv").write_bytes(records("whole") + nul + b"INSERT INTO n (a),2026-01-01 00:00:00\n" + nul)

    summary = run_workflow(load_config(configuration(tmp_path)), RunOptions("test"), LoggedProgress())

    counts = summary.counts
    assert 200 < counts.published < 400
    assert counts.malformed_records == counts.dead_total == 6
    assert counts.dead["malformed_record:a NUL character in it"] == 2
    assert [warning.partition(":")[2] for warning in summary.warnings if warning.startswith("cut.csv.gz, line")] == [
        " the compressed data breaks off after the line before (1 record not read)"
    ]
    assert any(warning.startswith("damaged.csv.gz, line 1: ") for warning in summary.warnings)
    assert [warning for warning in summary.warnings if "notes.csv" in warning] == [
        "notes.csv, line 1: no column for the query text among what we did: name it query_text, query, sql or"
        " statement (1 record not read)"
    ]
    assert "whole.csv, line 202: a NUL character in it (2 records not read)" in summary.warnings
    with opened(tmp_path / "catalog.db") as catalog:
        edges = str(catalog.edges())
    assert "whole_199" in edges
    assert "damaged_" not in edges


def test_hostile_statements_are_dead_and_the_others_published(spark: SparkSession, tmp_path: Path) -> None:
    summary = run(
        tmp_path,
        [
            "INSERT INTO t (a) SELECT a FROM s WHERE x = 'never closed",
            "INSERT INTO t (a) SELECT a FROM (((s",
            "INSERT INTO good (a) SELECT a FROM src",
            "INSERT INTO t (a)\nSELECT a FROM x_{{ name_of('never told') }}",
            "INSERT INTO t (a) " + "SELECT a FROM (" * 12_000 + "SELECT a FROM s" + ") x" * 12_000,
        ],
    )
    # What is nested too deeply for a tree is still read by its words: its table edge is right.
    assert summary.counts.published == 2
    assert summary.counts.parsed_by_tier == {"sqlglot": 1, "sqlparse": 1}
    assert summary.counts.dead_total == 3
    written = (tmp_path / "dead.jsonl").read_text()
    letters = [json.loads(line) for line in written.splitlines()]
    assert len(letters) == 3
    assert all(letter["reason"] and letter["source_id"].startswith("log.csv:") for letter in letters)
    assert [letter["error"] for letter in letters if letter["reason"] == "templated"] == ["line 2: {{ name_of(?) }}"]
    assert "never closed" not in written
    assert "never told" not in written


def test_two_schemas_with_one_name_are_an_ambiguity_and_no_edge(spark: SparkSession, tmp_path: Path) -> None:
    run(tmp_path, ["CREATE TABLE one.t AS SELECT a FROM one.base", "CREATE TABLE two.t AS SELECT a FROM two.base"])
    summary = run(tmp_path, ["INSERT INTO one.result (a) SELECT a FROM t"], "registerTables=never")
    assert summary.counts.ambiguous == 1
    assert summary.counts.edges.new == 0
    assert set(summary.counts.ambiguous_names) == {"default.public.t"}


def test_where_tables_are_registered_those_that_logs_showed_elsewhere_do_not_make_a_name_ambiguous(
    spark: SparkSession, tmp_path: Path
) -> None:
    run(tmp_path, ["CREATE TABLE one.t AS SELECT a FROM one.base", "CREATE TABLE two.t AS SELECT a FROM two.base"])
    summary = run(tmp_path, ["SET search_path TO three", "INSERT INTO result (a) SELECT a FROM t"])
    assert summary.counts.ambiguous == 0
    assert summary.counts.edges.new == 1
    with opened(tmp_path / "catalog.db") as catalog:
        assert ("three.t", "three.result") in catalog.edges()


def test_a_dry_run_shows_the_requests_and_sends_nothing(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(HEADER + '"INSERT INTO t (a) SELECT b FROM s",2026-01-01 00:00:00,s1,\n')
    shown: list[Any] = []
    options = RunOptions("test", shown.append)
    config = load_config(configuration(tmp_path), [f"headwater.state.folder={tmp_path / 'shared'}"])
    summary = run_workflow(config, options, LoggedProgress())
    (request,) = shown
    assert request["edge"]["lineageDetails"]["columnsLineage"][0]["toColumn"].endswith("t.a")
    assert summary.dry_run
    assert not (tmp_path / "catalog.db").exists()
    assert not (tmp_path / "dead.jsonl").exists()
    assert not (tmp_path / "shared").exists()


BEFORE = [
    "CREATE VIEW v AS SELECT a FROM one",
    "CREATE TABLE gone AS SELECT a FROM three",
    "CREATE TABLE old AS SELECT b FROM four",
    "INSERT INTO t (a) SELECT x FROM s",
]
AFTER = [
    *(f"SELECT {number}" for number in range(len(BEFORE))),
    "CREATE OR REPLACE VIEW v AS SELECT b FROM two",
    "DROP TABLE gone",
    "ALTER TABLE old RENAME TO new",
    "INSERT INTO t (b) SELECT y FROM s",
]


@pytest.fixture(scope="module")
def changed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunSummary, Catalog]]:
    """The second of two runs, between which the log went on from BEFORE to AFTER, and their catalog."""
    folder = tmp_path_factory.mktemp("changed")
    run(folder, BEFORE)
    summary = run(folder, AFTER)
    with opened(folder / "catalog.db") as catalog:
        yield summary, catalog


def test_a_redefined_view_has_its_last_definition(changed: tuple[RunSummary, Catalog]) -> None:
    summary, catalog = changed
    # what ended: the view's edge, that of the table dropped, and that of the one renamed under its old name
    assert summary.counts.edges.replaced == 3
    assert {edge for edge in catalog.edges() if edge[1] == "public.v"} == {("public.two", "public.v")}


def test_a_table_that_the_log_drops_ends_and_one_renamed_moves(changed: tuple[RunSummary, Catalog]) -> None:
    edges = {edge for edge in changed[1].edges() if edge[1] not in ("public.v", "public.t")}
    assert edges == {("public.four", "public.new")}


def test_an_edge_that_two_statements_prove_has_the_columns_of_both(changed: tuple[RunSummary, Catalog]) -> None:
    into_t = {edge for edge in changed[1].column_edges() if edge[2] == "public.t"}
    assert into_t == {("public.s", "x", "public.t", "a"), ("public.s", "y", "public.t", "b")}


def test_a_dead_server_is_told_in_one_sentence_before_the_first_stage(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "log.csv").write_text(HEADER)
    server = {"hostPort": f"http://127.0.0.1:{port}/api", "securityConfig": {"jwtToken": "secret-token-1"}}
    connect = target.connect
    monkeypatch.setattr(target, "connect", lambda asked: connect(asked, RetryPolicy(3, first_wait=0.05)))
    done = command_line(tmp_path, "run", "-c", str(configuration(tmp_path, server)))
    assert done.exit_code == TargetDown.exit_code
    assert [line for line in done.stderr.splitlines() if line.startswith("ingest: ")] == done.stderr.splitlines()[-1:]
    assert "start spark" not in done.stderr
    assert "secret-token-1" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_missing_java_is_told_before_spark_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.csv").write_text(HEADER)
    done = ingest("run", "-c", configuration(tmp_path), cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 2
    assert "Java" in done.stderr
    assert "install" in done.stderr


def test_settings_that_spark_refuses_are_told_with_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(HEADER)
    settings = configuration(tmp_path, spark={"conf": {"spark.driver.memory": "100m"}})
    done = ingest("run", "-c", settings, cwd=tmp_path)
    assert done.returncode == 2
    assert "headwater.spark" in done.stderr
    assert "memory" in done.stderr
    assert "Traceback" not in done.stderr


def test_dead_letters_that_cannot_be_kept_are_told_before_the_work_is_done(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(HEADER)
    done = command_line(tmp_path, "run", "-c", str(configuration(tmp_path, deadLetters=str(tmp_path))))
    assert done.exit_code == 2
    assert "set headwater.deadLetters" in done.stderr
    assert "start spark" not in done.stderr
