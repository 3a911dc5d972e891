"""When entities were read last: by whatever reads them or did, of each kind, and by what is told besides."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete, insert

from connectors.catalog.store.database import open_database
from connectors.catalog.store.entities.usage import uses
from connectors.catalog.store.schema import contributions, intervals, records, usage_records

_ENTITIES = "abcd"


@pytest.mark.parametrize("seed", range(5))
def test_the_last_read_of_an_entity_is_the_newest_of_all(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    read: dict[str, list[int]] = {}
    with closing(open_database(tmp_path / "catalog.db")) as database, database.write() as connection:
        connection.exec_driver_sql("pragma defer_foreign_keys = on")  # of entities that are none, until all are gone
        for number in range(1, 12):
            entity, seen, kind = (
                chance.choice(_ENTITIES),
                chance.randrange(100),
                chance.choice(("query", "plan", "view")),
            )
            read.setdefault(entity, []).append(seen)
            if chance.random() < 0.2:
                connection.execute(insert(usage_records).values(entity_id=entity, digest=number, at=seen))
                continue
            said = {"from_id": entity, "to_id": "z", "kind": kind}
            connection.execute(insert(contributions).values(id=number, key=str(number), source="", **said))
            connection.execute(insert(records).values(contribution_id=number, digest=number))
            end = chance.choice((None, None, seen + 1))
            times = {"start": 0, "last_seen": seen, "end": end}
            said |= {"source": "", "column_edges": 0, "from_holder": 0, "to_holder": 0}
            connection.execute(insert(intervals).values(version_id=number, **said, **times))
        found = uses(connection, [*_ENTITIES])
        assert {one: (known["reads"], known["lastRead"]) for one, known in found.items()} == {
            one: (len(times), max(times)) for one, times in read.items()
        }
        for table in (intervals, records, contributions, usage_records):
            connection.execute(delete(table))
