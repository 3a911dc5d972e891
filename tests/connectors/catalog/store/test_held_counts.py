"""What lies in schemas is counted as entities are made, deleted, come back and go for good."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, insert, select, text, update

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.store.database import open_database
from connectors.catalog.store.held_counts import prepare_held_counts
from connectors.catalog.store.schema import entities, held_counts

_TYPES = ("table", "container", "testCase", "databaseSchema")


def row(chance: random.Random, number: int) -> dict[str, Any]:
    """An entity in one of a few others, or in none, now and then a deleted one."""
    said = {"id": f"e{number}", "fqn": f"e{number}", "type": chance.choice(_TYPES), "deleted": chance.random() < 0.3}
    names = dict.fromkeys(("fqn_folded", "name_folded", "service_folded"), "")
    parent = chance.choice((None, "e0", "e1", "e2"))
    return {**said, **names, "parent_id": parent, "version": 0.1, "updated_at": 0, "document": "{}"}


def counted(connection: Connection) -> list[Any]:
    """The same numbers, each entity looked at."""
    there = (entities.c.type.in_(LINEAGE_TYPES), entities.c.deleted.is_(False), entities.c.parent_id.is_not(None))
    return sorted(
        map(tuple, connection.execute(select(entities.c.parent_id, func.count()).where(*there).group_by("parent_id")))
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_kept_are_those_of_the_entities_whatever_is_done_to_these(tmp_path: Path, seed: int) -> None:
    chance, number = random.Random(seed), 0
    with closing(open_database(tmp_path / "catalog.db")) as database, database.write() as connection:
        connection.exec_driver_sql("pragma defer_foreign_keys = on")  # of entities that lie in some that are gone
        for _ in range(60):
            what = chance.randrange(4)
            if what < 2:
                connection.execute(insert(entities), [row(chance, number + one) for one in range(3)])
                number += 3
            elif what == 2:
                connection.execute(delete(entities).where(func.substr(entities.c.id, -1) == str(chance.randrange(10))))
            else:
                changed = update(entities).where(func.substr(entities.c.id, -1) == str(chance.randrange(10)))
                news = row(chance, 0)
                connection.execute(changed.values({one: news[one] for one in ("type", "deleted", "parent_id")}))
            assert sorted(map(tuple, connection.execute(select(held_counts)))) == counted(connection)
        connection.execute(delete(entities))
        assert connection.scalar(select(func.count()).select_from(held_counts)) == 0


def test_what_is_there_is_counted_where_the_numbers_were_not_kept(tmp_path: Path) -> None:
    chance = random.Random(9)
    with closing(open_database(tmp_path / "catalog.db")) as database, database.write() as connection:
        connection.exec_driver_sql("pragma defer_foreign_keys = on")
        connection.execute(insert(entities), [row(chance, number) for number in range(30)])
        kept = sorted(map(tuple, connection.execute(select(held_counts))))
        for change in ("insert", "update", "delete"):
            connection.execute(text(f"drop trigger {held_counts.name}_{change}"))
        connection.execute(delete(held_counts))
        prepare_held_counts(connection)
        assert kept
        assert sorted(map(tuple, connection.execute(select(held_counts)))) == kept
        connection.execute(delete(entities))
