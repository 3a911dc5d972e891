"""Which cards a picture holds: those that were asked for, each with neighbours so many hops away on either side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from connectors.catalog.contract.errors import not_found
from connectors.catalog.explorer.both_moments import BothMoments
from connectors.catalog.store.activity import use_order
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.inserts import Edge
from connectors.catalog.store.queries import explore, history
from connectors.catalog.store.queries.window import Window
from connectors.catalog.store.schema import dated_contributions, entities, intervals, versions
from ingestion.model import Json

_BEGINNINGS = 12
_Hop = Callable[[set[str], bool], set[Edge]]
"""The edges that a hop from some entities takes, upstream (True) or downstream."""


@dataclass(frozen=True, slots=True)
class NeighbourhoodStep:
    """An entity by its fully qualified name, and how many hops to go from it on each side."""

    entity: str
    upstream: int
    downstream: int


def picture(
    connection: Connection, steps: Sequence[NeighbourhoodStep], limit: int, window: Window, beside: int | None = None
) -> Json:
    """The document of a picture: `limit` cards at most, those of earlier steps and nearer ones first.

    Of the neighbours of one card on one side it has the `beside` most used ones (None: all).
    Steps whose entity is not there are left out. Raises ApiError (404) when that leaves none.
    """

    def hop(frontier: set[str], upstream: bool) -> set[Edge]:  # noqa: FBT001 — a hop has a side
        pairs = reads.neighbours(connection, frontier, upstream=upstream, moment=window.moment)
        return pairs if beside is None else _first(connection, pairs, (upstream, beside), {})

    walked = _walk(connection, steps, limit, hop)
    return {**graph_document(connection, list(walked.inside), window), "roots": walked.roots, "truncated": walked.cut}


def difference(
    connection: Connection,
    steps: Sequence[NeighbourhoodStep],
    size: tuple[int, int | None],
    windows: tuple[Window, Window],
) -> Json:
    """The documents of a picture `before` and `after`: of the same cards, those that are near by the edges of either.

    `size` is how many cards at most, and of the neighbours of one card on one side how many (None: all): those first
    that changed, or are reached in another way, then the most used ones. What is hidden counts those that changed.
    Raises ApiError (404) when no step's entity is there.
    """
    limit, beside = size
    both = BothMoments(connection, windows[0].moment, windows[1].moment)

    def hop(frontier: set[str], upstream: bool) -> set[Edge]:  # noqa: FBT001 — a hop has a side
        pairs = both.neighbours(frontier, upstream=upstream)
        if beside is None or not _is_too_many(pairs, (upstream, beside)):
            return pairs
        return _first(connection, pairs, (upstream, beside), both.changes(pairs, upstream=upstream))

    walked = _walk(connection, steps, limit, hop)
    hidden = both.hidden_counts(set(walked.inside))
    documents = []
    for window in windows:
        document = graph_document(connection, list(walked.inside), window)
        for node in document["nodes"]:
            node["hidden"] = hidden[node["id"]]
        documents.append(document | {"roots": walked.roots, "truncated": walked.cut})
    return {"before": documents[0], "after": documents[1]}


@dataclass(frozen=True, slots=True)
class _Walked:
    """The cards of a picture, nearest first; `cut`: there are more."""

    inside: dict[str, None]
    roots: list[str]
    cut: bool


def _walk(connection: Connection, steps: Sequence[NeighbourhoodStep], limit: int, hop: _Hop) -> _Walked:
    """The cards within reach, as many as `limit` says."""
    inside: dict[str, None] = {}
    roots: list[str] = []
    cut = False
    for step in steps:
        row = history.by_name(connection, step.entity)
        if row is None:
            continue
        roots = roots or [row.id]
        inside[row.id] = None
        for upstream, hops in ((True, step.upstream), (False, step.downstream)):
            for identifier in _reach(row.id, hops, hop, upstream=upstream):
                cut = cut or (len(inside) >= limit and identifier not in inside)
                if len(inside) < limit:
                    inside[identifier] = None
    if not roots:
        raise not_found("entity", steps[0].entity)
    return _Walked(inside, roots, cut)


def graph_document(connection: Connection, identifiers: Sequence[str], window: Window) -> Json:
    """The document of exactly the entities of these `identifiers` and the edges between them, as `window` has them."""
    rows = list(any_rows_of(connection, set(identifiers)).values())
    return explore.explore(connection, rows, explore.Reach(0, 0, len(rows)), window)


def _reach(start: str, hops: int, hop: _Hop, *, upstream: bool) -> list[str]:
    """What lies within so many hops on one side, nearest first."""
    seen = {start}
    frontier = {start}
    found: list[str] = []
    for _ in range(hops):
        frontier = {pair[0 if upstream else 1] for pair in hop(frontier, upstream)} - seen
        if not frontier or len(found) > explore.MAX_CARDS:
            break
        seen |= frontier
        found.extend(sorted(frontier))
    return found


def _of_each(pairs: set[Edge], *, upstream: bool) -> dict[str, list[Edge]]:
    of_each: dict[str, list[Edge]] = defaultdict(list)
    for pair in pairs:
        of_each[pair[1 if upstream else 0]].append(pair)
    return of_each


def _is_too_many(pairs: set[Edge], way: tuple[bool, int]) -> bool:
    upstream, most = way
    return any(len(some) > most for some in _of_each(pairs, upstream=upstream).values())


def _first(connection: Connection, pairs: set[Edge], way: tuple[bool, int], changed: Mapping[Edge, str]) -> set[Edge]:
    """Of the neighbours of each entity so many: those that `changed`, then those that most runs read."""
    if not _is_too_many(pairs, way):
        return pairs
    upstream, most = way
    there = 0 if upstream else 1
    use = use_order(connection, {pair[there] for pair in pairs})
    kept: set[Edge] = set()
    for some in _of_each(pairs, upstream=upstream).values():
        kept.update(sorted(some, key=lambda pair: (pair not in changed, use[pair[there]]))[:most])
    return kept


def beginnings(connection: Connection, window: Window) -> Json:
    """How much there is to see, and the tables with the most neighbours: where to begin for want of a better idea."""
    pairs = (
        select(intervals.c.from_id, intervals.c.to_id)
        .select_from(dated_contributions)
        .where(window.moment.holds())
        .distinct()
        .subquery()
    )
    degrees: dict[str, dict[str, int]] = {}
    for side, column in (("downstream", pairs.c.from_id), ("upstream", pairs.c.to_id)):
        counted = select(column, func.count()).group_by(column).order_by(func.count().desc(), column).limit(50)
        for identifier, count in connection.execute(counted):
            degrees.setdefault(identifier, {"upstream": 0, "downstream": 0})[side] = count
    ranked = sorted(degrees, key=lambda one: (-sum(degrees[one].values()), one))[:_BEGINNINGS]
    rows = any_rows_of(connection, set(ranked))
    tables = select(func.count()).select_from(entities)
    held = entities.c.type.in_(("table", "container")), entities.c.deleted.is_(False)
    column_edges = (
        select(func.sum(versions.c.column_edges)).select_from(dated_contributions).where(window.moment.holds())
    )
    return {
        "tables": connection.scalar(tables.where(*held)) or 0,
        "columnEdges": connection.scalar(column_edges) or 0,
        "beginnings": [{"entity": rows[one].fqn, **degrees[one]} for one in ranked if one in rows],
    }
