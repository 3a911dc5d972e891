"""What the query planner is told of the indexes, of which a new store has no statistics.

Left to itself it takes one type of entities, or the intervals that are still open, for ten rows: it would read all
tables to find the hundred whose names are asked for.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from connectors.catalog.store.schema import entities, intervals, meta

_ROWS = 1_000_000
_STATISTICS = {
    # for each index: rows in all, and to expect for one value of its first column, of its first two, ...
    (entities.name, "sqlite_autoindex_entities_1"): f"{_ROWS} 1",  # id
    (entities.name, "sqlite_autoindex_entities_2"): f"{_ROWS} 300000 1",  # type, fqn
    (entities.name, "entities_fqn_folded"): f"{_ROWS} 300000 1",
    (entities.name, "entities_name_folded"): f"{_ROWS} 300000 20",
    (entities.name, "entities_parent"): f"{_ROWS} 20",
    (entities.name, "entities_path"): f"{_ROWS} 2",
    (entities.name, "entities_checksum"): f"{_ROWS} 2",
    (intervals.name, "intervals_from"): f"{_ROWS} 20",
    (intervals.name, "intervals_to"): f"{_ROWS} 5",
    (intervals.name, "intervals_version"): f"{_ROWS} 1",
    (intervals.name, "intervals_start"): f"{_ROWS} 5",
    (intervals.name, "intervals_end"): f"{_ROWS} 500000",
}

_OURS = f"tbl in ('{entities.name}', '{intervals.name}')"


def prepare_selectivity(connection: Connection) -> None:
    """Tells the planner, where it has not been told the same. What it knows of other tables stays."""
    has_any = connection.scalar(text("select 1 from sqlite_master where name = 'sqlite_stat1'"))
    if has_any:
        rows = connection.execute(text(f"select tbl, idx, stat from sqlite_stat1 where {_OURS}"))
        if {(row[0], row[1]): row[2] for row in rows} == _STATISTICS:
            return
    else:  # which alone makes the table that they stand in
        connection.execute(text(f"analyze {meta.name}"))
    connection.execute(text(f"delete from sqlite_stat1 where {_OURS}"))
    values = [{"tbl": table, "idx": index, "stat": expected} for (table, index), expected in _STATISTICS.items()]
    connection.execute(text("insert into sqlite_stat1 (tbl, idx, stat) values (:tbl, :idx, :stat)"), values)
    connection.execute(text("analyze sqlite_schema"))
