"""A few tables of a shop on a stub of one version of OpenMetadata, and the client that talks to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.entities import TableDefinition
from connectors.openmetadata.http import Timing
from connectors.openmetadata.registration import register
from connectors.openmetadata.sink import RestSink
from connectors.sink import WriteReport, target_batches
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import TableEntity
from ingestion.model.lineage import Column, Subtype, TableName, Transformation
from ingestion.model.namespaces import Namespace
from ingestion.model.requests import AddLineageRequest, EdgeSource, Replacement, request_of
from ingestion.resolution import Resolved, Resolver, SearchScope
from tests.support.openmetadata_stub import Minor, StubPlatform, served

COLUMNS = (Column("id", "integer"), Column("amount", "numeric(12,2)"), Column("amount_net", "numeric(12,2)"))


@dataclass(frozen=True)
class Shop:
    """A platform with a few tables of a shop, and the client that talks to it."""

    stub: StubPlatform
    platform: Platform
    url: str

    def table(self, name: str) -> TableEntity:
        found = Resolver(CatalogSearch(self.platform), SearchScope("shop")).resolve(TableName((name,)), Namespace())
        assert isinstance(found, Resolved), found
        return found.entity

    def said(
        self, source: str, target: str, *columns: str, of: str = EdgeSource.QUERY, key: str = "q1", at: float = 0.0
    ) -> AddLineageRequest:
        """A request that columns of one table come unchanged into those of the same name."""
        ends = self.table(source), self.table(target)
        evidence = tuple(
            ColumnEvidence(
                (f"{ends[0].fully_qualified_name}.{column}",),
                f"{ends[1].fully_qualified_name}.{column}",
                Transformation(Subtype.IDENTITY),
            )
            for column in columns
        )
        producer = Producer(ProducerKind.VIEW if of == EdgeSource.VIEW else ProducerKind.QUERY, key)
        text = f"INSERT INTO t SELECT ? /* {key} */"
        contribution = Contribution(producer, of, text, evidence, first_seen=at, last_seen=at)
        return request_of(ends[0].reference, ends[1].reference, [contribution])

    def write(self, *requests: AddLineageRequest, replacing: tuple[Replacement, ...] = ()) -> WriteReport:
        return RestSink(self.platform, "run", threads=2).write(target_batches(requests, replacing))

    def columns(self, source: str, target: str) -> list[str]:
        edge = self.stub.edges[self.table(source).id, self.table(target).id]
        return sorted(mapping["toColumn"].rpartition(".")[2] for mapping in edge["columnsLineage"])


def register_shop(platform: Platform) -> int:
    """Makes its two tables, and a view of one; how many entities that takes."""
    view = TableDefinition("shop.db.public", "v_sales", COLUMNS, "View", "SELECT * FROM orders")
    plain = [TableDefinition("shop.db.public", name, COLUMNS) for name in ("orders", "sales")]
    return register(
        platform,
        {
            "services": [{"type": "databaseService", "name": "shop", "serviceType": "StarRocks"}],
            "databases": [{"name": "db", "service": "shop"}],
            "schemas": [{"name": "public", "database": "shop.db"}],
            "tables": [one.to_json() | {"extension": {"own": True}} for one in (*plain, view)],
        },
    )


@contextmanager
def shop_of(minor: Minor, timing: Timing) -> Iterator[Shop]:
    """Such a shop: its two tables, and a view of one."""
    stub = StubPlatform(minor)
    with served(stub) as url:
        platform = connect(Connection(url, jwt_token="us"), timing=timing)
        made = register_shop(platform)
        assert made == 6
        yield Shop(stub, platform, url)
        platform.close()
