"""What is told of a damaged file of SQLite, and what is kept of it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, Text

from connectors.sqlite_files import Contents, is_damage, is_full, is_whole, put_back, salvage

TABLES = MetaData()
Table("parents", TABLES, Column("id", Integer, primary_key=True), Column("document", Text, nullable=False))
Table(
    "children",
    TABLES,
    Column("parent", Integer, ForeignKey("parents.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    sqlite_with_rowid=False,
)
ROWS = 2_000
PAGE = 4_096


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "store.db"
    with closing(sqlite3.connect(made)) as connection, connection:
        connection.execute("create table parents (id integer primary key, document text not null)")
        connection.execute(
            "create table children (parent integer references parents (id), name text, primary key (parent, name)) "
            "without rowid"
        )
        rows = [(number, json.dumps({"n": f"{number:060}"})) for number in range(ROWS)]
        connection.executemany("insert into parents values (?, ?)", rows)
        connection.executemany("insert into children values (?, 'x')", [(number,) for number in range(ROWS)])
    return made


def rows_in(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as connection:
        found: tuple[int] = connection.execute(f"select count(*) from {table}").fetchone()
        assert connection.execute("pragma foreign_key_check").fetchall() == []
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    return found[0]


def page_with(file: Path, number: int) -> int:
    """The page of a file in which a row of `parents` stands."""
    return file.read_bytes().index(f"{number:060}".encode()) // PAGE


def test_rows_on_both_sides_of_damaged_pages_are_kept_and_the_lost_ones_counted(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for number in (400, 1_500):
        page = page_with(file, number)
        content[page * PAGE : (page + 1) * PAGE] = b"\xff" * PAGE
    file.write_bytes(content)
    assert not is_whole(file)

    found = salvage(file, Contents(TABLES, ("document",)))

    parents, children = found.tables
    assert is_whole(file)
    assert not is_whole(found.aside)
    assert (parents.kept, children.kept) == (rows_in(file, "parents"), rows_in(file, "children"))
    assert ROWS * 0.9 < parents.kept < ROWS
    assert parents.kept + parents.lost == ROWS
    assert children.kept == parents.kept  # what is said of a row that is lost goes with it
    assert [table.name for table in found.damaged] == ["parents", "children"]


def test_text_that_is_not_as_it_was_written_costs_its_row(file: Path) -> None:
    content = bytearray(file.read_bytes())
    at = content.index(f"{7:060}".encode())
    content[at : at + 1] = b"\xff"
    at = content.index(f"{9:060}".encode())
    content[at + 61 : at + 62] = b" "  # of JSON the end
    file.write_bytes(content)
    assert is_whole(file)  # SQLite looks at no text

    parents, children = salvage(file, Contents(TABLES, ("document",))).tables

    assert (parents.kept, parents.lost) == (ROWS - 2, 2)
    assert (children.kept, children.lost) == (ROWS - 2, 2)


def test_a_whole_file_is_put_back_as_it_was(file: Path) -> None:
    before = file.read_bytes()
    found = salvage(file, Contents(TABLES, ("document",)))
    assert found.damaged == ()
    put_back(file, found.aside)
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_what_an_error_says_of_a_file(tmp_path: Path) -> None:
    assert is_damage(sqlite3.DatabaseError("database disk image is malformed"))
    assert is_damage(sqlite3.OperationalError("Could not decode to UTF-8 column 'a' with text 'secret'"))
    assert is_damage(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"))
    assert is_full(sqlite3.OperationalError("database or disk is full"))
    for error in (sqlite3.OperationalError("database is locked"), ValueError("is full, malformed")):
        assert not is_damage(error)
        assert not is_full(error)
