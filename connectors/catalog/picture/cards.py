"""The graph that a picture of lineage is drawn from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection

from connectors.catalog.graph import Origins, table_hops
from connectors.catalog.picture.contract import Edges
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.attributes import PastEntity, entities_at
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.entities.tests import tests_of
from connectors.catalog.store.entities.usage import uses
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.known_sources import CoverageLevel, levels_of
from connectors.catalog.store.lineage.reads import ContributionView, Moment, Seen, VerdictKey
from connectors.catalog.store.lineage.recency import with_unseen
from connectors.catalog.store.lineage.stored_content import columns_about, has_columns, with_columns
from connectors.catalog.store.lineage.verdicts import with_verdicts
from connectors.catalog.store.lineage.window import Window
from ingestion.metrics.report import FILED_ENTITY
from ingestion.model.fqn import build_fqn, encode_name
from ingestion.model.lineage import Json
from ingestion.model.witnesses import Verdict, witness_of
from ingestion.walk import ColumnNode, Walk

_LISTS = ("users", "filters", "variant")
_MOST = 1_000  # of a list: anybody may write the attribute, and the page shows it

MAX_CARDS = 5_000
_CHANGING = ("description", "owners", "tableType")

_DERIVED = ("Derived", "Propagated")
_MEASURED = ("metricExpression", "metricType", "measures", "dimensions", "filters")
_KNOWN_BY_TITLE = ("dashboard", "chart")
"""What is called by a number where it comes from."""


# What a metric tells of its use, as it was found in queries: who measures it, how often and of which rows.


def _metric_use(document: Mapping[str, Any]) -> Json:
    """Of the document of a metric: `runs`, `users`, `lastRun` (ISO), `filters`, `anyLiteral`, `variants`, `view`.

    What is not there, or is not what it should be, is left out.
    """
    extension = document.get("extension")
    found = extension.get(FILED_ENTITY) if isinstance(extension, dict) else None
    if not isinstance(found, dict):
        return {}
    answer: Json = {key: texts for key in _LISTS if (texts := _texts(found.get(key)))}
    if isinstance(found.get("runs"), int) and not isinstance(found["runs"], bool):
        answer["runs"] = found["runs"]
    if isinstance(found.get("last_run"), str):
        answer["lastRun"] = found["last_run"]
    if found.get("any_literal") is True:
        answer["anyLiteral"] = True
    if names := _texts(found.get("variant_of")):
        answer["variants"] = [{"name": name, "fullyQualifiedName": build_fqn(encode_name(name))} for name in names]
    view = found.get("view")
    if isinstance(view, dict) and isinstance(view.get("sql"), str):
        name = view.get("name")
        answer["view"] = {"name": name if isinstance(name, str) else "", "sql": view["sql"]}
    return answer


def _texts(given: object) -> list[str]:
    return [one for one in given if isinstance(one, str) and one][:_MOST] if isinstance(given, list) else []


# Cards, and the edges between them.


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to go: hops on each side, and at most so many entities."""

    upstream: int
    downstream: int
    limit: int


def explore(
    connection: Connection,
    roots: Sequence[EntityRow],
    reach: Reach,
    window: Window,
    origins: Origins | None = None,
) -> Json:
    """Cards and edges around `roots`, nearest first, with everything each producer says (of columns of `origins`)."""
    walk = _Walk(connection, window.moment, reach.limit, {row.id for row in roots})
    walk.go(reach.upstream, upstream=True)
    walk.go(reach.downstream, upstream=False)
    inside = walk.inside
    rows = {row.id: row for row in roots}
    rows |= any_rows_of(connection, inside - rows.keys())
    edges = _edges(connection, rows, window.moment, origins)
    neighbours = _hidden_neighbours(connection, inside, window.moment)
    usage = uses(connection, sorted(inside))
    tests = tests_of(connection, sorted(inside), window.moment.as_of)
    levels = levels_of(connection, window.moment.as_of, inside)
    past = entities_at(connection, sorted(inside), window.moment.as_of)
    shown = None if origins is None else origins.paths()
    nodes = []
    for row in sorted(rows.values(), key=lambda row: row.fqn):
        node = _card(row, past.get(row.id), window.moment.as_of, None if shown is None else shown.get(row.id, ()))
        node["hidden"] = neighbours.get(row.id, {"upstream": 0, "downstream": 0})
        node["usage"] = usage.get(row.id, {"reads": 0})
        if row.type == "table" and levels.get(row.id) is not CoverageLevel.COLUMNS:
            node["coverage"] = levels.get(row.id, CoverageLevel.NONE).value
        if row.id in tests:
            node["tests"] = tests[row.id]
        nodes.append(node)
    return {
        "roots": [row.id for row in roots],
        "window": window.answer(),
        "nodes": nodes,
        "edges": edges,
        "truncated": walk.truncated,
    }


