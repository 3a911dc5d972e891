"""The graph of columns of a catalog, read as far as a walk goes: what is read once is kept for the rest of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection

from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from connectors.catalog.store.queries.impact import Node
from ingestion.model import Json

Arrow = tuple[Node, Node, ContributionView, Json | None]
"""Source, target, the contribution that tells of it, and its column edge (None: of the tables alone)."""


class ColumnGraph:
    """Hops between columns, and between tables of which nothing more is known, at one moment."""

    def __init__(self, connection: Connection, moment: Moment) -> None:
        self._connection = connection
        self._moment = moment
        self._views: dict[bool, dict[str, list[ContributionView]]] = {True: {}, False: {}}
        self._names: dict[str, str] = {}

    def name_of(self, node: Node) -> str:
        """The full name of a table or a column that a hop led to, or of one that `learn` was told of."""
        name = self._names[node[0]]
        return name if node[1] is None else f"{name}.{node[1]}"

    def learn(self, identifiers: Iterable[str]) -> None:
        """Reads the names of entities."""
        missing = set(identifiers) - self._names.keys()
        if missing:
            self._names |= {key: row.fqn for key, row in any_rows_of(self._connection, missing).items()}

    def views(self, entities: Iterable[str], *, upstream: bool) -> None:
        """Reads what is told about the edges into (upstream) or out of entities."""
        known = self._views[upstream]
        missing = set(entities) - known.keys()
        known.update({identifier: [] for identifier in missing})
        found = reads.contributions_around(self._connection, missing, upstream=upstream, moment=self._moment)
        for (source, target), views in found.items():
            known[target if upstream else source] += views
        self.learn(end for edge in found for end in edge)

    def around(self, entity: str, *, upstream: bool) -> list[ContributionView]:
        """What is told about the edges of an entity that `views` has read."""
        return self._views[upstream][entity]

    def arrows(self, node: Node, *, upstream: bool) -> Iterator[Arrow]:
        """The hops out of a node, towards its sources (upstream) or what it is used for.

        A whole table has those of all its columns. What acts on every column of a target leads, downstream, to the
        table as a whole.
        """
        entity, path = node
        for view in self._views[upstream][entity]:
            columns = view.content.get("columns") or []
            if not columns and path is None:
                yield (view.from_id, None), (view.to_id, None), view, None
            for column in columns:
                to = column.get("to")
                if upstream and (path is None or to in (path, None)):
                    for source in column["from"]:
                        yield (view.from_id, source), (entity, to if path is None else path), view, column
                elif not upstream:
                    for source in column["from"]:
                        if path in (None, source):
                            yield (entity, source), (view.to_id, to), view, column
