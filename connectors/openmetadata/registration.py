"""Registering entities that the platform does not have, parents first: in one call where it can, else one by one."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connectors.openmetadata import client
from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, get_by_name, put
from ingestion.model.fqn import build_fqn
from ingestion.model.isolation import Failure, FailureStage, Probe, in_parts, no_probe
from ingestion.model.lineage import Json

# group: the key that names the parent; a service has none
_PARENTS = {
    "databases": "service",
    "schemas": "database",
    "tables": "databaseSchema",
    "storedProcedures": "databaseSchema",
    "containers": "service",
    "topics": "service",
}
_COLLECTIONS = {
    "databases": Collection.DATABASES,
    "schemas": Collection.SCHEMAS,
    "tables": Collection.TABLES,
    "storedProcedures": Collection.PROCEDURES,
    "containers": Collection.CONTAINERS,
    "topics": Collection.TOPICS,
}
_SERVICES = {
    "databaseService": Collection.DATABASE_SERVICES,
    "storageService": Collection.STORAGE_SERVICES,
    "messagingService": Collection.MESSAGING_SERVICES,
}


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    """How many entities were made, and which could not be: their group and create request, with why."""

    made: int = 0
    refused: tuple[tuple[str, Json, Failure], ...] = ()


def register(platform: Platform, groups: Mapping[str, Sequence[Json]], at: float | None = None) -> int:
    """How many of the entities were made. `groups` has OpenMetadata's create requests under services (with their
    `type`), databases, schemas, tables, storedProcedures, containers and topics; `at` is when the definitions held
    (seconds since the epoch).

    Headwater's catalog also adds columns that are new to tables that it has; on an OpenMetadata whatever exists stays
    as it is. Raises Rejected, ConfigError, ServerFailed and TargetDown.
    """
    if client.TABLES in platform.capabilities:
        answer = client.register(platform.http, groups, at)
        return sum(bool(made["created"]) for group in answer.values() for made in group)
    made = 0
    for group in ("services", *_COLLECTIONS):
        for request in groups.get(group, ()):
            made += _put_if_missing(platform, group, request)
    return made


def register_each(
    platform: Platform, groups: Mapping[str, Sequence[Json]], probe: Probe = no_probe
) -> RegistrationResult:
    """As `register` with these `groups`, where what cannot be registered keeps nothing else from being.

    `probe` is told of what is sent. Raises ConfigError and TargetDown.
    """
    ordered = [(group, request) for group in ("services", *_COLLECTIONS) for request in groups.get(group, ())]
    made = []

    def work(chosen: Sequence[tuple[str, Json]]) -> None:
        parts: dict[str, list[Json]] = {}
        for group, request in chosen:
            parts.setdefault(group, []).append(request)
        made.append(register(platform, parts))

    failed = in_parts(ordered, work, FailureStage.REGISTRATION, probe)
    return RegistrationResult(sum(made), tuple((group, request, failure) for (group, request), failure in failed))


def _put_if_missing(platform: Platform, group: str, request: Json) -> bool:
    # `extension` holds marks of Headwater's own catalog, and a platform only takes properties that it was taught
    body = {key: value for key, value in request.items() if key not in ("type", "extension")}
    collection = _COLLECTIONS.get(group) or _SERVICES[request.get("type", "databaseService")]
    own = build_fqn(request["name"])
    fqn = f"{request[_PARENTS[group]]}.{own}" if group in _PARENTS else own
    if get_by_name(platform.http, collection, fqn) is not None:
        return False
    put(platform.http, collection, body | _service_type(platform, request))
    return True


def _service_type(platform: Platform, request: Json) -> Json:
    """The type of a database service, where the platform's version lacks the one that is asked for."""
    if request.get("type", "databaseService") != "databaseService":
        return {}
    wanted = str(request.get("serviceType", ""))
    found = platform.features.service_type(wanted)
    if found == wanted:
        return {}
    version = platform.features.name
    logger.warning("%s is registered as %s: %s has no %s", request["name"], found, version, wanted)
    return {"serviceType": found}
