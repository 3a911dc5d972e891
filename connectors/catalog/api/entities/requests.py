"""What clients may ask to be stored: the model of each type, and what of a request is kept."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from connectors.catalog.contract import consumer_models, governance_models, models, quality_models
from connectors.catalog.contract.definition import EntityType
from connectors.catalog.contract.errors import bad_request
from ingestion.model import Json

MODELS: Mapping[str, type[models.Model]] = {
    "databaseService": models.CreateService,
    "storageService": models.CreateService,
    "pipelineService": models.CreateService,
    "dashboardService": models.CreateService,
    "database": models.CreateDatabase,
    "databaseSchema": models.CreateSchema,
    "table": models.CreateTable,
    "storedProcedure": models.CreateProcedure,
    "container": models.CreateContainer,
    "pipeline": consumer_models.CreatePipeline,
    "query": consumer_models.CreateQuery,
    "ingestionPipeline": consumer_models.CreateIngestionPipeline,
    "dashboard": consumer_models.CreateDashboard,
    "chart": consumer_models.CreateChart,
    "dashboardDataModel": consumer_models.CreateDashboardModel,
    "metric": consumer_models.CreateMetric,
    "team": governance_models.CreateTeam,
    "user": governance_models.CreateUser,
    "classification": governance_models.CreateClassification,
    "tag": governance_models.CreateTag,
    "domain": governance_models.CreateDomain,
    "testDefinition": quality_models.CreateTestDefinition,
    "testSuite": quality_models.CreateTestSuite,
    "testCase": quality_models.CreateTestCase,
}
_NOT_KEPT = frozenset({"extra_forbidden", "too_long"})


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


def explain(kind: EntityType, error: ValidationError) -> str:
    """What is wrong with a request, in one line without any value of it."""
    first = error.errors(include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:100] for part in first["loc"])
    return _not_kept(kind, place) if first["type"] in _NOT_KEPT else f"{place} is not valid"


def request_of_patch(kind: EntityType, before: Json, after: Json) -> Json:
    """The create request that gives the answer `after`, which a patch made of the answer `before`.

    Raises ApiError (400) for a patch of what cannot be changed: it would be lost.
    """
    for key in sorted(before.keys() | after.keys()):
        if key not in kind.keys and before.get(key) != after.get(key):
            raise bad_request(f"{key[:100]} of a {kind.type} cannot be changed by a patch")
    return kind.request_of({**before, **{key: after.get(key) for key in kind.keys}})
