"""What the catalog knows of one type of entities."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.model import Json


@dataclass(frozen=True, slots=True)
class EntityType:
    """One entity type.

    `parent` is the key of the create request that names the parent, `ancestors` the references an answer carries
    (key of the answer -> type), nearest first. `keys` are what it takes over from the request; of these `references`
    name other entities, of one of the types beside each key, and are answered as references. Entities of a type that
    `nests` may lie in one of the same type, which the request's `parent` names.
    """

    type: str
    collection: str
    index: str
    keys: tuple[str, ...]
    parent: str | None = None
    ancestors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    references: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nests: bool = False
    deletable: bool = True

    @property
    def parent_types(self) -> tuple[str, ...]:
        return self.ancestors[0][1] if self.ancestors else ()

    def request_of(self, answer: Json) -> Json:
        """The create request that gives an entity with this `answer`."""
        request = {key: answer[key] for key in self.keys if answer.get(key) is not None} | {"name": answer["name"]}
        if self.parent is not None:
            parent = answer[self.parent]
            # a service of any kind: its name alone would not tell which
            request[self.parent] = parent if len(self.parent_types) > 1 else parent["fullyQualifiedName"]
        if self.nests and answer.get("parent") is not None:
            request["parent"] = answer["parent"]
        return request
