"""What other workflows of a state wrote into the same target is told from one's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from connectors.sink import NOT_OURS
from workflows.state.acknowledgements import (
    ContributionDigest,
    ContributionKey,
    PublishedState,
    WrittenEdge,
    acknowledge,
    edges_of_other_workflows,
    keys_of_other_workflows,
    targets_of_written_edges,
)
from workflows.state.store import open_state

WHO = ContributionKey("query", "q", "QueryLineage")


def test_what_other_workflows_say_of_targets_is_told_by_sink(tmp_path: Path) -> None:
    said = PublishedState(
        "table",
        "d",
        {WHO: ContributionDigest("d", None, None, frozenset({"k"}))},
        {
            "ours": WrittenEdge("r", {WHO: None}),
            "theirs": WrittenEdge(NOT_OURS, {WHO: None}),
            "old": WrittenEdge("r", {}),
        },
    )
    with closing(open_state(str(tmp_path / "state.db"))) as store, store.write() as connection:
        acknowledge(connection, "one", "sink", {"t": said, "u": said})
        assert keys_of_other_workflows(connection, "two", "sink", ["t"]) == {"t": {"k"}}
        assert edges_of_other_workflows(connection, "two", "sink", ["t"]) == {("ours", "t"), ("theirs", "t")}
        for workflow, sink in (("one", "sink"), ("two", "other")):
            assert keys_of_other_workflows(connection, workflow, sink, ["t"]) == {}
            assert edges_of_other_workflows(connection, workflow, sink, ["t"]) == frozenset()
        assert targets_of_written_edges(connection, "one", "sink") == ["t", "u"]
