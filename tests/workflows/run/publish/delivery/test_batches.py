"""How many batches are sent at once, and what is remembered of one."""

from __future__ import annotations

from typing import Any, cast

import pytest

from connectors.openmetadata.client import LINEAGE, Platform
from connectors.openmetadata.http import Http
from connectors.sink import TargetBatch, target_batches
from connectors.sinks import sink_settings
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.requests import EdgeSource, request_of
from workflows.run.publish.delivery import chunks, requests_at_once


def batch(target: str, contributions: int) -> TargetBatch:
    said = [
        Contribution(Producer(ProducerKind.QUERY, str(number)), EdgeSource.QUERY, "INSERT")
        for number in range(contributions)
    ]
    end = EntityReference(target, "table")
    (made,) = target_batches([request_of(EntityReference("s", "table"), end, said)], ())
    return made


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([3, 3, 3], [[3, 3], [3]]),
        ([6, 1], [[6], [1]]),
        ([2, 9, 2], [[2], [9], [2]]),  # a batch is never cut
        ([2, 2, 2, 1], [[2, 2, 2], [1]]),
    ],
)
def test_batches_go_together_up_to_so_many_contributions(sizes: list[int], expected: list[list[int]]) -> None:
    batches = [batch(f"t{number}", size) for number, size in enumerate(sizes)]
    found = list(chunks(batches, 6))
    assert [[one.size for one in chunk] for chunk in found] == expected
    assert [one for chunk in found for one in chunk] == batches


def test_contributions_to_wide_tables_go_in_more_calls() -> None:
    wide = tuple(
        ColumnEvidence((f"s.c{number}",), f"t.c{number}", Transformation(Subtype.IDENTITY)) for number in range(20_000)
    )
    said = Contribution(Producer(ProducerKind.QUERY, "q"), EdgeSource.QUERY, "INSERT", wide)
    requests = [request_of(EntityReference("s", "table"), EntityReference(f"t{n}", "table"), [said]) for n in range(5)]
    assert [len(chunk) for chunk in chunks(target_batches(requests, ()), 500)] == [2, 2, 1]


def test_contributions_of_long_statements_go_in_more_calls() -> None:
    """A text is sent once for all of the edges into a target."""
    requests = []
    for number in range(5):
        text = f"INSERT {number}".ljust(3_000_000)
        said = Contribution(Producer(ProducerKind.QUERY, "q"), EdgeSource.QUERY, text)
        target = EntityReference(f"t{number}", "table")
        requests += [request_of(EntityReference(source, "table"), target, [said]) for source in ("r", "s")]
    assert [len(chunk) for chunk in chunks(target_batches(requests, ()), 500)] == [2, 2, 1]


def test_contributions_of_statements_that_ran_often_go_in_more_calls() -> None:
    records = tuple(f"{number:016x}" for number in range(1_000))
    said = [
        Contribution(Producer(ProducerKind.QUERY, str(number)), EdgeSource.QUERY, "INSERT", records=records)
        for number in range(90)
    ]
    source = EntityReference("s", "table")
    requests = [request_of(source, EntityReference(f"t{n}", "table"), said) for n in range(5)]
    assert [len(chunk) for chunk in chunks(target_batches(requests, ()), 2_000)] == [2, 2, 1]


@pytest.mark.parametrize(
    ("sink", "config", "capabilities", "expected"),
    [
        pytest.param("metadata-rest", {}, [LINEAGE], 2_000, id="a catalog that files a call at once"),
        pytest.param("metadata-rest", {}, [], 500, id="an OpenMetadata"),
        pytest.param("metadata-rest", {"bulk_sink_batch_size": 7}, [LINEAGE], 7, id="as it is told"),
        pytest.param("datahub-rest", {"server": "http://localhost"}, [LINEAGE], 500, id="another sink"),
    ],
)
def test_where_a_catalog_files_a_call_at_once_more_go_together(
    sink: str, config: dict[str, Any], capabilities: list[str], expected: int
) -> None:
    platform = Platform(cast(Http, None), "2.0.7", frozenset(capabilities))
    assert requests_at_once(sink_settings(sink).model_validate(config), platform) == expected
