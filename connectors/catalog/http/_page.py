# ruff: noqa: N815 — the names are the wire's
"""The page, its files, and the calls that only the page makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import Field

from connectors.catalog.contract.errors import bad_request, not_found
from connectors.catalog.contract.models import Id, Millis, Model, Name
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Store, named_entity, reply
from connectors.catalog.http._questions import AtMoment
from connectors.catalog.http._questions import Name as EntityName
from connectors.catalog.page.html import ASSETS, BUNDLE, POLICY, asset, bundled_script, hosted_page
from connectors.catalog.picture import areas, neighbourhood
from connectors.catalog.picture.whereabouts import whereabouts
from connectors.catalog.questions import lineage
from connectors.catalog.questions.file import left_out
from connectors.catalog.questions.freshness import freshness_of
from connectors.catalog.questions.start_lists import SHOWN, start_lists
from connectors.catalog.store.evidence.loads import failed_last_loads
from connectors.catalog.store.lineage.window import moments, window

ASSETS_PATH = "explorer"
MAX_CARDS = 2_000
router = APIRouter(tags=["explorer"], responses=ERRORS)


class Step(Model):
    """An entity, and how many hops to go from it."""

    entity: Name
    upstream: Annotated[int, Field(ge=0, le=100)] = 0
    downstream: Annotated[int, Field(ge=0, le=100)] = 0


class Picture(Model):
    """What to show, and the moment and age of what is said (milliseconds, days; 0 days: any age)."""

    steps: Annotated[list[Step], Field(min_length=1, max_length=2_000)]
    asOf: Annotated[int | None, Field(ge=0, le=2**53)] = None
    days: Annotated[int | None, Field(ge=0, le=100_000)] = None
    limit: Annotated[int, Field(ge=1, le=MAX_CARDS)] = 400
    beside: Annotated[int | None, Field(ge=1, le=MAX_CARDS)] = None


@dataclass(frozen=True, slots=True)
class TablesQuery:
    """Which of the tables around or in an entity."""

    entity: EntityName
    q: Annotated[str, Query(max_length=1_000)] = ""
    sort: Annotated[str, Query(pattern="^(used|name|changed)$")] = neighbourhood.USE
    start: Annotated[int, Query(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, Query(ge=1, le=500)] = 50

    def page(self, *, upstream: bool) -> neighbourhood.NeighbourPage:
        """The same for the store."""
        return neighbourhood.NeighbourPage(upstream, self.q, self.sort, self.start, self.limit)


@router.get("/", include_in_schema=False)
def page() -> Response:
    """The explorer."""
    return _file(hosted_page(ASSETS_PATH), "text/html; charset=utf-8")


@router.get(f"/{ASSETS_PATH}/{{name:path}}", include_in_schema=False)
def page_file(name: str) -> Response:
    """A file of the page."""
    if name == BUNDLE:
        return _file(bundled_script(), "text/javascript; charset=utf-8")
    if name not in ASSETS:
        raise not_found("file", name)
    return _file(asset(name), ASSETS[name])


@router.post("/api/v1/headwater/picture", dependencies=[NO_CONDITION])
def picture(store: Store, request: Picture) -> Response:
    """Cards and edges around several entities, each with its own reach."""
    steps = [neighbourhood.NeighbourhoodStep(step.entity, step.upstream, step.downstream) for step in request.steps]
    with store.read() as connection:
        span = window(connection, request.asOf, request.days)
        return reply(neighbourhood.picture(connection, steps, request.limit, span, request.beside))


@router.get("/api/v1/headwater/neighbours")
def neighbour_page(
    store: Store,
    asked: Annotated[TablesQuery, Depends()],
    side: Annotated[str, Query(pattern="^(upstream|downstream)$")],
    when: AtMoment,
    base: Annotated[int | None, Query(alias="from", ge=0, le=2**53)] = None,
) -> Response:
    """The entities that one reads (`side` upstream) or is read by (downstream), page by page.

    Those of the moment `from` too, where it is given, each that differs with its change; observations of any age count.
    """
    if base is not None and when.as_of is not None and when.as_of < base:
        raise bad_request("asOf must not be before from")
    with store.read() as connection:
        row = named_entity(connection, asked.entity)
        page = asked.page(upstream=side == "upstream")
        if base is None:
            return reply(neighbourhood.neighbours(connection, row, page, window(connection, when.as_of, when.days)))
        before, after = (window(connection, moment, 0) for moment in (base, when.as_of))
        return reply(neighbourhood.neighbours(connection, row, page, after, before))


@router.get("/api/v1/headwater/areas")
def area_graph(
    store: Store,
    when: AtMoment,
    level: Annotated[str | None, Query(pattern="^(schemas|services)$")] = None,
    service: EntityName | None = None,
) -> Response:
    """Schemas or services (`level`), with how many edges there are between their tables."""
    with store.read() as connection:
        return reply(areas.areas(connection, level, service, window(connection, when.as_of, when.days)))


@router.get("/api/v1/headwater/areas/tables")
def tables_of_area(store: Store, asked: Annotated[TablesQuery, Depends()]) -> Response:
    """The tables of a schema or a service, page by page."""
    with store.read() as connection:
        return reply(areas.area_tables(connection, asked.entity, asked.page(upstream=False)))


@router.get("/api/v1/headwater/upstream")
def upstream(store: Store, entity: EntityName, column: EntityName, when: AtMoment) -> Response:
    """Cards and edges of everything that a column (its path in the entity) comes from, with the columns on the way."""
    with store.read() as connection:
        row = named_entity(connection, entity)
        span = window(connection, when.as_of, when.days)
        return reply(neighbourhood.origins_graph(connection, (row.id, column), MAX_CARDS, span))


@dataclass(frozen=True, slots=True)
class WayQuery:
    """The two ends of a way: entities, or columns of them by their paths."""

    source: Annotated[EntityName, Query(alias="from")]
    target: Annotated[EntityName, Query(alias="to")]
    from_column: Annotated[EntityName | None, Query(alias="fromColumn")] = None
    to_column: Annotated[EntityName | None, Query(alias="toColumn")] = None


@router.get("/api/v1/headwater/way")
def way(store: Store, asked: Annotated[WayQuery, Depends()], when: AtMoment) -> Response:
    """The shortest of the strongest ways from one table or column down to another, else from that to the first.

    It is looked for in the whole catalog; without a station no way is known.
    """
    with store.read() as connection:
        ends = (asked.source, asked.from_column), (asked.target, asked.to_column)
        start, end = ((named_entity(connection, name).id, path) for name, path in ends)
        moment = window(connection, when.as_of, when.days).moment
        found = lineage.paths(connection, start, end, moment)
        if not found.content.hops:
            found = lineage.paths(connection, end, start, moment)
        stations = [one.to_json() for one in found.content.stations]
        return reply({"stations": stations, "truncated": bool(found.cut)})


@router.get("/api/v1/headwater/window")
def asked_window(store: Store, when: AtMoment) -> Response:
    """The window that a moment is read through, and what of the catalog it hides, in words: "" where nothing."""
    with store.read() as connection:
        span = window(connection, when.as_of, when.days)
        return reply({**span.answer(), "leftOut": left_out(connection, span, "“Observed within any time”")})


@router.get("/api/v1/headwater/whereabouts")
def where(store: Store, name: EntityName) -> Response:
    """Where an entity went that is not there under this name, and what is called nearly so."""
    with store.read() as connection:
        return reply(whereabouts(connection, name))


@router.get("/api/v1/headwater/beginnings")
def beginnings(store: Store) -> Response:
    """How much there is to see."""
    with store.read() as connection:
        return reply(neighbourhood.beginnings(connection, window(connection, None, None)))


@router.get("/api/v1/headwater/beginnings/lists")
def beginning_lists(store: Store, limit: Annotated[int, Query(ge=1, le=100)] = SHOWN) -> Response:
    """Tables that changed lately, are used most, failed lately, or whose source is not known: so many of each."""
    with store.read() as connection:
        return reply(start_lists(connection, limit).content.to_json())


class Cards(Model):
    """Entities by their ids."""

    entities: Annotated[list[Id], Field(max_length=MAX_CARDS)]


@router.post("/api/v1/headwater/states", dependencies=[NO_CONDITION])
def states(store: Store, request: Cards) -> Response:
    """When entities were written last and whether that is late, and the last load of those of which it failed."""
    with store.read() as connection:
        asked = {one.lower() for one in request.entities}
        found = freshness_of(connection, asked)
        failed = {one.entity_id: one for one in failed_last_loads(connection) if one.entity_id in asked}
        return reply(
            {
                identifier: {"state": one.state.value, "last": one.last, "due": one.due}
                | ({"failed": failed[identifier].at} if identifier in failed else {})
                for identifier, one in found.items()
            }
        )


def _file(text: str, media_type: str) -> Response:
    return Response(text, media_type=media_type, headers={"content-security-policy": POLICY})


# What the page asks of the past: when anything changed, and a picture before and after.


class Difference(Model):
    """What to show, and the two moments to compare (milliseconds; `to` None: now); observations of any age count."""

    steps: Annotated[list[Step], Field(min_length=1, max_length=2_000)]
    from_: Annotated[Millis, Field(alias="from")]
    to: Millis | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_CARDS)] = 400
    beside: Annotated[int | None, Field(ge=1, le=MAX_CARDS)] = None


@router.get("/api/v1/headwater/moments")
def list_moments(store: Store, limit: Annotated[int, Query(ge=1, le=2_000)] = 200) -> Response:
    """When anything changed: the stops of the page's slider."""
    with store.read() as connection:
        return reply(moments(connection, limit))


@router.post("/api/v1/headwater/picture/difference")
def difference(store: Store, request: Difference) -> Response:
    """The same cards at two moments, with the edges between them then."""
    if request.to is not None and request.to < request.from_:
        raise bad_request("to must not be before from")
    steps = [neighbourhood.NeighbourhoodStep(step.entity, step.upstream, step.downstream) for step in request.steps]
    with store.read() as connection:
        windows = (window(connection, request.from_, 0), window(connection, request.to, 0))
        return reply(neighbourhood.difference(connection, steps, (request.limit, request.beside), windows))
