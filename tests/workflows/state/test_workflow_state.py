"""What another version of the code read is read again: never refused, never trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from sqlalchemy import update

from ingestion.analysis.symbolic import Symbolic, dumps
from ingestion.parsing.sqlglot.tier import parse
from ingestion.parsing.templates import ParsedTemplate
from workflows.config import load_config
from workflows.runtime.options import Backfill
from workflows.state.acknowledgements import ContributionDigest, ContributionKey
from workflows.state.lease import hold_lease
from workflows.state.segments import segment_of
from workflows.state.store import StateStore, positions, templates
from workflows.state.workflow_state import RunCheckpoint, WorkflowState

STATEMENT = parse("INSERT INTO t SELECT a FROM s", "postgres")
TEMPLATE = ParsedTemplate("one", "postgres", "sqlglot", dumps(STATEMENT), "", None, False)


@pytest.fixture
def opened(store: StateStore, workflow_file: Callable[[], Path]) -> Callable[[], WorkflowState]:
    """The state as the next run finds it, of a run before that read one record and parsed its template."""

    def state() -> WorkflowState:
        with hold_lease(store, "w", "run") as lease:
            return WorkflowState(store, lease, load_config(workflow_file()), Backfill())

    with hold_lease(store, "w", "run") as lease:
        first = WorkflowState(store, lease, load_config(workflow_file()), Backfill())
        first.remember([TEMPLATE])
        rows = {"digest": [7], "fingerprint": ["one"], "dialect": ["postgres"], "time": [10.0], "sets": [False]}
        rows |= dict.fromkeys(("query", "skipped", "set_how"), pa.nulls(1, pa.string()))
        first.commit(RunCheckpoint([segment_of(pa.table(rows))], newest=10.0))
    return state


def read_before(state: WorkflowState) -> npt.NDArray[np.bool_]:
    """Whether the record of the run before needs no reading."""
    return state.past.known.among(np.array([7]), np.array([10.0]))


def test_what_this_version_left_needs_no_reading(opened: Callable[[], WorkflowState]) -> None:
    state = opened()
    assert state.templates == {("one", "postgres"): TEMPLATE}
    assert (state.past.known.at_hand.tolist(), state.past.rereads) == ([7], False)


@pytest.mark.parametrize("version", ["an older one", None])
def test_bytes_of_older_modules_are_read_again(
    store: StateStore,
    opened: Callable[[], WorkflowState],
    old_layout: Callable[[Symbolic], bytes],
    version: str | None,
) -> None:
    """Where the version tells it, as it does; and where the bytes alone do."""
    with store.write() as connection:
        connection.execute(update(templates).values(symbolic=old_layout(STATEMENT)))
        if version is not None:
            connection.execute(update(templates).values(version=version))
            connection.execute(update(positions).values(version=version))
    state = opened()
    assert state.templates == {}
    assert (read_before(state).tolist(), state.past.rereads) == ([False], True)
    assert state.must_rebind is (version is not None)


def test_bytes_of_older_modules_are_not_trusted_because_they_happen_to_be_readable(
    store: StateStore, opened: Callable[[], WorkflowState]
) -> None:
    with store.write() as connection:
        connection.execute(update(templates).values(symbolic=dumps(STATEMENT), version="an older one"))
    assert opened().templates == {}


@pytest.mark.parametrize(
    ("bound", "replaced", "ends"),
    [
        ({"new"}, {"old": {"new"}}, True),
        ({"new"}, {"old": {"new", "other"}}, False),  # one of its records has a template of which not all is known
        ({"new"}, {"old": set()}, True),  # its records bear no lineage any more
        ({"new"}, {"other": {"new"}}, False),
        (set(), {"old": {""}}, False),  # its record could not be read
    ],
)
def test_a_key_ends_where_all_that_replaced_it_is_known(
    opened: Callable[[], WorkflowState], bound: set[str], replaced: dict[str, set[str]], ends: bool
) -> None:
    scope = opened().complete_scope(frozenset(bound), {old: frozenset(now) for old, now in replaced.items()})
    old = ContributionKey("plan", "old", "SparkLineage")
    assert scope.covers(old, ContributionDigest("said", 10.0, 20.0)) is ends
