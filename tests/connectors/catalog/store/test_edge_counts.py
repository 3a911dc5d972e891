"""Edges between schemas are counted as they are filed, seen again, ended and moved."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, insert, select, update

from connectors.catalog.store.database import open_database
from connectors.catalog.store.edge_counts import edges_between_holders
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.schema import edge_counts, intervals

_KINDS = ("query", "view")


def row(chance: random.Random) -> dict[str, Any]:
    """An interval of one of a few pairs of schemas, now and then an ended one."""
    ends = {f"{end}_holder": chance.randrange(3) for end in ("from", "to")}
    seen, end = chance.randrange(9), chance.choice((None, None, 9))
    said = {"version_id": 1, "from_id": "a", "to_id": "b", "start": 0, "kind": chance.choice(_KINDS), "source": ""}
    return {**said, **ends, "column_edges": 0, "last_seen": seen, "end": end}


def counted(connection: Connection, since: int | None) -> list[Any]:
    """The same numbers, each edge looked at."""
    pair = (intervals.c.from_holder, intervals.c.to_holder, intervals.c.kind)
    holds = Moment(None, since).holds()
    return sorted(map(tuple, connection.execute(select(*pair, func.count()).where(holds).group_by(*pair))))


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_kept_are_those_of_the_edges_whatever_is_done_to_these(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with closing(open_database(tmp_path / "catalog.db")) as database, database.write() as connection:
        connection.exec_driver_sql("pragma defer_foreign_keys = on")  # of versions that are none, until all are gone
        for _ in range(60):
            what = chance.randrange(4)
            if what < 2:
                connection.execute(insert(intervals), [row(chance) for _ in range(3)])
            elif what == 2:
                connection.execute(delete(intervals).where(intervals.c.id % 5 == chance.randrange(5)))
            else:
                changed = update(intervals).where(intervals.c.id % 7 == chance.randrange(7))
                connection.execute(changed.values(row(chance)))
            for since in (None, *range(10)):
                assert sorted(edges_between_holders(connection, since)) == counted(connection, since)
            oldest = select(edge_counts.c.from_holder, edge_counts.c.to_holder, edge_counts.c.kind)
            oldest = oldest.add_columns(edge_counts.c.oldest)
            pair = (intervals.c.from_holder, intervals.c.to_holder, intervals.c.kind)
            seen = select(*pair, func.min(intervals.c.last_seen)).where(intervals.c.end.is_(None))
            assert sorted(connection.execute(oldest)) == sorted(connection.execute(seen.group_by(*pair)))
        connection.execute(delete(intervals))
        assert connection.scalar(select(func.count()).select_from(edge_counts)) == 0
