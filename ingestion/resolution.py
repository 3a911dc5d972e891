"""Names in statements to entities of a metadata platform: looked up together, each once, and told why where there is
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import NamedTuple, Protocol, TypeVar

from cachetools import LRUCache

from ingestion.model.engine_names import EngineNameRules
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import build_fqn, search_pattern, split_fqn
from ingestion.model.isolation import FailureStage, Isolation, Probe, no_probe
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.namespaces import QUALIFIED_PARTS, Namespace, candidates, is_readable
from ingestion.model.outcomes import Outcome
from ingestion.model.storage_paths import canonical_path, containers_of
from ingestion.model.topics import split_topic, topic_path

REMEMBERED = 1_000
_REMEMBERED_MISSES = 20_000
"""Names that nothing is called by: of a log that a catalog has not seen, most are, and each is asked for four times."""
_TABLE_FQN_PARTS = 4

Key = TypeVar("Key")
Value = TypeVar("Value")

PREFETCHED = 250


# Looking for entities in a catalog: what a catalog must offer, and a memory in front of it that keeps misses too.


class PartialName(NamedTuple):
    """A table's name with None for the parts that are not known.

    A tuple, as each is looked for in memory many times.
    """

    database: str | None
    schema: str | None
    table: str

    @property
    def dotted(self) -> str:
        return ".".join(part for part in (self.database, self.schema, self.table) if part)

    def is_spelled(self, fqn: str) -> bool:
        """Whether the FQN of a table has the parts that are known, in the same case."""
        wanted = (self.database, self.schema, self.table)
        return all(want in (None, part) for want, part in zip(wanted, split_fqn(fqn)[1:], strict=True))


@dataclass(frozen=True, slots=True)
class Hits:
    """FQNs that a search found. `complete`: there are no others. `current`: nothing newer is missing from it."""

    fqns: tuple[str, ...]
    complete: bool = True
    current: bool = False


@dataclass(frozen=True, slots=True)
class LookupCounts:
    """How many calls were made to the catalog, and how many were saved by remembering."""

    field_searches: int
    fqn_lookups: int
    bulk_lookups: int
    remembered: int


class EntitySearch(Protocol):
    """A catalog as name resolution sees it. Its errors pass through: a dead catalog is never a missing table."""

    def without_columns(self) -> EntitySearch:
        """The same catalog for who asks which entity it is: columns and attributes may be left out."""

    def field_search(self, pattern: str) -> Hits:
        """Tables whose FQN matches, case ignored; `*` is anything, dots included, `?` one character."""

    def get_by_fqn(self, fqn: str) -> TableEntity | None:
        """The table with this FQN, None when there is none."""

    def bulk_lookup(self, service: str, names: Sequence[PartialName]) -> Sequence[Sequence[TableEntity]] | None:
        """For each name every table it may mean, case ignored; None when the catalog has no such call."""

    def path_lookup(self, path: str) -> Sequence[TableEntity]:
        """Containers, external tables and topics that lie exactly there, however the path's scheme is written."""


