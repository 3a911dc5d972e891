"""What happens to names in a log reaches a catalog that remembers."""

from __future__ import annotations

from pathlib import Path
from time import time

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.store.entities.attributes import known_columns
from connectors.catalog.store.evidence.table_changes import table_changes
from connectors.openmetadata.client import CatalogSearch, Platform, connect, file_name_events
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.registration import register
from ingestion.binding.binder import bind
from ingestion.binding.timeline import ColumnNameEvent, NameEvent, NameEventKind, Occurrence, SchemaProvider, TypeEvent
from ingestion.model.lineage import Column
from ingestion.model.namespaces import Namespace, RelationKey
from ingestion.parsing.sqlglot.tier import parse
from ingestion.resolution import Resolver, SearchScope
from workflows.run.publish._ddl_events import column_events, name_events, type_events


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
        assert [(event["kind"], event["at"]) for event in filed] == [("drop", 2000), ("create", 2000), ("drop", 3000)]
        file_name_events(platform.http, filed)
        file_name_events(platform.http, filed)
        search = CatalogSearch(platform)
        assert search.get_by_fqn("s.d.p.old") is None
        assert search.get_by_fqn("s.d.p.kept") is not None
        platform.close()


def test_what_takes_a_name_and_was_never_in_the_catalog_replaces_what_had_it(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        platform = connect(Connection(address.url))
        resolver = registered(platform)
        rename, swap = NameEventKind.RENAME, NameEventKind.SWAP
        for event, told in (
            (NameEvent(rename, key("new"), 4.0, key("kept")), [("replace", "kept", "")]),
            (NameEvent(rename, key("old"), 4.0, key("kept")), [("rename", "old", "kept")]),
            (NameEvent(rename, key("old"), 4.0, key("new")), []),
            (NameEvent(swap, key("new"), 4.0, key("kept")), [("replace", "kept", "")]),
            (NameEvent(swap, key("kept"), 4.0, key("new")), [("replace", "kept", "")]),
            (NameEvent(swap, key("kept"), 4.0, key("old")), [("swap", "kept", "old")]),
            (NameEvent(NameEventKind.REPLACE, key("kept"), 4.0), [("replace", "kept", "")]),
        ):
            names = {resolver.resolve_all([key(name).mention])[0].entity.id: name for name in ("old", "kept")}  # type: ignore[union-attr]
            filed = name_events([event], resolver)
            other = [names[one["other"]["id"]] if "other" in one else "" for one in filed]
            assert [(one["kind"], names[one["entity"]["id"]]) for one in filed] == [one[:2] for one in told]
            assert other == [one[2] for one in told]
            assert {one["at"] for one in filed} <= {4000}
        platform.close()


def test_a_type_that_the_log_gives_is_a_change_at_its_time(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        platform = connect(Connection(address.url))
        resolver = registered(platform)
        fields = [{"name": name, "dataType": "INT"} for name in ("a", "b")]
        table = {"name": "typed", "databaseSchema": "s.d.p", "columns": fields}
        register(platform, {"tables": [table]}, at=time())
        for at, type_ in ((1.0, "INT"), (3.0, "BIGINT")):
            again = {**table, "name": "again", "columns": [{"name": "a", "dataType": type_}, {"name": "b"}]}
            register(platform, {"tables": [again]}, at=at)
        ahead = time() + 3_600
        told = [
            TypeEvent(key("typed"), Column("a", "bigint"), 2.0, "int"),  # what stands was defined after it
            TypeEvent(key("typed"), Column("b", "integer"), 2.0, "int"),
            TypeEvent(key("typed"), Column("B", "varchar(20)"), ahead),
            TypeEvent(key("typed"), Column("gone", "text"), 2.0),
            TypeEvent(key("again"), Column("a", "int"), 2.0),  # as it was then, though not now
            TypeEvent(key("again"), Column("b", "int"), 2.0),
            TypeEvent(key("unknown"), Column("a", "text"), 2.0),
            TypeEvent(key("typed"), Column("a", "text"), 0.0),
        ]
        filed = type_events(told, resolver)
        shown = [(one["definition"]["name"], one["at"], one.get("before")) for one in filed]
        of_typed = [("a", 2_000, "int"), ("B", round(ahead * 1000), None), ("gone", 2_000, None)]
        assert shown == [*of_typed, ("a", 2_000, None), ("b", 2_000, None)]
        file_name_events(platform.http, filed)
        file_name_events(platform.http, filed)
        found, other = (CatalogSearch(platform).get_by_fqn(f"s.d.p.{name}") for name in ("typed", "again"))
        assert found is not None
        assert other is not None
        assert [(column.name, column.type) for column in found.columns] == [("a", "INT"), ("b", "varchar(20)")]
        platform.close()
    with open_catalog(file) as connection:
        changes = table_changes(connection, [found.id], 1_500, 2**52)
        of_other = table_changes(connection, [other.id], 1_500, 2**52)
    assert [(one.path, one.kind, one.at, one.before, one.after) for one in changes] == [
        ("a", "retyped", 2_000, "int", "bigint"),
        ("b", "retyped", round(ahead * 1000), "int", "varchar(20)"),
    ]
    assert [(one.path, one.at, one.before, one.after) for one in of_other] == [
        ("b", 2_000, "", "int"),
        ("a", 3_000, "int", "bigint"),
    ]


def test_a_column_that_the_log_drops_or_renames_is_a_change_at_its_time_though_it_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        platform = connect(Connection(address.url))
        resolver = registered(platform)
        table = {"name": "typed", "databaseSchema": "s.d.p", "columns": [{"name": "gross", "dataType": "INT"}]}
        register(platform, {"tables": [{**table, "columns": [{"name": "note", "dataType": "INT"}]}]}, at=1.0)
        register(platform, {"tables": [{**table, "extension": {"columnsComplete": True}}]}, at=5.0)
        told = [
            ColumnNameEvent(key("typed"), "total", 2.0, "gross", "int"),
            ColumnNameEvent(key("typed"), "Extra", 3.0, None, "text"),
            ColumnNameEvent(key("typed"), "total", 0.0, None),
            ColumnNameEvent(key("unknown"), "a", 2.0),
        ]
        filed = column_events(told, resolver)
        assert [(one["kind"], one["column"], one.get("to"), one.get("before"), one["at"]) for one in filed] == [
            ("renameColumn", "total", "gross", "int", 2_000),
            ("dropColumn", "Extra", None, "text", 3_000),
        ]
        filed += type_events([TypeEvent(key("typed"), Column("gross", "text"), 2.0, "int")], resolver)  # CHANGE
        file_name_events(platform.http, filed)
        file_name_events(platform.http, filed)
        found = CatalogSearch(platform).get_by_fqn("s.d.p.typed")
        assert found is not None
        columns = [column.name for column in found.columns]
        platform.close()
    with open_catalog(file) as connection:
        changes = table_changes(connection, [found.id], 1_500, 2**52)
        ever = known_columns(connection, [found.id])[found.id]
    assert [(one.path, one.kind, one.at, one.before) for one in changes if one.kind != "added"] == [
        ("gross", "renamed", 2_000, "total"),
        ("gross", "retyped", 2_000, "int"),
        ("Extra", "dropped", 3_000, "text"),
        *([("note", "dropped", 5_000, "int")] if "note" not in columns else []),
    ]
    assert [one.path for one in changes if one.kind == "added"] == []
    assert ever == {"gross", "total", "Extra", "note"}


def test_a_column_that_the_log_defines_anew_after_it_was_dropped_still_stands(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    altered = ("DROP COLUMN a", "ADD COLUMN a int", "RENAME COLUMN b TO c", "ADD COLUMN b int", "DROP COLUMN gone")
    texts = [f"ALTER TABLE typed {one}" for one in altered]
    texts += ["ALTER TABLE kept DROP COLUMN x", "DROP TABLE kept", "CREATE TABLE kept (x int)"]
    with running_catalog(CatalogConfig(file, port=0)) as address:
        platform = connect(Connection(address.url))
        resolver = registered(platform)
        fields = [{"name": name, "dataType": "INT"} for name in ("a", "b", "gone")]
        register(platform, {"tables": [{"name": "typed", "databaseSchema": "s.d.p", "columns": fields}]}, at=1.0)
        kept = {"name": "kept", "databaseSchema": "s.d.p", "columns": [{"name": "x", "dataType": "INT"}]}
        register(platform, {"tables": [kept]}, at=1.0)
        occurrences = [
            Occurrence(text, parse(text, "postgres"), Namespace("d", ("p",)), (float(number), 0))
            for number, text in enumerate(texts, 2)
        ]
        log = bind(occurrences, SchemaProvider(lambda _key: None))
        for _again in range(2):
            file_name_events(platform.http, column_events(log.column_events, resolver))
        found = CatalogSearch(platform).get_by_fqn("s.d.p.typed")
        assert found is not None
        assert [column.name for column in found.columns] == ["a", "b"]
        replaced = CatalogSearch(platform).get_by_fqn("s.d.p.kept")
        assert replaced is not None
        assert [column.name for column in replaced.columns] == ["x"]
        platform.close()
    with open_catalog(file) as connection:
        changes = table_changes(connection, [found.id], 1_500, 2**52)
    assert [(one.path, one.kind, one.at) for one in changes] == [
        ("a", "dropped", 2_000),
        ("c", "renamed", 4_000),
        ("gone", "dropped", 6_000),
    ]
