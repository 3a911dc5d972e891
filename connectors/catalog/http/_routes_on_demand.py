"""Routes that are built when the first call to them comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

_FOUND = "headwater.route"


class RoutesOnDemand(BaseRoute):
    """The routes of one path and all below it.

    FastAPI takes some milliseconds of processor time to make a route: for all collections together two seconds, which
    a run that asks for three of them would wait for.
    """

    def __init__(self, path: str, build: Callable[[], Sequence[BaseRoute]]) -> None:
        self._path = path
        self._build = build

    @cached_property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes themselves, built by now."""
        return self._build()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first of the routes that matches wholly, else the first that does so but for its method."""
        path = str(scope["path"])
        partial: tuple[Match, Scope] = Match.NONE, {}
        if path != self._path and not path.startswith(f"{self._path}/"):
            return partial
        for route in self.routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                return match, {**found, _FOUND: route}
            if match is Match.PARTIAL and partial[0] is Match.NONE:
                partial = match, {**found, _FOUND: route}
        return partial

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the route that matched answer."""
        scope["route"] = scope[_FOUND]
        await scope[_FOUND].handle(scope, receive, send)


def all_routes(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """All routes, with those that are built on demand in their places."""
    for route in routes:
        if isinstance(route, RoutesOnDemand):
            yield from route.routes
        else:
            yield route
