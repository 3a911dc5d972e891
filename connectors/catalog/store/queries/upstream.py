"""The entities that a column comes from, followed column by column: a table's other columns bring nothing in."""

from __future__ import annotations

from sqlalchemy import Connection

from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from connectors.catalog.store.queries.impact import Node


def sources_of(connection: Connection, start: Node, moment: Moment, limit: int) -> tuple[list[str], bool]:
    """The ids of the column's own entity and of those upstream of it, nearest first; whether `limit` cut them short.

    The entities of which only the tables are known to be joined with the column's own are among them.
    """
    inside: dict[str, None] = {start[0]: None}
    into: dict[str, list[ContributionView]] = {}
    seen = {start}
    frontier = [start]
    while frontier and len(inside) < limit:
        _read_into({entity for entity, _ in frontier}, into, connection, moment)
        following: list[Node] = []
        for node in frontier:
            for source in _sources(node, into[node[0]]):
                if source not in seen:
                    seen.add(source)
                    following.append(source)
                    inside.setdefault(source[0])
        frontier = following
    joined = [one.from_id for one in into.get(start[0], ()) if not one.content.get("columns")]
    found = list(dict.fromkeys((*inside, *joined)))
    return found[:limit], bool(frontier) or len(found) > limit


def _read_into(
    wanted: set[str], into: dict[str, list[ContributionView]], connection: Connection, moment: Moment
) -> None:
    missing = wanted - set(into)
    into.update({identifier: [] for identifier in missing})
    for edge, views in reads.contributions_around(connection, missing, upstream=True, moment=moment).items():
        into[edge[1]] += views


def _sources(node: Node, views: list[ContributionView]) -> list[Node]:
    return [
        (one.from_id, path)
        for one in views
        for column in one.content.get("columns") or ()
        if column.get("to") in {node[1], None}
        for path in column["from"]
    ]
