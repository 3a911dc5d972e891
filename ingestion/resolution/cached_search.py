"""Looking for entities in a catalog: what a catalog must offer, and a memory in front of it that keeps misses too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol, TypeVar

from cachetools import LRUCache

from ingestion.entities import TableEntity
from ingestion.names.fqn import search_pattern, split_fqn

REMEMBERED = 1_000
REMEMBERED_MISSES = 20_000
"""Names that nothing is called by: of a log that a catalog has not seen, most are, and each is asked for four times."""
TABLE_FQN_PARTS = 4

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PartialName:
    """A table's name with None for the parts that are not known."""

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
        """Containers and external tables that lie exactly there, however the path's scheme is written."""


class RememberedSearch:
    """An EntitySearch that is asked each thing once, as long as the last 1,000 answers hold it.

    That a name means nothing, where that is sure, is remembered longer: 20,000 of them.
    """

    def __init__(self, search: EntitySearch) -> None:
        self._search = search
        self._hits: LRUCache[tuple[str, PartialName], Hits] = LRUCache(REMEMBERED)
        self._misses: LRUCache[tuple[str, PartialName], Hits] = LRUCache(REMEMBERED_MISSES)
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
        hits = Hits(tuple(fqn for fqn in found.fqns if agrees(fqn, service, name)), found.complete, found.current)
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
            agreeing = tuple(fqn for fqn in fqns if agrees(fqn, service, name))
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


def agrees(fqn: str, service: str, name: PartialName) -> bool:
    """Whether an FQN is that of a table of the service, and has the parts of the name that are known, case ignored."""
    try:
        parts = split_fqn(fqn)
    except ValueError:
        return False
    if len(parts) != TABLE_FQN_PARTS or parts[0] != service:
        return False
    wanted = (name.database, name.schema, name.table)
    return all(want is None or want.casefold() == part.casefold() for want, part in zip(wanted, parts[1:], strict=True))