class _RememberedSearch:
    """An EntitySearch that is asked each thing once, as long as the last 1,000 answers hold it.

    That a name means nothing, where that is sure, is remembered longer: 20,000 of them.
    """

    def __init__(self, search: EntitySearch) -> None:
        self._search = search
        self._hits: LRUCache[tuple[str, PartialName], Hits] = LRUCache(REMEMBERED)
        self._misses: LRUCache[tuple[str, PartialName], Hits] = LRUCache(_REMEMBERED_MISSES)
        self._entities: LRUCache[str, TableEntity | None] = LRUCache(REMEMBERED)
        self._paths: LRUCache[str, tuple[TableEntity, ...]] = LRUCache(REMEMBERED)
        self._lock = Lock()
        self._field_searches = self._fqn_lookups = self._bulk_lookups = self._remembered = 0

    @property
    def counts(self) -> LookupCounts:
        with self._lock:
            return LookupCounts(self._field_searches, self._fqn_lookups, self._bulk_lookups, self._remembered)

    def candidates(self, service: str, name: PartialName) -> Hits:
        """Every table of the service that agrees with the name part by part, case ignored."""
        known = self._remembered_hits(service, name)
        if known is not None:
            self._count(remembered=1)
            return known
        self.prefetch(service, [name])
        learned = self._remembered_hits(service, name)
        if learned is not None:
            return learned
        self._count(field_searches=1)
        pattern = search_pattern(service, name.database, name.schema, name.table)
        found = self._search.field_search(pattern)
        hits = Hits(tuple(fqn for fqn in found.fqns if _agrees(fqn, service, name)), found.complete, found.current)
        self._remember_hits(service, name, hits)
        return hits

    def entity(self, fqn: str) -> TableEntity | None:
        """The table with this FQN, None when there is none."""
        known = self._remembered_in(self._entities, fqn)
        if known is not None:
            self._count(remembered=1)
            return known[0]
        self._count(fqn_lookups=1)
        entity = self._search.get_by_fqn(fqn)
        self._remember(self._entities, fqn, entity)
        return entity

    def at_path(self, path: str) -> tuple[TableEntity, ...]:
        """What lies at a storage path."""
        known = self._remembered_in(self._paths, path)
        if known is not None:
            self._count(remembered=1)
            return known[0]
        self._count(field_searches=1)
        found = tuple(self._search.path_lookup(path))
        self._remember(self._paths, path, found)
        return found

    def prefetch(self, service: str, names: Sequence[PartialName]) -> None:
        """Learns many names in one call where the catalog can; give fewer than it remembers."""
        unknown = [name for name in dict.fromkeys(names) if self._remembered_hits(service, name) is None]
        if not unknown:
            return
        answer = self._search.bulk_lookup(service, unknown)
        if answer is None:
            return
        self._count(bulk_lookups=1)
        for name, entities in zip(unknown, answer, strict=True):
            for entity in entities:
                self._remember(self._entities, entity.fully_qualified_name, entity)
            fqns = (entity.fully_qualified_name for entity in entities)
            agreeing = tuple(fqn for fqn in fqns if _agrees(fqn, service, name))
            self._remember_hits(service, name, Hits(agreeing, complete=True, current=True))

    def _remembered_hits(self, service: str, name: PartialName) -> Hits | None:
        key = service, name
        with self._lock:
            return self._misses.get(key) or self._hits.get(key)

    def _remember_hits(self, service: str, name: PartialName, hits: Hits) -> None:
        self._remember(self._misses if hits.current and not hits.fqns else self._hits, (service, name), hits)

    def _remembered_in(self, cache: LRUCache[Key, Value], key: Key) -> tuple[Value] | None:
        """The value in a tuple of one (it may itself be None); None when nothing is remembered."""
        with self._lock:
            return (cache[key],) if key in cache else None

    def _remember(self, cache: LRUCache[Key, Value], key: Key, value: Value) -> None:
        with self._lock:
            cache[key] = value

    def _count(self, field_searches: int = 0, fqn_lookups: int = 0, bulk_lookups: int = 0, remembered: int = 0) -> None:
        with self._lock:
            self._field_searches += field_searches
            self._fqn_lookups += fqn_lookups
            self._bulk_lookups += bulk_lookups
            self._remembered += remembered


def _agrees(fqn: str, service: str, name: PartialName) -> bool:
    """Whether an FQN is that of a table of the service, and has the parts of the name that are known, case ignored."""
    try:
        parts = split_fqn(fqn)
    except ValueError:
        return False
    if len(parts) != _TABLE_FQN_PARTS or parts[0] != service:
        return False
    wanted = (name.database, name.schema, name.table)
    return all(want is None or want.casefold() == part.casefold() for want, part in zip(wanted, parts[1:], strict=True))


# From a name in a query to the entity it means: the query's own qualification first, then the session's defaults.
#
# A name that could mean several entities with equal right means none of them: the answer is Ambiguous, with the
# candidates, so that no edge is ever drawn to more than one.


