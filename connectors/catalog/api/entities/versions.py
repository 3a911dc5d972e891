"""The versions that entities had."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from connectors.catalog.api.http.context import ERRORS, PathText, Store, reply
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.store.database import dumps
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.versions import version_of, versions_of

router = APIRouter(responses=ERRORS)
Number = Annotated[str, Path(pattern=r"^\d+(\.\d+)?$", max_length=20)]


def _add_versions(type_: str, path: str) -> None:
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


for _kind in BY_TYPE.values():
    _add_versions(_kind.type, f"/api/v1/{_kind.collection}")
