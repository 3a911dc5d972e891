"""Names of which a log tells too little, or two of which may be one: what to look at, and the key that mends it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingestion.binding.binder import BoundLog
from ingestion.model import NameKind
from workflows.config.namespaces import SourceSettings
from workflows.lineage.entity_resolution import ResolvedNames
from workflows.lineage.table_entities import EntityStatus, RelationEntities

_TablePath = tuple[str, str, str]
"""Database, schema and name."""

_NAMES_SHOWN = 5
_OPEN = frozenset({EntityStatus.UNPLACED, EntityStatus.UNRESOLVED, EntityStatus.AMBIGUOUS})


@dataclass(frozen=True, slots=True)
class DoubtfulNames:
    """Such names of all batches of a log."""

    settings: SourceSettings
    _schemaless: set[str] = field(default_factory=set)
    _missing: set[str] = field(default_factory=set)
    _places: set[_TablePath] = field(default_factory=set)

    def add(self, names: ResolvedNames, log: BoundLog) -> None:
        """Takes in those of a batch."""
        entities, settings = names.entities, self.settings
        open_keys = [log.relations[number].key for number, status in entities.statuses.items() if status in _OPEN]
        tables = [key for key in open_keys if key.kind is NameKind.TABLE]
        self._schemaless.update(key.table for key in tables if not (key.schema or settings.default_schema))
        self._schemaless.update(names.routines.unplaced)
        missing = [key for key in tables if key.schema and key.database == settings.guessed_database != ""]
        self._missing.update(f"{key.schema}.{key.table}" for key in missing)
        self._places.update(_places(entities, log))

    def merge(self, other: DoubtfulNames) -> None:
        """Takes in those of another batch."""
        self._schemaless.update(other._schemaless)
        self._missing.update(other._missing)
        self._places.update(other._places)

    def warnings(self) -> tuple[str, ...]:
        """A warning for each kind of such names, none where there are none."""
        return (
            *_without_schema(self._schemaless, self.settings),
            *_without_database(self._missing),
            *_alike_but_for_case(self._places),
            *_alike_but_for_database(self._places, self.settings),
        )


def _without_schema(names: Iterable[str], settings: SourceSettings) -> Iterator[str]:
    found = sorted(set(names))
    if found:
        mend = "headwater.defaults.schema" + (", which is the database there" if settings.two_level else "")
        yield (
            f"{len(found)} names have no schema, and neither their session nor the dialect has a default one "
            f"({_some(found)}): set {mend}"
        )


def _without_database(names: Iterable[str]) -> Iterator[str]:
    found = sorted(names)
    if found:
        yield (
            f"nothing tells the database of {len(found)} names that were not found ({_some(found)}): "
            "set headwater.defaults.database"
        )


def _alike_but_for_case(places: Iterable[_TablePath]) -> Iterator[str]:
    found: dict[_TablePath, list[_TablePath]] = {}
    for database, schema, table in sorted(places):
        folded = (database.casefold(), schema.casefold(), table.casefold())
        found.setdefault(folded, []).append((database, schema, table))
    pairs = [" and ".join(map(".".join, alike)) for alike in found.values() if len(alike) > 1]
    if pairs:
        yield f"{len(pairs)} tables go by names that differ in case alone, and are kept apart ({_some(pairs)})"


def _alike_but_for_database(places: Iterable[_TablePath], settings: SourceSettings) -> Iterator[str]:
    """Tables that have one name in a database that nobody named, and in one that somebody did."""
    guessed = settings.guessed_database
    named: dict[tuple[str, str], str] = {}
    for database, schema, table in sorted(places):
        if database != guessed:
            named[schema, table] = database
    pairs = sorted(
        f"{schema}.{table} and {named[schema, table]}.{schema}.{table}"
        for database, schema, table in places
        if guessed and database == guessed and (schema, table) in named
    )
    if pairs:
        yield (
            f"{len(pairs)} tables stand with a database and without one ({_some(pairs)}), and are kept apart: "
            "if they are one, set headwater.defaults.database"
        )


def _places(entities: RelationEntities, log: BoundLog) -> frozenset[_TablePath]:
    """Where the tables are that edges join: in the catalog, or where the log has them."""
    found = set()
    for number in entities.statuses:
        key, entity = log.relations[number].key, entities.resolved.get(number)
        if entity is not None and entity.type == "table":
            found.add((sys.intern(entity.database), sys.intern(entity.schema), entity.name))
        elif entity is None and key.kind is NameKind.TABLE and key.session is None:
            found.add((sys.intern(key.database), sys.intern(key.schema), key.table))
    return frozenset(found)


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN])
