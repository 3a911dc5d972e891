"""A connection to a platform that was found to be there, to understand us, and to let us in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from connectors.openmetadata.entities import extension, search
from connectors.openmetadata.entities.crud import Collection, get_by_name, table_entity
from connectors.openmetadata.transport.connection import Connection
from connectors.openmetadata.transport.http import Http
from connectors.openmetadata.transport.platform import Platform
from connectors.openmetadata.transport.retry import RetryPolicy, Timing
from ingestion.entities import TableEntity
from ingestion.errors import ConfigError, RetryableError, TargetDown
from ingestion.names.storage_paths import normal_path, spellings
from ingestion.resolution.cached_search import Hits, PartialName

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

SPOKEN_VERSION = "2.0"


def connect(connection: Connection, policy: RetryPolicy | None = None, timing: Timing | None = None) -> Platform:
    """The platform, asked for its version and what it offers. `policy` and `timing` are of its calls.

    Raises ConfigError (no platform at that URL, a version that is not spoken, a token that is refused) and
    TargetDown.
    """
    http = Http(connection, policy, timing)
    try:
        version = _version(http)
        _check_version(version, strict=connection.validate_version)
        offer = extension.server_capabilities(http)
        return Platform(http, version, offer.capabilities, offer.store)
    except BaseException:
        http.close()
        raise


class CatalogSearch:
    """The platform as name resolution sees it (an EntitySearch). Raises TargetDown, never a retryable error."""

    def __init__(self, platform: Platform, *, columns: bool = True) -> None:
        self._platform = platform
        self._http = platform.http
        self._bulk = extension.LOOKUP in platform.capabilities
        self._columns = columns

    def without_columns(self) -> CatalogSearch:
        return CatalogSearch(self._platform, columns=False)

    def field_search(self, pattern: str) -> Hits:
        return _or_down(lambda: search.field_search(self._http, pattern))

    def get_by_fqn(self, fqn: str) -> TableEntity | None:
        found = _or_down(lambda: get_by_name(self._http, Collection.TABLES, fqn, ("columns", "schemaDefinition")))
        return None if found is None else table_entity(found)

    def bulk_lookup(self, service: str, names: Sequence[PartialName]) -> Sequence[Sequence[TableEntity]] | None:
        if not self._bulk:
            return None
        return _or_down(lambda: extension.look_up(self._http, service, names, columns=self._columns))

    def path_lookup(self, path: str) -> Sequence[TableEntity]:
        if self._bulk:
            return _or_down(lambda: extension.look_up_path(self._http, path))
        return _or_down(lambda: self._containers(path))

    def _containers(self, path: str) -> list[TableEntity]:
        normal = normal_path(path)
        for spelling in spellings(normal):
            hits = search.containers_by_path(self._http, spelling)
            found = [get_by_name(self._http, Collection.CONTAINERS, fqn, ("dataModel",)) for fqn in hits.fqns]
            here = [json for json in found if json and normal_path(str(json.get("fullPath") or "")) == normal]
            if here:
                return [table_entity(json, "container") for json in here]
        return []


def _version(http: Http) -> str:
    answer = http.get("system/version")
    if not isinstance(answer, dict) or "version" not in answer:
        raise ConfigError("hostPort does not lead to an OpenMetadata: it knows no /v1/system/version")
    return str(answer["version"])


def _check_version(version: str, *, strict: bool) -> None:
    if version == SPOKEN_VERSION or version.startswith(f"{SPOKEN_VERSION}."):
        return
    message = f"the platform is version {version[:40]}, and {SPOKEN_VERSION} is spoken here"
    if strict:
        raise ConfigError(f"{message}: set enableVersionValidation: false to try all the same")
    logger.warning("%s; going on, since enableVersionValidation is false", message)


def _or_down(action: Callable[[], Result]) -> Result:
    """Without an answer a name is neither there nor missing: the run cannot go on."""
    try:
        return action()
    except RetryableError as error:
        reason = f"{error.message}; given up on, run again later"
    raise TargetDown(reason)
