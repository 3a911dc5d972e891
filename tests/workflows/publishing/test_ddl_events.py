"""What happens to names in a log reaches a catalog that remembers."""

from __future__ import annotations

from pathlib import Path

from connectors.catalog.server import CatalogConfig, running_catalog
from connectors.openmetadata.client import CatalogSearch, connect
from connectors.openmetadata.entities.extension import file_name_events
from connectors.openmetadata.entities.registration import register
from connectors.openmetadata.transport.connection import Connection
from connectors.openmetadata.transport.platform import Platform
from ingestion.binding.name_events import NameEvent, NameEventKind
from ingestion.names.namespaces import RelationKey
from ingestion.resolution.resolver import Resolver, SearchScope
from workflows.publishing.ddl_events import name_events


def key(table: str) -> RelationKey:
    return RelationKey(("d", "p", table))


def registered(platform: Platform) -> Resolver:
    """A catalog's resolver, with the tables `old` and `kept` in it."""
    register(
        platform,
        {
            "services": [{"type": "databaseService", "name": "s", "serviceType": "Postgres"}],
            "databases": [{"name": "d", "service": "s"}],
            "schemas": [{"name": "p", "database": "s.d"}],
            "tables": [{"name": name, "databaseSchema": "s.d.p", "columns": []} for name in ("old", "kept")],
        },
    )
    return Resolver(CatalogSearch(platform), SearchScope("s"))


def test_events_of_known_tables_are_told_and_move_their_names(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        platform = connect(Connection(address.url))
        resolver = registered(platform)
        filed = name_events(
            [
                NameEvent(NameEventKind.DROP, key("kept"), 2.0),
                NameEvent(NameEventKind.CREATE, key("kept"), 2.0),
                NameEvent(NameEventKind.DROP, key("old"), 3.0),
                NameEvent(NameEventKind.DROP, key("unknown"), 3.0),
                NameEvent(NameEventKind.DROP, key("kept"), 0.0),
            ],
            resolver,
        )
        assert [(event["kind"], event["at"]) for event in filed] == [("drop", 1999), ("create", 2000), ("drop", 3000)]
        file_name_events(platform.http, filed)
        file_name_events(platform.http, filed)
        search = CatalogSearch(platform)
        assert search.get_by_fqn("s.d.p.old") is None
        assert search.get_by_fqn("s.d.p.kept") is not None
        platform.close()


def test_a_drop_that_makes_room_for_a_renamed_table_ends_nothing_of_that_table(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        platform = connect(Connection(address.url))
        resolver = registered(platform)
        rename = NameEvent(NameEventKind.RENAME, key("new"), 4.0, key("kept"))
        made = NameEvent(NameEventKind.CREATE, key("new"), 2.0)
        drop = NameEvent(NameEventKind.DROP, key("kept"), 3.0)
        again = NameEvent(NameEventKind.CREATE, key("kept"), 3.5)
        for events, at in (
            ([made, drop, rename], 1999),
            ([drop, rename], 3000),  # what was renamed is older than the log
            ([made, drop], 3000),
            ([made, drop, again, rename], 3000),
        ):
            filed = [event["at"] for event in name_events(events, resolver) if event["kind"] == "drop"]
            assert filed == [at]
        aside = NameEvent(NameEventKind.RENAME, key("kept"), 3.0, key("old"))
        for events, at in (
            ([made, aside, rename], 1999),  # what is set aside has no part in the lineage of what takes its place
            ([aside, rename], 3000),
            ([made, aside], 3000),
            ([made, NameEvent(NameEventKind.CREATE, key("kept"), 2.5), aside, rename], 3000),
        ):
            filed = [event["at"] for event in name_events(events, resolver) if event["kind"] == "rename"]
            assert filed == [at]
        platform.close()
