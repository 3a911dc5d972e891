"""What stood before the log begins: schema files first, then the catalog."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.model import Column, TableName
from ingestion.naming import QUALIFIED_PARTS, Namespace, RelationKey
from ingestion.resolution import FoundBy, Resolved, Resolver
from ingestion.timeline import Before
from workflows.schema_files import Schemas


def before_of(schemas: Sequence[Schemas], resolver: Resolver, *, registers: bool = False) -> Before:
    """Schemas and places by `schemas`, the first one first, and the catalog behind `resolver`, which remembers.

    Where the run `registers` what it meets, what an earlier one registered is no evidence of where a name stands.
    """

    def schema(key: RelationKey) -> Sequence[Column] | None:
        given = next((known for layer in schemas if (known := layer.get(key)) is not None), None)
        if given is not None:
            return given
        found = resolver.resolve(TableName(key.parts, kind=key.kind), Namespace())
        if not isinstance(found, Resolved):
            return None
        return found.entity.columns if found.entity.columns_complete else ()

    def elsewhere(name: TableName, namespace: Namespace) -> RelationKey | None:
        found = resolver.resolve(name, namespace)
        if not isinstance(found, Resolved) or found.found_by is not FoundBy.ONLY_ONE:
            return None
        entity = found.entity
        if registers and entity.filed_from_log:
            return None
        service = name.parts[:-QUALIFIED_PARTS]
        return RelationKey((*service, entity.database, entity.schema, entity.name))

    return Before(schema, elsewhere)
