"""Every question that follows lineage tells the same ways with the same strengths, on catalogs made at random."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph
from connectors.catalog.picture.neighbourhood import NeighbourPage, graph_document, neighbours
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.diff import diff
from connectors.catalog.questions.explain import explain
from connectors.catalog.questions.file import named_node
from connectors.catalog.questions.impact import impact
from connectors.catalog.questions.lineage import DOWN, LineageReach, lineage, paths
from connectors.catalog.questions.proposed_change.question import ChangeOptions, change_report
from connectors.catalog.questions.proposed_change.report import EffectKind
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.questions.why.ranking import UpstreamPaths
from connectors.catalog.questions.why.search import cause_report
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.indexes import most_used
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import NOW
from connectors.catalog.store.lineage.window import DAY, Window, window
from ingestion.policies import Policy, PolicyRule, TaggedColumns, propagate
from ingestion.scripts.explanation import explain as explain_in_document
from ingestion.walk import DIRECT, INDIRECT, STRENGTHS, TABLE, Budget, ColumnNode, node_name, strongest_ways
from tests.support.examples import examples
from tests.support.made_catalog import AT, MadeCatalog
from tests.support.random_edges import COLUMNS, TABLES, MadeEdge, edge_lists

HOME = "made.main.public"
START = f"{HOME}.a.x"
Strengths = dict[str, tuple[str, int]]
"""The strength of the way to each name, and its hops."""
random_graphs = settings(max_examples=examples(30), deadline=None)


@dataclass(frozen=True)
class Asked:
    """A catalog with some edges, all of one table's by one statement, and its tables' ids."""

    connection: Connection
    ids: dict[str, str]
    graph: CatalogGraph

    def node(self, name: str) -> ColumnNode:
        """The node of a name."""
        table = table_of(name)
        return self.ids[table], name.removeprefix(table).removeprefix(".") or None

    def name(self, node: ColumnNode) -> str:
        """The full name of a node."""
        (table,) = (name for name, identifier in self.ids.items() if identifier == node[0])
        return ".".join(filter(None, (table, node[1])))

    def impact(self, name: str) -> Strengths:
        """What impact tells."""
        answer = impact(self.connection, self.node(name), window(self.connection, None, 0))
        assert not answer.cut
        return {one.name: (one.strength, len(one.hops)) for one in answer.content.reached}

    def origins(self, name: str) -> Strengths:
        """The same against the flow of data."""
        ways = strongest_ways(self.node(name), self.graph.upstream.hops).found.values()
        return {self.name(way.node): (way.strength, len(way.hops)) for way in ways if way.hops}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeCatalog]:
    """A catalog of tables."""
    made = MadeCatalog(tmp_path_factory.mktemp("made") / "catalog.db")
    made.add_tables({f"{HOME}.{table}": COLUMNS for table in TABLES}, at=AT - 10)
    yield made
    made.close()


@contextmanager
def catalog_of(made: MadeCatalog, edges: list[MadeEdge], at: int = AT, apart: int = 0) -> Iterator[Asked]:
    """The catalog with these edges, each seen last so many milliseconds before the one before it."""
    columns: dict[tuple[str, str], list[dict[str, object]]] = {}
    for edge in dict.fromkeys(edges):
        found = columns.setdefault((edge.source[0], edge.target[0]), [])
        if edge.source[1] is not None:
            source, target = (f"{HOME}.{table}.{path}" if path else None for table, path in (edge.source, edge.target))
            found.append({"from": [source], "to": target, "type": edge.type, "certain": edge.certain})
    contributions = [
        (
            f"{HOME}.{source}",
            f"{HOME}.{target}",
            {
                "producer": {"kind": "query", "key": target},
                "columns": found,
                "sqlQuery": f"INSERT {target}",
                "jobs": [f"nightly.{target}", "hourly"],
                "firstSeen": at - number * apart,
                "lastSeen": at - number * apart,
            },
        )
        for number, ((source, target), found) in enumerate(columns.items())
    ]
    with made.with_edges(contributions, at) as connection:
        ids = {f"{HOME}.{table}": made.id_of(f"{HOME}.{table}") for table in TABLES}
        yield Asked(connection, ids, CatalogGraph(connection))


def origins_document(asked: Asked, name: str, span: Window, *, with_statements: bool = True) -> dict[str, Any]:
    """The graph of what a column comes from, walked with the statements or without."""
    graph = CatalogGraph(asked.connection, span.moment, with_statements=with_statements)
    found = graph.behind(asked.node(name), 100)
    return graph_document(asked.connection, found.entities, span, found)


def best(found: Strengths, name: str) -> tuple[int, int] | None:
    """Of what is told of a column, of its table, or of any column of a table, the strongest and nearest."""
    ranks = (
        (STRENGTHS.index(strength), hops)
        for other, (strength, hops) in found.items()
        if other == name or other.startswith(f"{name}.") or name.startswith(f"{other}.")
    )
    return min(ranks, default=None)


def of_strength(found: Strengths, strength: str) -> Strengths:
    """What is tied so."""
    return {name: one for name, one in found.items() if one[0] == strength}


def table_of(name: str) -> str:
    """The full name of a column's table; of a table itself its own."""
    return ".".join(name.split(".")[:4])


