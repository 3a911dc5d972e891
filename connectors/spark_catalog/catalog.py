"""The catalogs that a Spark session sees, asked in SQL: a metastore, Unity, Iceberg, or the session's own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from connectors.spark_catalog.description import Description, dotted_name
from ingestion.errors import ConfigError, TargetDown
from ingestion.model import Column, NameKind
from ingestion.names.namespaces import QUALIFIED_PARTS, RelationKey
from ingestion.plans.text.name_mapping import SESSION_CATALOG
from ingestion.routines.definition import Definition, DefinitionKind

_GONE = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"})
_METASTORE_FAILED = "_LEGACY_ERROR_TEMP_3065"
"""Spark's name for whatever a metastore's client throws."""


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
                place = (self._database(catalog), ".".join(namespace), name)
                written = dotted_name(place)
                text = described.statement(written) if described.query else ""
                where = described.namespace
                home = (self._database(where[0]), ".".join(where[1:])) if where else None
                yield Definition(DefinitionKind.VIEW, place, text, now, home=home)

    def describe(self, parts: Sequence[str]) -> Description | None:
        """What Spark tells of a relation, None where there is none. Raises ConfigError and TargetDown."""
        name = dotted_name(parts)
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
        """The columns of relations by their places, asked for when they are wanted."""
        return _Columns(self)

    def parts(self, key: RelationKey) -> tuple[str, ...] | None:
        """A place as Spark names it, None where no catalog here can have it."""
        if key.kind is not NameKind.TABLE or key.session is not None or len(key.parts) != QUALIFIED_PARTS:
            return None
        catalog = SESSION_CATALOG if key.database == self.database else key.database
        return (catalog, key.schema, key.table) if catalog in self.catalogs and key.schema else None

    def _list(self, catalog: str) -> Iterator[tuple[tuple[str, ...], str]]:
        for namespace in self._namespaces(catalog, ()):
            where = dotted_name((catalog, *namespace))
            for row in self._rows(f"SHOW VIEWS IN {where}", catalog):
                if not row["isTemporary"]:
                    yield namespace, row["viewName"]

    def _namespaces(self, catalog: str, inside: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        where = dotted_name((catalog, *inside))
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


class _Columns(Mapping[RelationKey, tuple[Column, ...]]):
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
