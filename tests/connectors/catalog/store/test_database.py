"""The store's file: made where there is none, and never somebody else's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from connectors.catalog.store import database
from connectors.catalog.store.database import open_database
from connectors.catalog.store.schema import endings
from ingestion.errors import ConfigError


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
