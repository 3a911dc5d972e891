"""A target that misbehaves as targets do: it is retried, given up on in time, and made up for by the next run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.openmetadata.client import Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.http import RetryPolicy
from ingestion.errors import ConfigError, LineageError, TargetDown
from ingestion.model.outcomes import RunOutcome
from tests.support.catalog_contents import opened
from tests.support.fault_server import (
    Fault,
    Plan,
    dripping_header,
    half_a_body,
    hang,
    html,
    misbehaving,
    nested,
    refused_with,
    reset,
    slow,
)
from tests.support.growing_log import SHOP, Said, configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.state.runs import recorded_runs
from workflows.state.store import open_state

pytestmark = pytest.mark.spark
LINEAGE = "/api/v1/headwater/lineage"
IMPATIENT = RetryPolicy(attempts=3, total_seconds=20, first_wait=0.05, longest_wait=0.3, jitter=0.05)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's patience, scaled down."""

    def quickly(connection: Connection) -> Platform:
        return connect(replace(connection, read_seconds=1.2, answer_seconds=1.8), IMPATIENT)

    monkeypatch.setattr("workflows.target.connect", quickly)


@pytest.fixture
def workflow(tmp_path: Path, spark: SparkSession) -> Iterator[tuple[Path, Plan]]:
    """A workflow that publishes to a catalog behind a proxy, and the proxy's plan."""
    plan = Plan()
    write_log(tmp_path / "log" / "all.csv", rows_of(SHOP))
    with opened(tmp_path / "catalog.db") as catalog, misbehaving(catalog.url, plan) as url:
        server = {"hostPort": url, "securityConfig": {"jwtToken": "token-canary-1"}}
        configuration(tmp_path, server, registerTables="always")
        yield tmp_path, plan


def test_passing_faults_are_retried_and_change_nothing(workflow: tuple[Path, Plan], undisturbed: set[Said]) -> None:
    folder, plan = workflow
    faults: list[Fault] = [
        reset, half_a_body, refused_with(429), refused_with(429, Retry_After="1"), refused_with(500),
        refused_with(503), html, slow, hang, nested, dripping_header,
    ]  # fmt: skip

    def two_of_three(path: str, number: int) -> Fault | None:
        return faults.pop() if number % 3 and faults and path == LINEAGE else None

    plan.fault = two_of_three
    summary = run(folder)
    assert not faults
    assert summary.counts.dead == {"ill_formed": 1} or summary.counts.dead_total == 1
    assert contributions_in(folder / "catalog.db") == undisturbed


def test_each_lasting_fault_ends_the_run_in_a_sentence_and_the_next_run_goes_on(
    workflow: tuple[Path, Plan], undisturbed: set[Said]
) -> None:
    folder, plan = workflow
    lasting: list[tuple[Fault, type[LineageError]]] = [
        (reset, TargetDown),
        (hang, TargetDown),
        (refused_with(429), TargetDown),
        (html, TargetDown),
        (nested, TargetDown),
        (dripping_header, TargetDown),
        (refused_with(401), ConfigError),
    ]
    for number, (fault, expected) in enumerate(lasting):
        plan.calls.clear()
        taken = 0 if fault in (nested, dripping_header) else 1  # batches that pass before it: there are few
        plan.fault = lambda path, calls, fault=fault, taken=taken: fault if path == LINEAGE and calls > taken else None  # type: ignore[misc]
        with pytest.raises(expected) as caught:
            run(folder, run_id=f"run-{number}")
        assert len(str(caught.value).splitlines()) == 1
        assert "token-canary-1" not in str(caught.value)
        assert plan.calls[LINEAGE] <= 2 * IMPATIENT.attempts
    plan.fault = lambda _path, _number: None
    plan.calls.clear()
    summary = run(folder, run_id="last")
    assert summary.counts.statements == len(SHOP)
    assert summary.counts.templates_known == summary.counts.templates
    assert contributions_in(folder / "catalog.db") == undisturbed
    store = open_state(str(folder / "state.db"))
    with store.read() as connection:
        outcomes = [found.outcome for found in recorded_runs(connection)]
    store.close()
    assert outcomes == [RunOutcome.DONE, RunOutcome.FAILED, *[RunOutcome.TARGET_DOWN] * 6]


def test_what_the_target_refuses_is_dead_and_published_when_it_does_not(
    workflow: tuple[Path, Plan], undisturbed: set[Said]
) -> None:
    folder, plan = workflow
    plan.fault = lambda path, _number: refused_with(400) if path == LINEAGE else None
    refused = run(folder, run_id="refused")
    refused.counts.check_conservation()
    assert refused.counts.published == 0
    assert sum(refused.counts.dead.values()) > 5
    assert "rejected" in (folder / "dead.jsonl").read_text() or "400" in (folder / "dead.jsonl").read_text()
    plan.fault = lambda _path, _number: None
    accepted = run(folder, run_id="accepted")
    assert accepted.counts.statements == 0
    assert contributions_in(folder / "catalog.db") == undisturbed
    assert len((folder / "dead.jsonl").read_text().splitlines()) == 1
