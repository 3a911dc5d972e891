"""What a run tells the catalog of itself: how it ended, what is dead still, which tables have no source and why not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from connectors.catalog.contract.run_models import DeadStatement
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.store.evidence.workflow_runs import dead_of, stored_runs
from ingestion.errors import ConfigError
from ingestion.model.namespaces import NamespaceDefaults
from tests.support.growing_log import configuration, rows_of, write_log
from tests.support.run_in_session import command_line, run
from workflows.config import load_config
from workflows.run.publish import run_records
from workflows.run.publish.run_records import RunRecords
from workflows.runtime.options import Backfill, RunOptions
from workflows.state.dead_letters import DeadLetter
from workflows.target import open_target

LOG = [
    ("s1", "CREATE TABLE lost (a int)"),
    ("s1", "INSERT INTO daily (a) SELECT a FROM lost WHERE b = 'canary'"),
    ("s1", "CREATE TABLE rates AS SELECT 90071992 AS a"),
    ("s1", "INSERT INTO lost SELECT a FROM {{ source }} WHERE b = 'canary'"),
    ("s1", "CREATE TABLE kinds (a int, value text)"),
    ("s1", "INSERT INTO kinds (a, value) VALUES (90071992, 'canary')"),
    ("s1", "CREATE TABLE typed (a int)"),
    ("s1", "COPY typed FROM STDIN"),
    ("s1", "CREATE TEMPORARY TABLE daily_scratch (a int)"),
    ("s1", "INSERT INTO daily_scratch VALUES (1)"),
    ("s1", "INSERT INTO daily VALUES (2)"),
    ("s1", "INSERT INTO daily (a) SELECT kinds.a FROM kinds JOIN typed ON typed.a = kinds.a"),
]


class _NothingAsked:
    """A resolver of which nothing is asked."""

    def without_columns(self) -> _NothingAsked:
        return self

    def resolve_all(self, mentions: list[object]) -> list[object]:
        return mentions


def test_a_text_that_is_too_large_for_the_catalog_is_cut_for_it() -> None:
    letter = DeadLetter(("models.yaml:1", 0, 0), "too_large", "run", details={"masked": "a" * 9_000_000})
    names = cast("tuple[Any, NamespaceDefaults]", (_NothingAsked(), NamespaceDefaults("", "")))
    (body,) = run_records._dead_bodies([letter], names)
    assert len(DeadStatement.model_validate(body).masked) == 1_000_000


@pytest.mark.spark
def test_a_run_tells_how_it_ended_and_what_is_not_covered(spark: SparkSession, tmp_path: Path) -> None:
    write_log(tmp_path / "log" / "all.csv", rows_of(LOG))
    configuration(tmp_path)
    summary = run(tmp_path)
    with open_catalog(tmp_path / "catalog.db") as connection:
        (filed,), (dead,) = stored_runs(connection), dead_of(connection)
    assert (filed.run, filed.outcome, filed.counts["dead"]) == (summary.run_id, "done", {"templated": 1})
    assert filed.coverage == {"tables": 5, "columns": 1, "table": 0, "none": 4}
    assert filed.replay.startswith("ingest replay -c ")
    assert (dead.location, dead.reason, dead.run) == ("all.csv:5", "templated", summary.run_id)
    asked = json.loads(command_line(tmp_path, "coverage", "--catalog", "catalog.db", "--json").stdout)
    found = {one["entity"]["fullyQualifiedName"].rpartition(".")[2]: one for one in asked["open"]}
    assert {name: one["reason"] for name, one in found.items()} == {
        "lost": "templated",
        "rates": "no_source",
        "kinds": "insert_values",
        "typed": "copy_stdio",
    }
    assert asked["noSource"] == 3
    assert found["lost"]["dead"][0]["error"] == "line 1: {{ source }}"
    contents = b"".join(file.read_bytes() for file in tmp_path.glob("catalog.db*"))
    assert b"canary" not in contents
    assert b"90071992" not in contents

    shown = command_line(tmp_path, "runs", summary.run_id[:8], "-c", str(tmp_path / "lineage.yaml")).stdout
    assert "all.csv:5: templated (line 1: {{ source }}): INSERT INTO lost SELECT a FROM {{ source }}" in shown
    assert (
        shown.splitlines()[1:]
        == command_line(tmp_path, "runs", summary.run_id[:8], "--catalog", "catalog.db").stdout.splitlines()[1:]
    )  # the first line has the seconds, which the state counts to another end
    with pytest.raises(ConfigError, match="no dead statement stands there"):
        run(tmp_path, extent=Backfill(dead=True, statement="all.csv:6"))
    assert run(tmp_path, extent=Backfill(dead=True, statement="all.csv:5")).counts.dead == {"templated": 1}
    with open_catalog(tmp_path / "catalog.db") as connection:
        replayed, failed, _first = stored_runs(connection)
        (dead,) = dead_of(connection)
    assert (failed.outcome, replayed.counts["statements"], dead.run) == ("failed", 1, replayed.run)
    assert (failed.kind, replayed.kind, filed.kind) == ("replay", "replay", "run")
    assert filed.read_until == replayed.read_until == 1_767_226_260_000  # the last of its records

    (tmp_path / "log" / "all.csv").write_text("what is this\n1\n")  # what a run fails by is told too
    with pytest.raises(ConfigError):
        run(tmp_path)
    with open_catalog(tmp_path / "catalog.db") as connection:
        failed, before = stored_runs(connection, limit=2)
        assert dead_of(connection) == [dead]
    assert (failed.outcome, bool(failed.message), failed.coverage) == ("failed", True, filed.coverage)
    assert before.run == replayed.run


def begin(file: Path, number: int) -> tuple[str, ...]:
    """Tells the catalog of a run of the YAML that begins; what that warns of."""
    config, options = load_config(file), RunOptions(f"{number:032}")
    with (
        open_target(config, options.run_id, dry_run=False) as target,
        RunRecords(config, options, target, time.time()).around() as records,
    ):
        return records.warnings


def test_another_configuration_under_the_same_name_is_warned_of(tmp_path: Path) -> None:
    def workflow(folder: str, log: str, **ours: Any) -> Path:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / log).mkdir(exist_ok=True)
        file = configuration(tmp_path / folder, catalog={"file": str(tmp_path / "catalog.db")}, **ours)
        file.write_text(file.read_text().replace(str(tmp_path / folder / "log"), str(tmp_path / log)))
        return file

    first = workflow("one", "orders_log")
    assert (begin(first, 1), begin(first, 2)) == ((), ())
    assert begin(workflow("one", "moved_log"), 3) == ()  # the same file, edited
    assert begin(workflow("two", "moved_log"), 4) == ()  # moved, and it reads the same
    (told,) = begin(workflow("three", "clients_log"), 5)
    assert "shop.query-log-lineage before this one was of another configuration" in told
    assert str(tmp_path / "two" / "lineage.yaml") in told and "headwater.state.workflow" in told
    chosen = {"url": str(tmp_path / "state.db"), "workflow": "shop.query-log-lineage"}
    assert begin(workflow("four", "orders_log", state=chosen), 6) == ()  # who wrote the name meant it
