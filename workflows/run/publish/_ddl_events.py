"""DDL of a log as events for a catalog that remembers: names end and move at their time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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


def moments_of_targets(
    target: RunTarget, shards: Iterable[SchemaEvents], resolver: Resolver, known: Collection[str]
) -> dict[str, tuple[float, ...]]:
    """When what stood under a name lost it, in order, by the id of the entity; of those that are `known`.

    Empty where the catalog does not remember names.
    """
    if NAMES not in target.platform.capabilities:
        return {}
    wanted, resolver = frozenset(known), resolver.without_columns()
    moments: dict[str, set[float]] = {}
    for events in shards:
        ending = [event for event in events.names if event.time > 0 and event.kind is not NameEventKind.CREATE]
        found = _entities(ending, resolver)
        for event in ending:
            for key in (event.key, event.other):
                if key in found and found[key].id in wanted:
                    moments.setdefault(found[key].id, set()).add(event.time)
    return {identifier: tuple(sorted(times)) for identifier, times in moments.items()}


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
                found[new] = found[old]  # which may have moved on from there: a to b, b to c
    return requests, list(isolation.failures.values())


def _schema_fqn(entity: TableEntity, key: RelationKey) -> str:
    return build_fqn(entity.service, key.database or entity.database, key.schema or entity.schema)


def name_events(events: Sequence[NameEvent], resolver: Resolver) -> list[Json]:
    """The events whose entities the catalog has, as its call for names takes them; times in milliseconds.

    Of a RENAME of what the catalog never had (`ALTER TABLE n RENAME TO t`) it is told that t is another table since.
    A log without times tells nothing.
    """
    timed = [event for event in events if event.time > 0]
    found = _entities(timed, resolver)
    return [body for event in timed for body in _bodies(event, found)]


def _bodies(event: NameEvent, found: Mapping[RelationKey, TableEntity]) -> Iterator[Json]:
    at = round(event.time * 1000)
    ends = [found.get(key) for key in (event.key, event.other) if key is not None]
    known = [_end(entity) for entity in ends if entity is not None]
    if len(known) == len(ends):
        yield {"kind": str(event.kind), "entity": known[0], "at": at, **({"other": known[1]} if event.other else {})}
    elif event.kind is NameEventKind.SWAP or ends[0] is None:
        yield from ({"kind": str(NameEventKind.REPLACE), "entity": entity, "at": at} for entity in known)


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


def _entities(events: Iterable[NameEvent], resolver: Resolver) -> dict[RelationKey, TableEntity]:
    return _entities_at([key for event in events for key in (event.key, event.other) if key is not None], resolver)


def _entities_at(mentioned: Iterable[RelationKey], resolver: Resolver) -> dict[RelationKey, TableEntity]:
    keys = list(dict.fromkeys(mentioned))
    resolved = resolver.resolve_all(key.mention for key in keys)
    return {key: found.entity for key, found in zip(keys, resolved, strict=True) if isinstance(found, Resolved)}


def _end(entity: TableEntity) -> Json:
    return {"id": entity.id, "type": entity.type}
