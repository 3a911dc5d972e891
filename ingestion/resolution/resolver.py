"""From a name in a query to the entity it means: the query's own qualification first, then the session's defaults.

A name that could mean several entities with equal right means none of them: the answer is Ambiguous, with the
candidates, so that no edge is ever drawn to more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ingestion.entities import TableEntity
from ingestion.isolation import FailureStage, Isolation, Probe, no_probe
from ingestion.model import NameKind, TableName
from ingestion.names.engine_names import EngineNameRules
from ingestion.names.fqn import build_fqn, split_fqn
from ingestion.names.namespaces import QUALIFIED_PARTS, Namespace
from ingestion.names.storage_paths import canonical_path, containers_of
from ingestion.resolution.cached_search import EntitySearch, Hits, LookupCounts, PartialName, RememberedSearch, agrees

PREFETCHED = 250


class FoundBy(StrEnum):
    """What decided on a name, the surest first."""

    QUALIFICATION = "qualification"  # the query names it in full, as far as the service has levels
    SESSION = "session"  # the session's database or search path
    ONLY_ONE = "only_one"  # no default led there, but nothing else has that name
    OTHER_SERVICE = "other_service"  # only in one of the other services


class Missing(StrEnum):
    """Why a name means nothing."""

    NO_SUCH_TABLE = "no_such_table"
    UNKNOWN_SERVER = "unknown_server"  # a linked server or catalog that no service is given for
    TOO_MANY_PARTS = "too_many_parts"
    NOTHING_THERE = "nothing_there"  # no container and no table at that path
    NOT_A_TABLE = "not_a_table"  # a table function
    LOOKUP_FAILED = "lookup_failed"  # the catalog refused this one look-up, or its answer could not be read


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

    reason: Missing
    subject: str


Resolution = Resolved | Ambiguous | Unresolved


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where names are looked up.

    `service` is the one the queries ran in, `others` are looked at when it has nothing. `catalogs` maps the first
    of three parts (a Trino catalog) or of four (a linked server) to the FQN of a service or of one of its
    databases. `places` has the services that the first of four parts may name by itself, and those that storage
    paths belong to. `two_level`: the platform has no schemas below databases (MySQL, Hive, ClickHouse), so that a
    session's database is what OpenMetadata calls a schema. `guessed_database` stands where nothing tells a session's
    database: where that has no table of that schema and name, the one of any database is meant, if there is but one.
    """

    service: str
    others: tuple[str, ...] = ()
    catalogs: Mapping[str, str] = field(default_factory=dict)
    two_level: bool = False
    places: EngineNameRules = field(default_factory=EngineNameRules)
    guessed_database: str = ""


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
        self._search = RememberedSearch(search)
        self._scope = scope
        self._catalogs = {name.casefold(): target for name, target in scope.catalogs.items()}
        self._services = scope.places.services

    @property
    def counts(self) -> LookupCounts:
        """The calls made so far."""
        return self._search.counts

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
            if name.kind is NameKind.PATH:
                return self._at_path(name.dotted)
            return self._first_of(known or self._lookups(name, namespace))
        return Unresolved(Missing.LOOKUP_FAILED, name.dotted)

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
            return Unresolved(Missing.NOT_A_TABLE, name.kind)
        if len(name.parts) > QUALIFIED_PARTS + 1:
            return Unresolved(Missing.TOO_MANY_PARTS, name.dotted)
        padded = ("",) * (QUALIFIED_PARTS + 1 - len(name.parts)) + name.parts
        server, database, schema, table = (part or None for part in padded)
        if server in self._services:
            return [_lookup(server, PartialName(database, schema, table or ""), ())]
        default, path = self._defaults(namespace)
        target = self._catalogs.get((server or database or default or "").casefold())
        if target is not None:
            service, *known = split_fqn(target)
            known_name = PartialName(database if server else next(iter(known), None), schema, table or "")
            return [_lookup(service, known_name, path)]
        if server:
            return Unresolved(Missing.UNKNOWN_SERVER, name.dotted)
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
        here = tuple(fqn for fqn in everywhere.fqns if agrees(fqn, lookup.service, lookup.name))
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
        missing = Unresolved(Missing.NO_SUCH_TABLE, name.dotted)
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
        for place in containers_of(canonical_path(path)):
            found = found or self._search.at_path(place)
        owner = self._scope.places.storage_of(canonical_path(path))
        own = [entity for entity in found if owner == split_fqn(entity.fully_qualified_name)[0]]
        found = own or found
        if len(found) == 1:
            return Resolved(found[0], FoundBy.QUALIFICATION)
        if found:
            return Ambiguous(tuple(sorted(entity.fully_qualified_name for entity in found)))
        return Unresolved(Missing.NOTHING_THERE, path)

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
