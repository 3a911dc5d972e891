"""The store's file: made where there is none, and never somebody else's."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.store import database
from connectors.catalog.store.database import open_database
from ingestion.errors import ConfigError
from tests.support.http_client import Client


def made_by_another(file: Path) -> Path:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("create table meta (key text, value text)")
        connection.commit()
    return file


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
