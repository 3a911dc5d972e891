"""DDL of a log as events for a catalog that remembers: names end and move at their time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from connectors.openmetadata.client import NAMES, TYPES, file_name_events
from connectors.openmetadata.entities import COLUMNS_COMPLETE, TableDefinition, column_request
from connectors.openmetadata.registration import register_each
from ingestion.binding.timeline import ColumnNameEvent, NameEvent, NameEventKind, SchemaEvents, TypeEvent
from ingestion.dialects.types import is_same_type
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import build_fqn
from ingestion.model.isolation import Failure, FailureStage, Isolation, Probe, in_parts
from ingestion.model.lineage import Json
from ingestion.model.namespaces import RelationKey
from ingestion.resolution import Resolved, Resolver
from workflows.counts import loss_warnings
from workflows.target import RunTarget

_ColumnEvent = TypeVar("_ColumnEvent", ColumnNameEvent, TypeEvent)
_MARKS: Json = {"extension": {COLUMNS_COMPLETE: False}}


def publish_events_of_shards(
    target: RunTarget, shards: Sequence[SchemaEvents], resolver: Resolver, probe: Probe
) -> tuple[str, ...]:
    """Files the events of all shards where the catalog remembers names.

    After the lineage, which names its ends as they were. A new name that the catalog lacks is registered with the
    columns of the old one, before any event is filed. What to warn of where some events could not be filed.
    """
    platform = target.platform
    if NAMES not in platform.capabilities or not any(one.names or one.types or one.columns for one in shards):
        return ()
    renamed: list[Json] = []
    failed: list[Failure] = []
    for events in shards:
        tables, failures = _renamed_tables(events.names, resolver, probe)
        renamed += tables
        failed += failures
    if renamed:
        failed += [failure for _group, _request, failure in register_each(platform, {"tables": renamed}, probe).refused]
    resolver = resolver.without_columns()
    for events in shards:
        bodies = [*name_events(events.names, resolver), *column_events(events.columns, resolver)]
        if TYPES in platform.capabilities:
            bodies += type_events(events.types, resolver)
        left = in_parts(bodies, lambda chosen: file_name_events(platform.http, chosen), FailureStage.NAMES, probe)
        failed += [failure for _event, failure in left]
    return loss_warnings("changes of names could not be filed", failed)


def _renamed_tables(events: Sequence[NameEvent], resolver: Resolver, probe: Probe) -> tuple[list[Json], list[Failure]]:
    """Create requests for the tables that moved to a name that the catalog lacks, and why some cannot be made."""
    renames = [event for event in events if event.kind is NameEventKind.RENAME]
    moves = [(event.key, event.other) for event in renames if event.other is not None]
    found = _entities(renames, resolver)
    isolation = Isolation[RelationKey](probe)
    requests = []
    for old, new in moves:
        if old in found and new not in found:
            with isolation.around(FailureStage.NAMES, new):
                isolation.probe(FailureStage.NAMES, new)
                table = TableDefinition(_schema_fqn(found[old], new), new.table, found[old].columns)
                requests.append({**table.to_json(), **_MARKS})
    return requests, list(isolation.failures.values())


def _schema_fqn(entity: TableEntity, key: RelationKey) -> str:
    return build_fqn(entity.service, key.database or entity.database, key.schema or entity.schema)


def name_events(events: Sequence[NameEvent], resolver: Resolver) -> list[Json]:
    """The events whose entities the catalog has, as its call for names takes them; times in milliseconds.

    DROP and CREATE in one record have one time, and the lineage of what is created has it too: the DROP is told a
    millisecond earlier, so that it ends what was there before and nothing else. The same holds of a relation that was
    made under another name before the DROP, or before a RENAME that sets aside what stood there, and renamed after it:
    its lineage has the last name from its first moment.
    A log without times tells nothing.
    """
    timed = [event for event in events if event.time > 0]
    found = _entities(timed, resolver)
    made = {(event.key, event.time) for event in timed if event.kind is NameEventKind.CREATE}
    made_before = _made_under_other_names(timed, found)
    bodies = []
    for event in timed:
        entity, other = found.get(event.key), found.get(event.other) if event.other is not None else None
        if entity is None or (event.other is not None and other is None):
            continue
        at = round(event.time * 1000)
        first = made_before.get((event.key, event.time), event.time)
        if event.kind is NameEventKind.DROP:
            at = round(first * 1000) - (first < event.time or (event.key, event.time) in made)
        elif event.kind is NameEventKind.RENAME:
            at = round(first * 1000) - (first < event.time)
        body: Json = {"kind": str(event.kind), "entity": _end(entity), "at": at}
        if other is not None:
            body["other"] = _end(other)
        bodies.append(body)
    return bodies


def column_events(events: Sequence[ColumnNameEvent], resolver: Resolver) -> list[Json]:
    """The columns that were renamed or dropped, of entities that the catalog has, as its call for DDL takes them."""
    bodies = []
    for event, entity in _with_entities(events, resolver):
        kind = "dropColumn" if event.other is None else "renameColumn"
        body: Json = {"kind": kind, "entity": _end(entity), "column": event.column, "at": round(event.time * 1000)}
        optional = {"to": event.other, "before": event.type, "again": event.again}
        bodies.append({**body, **{name: value for name, value in optional.items() if value}})
    return bodies


def type_events(events: Sequence[TypeEvent], resolver: Resolver) -> list[Json]:
    """The columns that are new or got another type, as the catalog's call for DDL takes them."""
    bodies = []
    for event, entity in _with_entities(events, resolver):
        if not event.added and is_same_type(event.before, event.column.type):
            continue
        definition = column_request(event.column)
        body = {
            "kind": "addColumn" if event.added else "retypeColumn",
            "entity": _end(entity),
            "definition": definition,
            "at": round(event.time * 1000),
        }
        bodies.append({**body, "before": event.before} if event.before else body)
    return bodies


