"""What Unity Catalog calls the ends of an edge: its own tables and paths, and objects for what is outside of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from connectors.databricks.settings import ServiceInUnity
from connectors.edge_rows import entity_text
from connectors.platforms.unity_systems import (
    IN_UNITY_CATALOG,
    LONGEST_NAME,
    NOT_IN_UNITY_CATALOG,
    OTHER_SYSTEM,
    SYSTEM_OF_CONNECTION,
    SYSTEM_OF_TOPICS,
)
from ingestion.dialects.dataset_namespaces import UNKNOWN_DATABASE
from ingestion.errors import Rejected
from ingestion.model.contributions import Contribution
from ingestion.model.entities import CHART, DASHBOARD, DATA_MODEL, EntityReference
from ingestion.model.fqn import split_fqn
from ingestion.model.requests import AddLineageRequest
from ingestion.model.storage_paths import normal_path

TABLE, PATH, OBJECT = "table", "path", "external_metadata"
"""What an end can be there, by the key that its API has for it."""

_FORBIDDEN = re.compile(r"[\x00-\x20./:%\x7f]")
"""What no name in Unity Catalog holds, and what separates and escapes here."""
_ENTITY_TYPES = {
    "table": "Table", "container": "Path", "topic": "Topic",
    DASHBOARD: "Dashboard", CHART: "Chart", DATA_MODEL: "Data model",
}  # fmt: skip


class Side(Enum):
    """Where an edge lies: across the border of Unity Catalog, within it, or outside."""

    ACROSS = auto()
    WITHIN = auto()
    OUTSIDE = auto()


@dataclass(frozen=True, slots=True)
class End:
    """A table by its three names, a storage path, or an object that stands for what is outside.

    `full_name` is the entity's in the catalog, `type` its type there.
    """

    kind: str
    name: str
    full_name: str = field(default="", compare=False)
    type: str = field(default="", compare=False)
    system_type: str = field(default=OTHER_SYSTEM, compare=False)

    @property
    def is_outside(self) -> bool:
        return self.kind == OBJECT

    @property
    def is_storage(self) -> bool:
        return self.type == "container"

    @property
    def entity_type(self) -> str:
        return _ENTITY_TYPES.get(self.type, self.type.capitalize())

    def to_json(self) -> dict[str, dict[str, str]]:
        return {self.kind: {self._field: self.name}}

    def parameters(self, prefix: str) -> dict[str, str]:
        """The same as parameters of a URL."""
        return {f"{prefix}.{self.kind}.{self._field}": self.name}

    @property
    def _field(self) -> str:
        return "url" if self.kind == PATH else "name"

    def is_in(self, answer: object) -> bool:
        """Whether an answer tells of this end; names are in lower case there, however they were given."""
        inner = answer.get(self.kind) if isinstance(answer, dict) else None
        name = str(inner.get(self._field) or "") if isinstance(inner, dict) else ""
        return name.rstrip("/") == self.name if self.kind == PATH else name.lower() == self.name

    def column(self, fqn: str) -> str | None:
        """A column of the entity as it is called there, None where it is none of the entity's own, as of a chart."""
        path = fqn.removeprefix(f"{self.full_name}.")
        if path == fqn:
            return None
        parts = split_fqn(path)
        return ".".join(parts) if self.is_outside else parts[0]  # of its own tables it knows no fields of a struct

    def same_column(self, name: str) -> str:
        """The form in which two names of one column are equal: those of its own tables are, in any case."""
        return name if self.is_outside else name.lower()


