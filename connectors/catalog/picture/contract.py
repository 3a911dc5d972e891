"""The lineage graph around an entity as the contract answers it, and as the platform's page reads it."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from connectors.catalog.graph import table_hop
from connectors.catalog.search.service import filter_condition
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import EntityRow, answer, any_rows_of, reference, reference_of
from connectors.catalog.store.lineage import reads, rest_edges
from connectors.catalog.store.lineage.reads import ContributionView
from connectors.catalog.store.rows import thousands_of
from connectors.catalog.store.schema import entities
from ingestion.model.lineage import Json
from ingestion.walk import Budget, Hop, Walk

MAX_DEPTH = 20
MAX_NODES = 5_000
Edges = dict[tuple[str, str], list[ContributionView]]

_SIDES = ("from", "to")
_OF_SIDE = ("EntityFQN", "ServiceName", "ServiceType", "Owners", "Domain")
_OF_PIPELINE = ("Name", "DisplayName", "Type", "Description", "Owners", "Domain", "ServiceName", "ServiceType")
HEADER = (
    *(f"{side}{part}" for side in _SIDES for part in _OF_SIDE),
    *(f"{side}ChildEntityFQN" for side in _SIDES),
    *(f"pipeline{part}" for part in _OF_PIPELINE),
)
"""The columns of an export, as the contract names them."""


# The lineage graph around an entity, as the contract answers it.


def graph(connection: Connection, root: EntityRow, upstream: int, downstream: int) -> Json:
    """Everything within so many hops `upstream` and `downstream`; at most MAX_NODES entities, the nearest first."""
    up = _hops(connection, root.id, upstream, upstream=True)
    down = _hops(connection, root.id, downstream, upstream=False)
    found = {end for edge in (*up, *down) for end in edge}
    rows = _rows_of(connection, found | {root.id})
    nodes = [reference(loads(row.document), row.type) for key, row in sorted(rows.items()) if key != root.id]
    return {
        "entity": reference(loads(root.document), root.type),
        "nodes": nodes,
        "upstreamEdges": _answers(up, rows),
        "downstreamEdges": _answers(down, rows),
    }


def _hops(connection: Connection, root: str, depth: int, *, upstream: bool) -> Edges:
    """The edges within `depth` hops of one side, and what is said of each."""
    found: Edges = {}

    def out_of(entities: Sequence[str]) -> Iterator[Hop[str, tuple[str, str]]]:
        step = reads.contributions_around(connection, entities, upstream=upstream)
        found.update(step)
        return (table_hop(edge, upstream=upstream) for edge in step)

    Walk((root,), out_of, Budget(MAX_NODES)).finish(min(depth, MAX_DEPTH))
    return found


def _rows_of(connection: Connection, identifiers: set[str], *, deleted: bool = False) -> dict[str, EntityRow]:
    """The entities that are there, by id; with `deleted` those too that can be restored."""
    found = any_rows_of(connection, identifiers).items()
    return {key: row for key, row in found if not row.deleted or (deleted and not row.purged)}


def _answers(found: Edges, rows: dict[str, EntityRow]) -> list[Json]:
    return [
        {
            "fromEntity": edge[0],
            "toEntity": edge[1],
            "lineageDetails": rest_edges.details_of(views, (rows[edge[0]], rows[edge[1]])),
        }
        for edge, views in sorted(found.items())
        if edge[0] in rows and edge[1] in rows
    ]


# The lineage graph as the platform's page reads it: nodes and edges by name, narrowed by filters; and as a table.


@dataclass(frozen=True, slots=True)
class LineageQuery:
    """How far to go on each side, and what of it to show: by entity, by column; `paths` keeps what lies on the way."""

    upstream: int = 1
    downstream: int = 1
    filter: Json | None = None
    columns: str | None = None
    paths: bool = True
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class _Side:
    """The edges on one side of the root, with their details, and how many hops away each entity is."""

    edges: dict[tuple[str, str], Json]
    depths: dict[str, int]


def lineage(connection: Connection, root: EntityRow, query: LineageQuery) -> Json:
    """Nodes and edges by name around `root`. Raises ApiError (400) for a filter that is none."""
    sides, rows = _narrow(connection, root, query)
    depths = {root.id: 0}
    for side in sides:
        for identifier, depth in side.depths.items():
            depths.setdefault(identifier, depth)
    kept = [key for key in depths if key in rows]
    nodes = {rows[key].fqn: _node(rows[key], depths[key]) for key in sorted(kept, key=lambda key: rows[key].fqn)}
    up, down = (
        {f"{edge[0]}--->{edge[1]}": _edge(edge, details, rows) for edge, details in sorted(side.edges.items())}
        for side in sides
    )
    return {"nodes": nodes, "upstreamEdges": up, "downstreamEdges": down}


def export(connection: Connection, root: EntityRow, query: LineageQuery) -> str:
    """The graph around `root` as CSV: a row for each pair of columns, or for an edge of which no column is known."""
    sides, rows = _narrow(connection, root, query)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    written = {edge: details for side in sides for edge, details in side.edges.items()}
    pipelines = _rows_of(connection, {one["pipeline"]["id"] for one in written.values() if one.get("pipeline")})
    for edge, details in sorted(written.items(), key=lambda item: (rows[item[0][0]].fqn, rows[item[0][1]].fqn)):
        ends = [part for end in edge for part in _cells(rows[end])]
        pipeline = _pipeline(pipelines.get((details.get("pipeline") or {}).get("id", "")))
        pairs = [(one, mapping["toColumn"]) for mapping in details["columnsLineage"] for one in mapping["fromColumns"]]
        writer.writerows([*ends, *pair, *pipeline] for pair in pairs or [("", "")])
    return text.getvalue()


def _narrow(
    connection: Connection, root: EntityRow, query: LineageQuery
) -> tuple[tuple[_Side, _Side], dict[str, EntityRow]]:
    found = [
        _hops(connection, root.id, depth, upstream=upstream)
        for depth, upstream in ((query.upstream, True), (query.downstream, False))
    ]
    ends = {root.id} | {end for edges in found for edge in edges for end in edge}
    rows = _rows_of(connection, ends, deleted=query.deleted)
    admitted = _select_admitted(connection, rows, query) | {root.id}
    sides = []
    for edges, upstream in zip(found, (True, False), strict=True):
        details = {
            edge: rest_edges.details_of(views, (rows[edge[0]], rows[edge[1]]))
            for edge, views in edges.items()
            if edge[0] in rows and edge[1] in rows
        }
        kept = {edge: one for edge, one in details.items() if _has_column(one, query.columns)}
        sides.append(_side(kept, root.id, admitted if query.filter is not None else None, (upstream, query.paths)))
    return (sides[0], sides[1]), rows


def _side(edges: dict[tuple[str, str], Json], root: str, admitted: set[str] | None, how: tuple[bool, bool]) -> _Side:
    """The edges that lead from the root to what is admitted (None: everything), by what is not if paths are kept."""
    upstream, paths = how
    onwards: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for edge in edges:
        onwards[edge[1 if upstream else 0]].append(edge)

    def out_of(entities: Sequence[str]) -> Iterator[Hop[str, tuple[str, str]]]:
        hops = (table_hop(edge, upstream=upstream) for identifier in entities for edge in onwards[identifier])
        return (hop for hop in hops if paths or admitted is None or hop.end in admitted)

    walk = Walk((root,), out_of)
    depths = {root: 0}
    for depth, _ in enumerate(walk.levels(), 1):
        depths.update(dict.fromkeys(walk.frontier, depth))
    wanted = set(depths) if admitted is None else _on_the_way(edges, set(depths) & admitted, depths, upstream=upstream)
    kept = {edge: details for edge, details in edges.items() if edge[0] in wanted and edge[1] in wanted}
    return _Side(kept, {key: -depth if upstream else depth for key, depth in depths.items() if key in wanted})


def _on_the_way(
    edges: Iterable[tuple[str, str]], ends: set[str], depths: dict[str, int], *, upstream: bool
) -> set[str]:
    """`ends`, and what lies between them and the root."""
    back: dict[str, list[Hop[str, tuple[str, str]]]] = defaultdict(list)
    for edge in edges:
        hop = table_hop(edge, upstream=not upstream)
        if hop.end in depths:
            back[hop.start].append(hop)
    walk = Walk(ends, lambda entities: (hop for identifier in entities for hop in back[identifier]))
    return set(walk.finish().arrivals)


def _select_admitted(connection: Connection, rows: dict[str, EntityRow], query: LineageQuery) -> set[str]:
    if query.filter is None:
        return set(rows)
    where = filter_condition(query.filter)
    found: set[str] = set()
    for some in thousands_of(sorted(rows)):
        found.update(connection.scalars(select(entities.c.id).where(entities.c.id.in_(some), where)))
    return found


def _has_column(details: Json, asked: str | None) -> bool:
    """Whether an edge has a column that a filter names: `columnName:x`, `fromColumn:x`, `toColumn:x`, or `x` alone."""
    if not asked:
        return True
    side, _, name = asked.rpartition(":")
    wanted = name.casefold()
    names: list[str] = []
    for mapping in details["columnsLineage"]:
        names += mapping["fromColumns"] if side != "toColumn" else []
        names += [mapping["toColumn"]] if side != "fromColumn" else []
    if not side:
        return any(wanted in one.casefold() for one in names)
    return any(one.casefold() == wanted or one.casefold().endswith(f".{wanted}") for one in names)


def _node(row: EntityRow, depth: int) -> Json:
    return {"entity": answer(row) | {"entityType": row.type}, "nodeDepth": depth, "paging": {}}


def _edge(edge: tuple[str, str], details: Json, rows: dict[str, EntityRow]) -> Json:
    ends = {f"{side}Entity": reference_of(rows[end]) for side, end in zip(_SIDES, edge, strict=True)}
    others = {key: value for key, value in details.items() if key != "columnsLineage"}
    return {**ends, "docId": f"{edge[0]}--->{edge[1]}", "columns": details["columnsLineage"], **others}


def _cells(row: EntityRow) -> Sequence[str]:
    document = answer(row)
    service = (document.get("service") or {}).get("name", "")
    return [row.fqn, service, document.get("serviceType", ""), _names(document, "owners"), _names(document, "domains")]


def _pipeline(row: EntityRow | None) -> Sequence[str]:
    if row is None:
        return [""] * len(_OF_PIPELINE)
    document = answer(row)
    _, service, service_type, owners, domains = _cells(row)
    texts = [document["name"], document.get("displayName", ""), row.type, document.get("description", "")]
    return [*texts, owners, domains, service, service_type]


def _names(document: Json, key: str) -> str:
    return ";".join(one.get("name") or one["id"] for one in document.get(key) or ())
