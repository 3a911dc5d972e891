"""What is told to a batch of what all of them speak of."""

from __future__ import annotations

from workflows.run.publish.publishing import SharedLineage
from workflows.run.resolve.lineage import EdgeOutcome


def test_a_batch_is_told_of_the_shared_targets_that_it_speaks_of_and_of_no_other() -> None:
    """What goes to a batch does not grow with the log."""
    edges = {target: {("a", target): EdgeOutcome(), ("b", target): EdgeOutcome("rejected")} for target in "tuv"}
    assert SharedLineage(edges).within(["u", "own"]) == SharedLineage({"u": edges["u"]})