class FoundBy(StrEnum):
    """What decided on a name, the surest first."""

    QUALIFICATION = "qualification"  # the query names it in full, as far as the service has levels
    SESSION = "session"  # the session's database or search path
    ONLY_ONE = "only_one"  # no default led there, but nothing else has that name
    OTHER_SERVICE = "other_service"  # only in one of the other services


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one entity that a name means."""

    entity: TableEntity
    found_by: FoundBy


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The entities (FQNs, sorted) of which none has a better right; `complete` False: there may be more."""

    candidates: tuple[str, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Unresolved:
    """No entity; `subject` is what was looked for, as far as it is a name."""

    reason: Outcome
    subject: str


Resolution = Resolved | Ambiguous | Unresolved


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where names are looked up.

    `service` is the one the queries ran in, `others` are looked at when it has nothing. `catalogs` maps the first
    of three parts (a Trino catalog) or of four (a linked server) to the FQN of a service or of one of its
    databases. `rules` have the services that the first of four parts may name by itself, and those that storage
    paths belong to. `two_level`: the platform has no schemas below databases (MySQL, Hive, ClickHouse), so that a
    session's database is what OpenMetadata calls a schema. `guessed_database` stands where nothing tells a session's
    database: where that has no table of that schema and name, the one of any database is meant, if there is but one.
    `assets`: what a source names that is no table, by the parts of these names in lower case.
    """

    service: str
    others: tuple[str, ...] = ()
    catalogs: Mapping[str, str] = field(default_factory=dict)
    two_level: bool = False
    rules: EngineNameRules = field(default_factory=EngineNameRules)
    guessed_database: str = ""
    assets: Mapping[tuple[str, ...], TableEntity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """What to look for in a service; `likely` is a narrower one, whose answer comes first where it has one."""

    service: str
    name: PartialName
    path: tuple[str, ...] = ()
    found_by: FoundBy = FoundBy.QUALIFICATION
    likely: _Lookup | None = None


_Lookups = list[_Lookup] | Unresolved
"""Where to look for a name, the service of the query first; or why nowhere."""


class Resolver:
    """Resolves names within one scope; safe to share between threads."""

    def __init__(self, search: EntitySearch, scope: SearchScope, probe: Probe = no_probe) -> None:
        self._probe = probe
        self._catalog = search
        self._search = _RememberedSearch(search)
        self._scope = scope
        self._catalogs = {name.casefold(): target for name, target in scope.catalogs.items()}
        self._services, self._any_service = scope.rules.services, scope.rules.any_service

    @property
    def counts(self) -> LookupCounts:
        """The calls made so far."""
        return self._search.counts

    def entity(self, fqn: str) -> TableEntity | None:
        """The table with this FQN, None when there is none."""
        return self._search.entity(fqn)

    def without_columns(self) -> Resolver:
        """A resolver of the same scope that remembers nothing, and need not tell the columns of what it finds."""
        return Resolver(self._catalog.without_columns(), self._scope, self._probe)

    def resolve(self, name: TableName, namespace: Namespace) -> Resolution:
        """What `name` means to a session with this namespace; a look-up that fails costs no other name.

        A catalog that is down passes through: it is never a missing table.
        """
        return self._resolve(name, namespace, None)

    def _resolve(self, name: TableName, namespace: Namespace, known: _Lookups | None) -> Resolution:
        """As `resolve`; `known` is where to look, where that was found out already."""
        isolation = Isolation[TableName](self._probe)
        with isolation.around(FailureStage.RESOLUTION, name):
            isolation.probe(FailureStage.RESOLUTION, name)
            if self._scope.assets and (asset := self._scope.assets.get(tuple(map(str.lower, name.parts)))) is not None:
                return Resolved(asset, FoundBy.QUALIFICATION)
            if name.kind is NameKind.PATH:
                return self._at_path(name.dotted)
            return self._first_of(known or self._lookups(name, namespace))
        return Unresolved(Outcome.RESOLUTION_FAILED, name.dotted)

    def _first_of(self, looked_up: _Lookups) -> Resolution:
        if isinstance(looked_up, Unresolved):
            return looked_up
        own = self._look_up(looked_up[0])
        if not isinstance(own, Unresolved):
            return own
        return self._in_others(looked_up[1:], own)

    def resolve_all(self, names: Iterable[tuple[TableName, Namespace]]) -> list[Resolution]:
        """As `resolve`, for many names in their order, with one call for many where the catalog offers it."""
        wanted = list(names)
        resolutions: list[Resolution] = []
        for start in range(0, len(wanted), PREFETCHED):
            chunk = wanted[start : start + PREFETCHED]
            lookups: Sequence[_Lookups | None] = [None] * len(chunk)
            with Isolation[int]().around(FailureStage.RESOLUTION, start):  # each is asked for by itself too
                lookups = self._prefetch(chunk)
            resolutions += [self._resolve(*name, known) for name, known in zip(chunk, lookups, strict=True)]
        return resolutions

    def search_table_entities(self, service: str, database: str | None, schema: str | None, table: str) -> Resolution:
        """Field search, then FQN look-up, then without the schema; what is not known is None or empty.

        The schema is taken for a session's default, which a table elsewhere may contradict. `resolve` keeps to the
        schema where the query itself names it.
        """
        found_by = FoundBy.SESSION if schema else FoundBy.ONLY_ONE
        found = self._strictly(
            _Lookup(service, PartialName(database or None, schema or None, table), found_by=found_by)
        )
        if not isinstance(found, Unresolved) or not schema:
            return found
        return self._strictly(_Lookup(service, PartialName(database or None, None, table), found_by=FoundBy.ONLY_ONE))

    def _lookups(self, name: TableName, namespace: Namespace) -> _Lookups:
        if name.kind is not NameKind.TABLE:
            return Unresolved(Outcome.NOT_STORED, name.kind)
        if len(name.parts) > QUALIFIED_PARTS + 1:
            return Unresolved(Outcome.TOO_MANY_PARTS, name.dotted)
        all_parts = (namespace.database, *namespace.search_path, *name.parts)
        if not (is_readable(all_parts) or all(is_readable(key.parts) for key in candidates(name, namespace))):
            return Unresolved(Outcome.UNKNOWN_SESSION, str(candidates(name, namespace)[0]))
        padded = ("",) * (QUALIFIED_PARTS + 1 - len(name.parts)) + name.parts
        server, database, schema, table = (part or None for part in padded)
        if server is not None and (self._any_service or server in self._services):
            return [_lookup(server, PartialName(database, schema, table or ""), ())]
        default, path = self._defaults(namespace)
        target = self._catalogs.get((server or database or default or "").casefold())
        if target is not None:
            service, *known = split_fqn(target)
            known_name = PartialName(database if server else next(iter(known), None), schema, table or "")
            return [_lookup(service, known_name, path)]
        if server:
            return Unresolved(Outcome.UNKNOWN_SERVER, name.dotted)
        written = PartialName(database, schema, table or "")
        others = [_Lookup(other, written, found_by=FoundBy.OTHER_SERVICE) for other in self._scope.others]
        own = _lookup(self._scope.service, PartialName(database or default, schema, table or ""), path)
        if database is None and default == self._scope.guessed_database:
            own = _Lookup(self._scope.service, written, own.path, FoundBy.ONLY_ONE, likely=own)
        return [own, *others]

    def _defaults(self, namespace: Namespace) -> tuple[str | None, tuple[str, ...]]:
        """The database and the schemas that a session stands for, in OpenMetadata's levels."""
        path = tuple(schema for schema in namespace.search_path if schema)
        if not self._scope.two_level:
            return namespace.database or None, path
        if namespace.database and namespace.database not in path:
            path = (*path, namespace.database)
        return None, path

    def _look_up(self, lookup: _Lookup) -> Resolution:
        everywhere = self._search.candidates(lookup.service, lookup.name)
        if lookup.likely is not None:
            likely = self._along_path(lookup.likely, self._narrow(everywhere, lookup.likely))
            if not isinstance(likely, Unresolved):
                return likely
        return self._along_path(lookup, everywhere)

    def _narrow(self, everywhere: Hits, lookup: _Lookup) -> Hits:
        """What one database or schema has of the name, read off the hits in all of them where they are all there."""
        if not everywhere.complete:
            return self._search.candidates(lookup.service, lookup.name)
        here = tuple(fqn for fqn in everywhere.fqns if _agrees(fqn, lookup.service, lookup.name))
        return Hits(here, current=everywhere.current)

    def _along_path(self, lookup: _Lookup, everywhere: Hits) -> Resolution:
        if lookup.name.schema is not None or not lookup.path:
            return self._choose(everywhere, lookup)
        for schema in lookup.path:
            name = PartialName(lookup.name.database, schema, lookup.name.table)
            placed = _Lookup(lookup.service, name, found_by=lookup.found_by)
            found = self._choose(self._narrow(everywhere, placed), placed)
            if not isinstance(found, Unresolved):
                return found
        return self._choose(everywhere, _Lookup(lookup.service, lookup.name, found_by=FoundBy.ONLY_ONE))

    def _strictly(self, lookup: _Lookup) -> Resolution:
        return self._choose(self._search.candidates(lookup.service, lookup.name), lookup)

    def _choose(self, hits: Hits, lookup: _Lookup) -> Resolution:
        """The one of the hits that the name means; a search index may lag, so no hit means a look-up by FQN."""
        name = lookup.name
        missing = Unresolved(Outcome.NO_SUCH_TABLE, name.dotted)
        if not hits.fqns:
            if hits.current or name.database is None or name.schema is None:
                return missing
            entity = self._search.entity(build_fqn(lookup.service, name.database, name.schema, name.table))
            return missing if entity is None else Resolved(entity, lookup.found_by)
        best = [fqn for fqn in hits.fqns if name.is_spelled(fqn)] or list(hits.fqns)
        sure = hits.complete or (name.is_spelled(best[0]) and None not in (name.database, name.schema))
        if len(best) > 1 or not sure:
            return Ambiguous(tuple(sorted(best)), hits.complete)
        entity = self._search.entity(best[0])
        # the index may also show what is gone by now
        return missing if entity is None else Resolved(entity, lookup.found_by)

    def _in_others(self, lookups: Sequence[_Lookup], own: Unresolved) -> Resolution:
        """What several services with equal right have: one entity, an ambiguity, or nothing as in its own."""
        found = [self._look_up(lookup) for lookup in lookups]
        resolved = [item for item in found if isinstance(item, Resolved)]
        ambiguous = [item for item in found if isinstance(item, Ambiguous)]
        if not resolved and not ambiguous:
            return own
        if len(resolved) == 1 and not ambiguous:
            return resolved[0]
        names = {item.entity.fully_qualified_name for item in resolved}
        names.update(name for item in ambiguous for name in item.candidates)
        return Ambiguous(tuple(sorted(names)), all(item.complete for item in ambiguous))

    def _at_path(self, path: str) -> Resolution:
        found: Sequence[TableEntity] = ()
        owner = self._scope.rules.storage_of(canonical_path(path))
        topic = split_topic(path)
        # The topics of a cluster that goes by several addresses are one service's.
        looked_in = containers_of(canonical_path(path)) if topic is None else [topic_path(owner or topic[0], topic[1])]
        for container in looked_in:
            found = found or self._search.at_path(container)
        own = [entity for entity in found if owner == split_fqn(entity.fully_qualified_name)[0]]
        found = own or found
        if len(found) == 1:
            return Resolved(found[0], FoundBy.QUALIFICATION)
        if found:
            return Ambiguous(tuple(sorted(entity.fully_qualified_name for entity in found)))
        return Unresolved(Outcome.NOTHING_THERE, path)

    def _prefetch(self, names: Sequence[tuple[TableName, Namespace]]) -> list[_Lookups]:
        """Where to look for each name, once the likeliest place of all was asked."""
        found = [self._lookups(name, namespace) for name, namespace in names]
        by_service: dict[str, list[PartialName]] = {}
        for lookups in found:
            if not isinstance(lookups, Unresolved):
                by_service.setdefault(lookups[0].service, []).append(lookups[0].name)
        for service, wanted in by_service.items():
            self._search.prefetch(service, wanted)
        return found


def _lookup(service: str, name: PartialName, path: tuple[str, ...]) -> _Lookup:
    """A name with a schema of its own needs no search path, and lets none contradict it."""
    if name.schema is not None:
        return _Lookup(service, name)
    return _Lookup(service, name, path, FoundBy.SESSION if path else FoundBy.ONLY_ONE)
