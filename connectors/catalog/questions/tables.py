"""The tables of a catalog's file with their columns, tags and owners, and what is said between their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, or_, select

from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, answer, any_rows_of
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ColumnDependency, Moment, dependencies_of
from connectors.catalog.store.lineage.recency import with_unseen
from connectors.catalog.store.schema import entities
from ingestion.errors import ConfigError
from ingestion.model import fqn
from ingestion.model.lineage import Json


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column as the catalog has it now: its path in its table, its type as written ("" if unknown), its tags."""

    path: str
    type: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table, or whatever else has lineage, as the catalog has it now; of its columns the nested ones too."""

    id: str
    type: str
    fqn: str
    columns: tuple[CatalogColumn, ...]
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    complete: bool = True  # whether all of its columns are known

    @property
    def parts(self) -> tuple[str, ...]:
        """Database, schema and name of a table."""
        return tuple(fqn.decode_name(part) for part in fqn.split(self.fqn)[1:])

    def column(self, name: str) -> CatalogColumn | None:
        """The column of that name, in its own case if there is one, else in any."""
        path = fqn.quote(fqn.encode_name(name))
        exact = next((one for one in self.columns if one.path == path), None)
        folded = path.casefold()
        return exact or next((one for one in self.columns if one.path.casefold() == folded), None)


MOST_LISTED = 1_000
"""Tables that a list has unless more are asked for."""


@dataclass(frozen=True, slots=True)
class TableListOptions:
    """At which moment (milliseconds; None: now), of what lies `under` a name, and how many tables are listed."""

    as_of: int | None = None
    under: str | None = None
    limit: int = MOST_LISTED


class LocalTables:
    """The tables of an open catalog, each read once, and the dependencies in force at a moment."""

    def __init__(self, connection: Connection, moment: Moment) -> None:
        self._connection = connection
        self._moment = moment
        self._by_name: dict[tuple[str, ...], tuple[CatalogTable, ...]] = {}
        self._known: dict[str, CatalogTable] = {}
        self._namespaces: set[tuple[str, ...]] | None = None

    def tables_named(self, parts: Iterable[str]) -> tuple[CatalogTable, ...]:
        """The tables whose full names end with these parts, whatever their case."""
        wanted = tuple(part.casefold() for part in parts)
        if wanted not in self._by_name:
            ending = ".".join(fqn.quote(fqn.encode_name(part)) for part in wanted).casefold()
            same = entities.c.fqn_folded == ending
            below = entities.c.fqn_folded.endswith(f".{ending}", autoescape=True)
            self._by_name[wanted] = self._tables(or_(same, below))
        return self._by_name[wanted]

    def below(self, parts: Iterable[str]) -> tuple[CatalogTable, ...]:
        """The tables of the schemas or databases whose names end with these parts, whatever their case."""
        wanted = tuple(part.casefold() for part in parts)
        ends = (table.parts[:depth] for table in self.all() for depth in (1, 2))
        namespaces = {one for one in ends if tuple(part.casefold() for part in one[-len(wanted) :]) == wanted}
        return tuple(table for table in self.all() if table.parts[:1] in namespaces or table.parts[:2] in namespaces)

    def has_namespace(self, parts: tuple[str, ...]) -> bool:
        """Whether the name of a schema or database ends with these parts, whatever their case."""
        wanted = tuple(part.casefold() for part in parts)
        if self._namespaces is None:
            kinds = entities.c.type.in_(("database", "databaseSchema"))
            query = select(entities.c.fqn).where(kinds, entities.c.deleted.is_(False))
            names = (fqn.split(name)[1:] for name in self._connection.scalars(query))
            self._namespaces = {tuple(fqn.decode_name(part).casefold() for part in name) for name in names}
        return any(name[-len(wanted) :] == wanted for name in self._namespaces)

    def all(self) -> tuple[CatalogTable, ...]:
        """Every table that is there."""
        return self._tables(entities.c.fqn != "")

    def documents(self) -> Iterator[Json]:
        """Every table as clients read it."""
        query = select(entities).where(entities.c.type == "table", entities.c.deleted.is_(False))
        for row in self._connection.execute(query.order_by(entities.c.fqn)):
            yield answer(row)

    def table(self, name: str) -> CatalogTable | None:
        """The table (or whatever else has lineage) with this full name that was met before, None if none was."""
        return self._known.get(name)

    def service_types(self) -> frozenset[str]:
        """The kinds of database that are in the catalog."""
        documents = self._connection.scalars(
            select(entities.c.document).where(entities.c.type == "databaseService", entities.c.deleted.is_(False))
        )
        return frozenset(str(loads(document).get("serviceType") or "") for document in documents)

    def dependencies(self, names: Iterable[str], *, upstream: bool = False) -> list[ColumnDependency]:
        """What is said of the edges out of (or into) tables that were met before; of others nothing."""
        ids = {self._known[name].id: name for name in names if name in self._known}
        around = reads.contributions_around(self._connection, ids, upstream=upstream, moment=self._moment)
        found = with_unseen(self._connection, around, self._moment)
        self._meet({end for edge in found for end in edge})
        names_of = {table.id: name for name, table in self._known.items()}
        return [
            one
            for (source, target), views in found.items()
            if source in names_of and target in names_of
            for view in views
            for one in dependencies_of(view, names_of[source], names_of[target])
        ]

    def _meet(self, identifiers: set[str]) -> None:
        known = {table.id for table in self._known.values()}
        for row in any_rows_of(self._connection, identifiers - known).values():
            if not row.deleted:
                table = _table(row)
                self._known[table.fqn] = table

    def _tables(self, where: ColumnElement[bool]) -> tuple[CatalogTable, ...]:
        query = select(entities).where(entities.c.type == "table", entities.c.deleted.is_(False), where)
        found = tuple(_table(row) for row in self._connection.execute(query.order_by(entities.c.fqn)))
        for table in found:
            self._known.setdefault(table.fqn, table)
        return found


def tables_under(connection: Connection, name: str | None) -> tuple[CatalogTable, ...]:
    """The tables of a service, a database or a schema, or the one of that name (None: all), each by (part of) its name.

    Raises ConfigError where there is none.
    """
    every = LocalTables(connection, Moment()).all()
    if name is None:
        return every
    wanted = _casefold(fqn.written_parts(name))
    found = tuple(one for one in every if _lies_in(_casefold(map(fqn.decode_name, fqn.split(one.fqn))), wanted))
    if not found:
        raise ConfigError(f"{name}: no table of this catalog is called so, nor lies in what is")
    return found


def _casefold(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.casefold() for part in parts)


def _lies_in(name: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether some parts of a table's name are what is asked for: a service, a database, a schema, or itself."""
    starts = range(len(name) - len(wanted) + 1)
    return any(name[start : start + len(wanted)] == wanted for start in starts)


def _table(row: EntityRow) -> CatalogTable:
    document = loads(row.document)
    columns = tuple(
        CatalogColumn(path, str(column.get("dataTypeDisplay") or column.get("dataType") or ""), tags_in(column))
        for path, _position, column in columns_of.walk(columns_of.of_document(document))
    )
    complete = (document.get("extension") or {}).get(columns_of.LOG_MARK, True) is not False
    name = str(document["fullyQualifiedName"])
    return CatalogTable(str(document["id"]), row.type, name, columns, tags_in(document), owners_in(document), complete)


def owners_in(document: Json) -> tuple[str, ...]:
    """Who owns an entity, as people read it."""
    return tuple(str(one.get("displayName") or one.get("name") or one["id"]) for one in document.get("owners") or ())


def tags_in(stored: Json) -> tuple[str, ...]:
    """The tags of an entity or of a column, by their full names."""
    return tuple(str(label["tagFQN"]) for label in stored.get("tags") or ())
