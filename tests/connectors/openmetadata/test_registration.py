"""What a catalog refuses of many entities costs those that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.registration import register_each
from ingestion.model.lineage import TableName
from ingestion.model.namespaces import Namespace
from ingestion.model.outcomes import Outcome
from ingestion.resolution import Resolved, Resolver, SearchScope, Unresolved

PARENTS = {
    "services": [{"type": "databaseService", "name": "svc", "serviceType": "Postgres"}],
    "databases": [{"name": "db", "service": "svc"}],
    "schemas": [{"name": "s", "database": "svc.db"}],
}


@pytest.mark.parametrize("bulk", [True, False])
def test_an_entity_that_is_refused_keeps_no_other_from_being_made(tmp_path: Path, bulk: bool) -> None:
    tables = [{"name": name, "databaseSchema": "svc.db.s", "columns": []} for name in ("a", "", "b", "d")]
    tables.insert(3, {"name": "c", "databaseSchema": "svc.db.gone", "columns": []})
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        platform = connect(Connection(address.url))
        if not bulk:
            platform = Platform(platform.http, platform.version)
        done = register_each(platform, {**PARENTS, "tables": tables})
        assert [request["name"] for _group, request, _failure in done.refused] == ["", "c"]
        resolver = Resolver(CatalogSearch(platform), SearchScope("svc"))
        names = [TableName(("db", "s", name)) for name in ("a", "b", "d")]
        found = resolver.resolve_all((name, Namespace()) for name in names)
        assert all(isinstance(one, Resolved) for one in found)
        platform.close()


def test_a_name_that_cannot_be_looked_up_costs_no_other(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        platform = connect(Connection(address.url))
        register_each(platform, {**PARENTS, "tables": [{"name": "a", "databaseSchema": "svc.db.s", "columns": []}]})
        resolver = Resolver(CatalogSearch(platform), SearchScope("svc"))
        names = [TableName((name,)) for name in ("", "a", "z")]
        empty, known, unknown = resolver.resolve_all((name, Namespace("db")) for name in names)
        platform.close()
    assert isinstance(empty, Unresolved)
    assert isinstance(known, Resolved)
    assert unknown == Unresolved(Outcome.NO_SUCH_TABLE, "db.z")
    assert empty.reason is Outcome.RESOLUTION_FAILED
