"""What is kept of batches that are gone."""

from __future__ import annotations

import pytest

from ingestion.binding.binder import BoundLog
from ingestion.model.entities import EntityReference
from ingestion.model.isolation import Failure, FailureStage
from ingestion.model.requests import AddLineageRequest
from workflows.config.namespaces import SourceSettings
from workflows.run._summaries import ShardSums, lineage_summary
from workflows.run.bind.binding import LineageSource
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.lineage import SourceLineage
from workflows.run.resolve.resolution import ResolvedNames

SETTINGS = SourceSettings("shop", "public")
NAMES = ResolvedNames(RelationEntities({}, {}))


def batch(*edges: str, given_up: tuple[str, ...] = ()) -> SourceLineage:
    """The lineage of a batch; edges are written source>target."""
    ends = [edge.partition(">")[::2] for edge in edges]
    requests = [AddLineageRequest(EntityReference(a, "table"), EntityReference(b, "table"), ()) for a, b in ends]
    failures = {(a, b): Failure(FailureStage.PUBLISHING, "") for a, b in (one.split(">") for one in given_up)}
    source = LineageSource({}, (), SETTINGS, (), BoundLog((), (), {}), (), {})
    return SourceLineage(source, tuple(requests), (), (), frozenset(), {}, failures)


@pytest.mark.parametrize(
    ("batches", "shared", "targets"),
    [
        ((batch("a>t"), batch("b>u")), set(), {"t", "u"}),
        ((batch("a>t", "b>t"), batch("b>u")), set(), {"t", "u"}),
        ((batch("a>t"), batch("b>t")), {"t"}, {"t"}),
        # what one batch gives up is not sent as another alone would have it
        ((batch(given_up=("a>t",)), batch("a>t")), {"t"}, {"t"}),
        ((batch("a>t"), batch(given_up=("a>t",))), {"t"}, {"t"}),
        ((batch(given_up=("a>t",)), batch("b>u")), set(), {"u"}),
    ],
)
def test_a_target_that_several_batches_speak_of_is_shared(
    batches: tuple[SourceLineage, ...], shared: set[str], targets: set[str]
) -> None:
    sums = ShardSums(SETTINGS)
    for lineage in batches:
        sums.add_lineage(lineage_summary(lineage, NAMES, SETTINGS))
    assert (sums.shared, sums.targets) == (shared, targets)