@dataclass(frozen=True, slots=True)
class Relationship:
    """What is told there of an edge."""

    source: End
    target: End

    @property
    def side(self) -> Side:
        """Where it lies. What reads or writes one of its tables is Databricks, which records the paths of that too."""
        inside = [end for end in (self.source, self.target) if not end.is_outside]
        if len(inside) > 1:
            return Side.WITHIN
        if not inside:
            return Side.OUTSIDE
        of_storage = self.source.is_storage or self.target.is_storage
        return Side.WITHIN if inside[0].kind == TABLE and of_storage else Side.ACROSS

    @property
    def outside(self) -> End:
        """The end that is outside, of one that lies across the border."""
        return self.source if self.source.is_outside else self.target

    def check(self) -> None:
        """Raises Rejected where an end has no name there."""
        for end in (self.source, self.target):
            if not end.name:
                raise Rejected(f"the catalog of {end.full_name} is not known: set headwater.defaults.database")
            if end.is_outside and len(end.name) > LONGEST_NAME:
                raise Rejected(f"{end.full_name} has a name of more than {LONGEST_NAME} characters there")

    def pairs(self, contributions: Iterable[Contribution]) -> Iterator[tuple[str, str]]:
        """The certain pairs of columns whose value flows: it has no room for others."""
        for contribution in contributions:
            for evidence in contribution.columns:
                target = self.target.column(evidence.to_column) if evidence.publishable else None
                for column in evidence.from_columns if target is not None else ():
                    source = self.source.column(column)
                    if source is not None and target is not None:
                        yield source, target

    def same_pair(self, pair: tuple[str, str]) -> tuple[str, str]:
        """The form in which two pairs that say the same are equal."""
        return self.source.same_column(pair[0]), self.target.same_column(pair[1])

    def key(self, pair: tuple[str, str] | None = None) -> str:
        """By what it, or a pair of columns of it, is known again."""
        ends = [(end.kind, end.name, end.full_name if end.is_outside else "") for end in (self.source, self.target)]
        return json.dumps([*ends[0], *ends[1], *(self.same_pair(pair) if pair is not None else ())], ensure_ascii=False)

    @classmethod
    def of_key(cls, key: str) -> tuple[Relationship, tuple[str, str] | None]:
        """What `key` was given for."""
        found = json.loads(key)
        source, target, pair = found[:3], found[3:6], found[6:]
        return cls(End(*source), End(*target)), (pair[0], pair[1]) if pair else None


@dataclass(frozen=True, slots=True)
class UnityNames:
    """How entities are called; `own` is the run's service, whose connection is of the type `own_type`."""

    own: str
    own_type: str
    services: Mapping[str, ServiceInUnity] = field(default_factory=dict)
    paths: tuple[str, ...] = ()

    @property
    def knows_a_service(self) -> bool:
        """Whether any service is in Unity Catalog, or any path."""
        return bool(self.paths) or any(map(self._is_inside, (self.own, *self.services)))

    def relationship(self, request: AddLineageRequest) -> Relationship:
        return Relationship(self._end(request.from_entity), self._end(request.to_entity))

    def _end(self, entity: EntityReference) -> End:
        full_name = entity.fully_qualified_name or entity.id
        service, *parts = split_fqn(full_name)
        if entity.type == "table" and self._is_inside(service) and parts[0].lower() not in NOT_IN_UNITY_CATALOG:
            known = parts[0] != UNKNOWN_DATABASE
            return End(TABLE, ".".join(parts).lower() if known else "", full_name, entity.type)
        path = self._path(entity) if entity.type == "container" else None
        if path is not None:
            return End(PATH, path, full_name, entity.type)
        given = self.services.get(service)
        system_type = (given.system_type if given is not None else None) or self._system_of(service, entity.type)
        return End(OBJECT, _object_name(service, parts, entity.type), full_name, entity.type, system_type)

    def _is_inside(self, service: str) -> bool:
        given = self.services.get(service)
        if given is not None and given.unity_catalog is not None:
            return given.unity_catalog
        return service == self.own and self.own_type in IN_UNITY_CATALOG

    def _path(self, entity: EntityReference) -> str | None:
        """A path as it is called where Unity Catalog has it: below one of `paths`, with its scheme."""
        path = entity_text(entity)
        for given in self.paths:
            known = normal_path(given)
            if path == known or path.startswith(f"{known}/"):
                return given + path[len(known) :]
        return None

    def _system_of(self, service: str, kind: str) -> str:
        if kind == "topic":
            return SYSTEM_OF_TOPICS
        return SYSTEM_OF_CONNECTION.get(self.own_type, OTHER_SYSTEM) if service == self.own else OTHER_SYSTEM


def _object_name(service: str, parts: list[str], kind: str) -> str:
    """What stands for a table outside is called: the parts of its name, with `%` and two digits for what none may hold.

    Two tables whose names differ in case alone are called the same: what the object says of itself tells them.
    """
    split = [one for part in parts for one in part.split("/") if one] if kind == "container" else parts
    return ":".join(_FORBIDDEN.sub(_escape, part) for part in (service, *split)).lower()


def _escape(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02x}"