def column_names(but: str = "") -> Iterator[str]:
    """The full names of all columns of the tables, without those of one table."""
    return (f"{HOME}.{table}.{column}" for table in TABLES if table != but for column in COLUMNS)


@random_graphs
@given(edge_lists())
def test_impact_is_the_mirror_of_what_a_column_comes_from(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, edges) as asked:
        reached = asked.impact(START)
        for name in column_names(but="a"):
            assert best(reached, name) == best(asked.origins(name), START)


@random_graphs
@given(edge_lists())
def test_why_tells_of_columns_what_impact_tells(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    """Tables are tied by their rows too, to why: whose columns bring nothing in still decide which rows there are."""
    with catalog_of(made, edges) as asked:
        tables = LocalTables(asked.connection, NOW)
        ways = UpstreamPaths(tables.dependencies([one.fqn for one in tables.all()]))
        for name in column_names():
            table, _, column = name.rpartition(".")
            found = {".".join(filter(None, one)): way for one, way in ways.upstream_of((table, column)).items()}
            expected = asked.origins(name)
            for strength in (DIRECT, INDIRECT):
                ties = {one: (way.strength, way.hops) for one, way in found.items() if one != name}
                assert of_strength(ties, strength) == of_strength(expected, strength)
            assert {table_of(one) for one in expected} <= {table_of(one) for one in found}


@random_graphs
@given(edge_lists())
def test_an_explanation_has_the_columns_that_impact_leads_from(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, [edge for edge in edges if edge.certain]) as asked:
        for name in (f"{HOME}.{table}.x" for table in TABLES):
            explanation = explain(asked.connection, name, window(asked.connection, None, 0)).content
            expected = {one: tie for one, tie in asked.origins(name).items() if tie[0] != TABLE}
            assert explanation.hops.keys() - {name} == expected.keys()
            arriving, deciding = explanation.base_columns()
            assert set(arriving) <= of_strength(expected, DIRECT).keys()
            assert set(deciding) <= of_strength(expected, INDIRECT).keys()


@random_graphs
@given(edge_lists())
def test_a_tag_travels_where_values_flow_and_by_the_same_ways(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, edges) as asked:
        tables = LocalTables(asked.connection, NOW)
        known = [one.fqn for one in tables.all()]
        columns = dict.fromkeys(known, COLUMNS)
        tagged = TaggedColumns(
            {(f"{HOME}.a", "x"): frozenset({"PII"})}, columns, tuple(tables.dependencies(known, upstream=False))
        )
        derived = propagate(tagged, Policy((PolicyRule("PII"),))).derived
        lengths = {node_name(one): (DIRECT, len(tags["PII"]) - 1) for one, tags in derived.items()}
        assert lengths == of_strength(asked.impact(START), DIRECT)


@random_graphs
@given(edge_lists())
def test_a_difference_tells_what_impact_tells_of_the_target(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, edges) as asked:
        changes = diff(asked.connection, AT - 1, AT + 1).content.lineage
        assert {(one.from_entity, one.to_entity) for one in changes} == {
            (f"{HOME}.{edge.source[0]}", f"{HOME}.{edge.target[0]}") for edge in edges
        }
        for change in changes:
            reached = {name: tie for name, (tie, _) in asked.impact(change.to_entity).items()}
            assert dict(change.reaches.named) == {change.to_entity: DIRECT, **reached}


@random_graphs
@given(edge_lists())
def test_answers_of_lineage_and_of_paths_are_those_of_impact(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, edges) as asked:
        start, reached = asked.node(START), asked.impact(START)
        found = lineage(asked.connection, start, NOW, LineageReach(DOWN, 0))
        targets = {one.edge.target.removesuffix(".*") for one in found.content.seen}
        assert targets - {START} == reached.keys() - {START}
        for name in column_names(but="a"):
            way = paths(asked.connection, start, asked.node(name), NOW).content
            rank = (STRENGTHS.index(way.strength), way.hops) if way.hops else None
            assert rank == best(reached, name)


@settings(max_examples=examples(12), deadline=None)
@given(edge_lists())
def test_a_column_that_is_to_be_dropped_breaks_what_impact_tells(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, edges) as asked:
        options = ChangeOptions(ddl="ALTER TABLE public.a DROP COLUMN x", dialect="postgres")
        (change,) = change_report(asked.connection, options, NOW).content.changes
        told = {one.name: (one.kind, len(one.path) - 1) for one in change.effects}
        reached = asked.impact(START).items()
        assert told == {
            name: (EffectKind.UNCERTAIN if tie == TABLE else EffectKind.BREAKS, hops) for name, (tie, hops) in reached
        }


@settings(max_examples=examples(12), deadline=None)
@given(edge_lists())
def test_what_is_read_alone_is_what_all_of_it_has_of_it(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    """Of a column the columns on the way, of a picture the edges between its tables: no answer differs by the rest."""
    with catalog_of(made, edges) as asked:
        connection, span = asked.connection, window(asked.connection, None, 0)
        whole = graph_document(connection, list(asked.ids.values()), span)
        for name in (f"{HOME}.{table}.y" for table in TABLES):
            alone, among_all = explain(connection, name, span).content, explain_in_document(whole, name)
            assert alone.to_json() == among_all.to_json()
            assert origins_document(asked, name, span) == origins_document(asked, name, span, with_statements=False)
        some = {identifier for name, identifier in asked.ids.items() if name < f"{HOME}.d"}
        around = reads.contributions_around(connection, some, upstream=False)
        assert reads.contributions_within(connection, some) == {
            edge: views for edge, views in around.items() if edge[1] in some
        }
        for upstream in (True, False):
            pairs = reads.neighbours(connection, some, upstream=upstream)
            outside = Counter(pair[upstream] for pair in pairs if pair[not upstream] not in some)
            assert reads.count_neighbours(connection, some, upstream=upstream) == outside
            ends = {one: {pair[not upstream] for pair in pairs if pair[upstream] == one} for one in some}
            for most in (1, 2):
                hubs = reads.hubs(connection, some, most, upstream=upstream)
                assert hubs == {one for one, others in ends.items() if len(others) > most}
                for row in any_rows_of(connection, some).values():
                    page = neighbours(connection, row, NeighbourPage(upstream, limit=most), span)
                    listed = [one["entity"]["id"] for one in page["entities"]]
                    assert listed == most_used(connection, ends[row.id] - {row.id}, most)


@settings(max_examples=examples(5), deadline=None)
@given(edge_lists())
def test_of_what_many_read_the_readers_are_told_as_of_anything_else(made: MadeCatalog, edges: list[MadeEdge]) -> None:
    with catalog_of(made, edges, apart=DAY // 3) as asked:
        connection = asked.connection
        for days in (0, 1, 2):
            span = window(connection, None, days)
            plain, as_hubs = (_readers(connection, asked, span, least) for least in (1_000, 0))
            assert plain == as_hubs


def _readers(connection: Connection, asked: Asked, span: Window, least: int) -> list[object]:
    """Counts and pages of what reads each table, of which one that more than `least` read is a hub."""
    pages = [
        NeighbourPage(upstream=False, limit=limit, words=words, start=start)
        for limit, start in ((1, 0), (2, 1), (9, 0))
        for words in ("", "a", "public b")
    ]
    rows = sorted(any_rows_of(connection, set(asked.ids.values())).values(), key=lambda row: str(row.fqn))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reads, "_MANY_READERS", least)
        some = [[row.id for row in rows[:number]] for number in range(1, len(rows))]
        counts = [reads.count_neighbours(connection, ids, upstream=False, moment=span.moment) for ids in some]
        return [*counts, *(neighbours(connection, row, page, span) for row in rows for page in pages)]


CHAIN = [MadeEdge((one, "x"), (other, "x"), DIRECT) for one, other in pairwise(TABLES)]
END = f"{HOME}.f.x"


def every_answer(asked: Asked, begun: int) -> dict[str, Answer[Any]]:
    """What each question answers of the chain that was told of at a time."""
    connection, (start, end) = asked.connection, map(asked.node, (START, END))
    span = window(connection, None, 0)
    return {
        "impact": impact(connection, start, span),
        "diff": diff(connection, begun - 1, begun + 1),
        "explain": explain(connection, END, span),
        "why": cause_report(connection, named_node(connection, END), When()),
        "lineage": lineage(connection, start, NOW, LineageReach(DOWN, 0)),
        "paths": paths(connection, start, end, NOW),
    }


def test_what_a_walk_has_read_goes_with_it(made: MadeCatalog) -> None:
    """Values that refer to each other would wait for a search through all there are, in another question's time."""
    with catalog_of(made, [MadeEdge((TABLES[0], "x"), (TABLES[1], "y"), DIRECT)]) as asked:
        graph = CatalogGraph(asked.connection)
        gc.disable()
        try:
            assert graph.reached_from(asked.node(START))
            assert graph.upstream.edges([asked.ids[f"{HOME}.{TABLES[1]}"]])
            walked = weakref.ref(graph.downstream)
            del graph
            assert walked() is None
        finally:
            gc.enable()


def test_an_answer_that_is_cut_says_so(made: MadeCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    now = now_millis()
    with catalog_of(made, CHAIN, now) as asked:
        assert {name for name, answer in every_answer(asked, now).items() if answer.cut} == set()
        monkeypatch.setattr("connectors.catalog.graph.BUDGET", Budget(nodes=2))
        monkeypatch.setattr("connectors.catalog.questions.lineage._BUDGET", Budget(nodes=2))
        monkeypatch.setattr("connectors.catalog.questions.explain.MAX_CARDS", 2)
        monkeypatch.setattr("connectors.catalog.questions.why.search._MOST_TABLES", 2)
        assert {name for name, answer in every_answer(asked, now).items() if not answer.cut} == set()
