"""Runs that end well and gave nothing say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.model.outcomes import RunOutcome
from workflows.config import RunConfig, load_config
from workflows.counts import RunCounts
from workflows.run.publish.warnings import warnings_of
from workflows.state.runs import RecordedRun

Write = Callable[..., Path]
DATABASE = """
source: {type: TYPE, serviceName: s, serviceConnection: {config: {type: CONNECTION}}, sourceConfig: {config: {}}}
workflowConfig: {openMetadataServerConfig: {hostPort: embedded}}
"""


@pytest.fixture
def config(workflow_file: Write) -> RunConfig:
    return load_config(workflow_file())


def last_run(published: int) -> RecordedRun:
    return RecordedRun("r", "w", 1.0, 2.0, RunOutcome.DONE, "", {"counts": {"published": published}})


READ = RunCounts(records_read=9, statements=9, templates=3, skipped={"select": 9})


def test_a_run_that_gave_what_the_last_one_gave_has_nothing_to_warn_of(config: RunConfig) -> None:
    assert warnings_of(config, RunCounts(records_read=9, statements=9, templates=3, published=9), last_run(9)) == ()
    assert warnings_of(config, READ, last_run(9)) == ()
    assert warnings_of(config, READ, None) == ()


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (RunCounts(), "the log is empty"),
        (RunCounts(records_read=9, statements=9, skipped={"select": 9}), "no statement of the log bears lineage"),
        (READ, "no statement of 9 has lineage, and 50 of the last run had"),
        (
            RunCounts(records_read=2, statements=2, templates=1, skipped={"select": 1, "no_lineage": 1}),
            "no lineage came of any statement that may write, of which there are 1: look at what",
        ),
        (
            RunCounts(records_read=3, statements=3, templates=3, skipped={"select": 1}, dead={"cut": 2}),
            "of which there are 2 (2 of them dead): look at what",
        ),
        (
            RunCounts(records_read=1, statements=1, templates=1, published=1, unresolved=3, unresolved_names={"x": 3}),
            "3 names are not in the catalog, most often x 3",
        ),
    ],
)
def test_a_green_run_without_lineage_is_warned_of(config: RunConfig, counts: RunCounts, said: str) -> None:
    assert said in " ".join(warnings_of(config, counts, last_run(50)))


def test_a_run_that_had_nothing_new_to_read_is_not_warned_of(config: RunConfig) -> None:
    assert warnings_of(config, RunCounts(records_read_before=9), last_run(50)) == ()


@pytest.mark.parametrize(("type_", "connection"), [("postgres-lineage", "Postgres"), ("spark-lineage", "Spark")])
def test_a_database_without_a_log_says_what_else_to_give(type_: str, connection: str, workflow_file: Write) -> None:
    config = load_config(workflow_file(DATABASE.replace("TYPE", type_).replace("CONNECTION", connection)))
    (said,) = warnings_of(config, RunCounts(), None)
    assert "queryLogFilePath" in said