def named_columns(
    connection: Connection, origins: Origins, moment: Moment
) -> tuple[dict[str, str], dict[str, ColumnNode]]:
    """The names of a column's origins, and the nodes of those of their columns that were met, by their full names."""
    rows = any_rows_of(connection, set(origins.entities))
    past = entities_at(connection, sorted(rows), moment.as_of)
    shown = origins.paths()
    nodes: dict[str, ColumnNode] = {
        f"{row.fqn}.{path}": (row.id, path)
        for row in sorted(rows.values(), key=lambda row: row.fqn)
        if row.id in shown
        for path in _paths_among(shown[row.id], row, past.get(row.id))
    }
    return {row.id: row.fqn for row in rows.values()}, nodes


def _paths_among(wanted: Collection[str], row: EntityRow, past: PastEntity | None) -> Iterable[str]:
    """Those of the paths that the entity has."""
    # of a hundred columns a few are wanted: their names are found without taking the document apart
    if past is None and row.type == "table":
        named = partial(columns_of.names_column, row.document, row.fqn)
        if all(map(named, wanted)):
            return sorted(wanted)
    return (path for path in _paths(row, past) if path in wanted)


def _paths(row: EntityRow, past: PastEntity | None) -> Iterable[str]:
    if past is not None and row.type in columns_of.WITH_COLUMNS:
        return (column["path"] for column in past.columns)
    columns = columns_of.of_entity(row.type, loads(row.document))
    return (path for path, _position, _column in columns_of.walk(columns))


class _Walk:
    """Hops outwards from the roots until the limit of cards is met."""

    def __init__(self, connection: Connection, moment: Moment, limit: int, roots: set[str]) -> None:
        self.inside = set(roots)
        self.truncated = False
        self._connection = connection
        self._moment = moment
        self._limit = limit
        self._roots = roots

    def go(self, depth: int, *, upstream: bool) -> None:
        """Takes in what lies within `depth` hops on one side."""
        walk = Walk(self._roots, table_hops(self._connection, self._moment, upstream=upstream))
        for _ in walk.levels(depth):
            for identifier in sorted(walk.frontier):
                if len(self.inside) >= self._limit:
                    self.truncated = self.truncated or identifier not in self.inside
                else:
                    self.inside.add(identifier)
            walk.frontier = [identifier for identifier in walk.frontier if identifier in self.inside]


def _edges(
    connection: Connection, rows: Mapping[str, EntityRow], moment: Moment, origins: Origins | None
) -> list[Json]:
    """Every edge between the entities of these `rows`, with what is said of the columns of `origins`, or all."""
    found = _contributions_within(connection, rows.keys(), moment, origins)
    identifiers = sorted({one.contribution_id for views in found.values() for one in views})
    times = reads.sights_of(connection, identifiers, moment.as_of)
    return [_edge(edge, views, rows, times) for edge, views in sorted(found.items())]


def _contributions_within(
    connection: Connection, inside: Collection[str], moment: Moment, origins: Origins | None
) -> Edges:
    if origins is None or origins.cut:
        seen = with_unseen(connection, reads.contributions_within(connection, inside, moment), moment)
    else:
        seen = {edge: list(views) for edge, views in origins.views.items()}
    if origins is not None:
        paths = origins.paths()
        about = [one for views in seen.values() for view in views if (one := _about(view, paths))]
        seen = defaultdict(list)
        for one in reads.with_statements(connection, about):
            seen[one.edge].append(one)
    return with_verdicts(connection, seen, moment)


def _about(view: ContributionView, paths: Mapping[str, Collection[str]]) -> ContributionView | None:
    """What a contribution says of the making of some entities' columns, and of whole tables; None where nothing."""
    if not has_columns(view.content):
        return view
    kept = columns_about(view.content, paths.get(view.to_id, ()), upstream=True)
    return view._replace(content=with_columns(view.content, kept)) if kept else None


def _hidden_neighbours(connection: Connection, inside: set[str], moment: Moment) -> dict[str, dict[str, int]]:
    counts = {identifier: {"upstream": 0, "downstream": 0} for identifier in inside}
    for side, upstream in (("upstream", True), ("downstream", False)):
        outside = reads.count_neighbours(connection, inside, upstream=upstream, moment=moment)
        for identifier, number in outside.items():
            counts[identifier][side] = number
    return counts


