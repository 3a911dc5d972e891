"""The versions that entities had."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from starlette.routing import BaseRoute

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.http._context import ERRORS, PathText, Store, reply
from connectors.catalog.http._routes_on_demand import RoutesOnDemand
from connectors.catalog.store.database import dumps
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.versions import version_of, versions_of

Number = Annotated[str, Path(pattern=r"^\d+(\.\d+)?$", max_length=20)]

router = APIRouter()


def _routes(type_: str, path: str) -> list[BaseRoute]:
    router = APIRouter(responses=ERRORS)

    @router.get(f"{path}/{{identifier}}/versions", tags=[type_], name=f"list_{type_}_versions")
    def versions(store: Store, identifier: PathText) -> Response:
        """Every version of an entity, the newest first, each as the text of its JSON."""
        with store.read() as connection:
            found = versions_of(connection, entities.get_id(connection, type_, identifier, "all"))
        return reply({"entityType": type_, "versions": [dumps(one) for one in found]})

    @router.get(f"{path}/{{identifier}}/versions/{{version}}", tags=[type_], name=f"get_{type_}_version")
    def version(store: Store, identifier: PathText, version: Number) -> Response:
        """One version of an entity."""
        with store.read() as connection:
            row = entities.get_id(connection, type_, identifier, "all")
            return reply(version_of(connection, row, f"{float(version):.1f}"))

    return router.routes


for _kind in BY_TYPE.values():
    _path = f"/api/v1/{_kind.collection}"
    router.routes.append(RoutesOnDemand(_path, partial(_routes, _kind.type, _path)))
