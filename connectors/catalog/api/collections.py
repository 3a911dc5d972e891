"""The calls that every collection of entities has: register, read, list, patch, delete, restore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

from connectors.catalog.api.context import ERRORS, Include, Paging, PathText, Store, reply, unescape_name
from connectors.catalog.contract import consumer_models, models, quality_models
from connectors.catalog.contract.entity_types import BY_TYPE, EntityType
from connectors.catalog.contract.errors import ApiError, bad_request
from connectors.catalog.contract.patches import apply_patch
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.registration import Registration, put_one
from connectors.catalog.store.lineage import deletion
from ingestion.model import Json

router = APIRouter(responses=ERRORS)

MODELS: dict[str, type[models.Model]] = {
    "databaseService": models.CreateService,
    "storageService": models.CreateService,
    "pipelineService": models.CreateService,
    "database": models.CreateDatabase,
    "databaseSchema": models.CreateSchema,
    "table": models.CreateTable,
    "storedProcedure": models.CreateProcedure,
    "container": models.CreateContainer,
    "pipeline": models.CreatePipeline,
    "dashboardService": models.CreateService,
    "dashboard": consumer_models.CreateDashboard,
    "metric": consumer_models.CreateMetric,
    "team": consumer_models.CreateTeam,
    "testDefinition": quality_models.CreateTestDefinition,
    "testSuite": quality_models.CreateTestSuite,
    "testCase": quality_models.CreateTestCase,
    "query": models.CreateQuery,
    "ingestionPipeline": models.CreateIngestionPipeline,
}
PATCH_TYPE = "application/json-patch+json"
Patch = Annotated[list[models.PatchOperation], Body(media_type=PATCH_TYPE, max_length=10_000)]


def _fields_of(request: BaseModel) -> Json:
    """A create request as plain JSON, without what it leaves out."""
    return request.model_dump(exclude_none=True)


def _put_many(store: Store, kind: EntityType, given: Sequence[Json]) -> Json:
    """Registers each request that can be; names those that cannot with the reason."""
    passed, failed = [], []
    with store.write() as connection:
        registration = Registration(connection)
        for item in given:
            label = str(item.get("name") or "")
            try:
                request = MODELS[kind.type].model_validate(item)
                done = registration.put(kind, _fields_of(request))
            except ValidationError as error:
                where = ".".join(map(str, error.errors()[0]["loc"]))
                failed.append({"request": label, "message": f"{where} is not valid", "status": 400})
            except ApiError as error:
                failed.append({"request": label, "message": error.message, "status": error.status})
            else:
                passed.append({"request": done.fqn, "message": "", "status": 201 if done.created else 200})
        registration.finish()
    status = "success" if not failed else "partialSuccess" if passed else "failure"
    return {
        "dryRun": False,
        "status": status,
        "numberOfRowsProcessed": len(given),
        "numberOfRowsPassed": len(passed),
        "numberOfRowsFailed": len(failed),
        "successRequest": passed,
        "failedRequest": failed,
    }


def _patch(store: Store, kind: EntityType, row: entities.EntityRow, operations: list[models.PatchOperation]) -> Json:
    with store.write() as connection:
        current = entities.get_id(connection, kind.type, row.id)
        document = entities.answer(current)
        after = apply_patch(document, [operation.document() for operation in operations])
        request = {key: after.get(key) for key in kind.keys}
        request["name"] = document["name"]
        if kind.parent is not None:
            parent = document[kind.parent]
            request[kind.parent] = parent if kind.type == "ingestionPipeline" else parent["fullyQualifiedName"]
        if document.get("parent") is not None:
            request["parent"] = document["parent"]
        try:
            model = MODELS[kind.type].model_validate({k: v for k, v in request.items() if v is not None})
        except ValidationError as error:
            raise bad_request(f"the patch leaves no valid {kind.type}") from error
        registration = Registration(connection, exact=True)
        registration.put(kind, _fields_of(model))
        registration.finish()
        return entities.answer(entities.get_id(connection, kind.type, row.id))


def _add_writes(kind: EntityType, path: str) -> None:
    def put(store: Store, request: Any) -> Response:
        """Registers an entity, or brings it up to date."""
        with store.write() as connection:
            done = put_one(connection, kind.type, _fields_of(request))
            answer = entities.answer(entities.get_id(connection, kind.type, done.id))
        return reply(answer, 201 if done.created else 200)

    put.__annotations__["request"] = MODELS[kind.type]
    router.put(path, tags=[kind.type], name=f"put_{kind.type}")(put)

    @router.put(f"{path}/bulk", tags=[kind.type], name=f"put_{kind.type}_bulk")
    def put_bulk(store: Store, request: Annotated[list[dict[str, Any]], Body(max_length=10_000)]) -> Response:
        """Registers many; each succeeds or fails by itself."""
        return reply(_put_many(store, kind, request))

    @router.put(f"{path}/restore", tags=[kind.type], name=f"restore_{kind.type}")
    def restore(store: Store, request: models.Restore) -> Response:
        """Takes a soft deletion back."""
        with store.write() as connection:
            return reply(deletion.restore(connection, kind, request.id))


def _add_reads(kind: EntityType, path: str) -> None:
    @router.get(path, tags=[kind.type], name=f"list_{kind.type}")
    def listing(
        store: Store,
        paging: Annotated[Paging, Depends()],
        service: str | None = None,
        database: str | None = None,
        databaseSchema: str | None = None,  # noqa: N803
    ) -> Response:
        """One page of the collection."""
        under = databaseSchema or database or service
        with store.read() as connection:
            return reply(entities.listing(connection, kind, paging.page(under)))

    @router.get(f"{path}/name/{{name:path}}", tags=[kind.type], name=f"get_{kind.type}_by_name")
    def by_name(store: Store, name: PathText, include: Include = "non-deleted") -> Response:
        """The entity with this fully qualified name."""
        with store.read() as connection:
            return reply(entities.answer(entities.get(connection, kind.type, unescape_name(name), include)))

    @router.get(f"{path}/{{identifier}}", tags=[kind.type], name=f"get_{kind.type}")
    def by_id(store: Store, identifier: PathText, include: Include = "non-deleted") -> Response:
        """The entity with this id."""
        with store.read() as connection:
            return reply(entities.answer(entities.get_id(connection, kind.type, identifier, include)))


def _add_changes(kind: EntityType, path: str) -> None:
    @router.patch(f"{path}/name/{{name:path}}", tags=[kind.type], name=f"patch_{kind.type}_by_name")
    def patch_name(store: Store, name: PathText, operations: Patch) -> Response:
        """Applies a JSON Patch to the entity with this name."""
        with store.read() as connection:
            row = entities.get(connection, kind.type, unescape_name(name))
        return reply(_patch(store, kind, row, operations))

    @router.patch(f"{path}/{{identifier}}", tags=[kind.type], name=f"patch_{kind.type}")
    def patch(store: Store, identifier: PathText, operations: Patch) -> Response:
        """Applies a JSON Patch to the entity with this id."""
        with store.read() as connection:
            row = entities.get_id(connection, kind.type, identifier)
        return reply(_patch(store, kind, row, operations))

    @router.delete(f"{path}/deleteStale", tags=[kind.type], name=f"delete_stale_{kind.type}")
    def delete_stale(store: Store, request: models.Stale) -> Response:
        """Soft-deletes what a scope holds and the caller has not seen."""
        with store.write() as connection:
            return reply(deletion.remove_stale(connection, kind, request.scopeFqn, set(request.seenFqns)))

    @router.delete(f"{path}/async/{{identifier}}", tags=[kind.type], name=f"delete_{kind.type}_async")
    @router.delete(f"{path}/{{identifier}}", tags=[kind.type], name=f"delete_{kind.type}")
    def delete(
        store: Store,
        identifier: PathText,
        *,
        hard: Annotated[bool, Query(alias="hardDelete")] = False,
        recursive: bool = False,
    ) -> Response:
        """Deletes an entity; its lineage ends with it."""
        with store.write() as connection:
            return reply(deletion.remove(connection, kind, identifier, hard=hard, recursive=recursive))


for _kind in BY_TYPE.values():
    _path = f"/api/v1/{_kind.collection}"
    _add_writes(_kind, _path)
    _add_changes(_kind, _path)
    _add_reads(_kind, _path)
