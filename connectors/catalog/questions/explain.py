"""Where a column comes from: base columns, the chain of expressions, the statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph, Origins
from connectors.catalog.picture.cards import MAX_CARDS, named_columns
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.file import asked_window, named_node, open_catalog
from connectors.catalog.store.lineage.column_names import column_names
from connectors.catalog.store.lineage.reads import ContributionView, Moment, StoredEdge, sights_of, statements_of
from connectors.catalog.store.lineage.window import Window
from ingestion.errors import ConfigError
from ingestion.model.witnesses import Verdict
from ingestion.scripts.explanation import ColumnPart, ExplainedContribution, Explanation, HopKey, explanation_of
from ingestion.walk import ColumnNode

_MOST_COLUMNS = 3
_NOWHERE: ColumnNode = ("", None)
_CUT = f"more than {MAX_CARDS} tables are upstream of it: ask of a column that is nearer to them"


def explain_in_file(file: Path, column: str, when: When) -> Answer[Explanation]:
    """The explanation of a column in a catalog's file. Raises ConfigError where it is not there or not just one."""
    with open_catalog(file) as connection:
        return explain(connection, column, asked_window(connection, when))


def explain(connection: Connection, column: str, span: Window) -> Answer[Explanation]:
    """The same of an open catalog, within the window `span`. Raises ConfigError, for the name of a table too."""
    row, path = named_node(connection, column)
    if path is None:
        some = ", ".join(sorted(column_names(connection, row).exact)[:_MOST_COLUMNS])
        raise ConfigError(f"{row.fqn} is a table: name one of its columns{f' ({some}, ...)' if some else ''}")
    graph = CatalogGraph(connection, span.moment, judged=True, with_statements=False)
    behind = graph.behind((row.id, path), MAX_CARDS)
    parts = _StoredParts(connection, graph, behind, span.moment)
    content = explanation_of(f"{row.fqn}.{path}", parts.into, parts.tables)
    return Answer(content, (_CUT,) if behind.cut else ())


class _StoredParts:
    """The parts that columns have in others among a column's origins; `tables` as of `explanation_of`."""

    def __init__(self, connection: Connection, graph: CatalogGraph, origins: Origins, moment: Moment) -> None:
        self._names, self._nodes = named_columns(connection, origins, moment)
        self.tables = {column: self._names[node[0]] for column, node in self._nodes.items()}
        self._edges: dict[ColumnNode, list[StoredEdge]] = defaultdict(list)
        for hop in graph.upstream.hops(list(origins.columns)):
            if hop.edge.column is not None and hop.end[0] in self._names:
                self._edges[hop.start].append(hop.edge)
        views = {id(edge.view): edge.view for edges in self._edges.values() for edge in edges}
        self._contributions = _explained_contributions(connection, views, moment)

    def into(self, column: str) -> list[ColumnPart]:
        """Those in a column, by its full name; none where it is not among the origins."""
        edges = self._edges.get(self._nodes.get(column, _NOWHERE), ())
        # of what several say of an edge the last one's verdict stands
        verdicts = {edge.source + edge.verdict_key: verdict for edge in edges if (verdict := edge.verdict) is not None}
        return [self._part(edge, verdicts.get(edge.source + edge.verdict_key)) for edge in edges]

    def _part(self, edge: StoredEdge, verdict: Verdict | None) -> ColumnPart:
        assert edge.column is not None
        return ColumnPart(
            HopKey(
                f"{self._names[edge.source[0]]}.{edge.source[1]}",
                edge.type,
                edge.subtype,
                edge.column.get("masking", False),
                edge.expression,
                edge.certain,
                within=edge.source[0] == edge.target[0],
            ),
            of_column=edge.target[1] is not None,
            unseen=edge.unseen,
            verdict=verdict,
            contribution=self._contributions[id(edge.view)],
        )


def _explained_contributions(
    connection: Connection, views: Mapping[int, ContributionView], moment: Moment
) -> dict[int, ExplainedContribution]:
    """Some contributions with what their statements are, what ran them and when they were seen, by the same keys."""
    statements = statements_of(connection, list(views.values()))
    times = sights_of(connection, sorted({one.contribution_id for one in views.values()}), moment.as_of)
    return {
        key: ExplainedContribution(
            one.kind,
            one.key,
            statements.text(one) or "",
            one.content.get("parser") or "",
            statements.jobs(one),
            times[one.contribution_id].last if one.contribution_id in times else one.last_seen,
        )
        for key, one in views.items()
    }
