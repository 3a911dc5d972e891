"""What is asked for by name or by end is found by it, not by looking at all of a type or at all that is in force."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Select, text
from sqlalchemy.dialects import sqlite

from connectors.catalog.search.service import is_one_of
from connectors.catalog.store.database import open_database
from connectors.catalog.store.lineage.reads import NOW
from connectors.catalog.store.schema import entities, intervals

_MANY = [f"{number:03}" for number in range(200)]
_QUERIES = {
    "entities_1 (id=?)": entities.select().where(entities.c.id.in_(_MANY), entities.c.type == "table"),
    "entities_fqn_folded": entities.select()
    .where(entities.c.type == "table", entities.c.fqn_folded.in_(_MANY))
    .order_by(entities.c.fqn),
    "entities_checksum": entities.select()
    .where(entities.c.type.in_(["query"]), is_one_of("checksum.keyword", list(_MANY)))
    .order_by(entities.c.fqn)
    .limit(200),
    "intervals_to": intervals.select().where(intervals.c.to_id.in_(_MANY), NOW.holds()),
    "intervals_from": intervals.select().where(intervals.c.from_id.in_(_MANY), NOW.holds()),
}


@pytest.mark.parametrize("index", _QUERIES)
def test_hundreds_are_found_by_the_index_of_what_is_asked_for(tmp_path: Path, index: str) -> None:
    with closing(open_database(tmp_path / "new.db")) as database, database.read() as connection:
        assert index in _plan(connection, _QUERIES[index])


def test_a_store_that_was_made_without_statistics_gets_them(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "old.db")) as database, database.write() as connection:
        connection.execute(text("delete from sqlite_stat1"))
    with closing(open_database(tmp_path / "old.db")) as database, database.read() as connection:
        assert "intervals_to" in _plan(connection, _QUERIES["intervals_to"])


def test_what_somebody_had_the_planner_learn_of_other_tables_stays(tmp_path: Path) -> None:
    learnt = "insert into sqlite_stat1 (tbl, idx, stat) values ('versions', 'versions_of', '7 1')"
    with closing(open_database(tmp_path / "a.db")) as database, database.write() as connection:
        connection.execute(text(learnt))
        connection.execute(text("update sqlite_stat1 set stat = '1 1' where tbl = 'intervals'"))
    with closing(open_database(tmp_path / "a.db")) as database, database.read() as connection:
        stats = dict(connection.execute(text("select idx, stat from sqlite_stat1")).all())  # type: ignore[arg-type]
    assert (stats["versions_of"], stats["intervals_end"]) == ("7 1", "1000000 500000")


def _plan(connection: object, query: Select[tuple[object, ...]]) -> str:
    compiled = query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    rows = connection.exec_driver_sql(f"explain query plan {compiled}")  # type: ignore[attr-defined]
    return str(rows.fetchone()[3])
