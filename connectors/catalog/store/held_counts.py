"""How many entities that lineage can touch lie in one schema, service or other entity.

To count a hundred thousand entities anew takes longer than all else that a picture of schemas shows.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.store.kept_counts import KeptCounts, prepare_counts
from connectors.catalog.store.schema import entities, held_counts

_TYPES = ", ".join(f"'{one}'" for one in LINEAGE_TYPES)
_COUNTS = f"{{row}}.parent_id is not null and not {{row}}.deleted and {{row}}.type in ({_TYPES})"
_COUNTS_OLD, _COUNTS_NEW = (_COUNTS.format(row=row) for row in ("old", "new"))
_ADD = (
    f"insert into {held_counts.name} select new.parent_id, 1 where {_COUNTS_NEW} "
    "on conflict do update set entities = entities + 1;"
)
_TAKE_AWAY = (
    f"update {held_counts.name} set entities = entities - 1 where parent_id = old.parent_id and {_COUNTS_OLD}; "
    f"delete from {held_counts.name} where parent_id = old.parent_id and entities = 0;"
)
_KEPT = KeptCounts(held_counts.name, entities.name, _ADD, _TAKE_AWAY, changed="parent_id, type, deleted")
_FILL = (
    f"insert into {held_counts.name} select parent_id, count(*) from {entities.name} new where {_COUNTS_NEW} "
    "group by parent_id"
)


def prepare_held_counts(connection: Connection) -> None:
    """Has a store keep the counts; counts what is there in one that was repaired."""
    if prepare_counts(connection, _KEPT):
        connection.execute(text(_FILL))
