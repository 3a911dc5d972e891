"""What DataHub calls a table: platform, instance, environment, and the name by its platform's own rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.datahub.settings import ServiceNaming
from connectors.platforms.datahub_platforms import (
    LOWER,
    OF_SCHEMES,
    OF_TOPICS,
    PLATFORMS,
    SHARDED,
    TWO_PARTS,
)
from ingestion.dialects.connection_types import OTHER_DATABASE
from ingestion.errors import Rejected
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import split_fqn

ACTOR = "urn:li:corpuser:headwater"
"""Who is told to have written what we write."""

_DECORATED = re.compile(r"(?:_\d*)?\*$|@\d{1,13}$|\$.*$")
"""`events_*`, `events_2024*`, `events@1624046611000` and `events$20240131` are `events`."""
_SHARD = re.compile(r"(?:^|(?<=.\D))\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
"""`events_20240131` is a day of `events`."""


@dataclass(frozen=True, slots=True)
class DatasetName:
    """The parts of a dataset's URN; `lowercase`: its columns are in lower case too."""

    platform: str
    name: str
    env: str
    instance: str | None = None
    lowercase: bool = False


@dataclass(frozen=True, slots=True)
class DatahubNames:
    """How entities are called; `own` is the run's service, whose connection is of the type `own_type`."""

    own: str
    own_type: str
    env: str = "PROD"
    services: Mapping[str, ServiceNaming] = field(default_factory=dict)

    def of(self, entity: EntityReference) -> DatasetName:
        """What an entity is called. Raises Rejected where nothing tells of which platform it is."""
        service, *parts = split_fqn(entity.fully_qualified_name or "?")
        given = self.services.get(service) or ServiceNaming()
        platform = given.platform or self._platform(service, entity.type)
        if platform is None:
            raise Rejected(f"DataHub's platform of {service} is not known: name it in sink.config.services")
        lowercase = platform in LOWER if given.lowercase is None else given.lowercase
        name = parts[-1] if entity.type != "table" else _name(parts, platform)
        env = given.env or self.env
        return DatasetName(platform, name.lower() if lowercase else name, env, given.platform_instance, lowercase)

    def _platform(self, service: str, kind: str) -> str | None:
        if kind == "topic":
            return OF_TOPICS
        if kind != "table":
            return OF_SCHEMES.get(service)
        if service != self.own or not self.own_type or self.own_type == OTHER_DATABASE:
            return None
        return PLATFORMS.get(self.own_type, self.own_type.lower())


def _name(parts: list[str], platform: str) -> str:
    *above, table = parts[-2:] if platform in TWO_PARTS else parts
    if platform in SHARDED:
        table = _without_day(table) or above[-1]  # days that are called by their date alone are the dataset's
    return ".".join((*above, table))


def _without_day(table: str) -> str:
    plain = _DECORATED.sub("", table)
    base, shards = _SHARD.subn("", plain)
    return base.rstrip("_") if shards else plain
