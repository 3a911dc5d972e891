"""A running catalog."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.http_client import Client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        yield Client(address.url)


@pytest.fixture
def shop(client: Client) -> Client:
    """A catalog with a service, a database and two schemas."""
    client.made(
        "/services/databaseServices",
        {"name": "shop", "serviceType": "Postgres", "connection": {"config": {"username": "u", "hostPort": "h:1"}}},
    )
    client.made("/databases", {"name": "main", "service": "shop"})
    client.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
    client.made("/databaseSchemas", {"name": "other", "database": "shop.main"})
    return client
