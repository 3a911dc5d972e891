"""What belongs to a domain, bears a tag, or is owned by somebody."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from connectors.catalog.contract.entity_models import Assets
from connectors.catalog.http._context import ERRORS, NO_CONDITION, PathText, Store, reply, unescape_name
from connectors.catalog.store.entities import assets, entities

router = APIRouter(prefix="/api/v1", responses=ERRORS, dependencies=[NO_CONDITION])
Limit = Annotated[int, Query(ge=0, le=1_000)]
Offset = Annotated[int, Query(ge=0, le=2**31)]


def _add_assets(type_: str, path: str) -> None:
    @router.get(f"{path}/name/{{name}}/assets", tags=[type_], name=f"list_{type_}_assets")
    def listing(store: Store, name: PathText, limit: Limit = 10, offset: Offset = 0) -> Response:
        """A page of what belongs to it."""
        with store.read() as connection:
            row = entities.get(connection, type_, unescape_name(name))
            return reply(assets.page(connection, row, limit, offset))


for _type, _path in (("domain", "/domains"), ("tag", "/tags"), ("user", "/users"), ("team", "/teams")):
    _add_assets(_type, _path)


@router.put("/domains/{name}/assets/add", tags=["domain"])
def add(store: Store, name: PathText, request: Assets) -> Response:
    """Puts assets into a domain."""
    return _move(store, name, request, into=True)


@router.put("/domains/{name}/assets/remove", tags=["domain"])
def remove(store: Store, name: PathText, request: Assets) -> Response:
    """Takes assets out of a domain."""
    return _move(store, name, request, into=False)


def _move(store: Store, name: str, request: Assets, *, into: bool) -> Response:
    with store.write() as connection:
        row = entities.get(connection, "domain", unescape_name(name))
        moved = [assets.move(connection, row, ref.model_dump(exclude_none=True), into=into) for ref in request.assets]
    passed = [{"request": one, "message": "", "status": 200} for one in moved]
    return reply(
        {
            "dryRun": False,
            "status": "success",
            "numberOfRowsProcessed": len(moved),
            "numberOfRowsPassed": len(moved),
            "numberOfRowsFailed": 0,
            "successRequest": passed,
            "failedRequest": [],
        }
    )
