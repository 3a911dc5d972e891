"""The calls that every collection of entities has, and what of a request is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection
from starlette.routing import BaseRoute

from connectors.catalog.contract import entity_models, models
from connectors.catalog.contract.entity_types import BY_TYPE, EntityType
from connectors.catalog.contract.errors import ApiError, bad_request
from connectors.catalog.contract.patches import apply_patch
from connectors.catalog.http._context import (
    ERRORS,
    NO_CONDITION,
    IfMatch,
    Include,
    Paging,
    PathText,
    Store,
    check_row,
    etag,
    reply,
    reply_tagged,
    unescape_name,
)
from connectors.catalog.http._routes_on_demand import RoutesOnDemand
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.parts import attach
from connectors.catalog.store.entities.registration import Registration, put_one, query_digest
from connectors.catalog.store.lineage import deletion
from ingestion.model.lineage import Json

MODELS: Mapping[str, type[models.Model]] = {
    "databaseService": models.CreateService,
    "storageService": models.CreateService,
    "pipelineService": models.CreateService,
    "dashboardService": models.CreateService,
    "messagingService": models.CreateService,
    "database": models.CreateDatabase,
    "databaseSchema": models.CreateSchema,
    "table": models.CreateTable,
    "storedProcedure": models.CreateProcedure,
    "container": models.CreateContainer,
    "topic": models.CreateTopic,
    "pipeline": entity_models.CreatePipeline,
    "query": entity_models.CreateQuery,
    "ingestionPipeline": entity_models.CreateIngestionPipeline,
    "dashboard": entity_models.CreateDashboard,
    "chart": entity_models.CreateChart,
    "dashboardDataModel": entity_models.CreateDashboardModel,
    "metric": entity_models.CreateMetric,
    "team": entity_models.CreateTeam,
    "user": entity_models.CreateUser,
    "classification": entity_models.CreateClassification,
    "tag": entity_models.CreateTag,
    "domain": entity_models.CreateDomain,
    "testDefinition": entity_models.CreateTestDefinition,
    "testSuite": entity_models.CreateTestSuite,
    "testCase": entity_models.CreateTestCase,
}
_NOT_KEPT = frozenset({"extra_forbidden", "too_long"})

router = APIRouter()
PATCH_TYPE = "application/json-patch+json"
Patch = Annotated[list[models.PatchOperation], Body(media_type=PATCH_TYPE, max_length=10_000)]
Fields = Annotated[str, Query(max_length=10_000)]


# What clients may ask to be stored: the model of each type, and what of a request is kept.


def stored_fields(kind: EntityType, request: BaseModel) -> Json:
    """A create request as plain JSON, without what it leaves out. Raises ApiError (400) for what would be lost."""
    fields = request.model_dump(exclude_none=True)
    tested = fields.pop("executableEntityReference", None)  # what the key is called that clients call it by now
    if tested is not None:
        fields.setdefault("basicEntityReference", tested)
    for key in fields.keys() - {*kind.keys, "name", kind.parent, "parent" if kind.nests else None}:
        if fields.pop(key):
            raise bad_request(_not_kept(kind, key))
    return fields


def _not_kept(kind: EntityType, key: str) -> str:
    """What a client is told of a key that the catalog would lose."""
    return f"the catalog keeps no {key[:100]} of a {kind.type}: leave it out"


def _explain(kind: EntityType, error: ValidationError) -> str:
    """What is wrong with a request, in one line without any value of it."""
    first = error.errors(include_input=False, include_context=False)[0]
    location = ".".join(str(part)[:100] for part in first["loc"])
    return _not_kept(kind, location) if first["type"] in _NOT_KEPT else f"{location} is not valid"


def request_of_patch(kind: EntityType, before: Json, after: Json) -> Json:
    """The create request that gives the answer `after`, which a patch made of the answer `before`.

    Raises ApiError (400) for a patch of what cannot be changed: it would be lost.
    """
    for key in sorted(before.keys() | after.keys()):
        if key not in kind.keys and before.get(key) != after.get(key):
            raise bad_request(f"{key[:100]} of a {kind.type} cannot be changed by a patch")
    return kind.request_of({**before, **{key: after.get(key) for key in kind.keys}})


# The calls that every collection of entities has: register, read, list, patch, delete, restore.


def _put_many(store: Store, kind: EntityType, given: Sequence[Json]) -> Json:
    """Registers each request that can be; names those that cannot with the reason."""
    passed, failed = [], []
    checked = [_fields_or_failure(kind, item) for item in given]
    with store.write() as connection:
        registration = Registration(connection, together=True)
        if kind.type == "query":
            registration.expect(kind.type, _query_names(fields for fields in checked if isinstance(fields, dict)))
        for item, fields in zip(given, checked, strict=True):
            label = str(item.get("name") or "")
            try:
                if isinstance(fields, ApiError):
                    raise fields
                done = registration.put(kind, fields)
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


def _fields_or_failure(kind: EntityType, item: Json) -> Json | ApiError:
    """What is to be stored of a request, or why it is none."""
    try:
        return stored_fields(kind, MODELS[kind.type].model_validate(item))
    except ValidationError as error:
        return ApiError(400, _explain(kind, error))
    except ApiError as error:
        return error


def _query_names(requests: Iterable[Json]) -> Iterator[str]:
    """The fully qualified names that queries get which are called by their text."""
    return (f"{one['service']}.{query_digest(one['query'])}" for one in requests if not one.get("name"))


def _patch(
    connection: Connection, kind: EntityType, row: entities.EntityRow, operations: list[models.PatchOperation]
) -> Json:
    before = entities.answer(row)
    after = apply_patch(entities.answer(row), [operation.document() for operation in operations])
    try:
        model = MODELS[kind.type].model_validate(request_of_patch(kind, before, after))
    except ValidationError as error:
        raise bad_request(f"the patch does not leave a {kind.type}: {_explain(kind, error)}") from error
    registration = Registration(connection, exact=True)
    registration.put(kind, stored_fields(kind, model))
    registration.finish()
    return entities.answer(entities.get_id(connection, kind.type, row.id))


def _add_writes(router: APIRouter, kind: EntityType, path: str) -> None:
    def put(store: Store, request: Any, if_match: IfMatch = None) -> Response:
        """Registers an entity, or brings it up to date."""
        with store.write() as connection:
            fields = stored_fields(kind, request)
            done = put_one(connection, kind.type, fields, lambda known: check_row(if_match, known))
            answer = entities.answer(entities.get_id(connection, kind.type, done.id))
        return reply_tagged(answer, 201 if done.created else 200)

    def create(store: Store, request: Any) -> Response:
        """Registers an entity that is not there yet."""
        with store.write() as connection:
            done = put_one(connection, kind.type, stored_fields(kind, request), _refuse_known)
            answer = entities.answer(entities.get_id(connection, kind.type, done.id))
        return reply_tagged(answer, 201)

    put.__annotations__["request"] = create.__annotations__["request"] = MODELS[kind.type]
    router.put(path, tags=[kind.type], name=f"put_{kind.type}")(put)
    router.post(path, tags=[kind.type], name=f"create_{kind.type}", dependencies=[NO_CONDITION])(create)

    @router.put(f"{path}/bulk", tags=[kind.type], name=f"put_{kind.type}_bulk", dependencies=[NO_CONDITION])
    def put_bulk(store: Store, request: Annotated[list[dict[str, Any]], Body(max_length=10_000)]) -> Response:
        """Registers many; each succeeds or fails by itself."""
        return reply(_put_many(store, kind, request))

    @router.put(f"{path}/restore", tags=[kind.type], name=f"restore_{kind.type}", dependencies=[NO_CONDITION])
    def restore(store: Store, request: models.Restore) -> Response:
        """Takes a soft deletion back."""
        with store.write() as connection:
            return reply(deletion.restore(connection, kind, request.id))


def _refuse_known(known: entities.EntityRow | None) -> None:
    if known is not None and not known.deleted:
        raise ApiError(409, "Entity already exists")


def _add_reads(router: APIRouter, kind: EntityType, path: str) -> None:
    @router.get(path, tags=[kind.type], name=f"list_{kind.type}")
    def listing(store: Store, paging: Annotated[Paging, Depends()], under: Annotated[_Under, Depends()]) -> Response:
        """One page of the collection."""
        with store.read() as connection:
            page = entities.listing(connection, kind, paging.page(under.name))
            return reply({**page, "data": attach(connection, kind.type, page["data"], paging.fields)})

    @router.get(f"{path}/name/{{name:path}}", tags=[kind.type], name=f"get_{kind.type}_by_name")
    def by_name(store: Store, name: PathText, include: Include = "non-deleted", fields: Fields = "") -> Response:
        """The entity with this fully qualified name."""
        with store.read() as connection:
            return _answer(connection, entities.get(connection, kind.type, unescape_name(name), include), fields)

    @router.get(f"{path}/{{identifier}}", tags=[kind.type], name=f"get_{kind.type}")
    def by_id(store: Store, identifier: PathText, include: Include = "non-deleted", fields: Fields = "") -> Response:
        """The entity with this id."""
        with store.read() as connection:
            return _answer(connection, entities.get_id(connection, kind.type, identifier, include), fields)


@dataclass(frozen=True, slots=True)
class _Under:
    """The ancestor that a list is narrowed to: the nearest that a client names."""

    service: str | None = None
    database: str | None = None
    schema: Annotated[str | None, Query(alias="databaseSchema")] = None
    parent: str | None = None

    @property
    def name(self) -> str | None:
        return self.schema or self.database or self.service or self.parent


def _answer(connection: Connection, row: entities.EntityRow, fields: str) -> Response:
    document = entities.answer(row)
    (whole,) = attach(connection, row.type, [document], fields)
    answer = reply(whole)
    answer.headers["etag"] = etag(document)
    return answer


def _add_changes(router: APIRouter, kind: EntityType, path: str) -> None:
    @router.patch(f"{path}/name/{{name:path}}", tags=[kind.type], name=f"patch_{kind.type}_by_name")
    def patch_name(store: Store, name: PathText, operations: Patch, if_match: IfMatch = None) -> Response:
        """Applies a JSON Patch to the entity with this name."""
        with store.write() as connection:
            row = entities.get(connection, kind.type, unescape_name(name))
            check_row(if_match, row)
            return reply_tagged(_patch(connection, kind, row, operations))

    @router.patch(f"{path}/{{identifier}}", tags=[kind.type], name=f"patch_{kind.type}")
    def patch(store: Store, identifier: PathText, operations: Patch, if_match: IfMatch = None) -> Response:
        """Applies a JSON Patch to the entity with this id."""
        with store.write() as connection:
            row = entities.get_id(connection, kind.type, identifier)
            check_row(if_match, row)
            return reply_tagged(_patch(connection, kind, row, operations))

    @router.delete(
        f"{path}/deleteStale", tags=[kind.type], name=f"delete_stale_{kind.type}", dependencies=[NO_CONDITION]
    )
    def delete_stale(store: Store, request: models.Stale) -> Response:
        """Soft-deletes what a scope holds and the caller has not seen."""
        with store.write() as connection:
            return reply(deletion.remove_stale(connection, kind, request.scopeFqn, set(request.seenFqns)))


def _add_deletions(router: APIRouter, kind: EntityType, path: str) -> None:
    @router.delete(f"{path}/name/{{name:path}}", tags=[kind.type], name=f"delete_{kind.type}_by_name")
    def delete_name(
        store: Store, name: PathText, how: Annotated[Deletion, Depends()], if_match: IfMatch = None
    ) -> Response:
        """Deletes the entity with this name; its lineage ends with it."""
        with store.write() as connection:
            row = entities.get(connection, kind.type, unescape_name(name), "all" if how.hard else "non-deleted")
            return _delete(connection, row, how, if_match)

    @router.delete(f"{path}/async/{{identifier}}", tags=[kind.type], name=f"delete_{kind.type}_async")
    @router.delete(f"{path}/{{identifier}}", tags=[kind.type], name=f"delete_{kind.type}")
    def delete(
        store: Store, identifier: PathText, how: Annotated[Deletion, Depends()], if_match: IfMatch = None
    ) -> Response:
        """Deletes an entity; its lineage ends with it."""
        with store.write() as connection:
            row = entities.get_id(connection, kind.type, identifier, "all" if how.hard else "non-deleted")
            return _delete(connection, row, how, if_match)


@dataclass(frozen=True, slots=True)
class Deletion:
    """How an entity is deleted: for good, with what lies under it."""

    hard: Annotated[bool, Query(alias="hardDelete")] = False
    recursive: bool = False


def _delete(connection: Connection, row: entities.EntityRow, how: Deletion, if_match: str | None) -> Response:
    check_row(if_match, row)
    return reply(deletion.remove(connection, BY_TYPE[row.type], row.id, hard=how.hard, recursive=how.recursive))


def _routes(kind: EntityType, path: str) -> list[BaseRoute]:
    calls = APIRouter(responses=ERRORS)
    for add in (_add_writes, _add_changes, _add_deletions, _add_reads):
        add(calls, kind, path)
    return calls.routes


for _kind in BY_TYPE.values():
    _path = f"/api/v1/{_kind.collection}"
    router.routes.append(RoutesOnDemand(_path, partial(_routes, _kind, _path)))
