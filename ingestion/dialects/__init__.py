"""The SQL dialects as data: each parser's name for them, their quotes, comments, separators, case folding.

A dialect's name is sqlglot's where sqlglot has it ("postgres", "tsql"), else the system's own ("db2"), else
"ansi". `dialect_of` also takes OpenMetadata's connection types ("Mssql", "UnityCatalog") in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from ingestion.arguments import DIALECT_NAME, require_text
from ingestion.dialects._table import ALL_DIALECTS
from ingestion.dialects.connection_types import CONNECTION_TYPES, SPELLINGS
from ingestion.dialects.definition import Dialect, Fold
from ingestion.errors import ConfigError

__all__ = ["DIALECTS", "PLAIN_DIALECTS", "POSTGRES", "SPARK", "Dialect", "dialect_of", "fold", "fold_column", "nearest"]

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in ALL_DIALECTS}
POSTGRES = DIALECTS["postgres"]
SPARK = DIALECTS["spark"]
"""For code that is of one system alone; what differs between dialects is a field of theirs."""

PLAIN_DIALECTS = ("ansi", "mysql", "tsql")
"""What a query for a system that is not known is read in, one after another: they differ in how names are quoted."""

_BY_NAME: Mapping[str, Dialect] = {
    **{kind.lower(): DIALECTS[name] for kind, name in CONNECTION_TYPES.items()},
    **{spelling: DIALECTS[name] for spelling, name in SPELLINGS.items()},
    **DIALECTS,
}


def dialect_of(name: str) -> Dialect:
    """The dialect of a dialect's name, a connection type or a source type (`snowflake-lineage`), in any case.

    Raises ConfigError, naming the nearest known name, when there is none, and TypeError for what is no name.
    """
    found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is not None:
        return found
    require_text(name, "dialect", DIALECT_NAME)
    found = _BY_NAME.get(name.strip().lower().removesuffix("-lineage"))
    if found is None:
        near = nearest_dialect(name)
        hint = f"did you mean {near}?" if near else "use ansi where nothing fits"
        raise ConfigError(f"unknown dialect or connection type {name!r}: {hint}")
    return found


def nearest_dialect(name: str) -> str | None:
    """The connection type or dialect whose name is most like `name`, None when nothing is near."""
    spelled = {key: key for key in DIALECTS} | {kind.lower(): kind for kind in CONNECTION_TYPES}
    close = get_close_matches(name.strip().lower().removesuffix("-lineage"), spelled, n=1, cutoff=0.6)
    return spelled[close[0]] if close else None


def fold(identifier: str, dialect: Dialect | str, *, quoted: bool) -> str:
    """The normal form of a database's, schema's or table's name.

    `identifier` comes without its quotes, and `quoted` says whether it had any: of `FROM Sales."Orders"`, PostgreSQL
    reads sales and Orders, Oracle SALES and Orders.
    """
    rule = (dialect_of(dialect) if isinstance(dialect, str) else dialect).relations
    return _fold(identifier, rule.quoted if quoted else rule.bare)


def fold_column(identifier: str, dialect: Dialect | str, *, quoted: bool) -> str:
    """The normal form of a column's name: MySQL and BigQuery fold only these.

    `identifier` comes without its quotes, and `quoted` says whether it had any: `SELECT Id FROM t` reads t.id.
    """
    rule = (dialect_of(dialect) if isinstance(dialect, str) else dialect).columns
    return _fold(identifier, rule.quoted if quoted else rule.bare)


def _fold(identifier: str, rule: Fold) -> str:
    if rule is Fold.KEEP:
        return identifier
    return identifier.lower() if rule is Fold.LOWER else identifier.upper()
