"""Definitions and columns from the catalogs of Spark itself."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from connectors.source import OpenSource
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.lineage import Column, NameKind
from ingestion.model.namespaces import QUALIFIED_PARTS, RelationKey
from ingestion.plans.names import SESSION_CATALOG, plain_parts
from ingestion.statements.routines.definition import Definition, DefinitionKind, quote_name

_SPARK = dialect_of("spark")
_TEXT = "View Text"
_NAMESPACE = "View Catalog and Namespace"
_OUTPUTS = "View Query Output Columns"

_GONE = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"})
_METASTORE_FAILED = "_LEGACY_ERROR_TEMP_3065"
"""Spark's name for whatever a metastore's client throws."""


# What DESCRIBE TABLE EXTENDED tells of a relation.


@dataclass(frozen=True, slots=True)
class Description:
    """A relation's columns, and what else is told of it, by the names that Spark gives these things."""

    columns: tuple[Column, ...]
    details: Mapping[str, str]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str]]) -> Description:
        """From the rows of the answer: columns up to the first empty or commented name, details after it."""
        columns: list[Column] = []
        details: dict[str, str] = {}
        listing = True
        for name, value in rows:
            listing = listing and bool(name) and not name.startswith("#")
            if listing:
                columns.append(Column(name, value))
            elif name and not name.startswith("#"):
                details.setdefault(name, value)
        return cls(tuple(columns), details)

    @property
    def query(self) -> str:
        """The query behind a view, "" where it has none."""
        return self.details.get(_TEXT, "")

    @property
    def namespace(self) -> tuple[str, ...]:
        """The catalog and the namespace in which the bare names of a view's query stand."""
        return plain_parts(self.details[_NAMESPACE]) if self.details.get(_NAMESPACE) else ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns that a view's query had when it was defined, by position those of the view."""
        listed = self.details.get(_OUTPUTS, "").strip()[1:-1]
        return tuple(plain_parts(name)[0] for name in listed.split(", ")) if listed else ()

    def statement(self, name: str) -> str:
        """CREATE VIEW under `name`, as the view stands: its own column names over what its query gave them from.

        A star in the query means the columns of its day: what its tables were given since is no part of the view.
        """
        query, given = self.query.strip().rstrip(";"), [column.name for column in self.columns]
        outputs = self.outputs
        if len(outputs) != len(given):
            return f"CREATE VIEW {name} AS {query}"
        if "*" in query and len({output.lower() for output in outputs}) == len(outputs):
            query = f"SELECT {_list_text(outputs)} FROM ({query})"
        renamed = [output.lower() for output in outputs] != [column.lower() for column in given]
        columns = f" ({_list_text(given)})" if renamed else ""
        return f"CREATE VIEW {name}{columns} AS {query}"


def _dotted_name(parts: Iterable[str]) -> str:
    """A name of several parts as Spark's SQL has it, quoted so that it means what it says."""
    return ".".join(quote_name(part, _SPARK) for part in parts)


def _list_text(names: Iterable[str]) -> str:
    return ", ".join(quote_name(name, _SPARK) for name in names)


# The catalogs that a Spark session sees, asked in SQL: a metastore, Unity, Iceberg, or the session's own.


