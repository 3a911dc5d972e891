"""Which cards a picture holds: those that were asked for, each with neighbours so many hops away on either side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from connectors.catalog.contract.errors import not_found
from connectors.catalog.store.activity import runs_of
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.queries import explore, history
from connectors.catalog.store.queries.window import Window
from connectors.catalog.store.schema import dated_contributions, entities, intervals, versions
from ingestion.model import Json

_BEGINNINGS = 12


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
    walked = _walk(connection, steps, (limit, beside), window.moment)
    return {**graph_document(connection, list(walked.inside), window), "roots": walked.roots, "truncated": walked.cut}


def difference(
    connection: Connection, steps: Sequence[NeighbourhoodStep], limit: int, windows: tuple[Window, Window]
) -> Json:
    """The documents of a picture `before` and `after`: of the same cards, those that are near at either moment.

    Raises ApiError (404) when no step's entity is there.
    """
    walks = [_walk(connection, steps, (limit, None), window.moment) for window in windows]
    inside = list(dict.fromkeys(one for walked in walks for one in walked.inside))
    more = {"roots": walks[1].roots, "truncated": walks[0].cut or walks[1].cut or len(inside) > limit}
    before, after = (graph_document(connection, inside[:limit], window) | more for window in windows)
    return {"before": before, "after": after}


@dataclass(frozen=True, slots=True)
class _Walked:
    """The cards of a picture, nearest first; `cut`: there are more."""

    inside: dict[str, None]
    roots: list[str]
    cut: bool


def _walk(
    connection: Connection, steps: Sequence[NeighbourhoodStep], size: tuple[int, int | None], moment: Moment
) -> _Walked:
    """The cards within reach: as many as `size` says, and beside each as many as it says (None: all)."""
    limit, beside = size
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
            for identifier in _reach(connection, row.id, (hops, upstream, beside), moment):
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


def _reach(connection: Connection, start: str, way: tuple[int, bool, int | None], moment: Moment) -> list[str]:
    """What lies within so many hops (of `way`) on one side, nearest first, so many beside each."""
    hops, upstream, beside = way
    seen = {start}
    frontier = {start}
    found: list[str] = []
    for _ in range(hops):
        step = reads.neighbours(connection, frontier, upstream=upstream, moment=moment)
        if beside is not None:
            step = _most_used(connection, step, (upstream, beside))
        frontier = {pair[0 if upstream else 1] for pair in step} - seen
        if not frontier or len(found) > explore.MAX_CARDS:
            break
        seen |= frontier
        found.extend(sorted(frontier))
    return found


def _most_used(connection: Connection, pairs: set[tuple[str, str]], way: tuple[bool, int]) -> set[tuple[str, str]]:
    """Of the neighbours of each entity so many, those that most runs read."""
    upstream, most = way
    here, there = (1, 0) if upstream else (0, 1)
    of_each: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs:
        of_each[pair[here]].append(pair)
    if all(len(some) <= most for some in of_each.values()):
        return pairs
    runs = runs_of(connection, {pair[there] for pair in pairs})
    kept: set[tuple[str, str]] = set()
    for some in of_each.values():
        kept.update(sorted(some, key=lambda pair: (-runs.get(pair[there], 0), pair[there]))[:most])
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