def _with_entities(events: Iterable[_ColumnEvent], resolver: Resolver) -> Iterator[tuple[_ColumnEvent, TableEntity]]:
    """The events that have a time, each with its entity, where the catalog has that."""
    timed = [event for event in events if event.time > 0]
    found = _entities_at([event.key for event in timed], resolver)
    for event in timed:
        if (entity := found.get(event.key)) is not None:
            yield event, entity


def _made_under_other_names(
    events: Sequence[NameEvent], found: Mapping[RelationKey, TableEntity]
) -> dict[tuple[RelationKey, float], float]:
    """The DROPs and RENAMEs that made room for a relation of another name, with when that was made.

    Only where the catalog never had the other name: else it moves the lineage itself when the name changes. What was
    made after it is set aside with all its lineage.
    """
    left: dict[RelationKey, NameEvent] = {}
    created: dict[RelationKey, float] = {}
    moments: dict[tuple[RelationKey, float], float] = {}
    for event in events:
        if event.kind is NameEventKind.DROP:
            left[event.key] = event
        elif event.kind is NameEventKind.CREATE:
            created[event.key] = event.time
            left.pop(event.key, None)
        elif event.kind is NameEventKind.RENAME and event.other is not None:
            before = left.pop(event.other, None)
            if before is not None and event.key not in found:
                made = min(before.time, created.get(event.key, before.time))
                if before.kind is NameEventKind.DROP or created.get(event.other, made - 1) < made:
                    moments[event.other, before.time] = made
            left[event.key] = event
    return moments


def _entities(events: Iterable[NameEvent], resolver: Resolver) -> dict[RelationKey, TableEntity]:
    return _entities_at([key for event in events for key in (event.key, event.other) if key is not None], resolver)


def _entities_at(mentioned: Iterable[RelationKey], resolver: Resolver) -> dict[RelationKey, TableEntity]:
    keys = list(dict.fromkeys(mentioned))
    resolved = resolver.resolve_all(key.mention for key in keys)
    return {key: found.entity for key, found in zip(keys, resolved, strict=True) if isinstance(found, Resolved)}


def _end(entity: TableEntity) -> Json:
    return {"id": entity.id, "type": entity.type}
