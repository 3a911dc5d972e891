"""One catalog for all tests of a module: each works on tables of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.http_client import Client


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A catalog that keeps rows, with a service, a database, a schema and a dashboard service."""
    file = tmp_path_factory.mktemp("kept") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0, sample_data=True)) as address:
        client = Client(address.url)
        client.made("/services/databaseServices", {"name": "shop", "serviceType": "Postgres"})
        client.made("/databases", {"name": "main", "service": "shop"})
        client.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
        client.made("/services/dashboardServices", {"name": "looker", "serviceType": "Looker"})
        yield client
