"""What a target refuses of a call costs itself, and what it was to end stays."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from connectors.batch_writer import BatchWriter
from connectors.sink import EdgeCounts, TargetBatch, WriteReport, WriteResult
from ingestion.errors import Rejected
from ingestion.model.entities import EntityReference
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import request_of


def batch(target: str, *sources: str, ended: frozenset[str] = frozenset()) -> TargetBatch:
    end = EntityReference(target, "table")
    requests = tuple(request_of(EntityReference(source, "table"), end, ()) for source in sources)
    return TargetBatch(end, requests, ended=ended)


class Target:
    """Refuses calls that hold an edge from `bad`, and keeps what each of the others held."""

    def __init__(self) -> None:
        self.taken: list[list[tuple[str, ...]]] = []

    def send(self, batches: Sequence[TargetBatch]) -> WriteReport:
        requests = [request for one in batches for request in one.requests]
        if any(request.from_entity.id == "bad" for request in requests):
            raise Rejected("not this one")
        self.taken.append([(*(r.from_entity.id for r in one.requests), *sorted(one.ended)) for one in batches])
        results = tuple(WriteResult(request, WriteOutcome.STORED) for request in requests)
        return WriteReport(results, EdgeCounts(new=len(results)))


def written(*batches: TargetBatch) -> tuple[Target, WriteReport]:
    target = Target()
    return target, BatchWriter(target.send, (Rejected,), lambda one: bool(one.ended)).write(batches)


def test_what_is_taken_is_one_call_and_nothing_is_none() -> None:
    assert written(batch("t", "a"), batch("u", "b", "c"))[0].taken == [[("a",), ("b", "c")]]
    assert written()[0].taken == []


def test_the_culprit_is_found_by_halving_and_named() -> None:
    target, report = written(batch("t", "a"), batch("u", "bad"), batch("v", "c"), batch("w", "d"))
    assert target.taken == [[("a",)], [("c",), ("d",)]]
    rejected = [result for result in report.results if not result.accepted]
    assert [(result.request.to_entity.id, result.reason) for result in rejected] == [("u", "not this one")]
    assert (report.counts.new, report.counts.rejected) == (3, 1)


def test_where_a_part_is_refused_what_was_to_end_stays(caplog: pytest.LogCaptureFixture) -> None:
    target, report = written(batch("t", "a", "bad", "b", ended=frozenset({"old"})))
    assert target.taken == [[("a",)], [("b",)]]
    assert report.counts.rejected == 1
    assert "t: its earlier lineage stays: " in caplog.text
