"""What the tests of Unity Catalog's sink say, and the workspace that they say it to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from connectors.sink import SinkRun, TargetBatch
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.requests import EdgeSource, request_of
from tests.support.unity_service import UnityService, answer_by

RUN = SinkRun("run", 1, object(), "dbx", "Databricks")
SERVICES = {"shop": {"system_type": "POSTGRESQL"}}


def table(name: str) -> EntityReference:
    return EntityReference(name, "table", name.rpartition(".")[2], name)


def container(path: str) -> EntityReference:
    scheme, _, rest = path.partition("://")
    return EntityReference(path, "container", rest, f'{scheme}."{rest}"')


ORDERS, DAILY, REPORT = table("shop.shopdb.web.orders"), table("dbx.main.sales.daily"), table("wh.DWH.PUB.REPORT")


def contribution(
    source: EntityReference, target: EntityReference, *pairs: tuple[str, str], key: str = "12ab", **more: Any
) -> Contribution:
    """What a query says of these columns; "" is every column of the target."""
    columns = tuple(
        ColumnEvidence(
            (f"{source.fully_qualified_name}.{one}",),
            f"{target.fully_qualified_name}.{other}" if other else "",
            Transformation(Subtype.TRANSFORMATION if other else Subtype.FILTER),
            "SUM(o.total)",
        )
        for one, other in pairs
    )
    return Contribution(Producer(ProducerKind.QUERY, key), EdgeSource.QUERY, "INSERT INTO daily ?", columns, **more)


def batch(
    source: EntityReference,
    target: EntityReference,
    *pairs: tuple[str, str],
    ended: Iterable[str] = (),
    **more: Any,
) -> TargetBatch:
    requests = (request_of(source, target, [contribution(source, target, *pairs, **more)]),)
    return TargetBatch(target, requests, ended=frozenset(ended))


@pytest.fixture
def service(httpserver: HTTPServer) -> UnityService:
    made = UnityService(httpserver, {"main.sales.daily": ["day", "gmv", "Total"], "main.sales.other": ["a"]})
    answer_by(made)
    return made
