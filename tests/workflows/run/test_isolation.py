"""What goes wrong with one statement costs that statement: a failure of any stage, on any statement of any log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingestion.model.isolation import FailureStage
from tests.behaviour.harness import Record, Warehouse
from tests.support.generated_log import MARK, Ran, ran, random_log
from tests.support.growing_log import configuration, rows_of, write_log
from tests.support.run_in_session import run
from workflows.runtime.options import Failpoints

SEEDS = (1, 2)
OF_A_STATEMENT = (FailureStage.ANALYSIS, FailureStage.BINDING, FailureStage.FOLDING)
"""Stages after whose failure nothing of the statement may be left, whoever reads what it would have made."""
OF_AN_EDGE = (FailureStage.EVIDENCE, FailureStage.RESOLUTION, FailureStage.REGISTRATION, FailureStage.PUBLISHING)
"""Stages that work on what a statement gives: on its edges, and the names at their ends."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("leaf", [False, True])
def test_a_failure_of_any_stage_costs_the_marked_statement_and_no_other(tmp_path: Path, seed: int, leaf: bool) -> None:
    log, marked = random_log(seed, leaf=leaf)
    without = [record for number, record in enumerate(log) if number != marked]
    expected = ran(tmp_path / "without", without)
    expected.check_whole(without)
    assert expected.edges
    for stage in OF_AN_EDGE if leaf else OF_A_STATEMENT:
        found = ran(tmp_path / stage, log, f"{stage}:{MARK}:raise")
        found.check_whole(log)
        assert found.outcomes[log[marked].at or 0.0] == ("dead", f"{stage}_failed")
        others = {at: outcome for at, outcome in found.outcomes.items() if at != log[marked].at}
        assert others == expected.outcomes, stage
        assert found.edges == expected.edges, stage


def test_what_fails_beside_the_edges_is_warned_of(tmp_path: Path) -> None:
    log, marked = random_log(3, leaf=True)
    whole = ran(tmp_path / "whole", log)
    assert whole.outcomes[log[marked].at or 0.0] == ("published", "")
    assert not whole.warnings
    created = next(record.at or 0.0 for record in log[3:] if record.text.startswith(("CREATE TABLE", "CREATE VIEW")))
    marks = {
        FailureStage.QUERIES: (MARK, "1 queries"),
        FailureStage.NAMES: (f"'at': {round(created * 1000)}", "1 changes of names"),
    }
    for stage, (mark, warning) in marks.items():
        found = ran(tmp_path / stage, log, f"{stage}:{mark}:raise")
        assert (found.outcomes, found.edges) == (whole.outcomes, whole.edges)
        (warned,) = found.warnings
        assert warned.startswith(warning)
        assert "InjectedFault" in warned


def test_nothing_is_given_up_where_nothing_fails(tmp_path: Path) -> None:
    log, _marked = random_log(4, leaf=False)
    found: Ran = ran(tmp_path, log)
    assert all(outcome != "dead" for outcome, _reason in found.outcomes.values())


WITHOUT_DEFAULT_SCHEMA = (
    "bigquery", "mysql", "mariadb", "oracle", "trino", "presto", "teradata", "doris", "starrocks", "db2", "singlestore",
)  # fmt: skip
BARE = [Record("INSERT INTO t (a) SELECT a FROM s", at=1.0), Record("INSERT INTO x.t (a) SELECT a FROM x.s", at=2.0)]


@pytest.mark.parametrize("dialect", WITHOUT_DEFAULT_SCHEMA)
def test_a_bare_name_without_a_default_schema_is_unresolved_and_names_the_key(tmp_path: Path, dialect: str) -> None:
    found = ran(tmp_path, BARE, warehouse=Warehouse(dialect, schema=""))
    assert found.outcomes == {1.0: ("skipped", "no_default_schema"), 2.0: ("published", "")}
    (warning,) = found.warnings
    assert "headwater.defaults.schema" in warning
    assert {(source.casefold(), target.casefold()) for source, target, *_rest in found.edges} == {
        ("shop.db.x.s", "shop.db.x.t")
    }


def test_a_bare_name_stands_in_the_configured_schema(tmp_path: Path) -> None:
    found = ran(tmp_path, BARE, warehouse=Warehouse("bigquery", schema="lake"))
    assert {outcome for outcome, _reason in found.outcomes.values()} == {"published"}
    assert ("shop.db.lake.s", "shop.db.lake.t") in {(source, target) for source, target, *_rest in found.edges}


@pytest.mark.spark
def test_a_run_goes_on_where_a_task_fails_on_one_statement(spark: SparkSession, tmp_path: Path) -> None:
    """In the tasks that parse, which are no part of this process, and with what a person is left to look at."""
    configuration(tmp_path)
    said = [("s1", "INSERT INTO t (a) SELECT a FROM s"), ("s1", f"INSERT INTO {MARK} (a) SELECT a FROM s WHERE b = 77")]
    write_log(tmp_path / "log" / "all.csv", rows_of(said))
    summary = run(tmp_path, failpoints=Failpoints(f"{FailureStage.PARSING}:{MARK}:raise"))
    assert (summary.counts.published, summary.counts.dead) == (1, {"parsing_failed": 1})
    (letter,) = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert (letter["reason"], letter["source_id"].rpartition(":")[2]) == ("parsing_failed", "3")
    assert "77" not in letter["masked"]
