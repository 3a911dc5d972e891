"""The entity behind each relation of a log: resolved, or the reason why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.source_settings import LineageConfig
from ingestion.binding.binder import BoundLog
from ingestion.binding.relations import Relation
from ingestion.binding.temporary_tables import FlowSources, PersistedFlow
from ingestion.model.entities import DASHBOARD_TYPES, ColumnFqns, TableEntity
from ingestion.model.lineage import NameKind
from ingestion.model.outcomes import Outcome
from ingestion.model.steps import MOST_COLUMNS
from ingestion.resolution import PREFETCHED, Ambiguous, FoundBy, Resolution, Resolved, Resolver, Unresolved

GIVEN_UP = frozenset({Outcome.RESOLUTION_FAILED, Outcome.REGISTRATION_FAILED})
"""What is no answer to where a name leads: a statement that needs such a name is dead."""

UNRESOLVED_STATUSES = (Outcome.UNRESOLVED, Outcome.NO_DEFAULT_SCHEMA, Outcome.UNKNOWN_SESSION, *sorted(GIVEN_UP))
"""What a name comes to that leads nowhere."""
_OWN_STATUSES = frozenset({Outcome.RESOLUTION_FAILED, Outcome.UNKNOWN_SESSION})
"""Why a name leads nowhere, where that is not that there is nothing."""


@dataclass(frozen=True, slots=True)
class RelationEntities:
    """By relation number. `names` tells how often each name of a status was met.

    `full`: the columns of tables that logs filed, and of which the catalog has as many as it takes of one.
    """

    resolved: Mapping[int, TableEntity]
    statuses: Mapping[int, Outcome]
    names: Mapping[Outcome, Mapping[str, int]] = field(default_factory=dict)
    full: Mapping[int, ColumnFqns] = field(init=False)

    def __post_init__(self) -> None:
        filed = {n: one for n, one in self.resolved.items() if one.filed_from_log and not one.columns_complete}
        full = {number: one.column_fqns for number, one in filed.items() if len(one.columns) >= MOST_COLUMNS}
        object.__setattr__(self, "full", full)

    def status(self, relation: int) -> Outcome:
        return self.statuses[relation]

    def with_status(self, relations: Collection[int], status: Outcome) -> RelationEntities:
        """The same, with the unresolved ones of `relations` with another status."""
        open_ones = {number for number in relations if self.statuses.get(number) is Outcome.UNRESOLVED}
        return replace(self, statuses={**self.statuses, **dict.fromkeys(open_ones, status)}) if open_ones else self


def relations_in(flows: Iterable[PersistedFlow]) -> Counter[int]:
    """The relations that edges would join, and in how many flows each takes part."""
    counted: Counter[int] = Counter()
    for flow in flows:
        counted.update({flow.target, *flow.content.sources})
    return counted


def resolve_relations(
    log: BoundLog, wanted: Mapping[int, int], resolver: Resolver, filters: LineageConfig, *, registers: bool = False
) -> RelationEntities:
    """The entities of the relations that are `wanted` (number -> how often it is met).

    Where the run `registers` what it meets, it does so under its own key: what an earlier run registered elsewhere,
    from less of the log, does not stand in.
    """
    resolved: dict[int, TableEntity] = {}
    statuses: dict[int, Outcome] = {}
    names: dict[Outcome, Counter[str]] = {}
    relations = [log.relations[number] for number in sorted(wanted)]
    stored = [relation for relation in relations if relation.key.kind is not NameKind.FUNCTION]
    found = _resolutions(stored, resolver, registers=registers)
    statuses.update(dict.fromkeys(wanted, Outcome.NOT_STORED))
    for relation, resolution in zip(stored, found, strict=True):
        if isinstance(resolution, Resolved):
            allowed = is_allowed(resolution.entity, filters)
            statuses[relation.number] = Outcome.RESOLVED if allowed else Outcome.FILTERED
            if allowed:
                resolved[relation.number] = resolution.entity
            continue
        status = statuses[relation.number] = _status_of(resolution)
        names.setdefault(status, Counter())[str(relation.key)] += wanted[relation.number]
    return RelationEntities(resolved, statuses, names)


def _status_of(resolution: Ambiguous | Unresolved) -> Outcome:
    if isinstance(resolution, Ambiguous):
        return Outcome.AMBIGUOUS
    return resolution.reason if resolution.reason in _OWN_STATUSES else Outcome.UNRESOLVED


def is_allowed(entity: TableEntity, filters: LineageConfig) -> bool:
    """Whether the configuration's filters let an entity be."""
    return entity.type in DASHBOARD_TYPES or filters.allows(entity.database, entity.schema, entity.name)


def _resolutions(relations: Sequence[Relation], resolver: Resolver, *, registers: bool) -> Iterator[Resolution]:
    """By the key of each relation; where nothing is there, by the name that led to it."""
    # some at a time: a name that is a whole key is not asked for again, as what was found of it is remembered still
    for start in range(0, len(relations), PREFETCHED):
        some = relations[start : start + PREFETCHED]
        found = resolver.resolve_all(relation.key.mention for relation in some)
        if registers:  # the one of that name that a log showed in some schema is not what a name without a schema means
            for number, relation in enumerate(some):
                if is_guess(found[number]):
                    found[number] = Unresolved(Outcome.NO_SUCH_TABLE, str(relation.key))
        missing = [
            number
            for number, resolution in enumerate(found)
            # the name that led to one which was renamed since is another's
            if isinstance(resolution, Unresolved) and some[number].key == some[number].born
        ]
        again = resolver.resolve_all(some[number].mention for number in missing)
        for number, resolution in zip(missing, again, strict=True):
            if not (registers and (is_guess(resolution) or _are_guesses(resolution, resolver))):
                found[number] = resolution
        yield from found


def _are_guesses(resolution: Resolution, resolver: Resolver) -> bool:
    """Whether several bear the name elsewhere, and each only since some log was read: they say no more than one of
    them would against the place where the session looks.
    """
    if not isinstance(resolution, Ambiguous) or not resolution.complete:
        return False
    entities = map(resolver.entity, resolution.candidates)
    return all(entity is not None and entity.filed_from_log for entity in entities)


def is_guess(resolution: Resolution) -> bool:
    """Whether nothing but its being the only one speaks for it, and that only since some log was read."""
    if not isinstance(resolution, Resolved):
        return False
    return resolution.found_by is FoundBy.ONLY_ONE and resolution.entity.filed_from_log


def certain_sources(content: FlowSources) -> set[tuple[int, str]]:
    """The relations and columns that are surely there: what comes of one may be unknown, and what it is not."""
    uses = [*content.columns.values(), content.indirect]
    certain = (use.sources[0] for references in uses for use in references if len(use.sources) == 1)
    return {(column.relation, column.column) for column in certain}
