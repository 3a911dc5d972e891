"""The store's file: made where there is none, and never somebody else's."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.store import database
from connectors.catalog.store.database import open_database
from connectors.catalog.store.entities.entities import entity_id
from connectors.catalog.store.rows import holder_number
from connectors.catalog.store.schema import endings, entities, intervals
from ingestion.errors import ConfigError
from tests.support.http_client import Client
from tests.support.made_catalog import MadeCatalog

_ALL_INTERVALS = "select * from intervals order by id"
_ALL_COUNTS = "select * from edge_counts order by from_holder, to_holder"


def made_by_another(file: Path) -> Path:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("create table meta (key text, value text)")
        connection.commit()
    return file


def test_a_column_keeps_its_stored_name_whatever_the_code_calls_it(tmp_path: Path) -> None:
    made = open_database(tmp_path / "catalog.db")
    made.close()
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        names = {row[1] for row in connection.execute("pragma table_info(endings)")}
    assert names == {column.name for column in endings.columns}
    assert {column.key: column.name for column in endings.columns if column.key != column.name} == {"filed_at": "told"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A catalog with an edge from one schema into another, and one into a table that lies in nothing."""
    with closing(MadeCatalog(tmp_path / "catalog.db")) as made:
        tables = ("shop.main.public.a", "shop.main.mart.b", "shop.main.mart.c")
        made.add_tables(dict.fromkeys(tables, ("x", "y")))
        with made.database.write() as connection:
            connection.execute(update(entities).where(entities.c.fqn == tables[2]).values(parent_id=None))
        for target in tables[1:]:
            columns = [{"from": [f"{tables[0]}.{one}"], "to": f"{target}.{one}"} for one in "xy"]
            made.add_edges([(tables[0], target, {"producer": {"kind": "view", "key": target}, "columns": columns})])
    return made.file


def test_a_store_whose_intervals_lack_what_their_versions_have_is_given_it(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        schema = "select type, name, sql from sqlite_master where tbl_name in ('intervals', 'entities') order by name"
        new, rows = connection.execute(schema).fetchall(), connection.execute(_ALL_INTERVALS).fetchall()
        counts = connection.execute(_ALL_COUNTS).fetchall()
        for change in ("insert", "delete", "update"):
            connection.execute(f"drop trigger edge_counts_{change}")
        connection.execute("drop table edge_counts")
        indexes = ("intervals_holders", "intervals_without_holders", "intervals_from", "intervals_to")
        for index in (*indexes, "entities_held", "entities_listed"):
            connection.execute(f"drop index {index}")
        for column in ("kind", "source", "column_edges", "from_holder", "to_holder"):
            connection.execute(f"alter table intervals drop column {column}")
        connection.execute("create index intervals_from on intervals (from_id)")
        connection.execute("create index entities_parent on entities (parent_id)")
    open_database(shop).close()
    with closing(sqlite3.connect(shop)) as connection:
        there = {row[:2] for row in connection.execute(schema)}
        assert there == {row[:2] for row in new}
        assert connection.execute(_ALL_INTERVALS).fetchall() == rows
        assert connection.execute(_ALL_COUNTS).fetchall() == counts
        assert len(counts) == 2
    public, mart = (holder_number(entity_id("databaseSchema", f"shop.main.{name}")) for name in ("public", "mart"))
    assert [row[-5:] for row in rows] == [
        ("view", "QueryLineage", 2, public, mart),
        ("view", "QueryLineage", 2, public, 0),
    ]


def test_intervals_of_a_program_that_knows_no_holders_get_them_when_the_store_is_opened_again(shop: Path) -> None:
    known = ", ".join(f'"{column.name}"' for column in intervals.columns if not column.name.endswith("_holder"))
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute('update intervals set "end" = last_seen + 1 where id = 1')
        rows = connection.execute(_ALL_INTERVALS).fetchall()
        counts = connection.execute(_ALL_COUNTS).fetchall()
        connection.execute("create temporary table written as select * from intervals")
        connection.execute("delete from intervals")
        connection.execute(f"insert into intervals ({known}) select {known} from written")
        assert connection.execute("select distinct from_holder, to_holder from intervals").fetchall() == [(None, None)]
    open_database(shop).close()
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute(_ALL_INTERVALS).fetchall() == rows
        assert connection.execute(_ALL_COUNTS).fetchall() == counts
        assert [row[-2] for row in counts] == [1]


def test_a_new_and_an_empty_file_become_a_store_that_opens_again(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for name in ("new/a b#?.db", "empty.db"):
        first = open_database(tmp_path / name)
        identity = first.identity
        first.close()
        again = open_database(tmp_path / name)
        assert again.identity == identity
        again.close()
        assert (tmp_path / name).stat().st_size > 0


def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = made_by_another(tmp_path / "app.db")
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="another program"):
        open_database(file)
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["app.db"]


@pytest.mark.parametrize("content", [b"no database at all " * 500, b"SQLite format 3\0" + b"x" * 5_000])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.db"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be used"):
        open_database(file)


def test_a_file_that_stays_locked_is_told_from_a_broken_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    file = tmp_path / "catalog.db"
    open_database(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as holder:
        holder.execute("begin exclusive")
        with pytest.raises(ConfigError, match="locked by another program"):
            open_database(file)


def test_whoever_waits_too_long_for_a_turn_to_write_is_told_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.5)
    file = tmp_path / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address, ThreadPoolExecutor(3) as callers:
        client = Client(address.url)

        def write(number: int) -> tuple[int, Any]:
            return client.call("PUT", "/services/databaseServices", {"name": f"s{number}", "serviceType": "Postgres"})

        with closing(sqlite3.connect(file, isolation_level=None)) as holder:
            holder.execute("begin immediate")
            answers = list(callers.map(write, range(3)))
            assert client.get("/services/databaseServices")[0] == 200
        assert [(status, body["message"]) for status, body in answers] == [(503, "the store is busy: try again")] * 3
        assert [status for status, _body in callers.map(write, range(3))] == [201] * 3
