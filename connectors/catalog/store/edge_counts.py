"""How many edges lead from what lies in one schema, service or other entity into what lies in another.

Triggers keep the counts: edges are filed, moved, ended and taken back by many statements, each of which would have to
remember them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Connection, Select, and_, bindparam, case, func, or_, select, text

from connectors.catalog.store.schema import edge_counts, intervals
from ingestion.model.contributions import OBSERVED

_SINCE = "since"
_COUNTED_BY = ("from_holder", "to_holder", "kind")
"""What the edges of one count have in common: the key of the table."""
_ADD = (
    f"insert into {edge_counts.name} select new.from_holder, new.to_holder, new.kind, 1, new.last_seen "
    'where new."end" is null '
    "on conflict do update set edges = edges + 1, oldest = min(oldest, excluded.oldest);"
)
_SAME = " and ".join(f"{name} = old.{name}" for name in _COUNTED_BY)
_OLDEST = f'select min(last_seen) from {intervals.name} where {_SAME} and "end" is null'
_TAKE_AWAY = (
    f"update {edge_counts.name} set edges = edges - 1, "
    f"oldest = case when oldest < old.last_seen then oldest else ifnull(({_OLDEST}), oldest) end "
    f'where {_SAME} and old."end" is null; '
    f"delete from {edge_counts.name} where {_SAME} and edges = 0;"
)
_CHANGES = {"insert": _ADD, "delete": _TAKE_AWAY, "update": f"{_TAKE_AWAY} {_ADD}"}


def prepare_edge_counts(connection: Connection) -> None:
    """Has a store keep the counts."""
    for change, body in _CHANGES.items():
        name = f"{edge_counts.name}_{change}"
        connection.execute(
            text(f"create trigger if not exists {name} after {change} on {intervals.name} begin {body} end")
        )


def edges_between_holders(connection: Connection, since: int | None) -> Iterable[tuple[int, int, str, int]]:
    """How many edges of each kind of producer lead now from one holder into another, by their numbers.

    Of observations those alone count that are not older than `since` (None: any age).
    """
    bound = {} if since is None else {_SINCE: since}
    rows = connection.execute(_counts(observed_since=since is not None), bound).all()
    return ((start, end, kind, edges) for start, end, kind, edges in rows if edges)


@lru_cache(maxsize=2)
def _counts(*, observed_since: bool) -> Select[Any]:
    pair = tuple(edge_counts.c[name] for name in _COUNTED_BY)
    if not observed_since:
        return select(*pair, edge_counts.c.edges)
    since = bindparam(_SINCE, type_=BigInteger)
    same = and_(*(intervals.c[name] == edge_counts.c[name] for name in _COUNTED_BY))
    recent = select(func.count()).where(same, intervals.c.end.is_(None), intervals.c.last_seen >= since)
    all_count = or_(edge_counts.c.oldest >= since, edge_counts.c.kind.not_in(OBSERVED))
    return select(*pair, case((all_count, edge_counts.c.edges), else_=recent.correlate(edge_counts).scalar_subquery()))
