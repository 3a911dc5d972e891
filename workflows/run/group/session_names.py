"""The names that sessions have of their own, in the letters that the log knows: one database is not two.

Exporters and drivers change the case of `database_name`: where Snowflake's log says finance_db, `FROM finance_db.s.t`
is FINANCE_DB.s.t, and `FROM t` of such a session would be another table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ingestion.dialects import Dialect, fold
from ingestion.model.lineage import NameKind, TableUsageNames
from ingestion.model.namespaces import QUALIFIED_PARTS, NamespaceDefaults

_Namespace = tuple[str, tuple[str, ...]]
_DATABASES = ("database", "set_database")
_SCHEMAS = ("schema",)
_PATHS = ("set_path", "path")


@dataclass(frozen=True, slots=True)
class SessionSpellings:
    """How names of sessions are to be spelled that are spelled otherwise: databases, and schemas."""

    databases: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.databases or self.schemas)

    def defaults(self, given: NamespaceDefaults) -> NamespaceDefaults:
        """What sessions begin with where the log does not say."""
        database = self.databases.get(given.database, given.database)
        return replace(given, database=database, schema=self.schemas.get(given.schema, given.schema))


def session_spellings(
    namespaces: Iterable[_Namespace],
    defaults: NamespaceDefaults,
    names: Iterable[TableUsageNames],
    dialect: Dialect,
) -> SessionSpellings:
    """How the databases and search paths of sessions are spelled in the log's own statements, where that is otherwise.

    A name that statements say as it is stays; one that differs in case alone from the only one that they say is that
    one. Of those that only sessions have, the one that the dialect would make of it without quotes is meant.
    """
    if not dialect.quotes_keep_case:
        return SessionSpellings()
    databases, schemas = {defaults.database}, {defaults.schema}
    for database, path in namespaces:
        (schemas if defaults.two_level else databases).add(database)
        schemas.update(path)
    named_databases, named_schemas = set[str](), set[str]()
    for of_statement in names:
        for name in of_statement.names():
            if name.kind is NameKind.TABLE:
                named_schemas.update(name.parts[-2:-1])
                named_databases.update(name.parts[-QUALIFIED_PARTS : -QUALIFIED_PARTS + 1])
    return SessionSpellings(
        _spellings(databases, named_databases, dialect), _spellings(schemas, named_schemas, dialect)
    )


def _spellings(own: Iterable[str], named: Iterable[str], dialect: Dialect) -> dict[str, str]:
    known: defaultdict[str, set[str]] = defaultdict(set)
    for name in named:
        known[name.casefold()].add(name)
    mine: defaultdict[str, set[str]] = defaultdict(set)
    for name in own:
        mine[name.casefold()].add(name)
    found: dict[str, str] = {}
    for folded, names in mine.items():
        there = known[folded] or names
        for name in names - known[folded]:
            plain = fold(name, dialect, quoted=False)
            meant = next(iter(there)) if len(there) == 1 else plain if plain in there else name
            if meant != name:
                found[name] = meant
    return found


def with_spellings(statements: DataFrame, spellings: SessionSpellings, defaults: NamespaceDefaults) -> DataFrame:
    """`statements` (STATEMENT_SCHEMA) whose sessions have their names so.

    Where a session begins with `defaults` that are spelled otherwise, each statement says so itself.
    """
    begun = spellings.defaults(defaults)
    of_databases = spellings.schemas if defaults.two_level else spellings.databases
    changed: dict[str, Column] = {name: _respell(F.col(name), of_databases) for name in _DATABASES}
    changed |= {name: _respell(F.col(name), spellings.schemas) for name in _SCHEMAS}
    changed |= {name: F.transform(name, lambda part: _respell(part, spellings.schemas)) for name in _PATHS}
    if begun.database != defaults.database and not defaults.two_level:
        changed["database"] = F.coalesce(changed["database"], F.lit(begun.database))
    if begun.schema != defaults.schema:
        changed["schema"] = F.coalesce(changed["schema"], F.lit(begun.schema))
    return statements.withColumns(changed)


def _respell(name: Column, spellings: Mapping[str, str]) -> Column:
    pairs: Sequence[Column] = [F.lit(part) for pair in sorted(spellings.items()) for part in pair]
    return F.coalesce(F.create_map(*pairs)[name], name) if pairs else name
