"""Reading what the store remembers: search, graph, impact, diff, history. For pictures, gates and people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from sqlalchemy import Connection

from connectors.catalog.answer.changes import DIFF, IMPACT
from connectors.catalog.answer.coverage import COVERAGE
from connectors.catalog.answer.freshness import FRESHNESS
from connectors.catalog.answer.rendering import Renderings, document
from connectors.catalog.answer.unused import UNUSED
from connectors.catalog.answer.why import WHY
from connectors.catalog.answer.witnesses import WITNESSES
from connectors.catalog.contract.errors import bad_request, not_found
from connectors.catalog.http._context import ERRORS, Store, named_entity, reply
from connectors.catalog.picture import cards, history
from connectors.catalog.questions import diff, impact
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.coverage import coverage_counts, coverage_report
from connectors.catalog.questions.freshness import freshness_report
from connectors.catalog.questions.impact_filter import MOST_ASKED, ImpactFilter
from connectors.catalog.questions.tables import MOST_LISTED, TableListOptions
from connectors.catalog.questions.unused import DAYS, MOST_ITEMS, UnusedOptions, unread_tables, unused_report
from connectors.catalog.questions.why.search import cause_report
from connectors.catalog.questions.witnesses import witnesses
from connectors.catalog.search import names as name_search
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.lineage.column_names import column_names
from connectors.catalog.store.lineage.window import Window, window
from ingestion.errors import ConfigError
from ingestion.model.witnesses import WitnessFilter

router = APIRouter(prefix="/api/v1/headwater", tags=["headwater"], responses=ERRORS)
Millis = Annotated[int, Query(ge=0, le=2**53)]
Name = Annotated[str, Query(min_length=1, max_length=20_000)]
Hops = Annotated[int, Query(ge=0, le=100)]
Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class MomentQuery:
    """When to read: `asOf` a moment, observations of the last `days` (0: any age)."""

    as_of: Annotated[int | None, Query(alias="asOf", ge=0, le=2**53)] = None
    days: Annotated[int | None, Query(ge=0, le=100_000)] = None


@dataclass(frozen=True, slots=True)
class GraphReach:
    """How far a graph goes."""

    upstream: Hops = 1
    downstream: Hops = 1
    limit: Annotated[int, Query(ge=1, le=cards.MAX_CARDS)] = 400

    @property
    def reach(self) -> cards.Reach:
        """The same for the store."""
        return cards.Reach(self.upstream, self.downstream, self.limit)


AtMoment = Annotated[MomentQuery, Depends()]
Witnesses = Annotated[list[str] | None, Query(alias="witness", max_length=20)]
"""Whose edges count: `engine`, `!log`, `disputed`."""


def _asked_window(connection: Connection, when: MomentQuery, witnesses: list[str] | None) -> Window:
    """The window of a call, of the edges of some `witnesses`. Raises ApiError (400) for a word that is no witness."""
    try:
        return window(connection, when.as_of, when.days).of_witnesses(WitnessFilter.of(witnesses or ()))
    except ConfigError as error:
        raise bad_request(str(error)) from error


def _node(connection: Connection, entity: str, column: str | None) -> tuple[EntityRow, str | None]:
    """An entity, and the path of a column in it if one is named."""
    row = named_entity(connection, entity)
    if column is None:
        return row, None
    names = column_names(connection, row, ever=True)
    path = names.path(column) or names.path(f"{row.fqn}.{column}")
    if path is None:
        raise not_found("column", f"{row.fqn}.{column}")
    return row, path


@router.get("/search")
def search(
    store: Store, q: Annotated[str, Query(max_length=1_000)], limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Response:
    """Tables and columns by words, beginnings or parts of their names; `table.column` finds columns.

    Narrowed by `tag:`, `owner:`, `producer:`, `service:`, `used:>100`, `readers:>10`, `new:7d`, `stale:30d` and
    `unread:90d`, each also with `-` before it, and in the order of `sort:` used, readers, new, stale or name.
    """
    with store.read() as connection:
        return reply(name_search.search(connection, q, limit, unread_tables))


@router.get("/search/values")
def search_values(store: Store) -> Response:
    """The tags, owners and producers that a search can be narrowed by."""
    with store.read() as connection:
        return reply(name_search.search_values(connection))


@router.get("/graph")
def graph(
    store: Store,
    root: Annotated[list[Name], Query(max_length=100)],
    reach: Annotated[GraphReach, Depends()],
    when: AtMoment,
    witness: Witnesses = None,
) -> Response:
    """Cards and edges around one or more entities, with everything each producer says."""
    with store.read() as connection:
        rows = [named_entity(connection, name) for name in dict.fromkeys(root)]
        return reply(cards.explore(connection, rows, reach.reach, _asked_window(connection, when, witness)))


@router.get("/causes")
def causes(store: Store, entity: Name, when: AtMoment, column: Name | None = None) -> Response:
    """What may have made an entity or a column wrong at a moment: suspects with their paths, evidence and timeline."""
    with store.read() as connection:
        node = _node(connection, entity, column)
        try:
            answer = cause_report(connection, node, When(when.as_of, when.days))
        except ConfigError as error:
            raise bad_request(str(error)) from error
        return reply(document(answer, WHY))


@dataclass(frozen=True, slots=True)
class ImpactQuery:
    """Of whose edges, only what has such values (`owner:ann`, `degree:1`), and which part of the list."""

    witness: Witnesses = None
    only: Annotated[list[str] | None, Query(max_length=MOST_ASKED)] = None
    start: Annotated[int, Query(ge=0, le=10_000_000)] = 0
    limit: Annotated[int | None, Query(ge=0, le=1_000_000)] = None


@router.get("/impact")
def downstream(
    store: Store,
    entity: Name,
    when: AtMoment,
    asked: Annotated[ImpactQuery, Depends()],
    column: Name | None = None,
) -> Response:
    """Everything downstream of an entity or a column, with one shortest path each.

    `only` (degree, how, owner, tag, tier, type, service or schema, a colon, a value) chooses: of several values of one
    of them one is enough. `facets` count how many have each value; `start` and `limit` give a part of the list.
    """
    with store.read() as connection:
        row, path = _node(connection, entity, column)
        span = _asked_window(connection, when, asked.witness)
        try:
            wanted = ImpactFilter.of(only=asked.only or ())
        except ConfigError as error:
            raise bad_request(str(error)) from error
        answer = impact.impact(connection, (row.id, path), span)
        part = replace(IMPACT, document=lambda found: found.page(asked.start, asked.limit))
        return reply(document(replace(answer, content=answer.content.only(wanted)), part))


@router.get("/witnesses")
def disagreements(
    store: Store, when: AtMoment, entity: Name | None = None, column: Name | None = None, witness: Witnesses = None
) -> Response:
    """Who tells of which column edges, and where they differ: of everything, or of what an entity or column is made of.

    A witness tells otherwise where it has other columns that the target column is made of; others are silent.
    """
    with store.read() as connection:
        node = None
        if entity is not None:
            row, path = _node(connection, entity, column)
            node = row.id, path
        return reply(document(witnesses(connection, node, _asked_window(connection, when, witness)), WITNESSES))


@dataclass(frozen=True, slots=True)
class UnusedQuery:
    """Of which days, of what below which name, and but for whose reading."""

    days: Annotated[int, Query(ge=1, le=36_500)] = DAYS
    as_of: Annotated[int | None, Query(alias="asOf", ge=0, le=2**53)] = None
    under: Name | None = None
    but_for: Annotated[list[str] | None, Query(alias="butFor", max_length=100)] = None
    limit: Annotated[int, Query(ge=1, le=10_000)] = MOST_ITEMS

    @property
    def options(self) -> UnusedOptions:
        """The same for the question."""
        return UnusedOptions(self.days, self.as_of, self.under, tuple(self.but_for or ()), self.limit)


@router.get("/unused")
def list_unused(store: Store, asked: Annotated[UnusedQuery, Depends()]) -> Response:
    """Tables, columns and dashboards that nobody read in so many days, the dearest first, and what the logs cover."""
    return _list(store, lambda connection: unused_report(connection, asked.options), UNUSED)


@dataclass(frozen=True, slots=True)
class TableListQuery:
    """At which moment, of what lies `under` a name, and how many tables at most."""

    as_of: Annotated[int | None, Query(alias="asOf", ge=0, le=2**53)] = None
    under: Name | None = None
    limit: Annotated[int, Query(ge=0, le=100_000)] = MOST_LISTED

    @property
    def options(self) -> TableListOptions:
        """The same for the store."""
        return TableListOptions(self.as_of, self.under, self.limit)


def _list(store: Store, ask: Callable[[Connection], Answer[Content]], how: Renderings[Content]) -> Response:
    """What lies below a name, as JSON. Raises ApiError (400) where there is no such name."""
    with store.read() as connection:
        try:
            return reply(document(ask(connection), how))
        except ConfigError as error:
            raise bad_request(str(error)) from error


@router.get("/coverage")
def list_uncovered(store: Store, asked: Annotated[TableListQuery, Depends()]) -> Response:
    """Of how many tables the source is known by columns, by table or not at all; and the others, each with why not."""
    return _list(store, lambda connection: coverage_report(connection, asked.options), COVERAGE)


@router.get("/coverage/counts")
def count_covered(store: Store) -> Response:
    """Of how many tables the source is known by columns, by table or not at all, now."""
    with store.read() as connection:
        return reply(coverage_counts(connection))


@router.get("/freshness")
def list_freshness(store: Store, asked: Annotated[TableListQuery, Depends()]) -> Response:
    """When each table was written last, by which job and how often, those first that are late by their own rhythm."""
    return _list(store, lambda connection: freshness_report(connection, asked.options), FRESHNESS)


@router.get("/diff")
def changes(
    store: Store, start: Annotated[Millis, Query(alias="from")], end: Annotated[Millis, Query(alias="to")]
) -> Response:
    """Schema and lineage changes between two moments, with what each reaches."""
    if end < start:
        raise bad_request("to must not be before from")
    with store.read() as connection:
        return reply(document(diff.diff(connection, start, end), DIFF))


@router.get("/history")
def entity_history(store: Store, entity: Name) -> Response:
    """Every change of an entity's attributes and name, oldest first."""
    with store.read() as connection:
        return reply(history.of_entity(connection, named_entity(connection, entity)))


@router.get("/edge")
def edge_history(
    store: Store, source: Annotated[Name, Query(alias="from")], target: Annotated[Name, Query(alias="to")]
) -> Response:
    """Everything ever said about one edge, with the intervals in which it was in force."""
    with store.read() as connection:
        ends = named_entity(connection, source), named_entity(connection, target)
        return reply(history.of_edge(connection, ends))


@router.get("/overview")
def overview(store: Store, when: AtMoment) -> Response:
    """How much the store holds, and the window that reads go through."""
    with store.read() as connection:
        return reply(history.overview(connection, window(connection, when.as_of, when.days)))