def _card(row: EntityRow, past: PastEntity | None, as_of: int | None, shown: Collection[str] | None = None) -> Json:
    """An entity as it is drawn, with those of its columns that are `shown`, by their paths (None: all)."""
    document = loads(row.document)
    if past is not None:
        document = {key: value for key, value in document.items() if key not in _CHANGING} | past.attributes
    card: Json = {"id": row.id, "type": row.type, "name": document["name"], "fullyQualifiedName": row.fqn}
    if row.type in _KNOWN_BY_TITLE and document.get("displayName"):
        card["name"] = document["displayName"]
    for key in (*_CHANGING, "fullPath", "serviceType", "sourceUrl", "dashboardType"):
        if document.get(key) is not None:
            card[key] = document[key]
    card |= _tags(document)
    if row.type == "metric":
        card["metric"] = {key: document[key] for key in _MEASURED if document.get(key)}
        if use := _metric_use(document):
            card["metric"]["use"] = use
    for key in ("service", "database", "databaseSchema"):
        if document.get(key) is not None:
            card[key] = document[key]["name"]
    # a log may be older than what it speaks of is known: then it was there, and is taken to have been as it is
    if row.deleted if as_of is None else past is not None and not past.there:
        card["deleted"] = True
    if past is None and as_of is not None:
        card["assumed"] = True
    if past is None or row.type not in columns_of.WITH_COLUMNS:
        listed = columns_of.walk(columns_of.of_entity(row.type, document))
        card["columns"] = _columns(row.fqn, (one for one in listed if shown is None or one[0] in shown))
    else:
        card["columns"] = [
            {**column, "fullyQualifiedName": f"{row.fqn}.{column['path']}"}
            for column in past.columns
            if shown is None or column["path"] in shown
        ]
    return card


def _tags(document: Json) -> Json:
    """The tags of an entity or a column, and why those are there that came along lineage."""
    labels = document.get("tags") or ()
    answer: Json = {"tags": [label["tagFQN"] for label in labels]} if labels else {}
    derived = [
        {"tag": label["tagFQN"], "reason": label.get("reason") or ""}
        for label in labels
        if label.get("labelType") in _DERIVED
    ]
    return answer | ({"derivedTags": derived} if derived else {})


def _columns(name: str, columns: Iterable[tuple[str, int, Json]]) -> list[Json]:
    answers = []
    for path, position, column in columns:
        answer = {"path": path, "fullyQualifiedName": f"{name}.{path}", **columns_of.shape(position, column)}
        answer["name"] = column["name"]
        if column.get("description"):
            answer["description"] = column["description"]
        answers.append(answer | _tags(column) if column.get("tags") else answer)
    return answers


def _edge(
    edge: tuple[str, str], views: list[ContributionView], rows: Mapping[str, EntityRow], times: dict[int, Seen]
) -> Json:
    names = rows[edge[0]].fqn, rows[edge[1]].fqn
    answer: Json = {"from": edge[0], "to": edge[1], "contributions": [contribution(one, names, times) for one in views]}
    verdicts = {key: verdict for one in views for key, verdict in one.verdicts.items()}
    return answer | ({"verdicts": _verdicts(verdicts, names)} if verdicts else {})


def _verdicts(verdicts: Mapping[VerdictKey, Verdict], names: tuple[str, str]) -> list[Json]:
    """Who says what of an edge, and who tells otherwise; both ends without a column where only tables are known."""

    def full_name(table: str, path: str | None) -> str | None:
        return f"{table}.{path}" if path is not None else None

    return [
        {"from": full_name(names[0], path), "to": full_name(names[1], to), "type": type_, **verdict.to_json()}
        for (path, to, type_), verdict in verdicts.items()
    ]


def contribution(one: ContributionView, names: tuple[str, str], times: dict[int, Seen]) -> Json:
    """What one producer says, with all that is known of it."""
    seen = times.get(one.contribution_id)
    answer: Json = {
        "producer": {"kind": one.kind, "key": one.key},
        "witness": witness_of(one.kind, one.source),
        "source": one.source,
        "since": one.start,
        "firstSeen": seen.first if seen is not None else one.start,
        "lastSeen": seen.last if seen is not None else one.last_seen,
        "count": seen.count if seen is not None else 0,
        "columns": [
            _column(column, names) | _not_seen(one, column.get("to")) if one.unseen else _column(column, names)
            for column in one.content.get("columns") or ()
        ],
    }
    keys = {"sql": "sqlQuery", "temp": "tempLineageTables"}
    for key in ("sql", "parser", "confidence", "description", "author", "pipeline", "temp"):
        if one.content.get(key) is not None:
            answer[keys.get(key, key)] = one.content[key]
    if one.jobs:
        answer["jobs"] = list(one.jobs)
    return answer


def _not_seen(one: ContributionView, column: str | None) -> Json:
    unseen = one.unseen.get(column)
    return {"notSeen": unseen.to_json()} if unseen is not None else {}


def _column(column: Json, names: tuple[str, str]) -> Json:
    target = column.get("to")
    return {
        "from": [f"{names[0]}.{path}" for path in column["from"]],
        "to": f"{names[1]}.{target}" if target is not None else None,
        "type": column.get("type", "DIRECT"),
        "subtype": column.get("subtype"),
        "masking": column.get("masking", False),
        "expression": column.get("expression"),
        "certain": column.get("certain", True),
    }
