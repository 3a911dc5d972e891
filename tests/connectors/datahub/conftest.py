"""What the tests of DataHub's sinks say, and the service that they say it to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from connectors.datahub.changes import Changes
from connectors.datahub.names import DatahubNames
from connectors.sink import TargetBatch
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.requests import EdgeSource, request_of
from tests.support.datahub_service import Service, answer_by

SOURCE = EntityReference("1", "table", "orders", "shop.db.s.orders")
TARGET = EntityReference("2", "table", "daily", "shop.db.s.daily")


def contribution(
    *columns: ColumnEvidence, key: str = "12ab", sql: str = "INSERT INTO daily ?", **more: Any
) -> Contribution:
    return Contribution(Producer(ProducerKind.QUERY, key), EdgeSource.QUERY, sql, columns, **more)


def column(
    source: str, target: str, expression: str = "", subtype: Subtype = Subtype.TRANSFORMATION, certain: bool = True
) -> ColumnEvidence:
    to = f"{TARGET.fully_qualified_name}.{target}" if target else ""
    return ColumnEvidence(
        (f"{SOURCE.fully_qualified_name}.{source}",), to, Transformation(subtype), expression, certain
    )


def batch(*said: Contribution, ended: Iterable[str] = ()) -> TargetBatch:
    requests = (request_of(SOURCE, TARGET, said),) if said else ()
    return TargetBatch(TARGET, requests, ended=frozenset(ended))


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    made = Service(httpserver)
    answer_by(made)
    return made


@pytest.fixture
def changes() -> Changes:
    return Changes(DatahubNames("shop", "Postgres"))


def in_files(proposals: Iterable[Any]) -> list[dict[str, Any]]:
    """Proposals as they stand in a file."""
    from connectors.datahub.file.sink import as_in_files

    return [json.loads(json.dumps(as_in_files(one))) for one in proposals]