@dataclass(frozen=True, slots=True)
class SparkCatalog:
    """`catalogs` by their names in Spark; `database` is what the session catalog's tables are published under, the
    tables of the others are published under their catalog's name.
    """

    spark: SparkSession
    catalogs: Sequence[str]
    database: str

    def views(self) -> Iterator[Definition]:
        """Every view that is not temporary.

        Raises ConfigError for a catalog that is not there or has no views, TargetDown where its metastore fails.
        """
        now = time.time()
        for catalog in self.catalogs:
            for namespace, name in self._list(catalog):
                described = self.describe((catalog, *namespace, name))
                if described is None:  # it was dropped a moment ago
                    continue
                key = (self._database(catalog), ".".join(namespace), name)
                written = _dotted_name(key)
                text = described.statement(written) if described.query else ""
                where = described.namespace
                home = (self._database(where[0]), ".".join(where[1:])) if where else None
                yield Definition(DefinitionKind.VIEW, key, text, now, home=home)

    def beside(self, log: OpenSource) -> OpenSource:
        """What a log's source is with these definitions; what Spark cannot have, such as a procedure, still stands."""
        return replace(
            log,
            views=self.views,
            keeps=lambda stored: (
                stored.kind is DefinitionKind.ROUTINE or self.parts(RelationKey(stored.full_name)) is None
            ),
            columns=self.columns,
        )

    def describe(self, parts: Sequence[str]) -> Description | None:
        """What Spark tells of a relation, None where there is none. Raises ConfigError and TargetDown."""
        name = _dotted_name(parts)
        try:
            rows = self.spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
        except AnalysisException as error:
            if _condition(error) in _GONE:
                return None
            raise _failure(error, parts[0], f"{name} cannot be described") from None
        except PySparkException as error:
            raise _failure(error, parts[0], f"{name} cannot be described") from None
        return Description.of((row["col_name"], row["data_type"]) for row in rows)

    def columns(self) -> Mapping[RelationKey, tuple[Column, ...]]:
        """The columns of relations by their keys, asked for when they are wanted."""
        return _AskedColumns(self)

    def parts(self, key: RelationKey) -> tuple[str, ...] | None:
        """A relation's key as Spark names it, None where no catalog here can have it."""
        if key.kind is not NameKind.TABLE or key.session is not None or len(key.parts) != QUALIFIED_PARTS:
            return None
        catalog = SESSION_CATALOG if key.database == self.database else key.database
        return (catalog, key.schema, key.table) if catalog in self.catalogs and key.schema else None

    def _list(self, catalog: str) -> Iterator[tuple[tuple[str, ...], str]]:
        for namespace in self._namespaces(catalog, ()):
            where = _dotted_name((catalog, *namespace))
            for row in self._rows(f"SHOW VIEWS IN {where}", catalog):
                if not row["isTemporary"]:
                    yield namespace, row["viewName"]

    def _namespaces(self, catalog: str, inside: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        where = _dotted_name((catalog, *inside))
        for row in self._rows(f"SHOW NAMESPACES IN {where}", catalog):
            namespace = (*inside, row["namespace"].rpartition(".")[2].strip("`"))
            yield namespace
            if catalog != SESSION_CATALOG:
                yield from self._namespaces(catalog, namespace)

    def _rows(self, statement: str, catalog: str) -> list[dict[str, str]]:
        try:
            return [row.asDict() for row in self.spark.sql(statement).collect()]
        except PySparkException as error:
            raise _failure(error, catalog, "its views cannot be listed") from None

    def _database(self, catalog: str) -> str:
        return self.database if catalog == SESSION_CATALOG else catalog


class _AskedColumns(Mapping[RelationKey, tuple[Column, ...]]):
    """A metastore may have more tables than anybody reads: each is asked for once, when its columns are wanted."""

    def __init__(self, catalog: SparkCatalog) -> None:
        self._catalog = catalog
        self._asked: dict[RelationKey, tuple[Column, ...] | None] = {}

    def __getitem__(self, key: RelationKey) -> tuple[Column, ...]:
        if key not in self._asked:
            parts = self._catalog.parts(key)
            described = self._catalog.describe(parts) if parts is not None else None
            self._asked[key] = described.columns if described is not None else None
        found = self._asked[key]
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[RelationKey]:
        return (key for key, columns in self._asked.items() if columns is not None)

    def __len__(self) -> int:
        return sum(1 for _key in self)


def _failure(error: PySparkException, catalog: str, what: str) -> ConfigError | TargetDown:
    condition = _condition(error)
    if condition == _METASTORE_FAILED:
        return TargetDown(f"the metastore behind Spark's {catalog} does not answer: {what}; run again later")
    return ConfigError(
        f"headwater.spark.catalogs: {catalog}: {what} ({condition}); is it configured under headwater.spark.conf?"
    )


def _condition(error: PySparkException) -> str:
    """Spark's name of an error: its message may quote the statement."""
    return str(error.getCondition() or type(error).__name__)


# Spark's own catalogs as a source: the views that are defined in them, and the columns of what those read.
