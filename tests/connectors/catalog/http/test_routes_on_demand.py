"""Routes that are built late answer like those that were there from the beginning."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from starlette.routing import BaseRoute

from connectors.catalog.http._routes_on_demand import RoutesOnDemand, all_routes


def test_routes_on_demand_are_built_by_the_first_call_to_them() -> None:
    times: list[str] = []

    def build() -> list[BaseRoute]:
        times.append("built")
        router = APIRouter()
        router.get("/things")(lambda: "all")
        router.get("/things/{name}")(lambda name: f"one: {name}")
        router.delete("/things/{name}")(lambda name: f"gone: {name}")
        return router.routes

    early = APIRouter()
    early.get("/things/first")(lambda: "early")
    early.get("/thingsabout")(lambda: "another")
    client = TestClient(FastAPI(routes=[*early.routes, RoutesOnDemand("/things", build)]))

    assert client.get("/things/first").json() == "early"
    assert client.get("/thingsabout").json() == "another"
    assert client.get("/nothing").status_code == 404
    assert times == []
    assert client.get("/things").json() == "all"
    assert client.get("/things/a").json() == "one: a"
    assert client.delete("/things/a").json() == "gone: a"
    assert client.put("/things/a").status_code == 405
    assert client.get("/things/a/b").status_code == 404
    assert times == ["built"]


def test_a_list_of_all_routes_has_the_late_ones_in_their_places() -> None:
    first, late, last = APIRouter(), APIRouter(), APIRouter()
    for router, path in ((first, "/a"), (late, "/b"), (last, "/c")):
        router.get(path)(lambda: None)
    routes = [*first.routes, RoutesOnDemand("/b", lambda: late.routes), *last.routes]
    assert list(all_routes(routes)) == [*first.routes, *late.routes, *last.routes]
