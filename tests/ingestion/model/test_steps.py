"""The steps of a statement: counted within a boundary, each for itself, and told as what ended it."""

from __future__ import annotations

from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.outcomes import Outcome
from ingestion.model.steps import MOST_STEPS, take_steps


def test_each_boundary_counts_its_own_steps_and_outside_of_them_none_are() -> None:
    isolation = Isolation[str]()
    for key, inner in (("within", 0), ("beyond", 1)):
        with isolation.around(FailureStage.ANALYSIS, key):
            take_steps(MOST_STEPS)
            with isolation.around(FailureStage.ANALYSIS, f"inside {key}"):
                take_steps(MOST_STEPS)
            take_steps(inner)
    take_steps(MOST_STEPS + 1)
    assert {key: one.reason for key, one in isolation.failures.items()} == {"beyond": Outcome.TOO_MANY_STEPS}
