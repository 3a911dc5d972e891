"""The SQL dialects as data: each parser's name for them, their quotes, comments, separators, case folding.

A dialect's name is sqlglot's where sqlglot has it ("postgres", "tsql"), else the system's own ("db2"), else
"ansi". `dialect_of` also takes OpenMetadata's connection types ("Mssql", "UnityCatalog") in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from ingestion.connection_types import CONNECTION_TYPES, SPELLINGS
from ingestion.errors import ConfigError


class Fold(StrEnum):
    """What becomes of an identifier's case; a system that ignores case has lower case as its normal form."""

    LOWER = "lower"
    UPPER = "upper"
    KEEP = "keep"


class DollarQuotes(StrEnum):
    """Whether `$$text$$` is a string, and whether the dollars may carry a tag (`$body$text$body$`)."""

    NONE = "none"
    PLAIN = "plain"
    TAGGED = "tagged"


class Separator(StrEnum):
    """What ends a statement beside the semicolon."""

    NONE = "none"
    GO = "GO"  # a line of its own, T-SQL
    SLASH = "/"  # a line of its own, Oracle
    DELIMITER = "DELIMITER"  # the mysql client's command that changes the semicolon itself


@dataclass(frozen=True, slots=True)
class CaseRule:
    """How names fold, bare and in quotes."""

    bare: Fold
    quoted: Fold


POSTGRES_CASE = CaseRule(Fold.LOWER, Fold.KEEP)
ORACLE_CASE = CaseRule(Fold.UPPER, Fold.KEEP)
IGNORED_CASE = CaseRule(Fold.LOWER, Fold.LOWER)
KEPT_CASE = CaseRule(Fold.KEEP, Fold.KEEP)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One SQL dialect. `sqlglot` is "" for its default dialect; `sqlfluff` is None where it has nothing near.

    `name_quotes` and `string_quotes` hold the opening characters; "[" closes with "]". `relations` folds the
    names of databases, schemas and tables, `columns` those of columns. `default_schema` is "" where a session
    has none until it picks one.
    """

    name: str
    sqlglot: str
    sqlfluff: str | None
    relations: CaseRule
    columns: CaseRule
    name_quotes: str = '"'
    string_quotes: str = "'"
    backslash_escapes: bool = False
    prefixed_escapes: bool = False  # E'...' takes backslashes where '...' does not
    raw_strings: bool = False  # r'...', whose backslashes are plain text
    raw_keeps_quotes: bool = False  # ... although \' still does not end it
    triple_quotes: bool = False
    q_quotes: bool = False  # q'[...]'
    dollar_quotes: DollarQuotes = DollarQuotes.NONE
    hash_comments: bool = False
    slash_comments: bool = False
    nested_comments: bool = False
    dashes_need_space: bool = False  # a--b is a minus minus b
    separator: Separator = Separator.NONE
    default_schema: str = ""

    @property
    def double_quotes_are_strings(self) -> bool:
        return '"' in self.string_quotes


_ANSI = Dialect("ansi", "", "ansi", POSTGRES_CASE, POSTGRES_CASE, name_quotes='"`', nested_comments=True)
_POSTGRES = Dialect(
    "postgres",
    "postgres",
    "postgres",
    POSTGRES_CASE,
    POSTGRES_CASE,
    prefixed_escapes=True,
    dollar_quotes=DollarQuotes.TAGGED,
    nested_comments=True,
    default_schema="public",
)
_TRINO = Dialect("trino", "trino", "trino", IGNORED_CASE, IGNORED_CASE)
# MySQL keeps the case of tables on Linux (lower_case_table_names = 0) and never that of columns.
_MYSQL = Dialect(
    "mysql",
    "mysql",
    "mysql",
    KEPT_CASE,
    IGNORED_CASE,
    name_quotes="`",
    string_quotes="'\"",
    backslash_escapes=True,
    hash_comments=True,
    dashes_need_space=True,
    separator=Separator.DELIMITER,
)
_SPARK = Dialect(
    "spark",
    "spark",
    "sparksql",
    IGNORED_CASE,
    IGNORED_CASE,
    name_quotes="`",
    string_quotes="'\"",
    backslash_escapes=True,
    raw_strings=True,
    nested_comments=True,
    default_schema="default",
)
_HIVE = replace(
    _SPARK, name="hive", sqlglot="hive", sqlfluff="hive", raw_strings=False, nested_comments=False
)
_TSQL = Dialect(
    "tsql",
    "tsql",
    "tsql",
    IGNORED_CASE,
    IGNORED_CASE,
    name_quotes='["',
    nested_comments=True,
    separator=Separator.GO,
    default_schema="dbo",
)
_ORACLE = Dialect(
    "oracle", "oracle", "oracle", ORACLE_CASE, ORACLE_CASE, q_quotes=True, separator=Separator.SLASH
)

_ALL = (
    _ANSI,
    _POSTGRES,
    replace(_POSTGRES, name="cockroach"),
    replace(_POSTGRES, name="greenplum", sqlfluff="greenplum"),
    replace(_POSTGRES, name="materialize", sqlglot="materialize", sqlfluff="materialize"),
    replace(_POSTGRES, name="risingwave", sqlglot="risingwave"),
    # Redshift lowers quoted names too unless enable_case_sensitive_identifier is set.
    replace(
        _POSTGRES,
        name="redshift",
        sqlglot="redshift",
        sqlfluff="redshift",
        relations=IGNORED_CASE,
        columns=IGNORED_CASE,
        backslash_escapes=True,
    ),
    replace(_POSTGRES, name="vertica", sqlfluff="vertica", relations=IGNORED_CASE, columns=IGNORED_CASE),
    replace(
        _POSTGRES,
        name="duckdb",
        sqlglot="duckdb",
        sqlfluff="duckdb",
        relations=IGNORED_CASE,
        columns=IGNORED_CASE,
        default_schema="main",
    ),
    replace(_POSTGRES, name="questdb", relations=IGNORED_CASE, columns=IGNORED_CASE, default_schema=""),
    _TRINO,
    replace(_TRINO, name="presto", sqlglot="presto"),
    # Athena's DDL is Hive's and quotes with backticks.
    replace(
        _TRINO, name="athena", sqlglot="athena", sqlfluff="athena", name_quotes='"`', default_schema="default"
    ),
    _MYSQL,
    replace(_MYSQL, name="mariadb", sqlfluff="mariadb"),
    replace(_MYSQL, name="singlestore", sqlglot="singlestore"),
    replace(_MYSQL, name="doris", sqlglot="doris", sqlfluff="doris"),
    replace(_MYSQL, name="starrocks", sqlglot="starrocks", sqlfluff="starrocks"),
    _SPARK,
    replace(
        _SPARK,
        name="databricks",
        sqlglot="databricks",
        sqlfluff="databricks",
        dollar_quotes=DollarQuotes.PLAIN,
    ),
    _HIVE,
    replace(_HIVE, name="impala", sqlfluff="impala"),
    _TSQL,
    # A Fabric warehouse compares names case-sensitively unless created with another collation.
    replace(_TSQL, name="fabric", sqlglot="fabric", relations=KEPT_CASE, columns=KEPT_CASE),
    _ORACLE,
    Dialect("db2", "", "db2", ORACLE_CASE, ORACLE_CASE, nested_comments=True),
    Dialect("saphana", "", "ansi", ORACLE_CASE, ORACLE_CASE),
    Dialect(
        "exasol", "exasol", "exasol", ORACLE_CASE, ORACLE_CASE, name_quotes='"[', separator=Separator.SLASH
    ),
    Dialect("teradata", "teradata", "teradata", IGNORED_CASE, IGNORED_CASE),
    # Without DELIMIDENT, its default, Informix reads double quotes as strings.
    replace(_ANSI, name="informix", name_quotes="`", string_quotes="'\""),
    Dialect(
        "snowflake",
        "snowflake",
        "snowflake",
        ORACLE_CASE,
        ORACLE_CASE,
        backslash_escapes=True,
        dollar_quotes=DollarQuotes.PLAIN,
        slash_comments=True,
        default_schema="PUBLIC",
    ),
    Dialect(
        "bigquery",
        "bigquery",
        "bigquery",
        KEPT_CASE,
        IGNORED_CASE,
        name_quotes="`",
        string_quotes="'\"",
        backslash_escapes=True,
        raw_strings=True,
        raw_keeps_quotes=True,
        triple_quotes=True,
        hash_comments=True,
    ),
    Dialect(
        "clickhouse",
        "clickhouse",
        "clickhouse",
        KEPT_CASE,
        KEPT_CASE,
        name_quotes='"`',
        backslash_escapes=True,
        dollar_quotes=DollarQuotes.TAGGED,
        hash_comments=True,
        nested_comments=True,
        default_schema="default",
    ),
    Dialect(
        "sqlite", "sqlite", "sqlite", IGNORED_CASE, IGNORED_CASE, name_quotes='"`[', default_schema="main"
    ),
    Dialect("dremio", "dremio", "ansi", IGNORED_CASE, IGNORED_CASE, slash_comments=True),
    Dialect("drill", "drill", "ansi", IGNORED_CASE, IGNORED_CASE, name_quotes='`"'),
    Dialect("druid", "druid", "ansi", KEPT_CASE, KEPT_CASE, default_schema="druid"),
    Dialect("pinot", "", "ansi", IGNORED_CASE, IGNORED_CASE),
    Dialect("soql", "", "soql", IGNORED_CASE, IGNORED_CASE, backslash_escapes=True),
)

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in _ALL}

_BY_NAME: Mapping[str, Dialect] = {
    **{kind.lower(): DIALECTS[name] for kind, name in CONNECTION_TYPES.items()},
    **{spelling: DIALECTS[name] for spelling, name in SPELLINGS.items()},
    **DIALECTS,
}


def dialect_of(name: str) -> Dialect:
    """The dialect of a dialect's name, a connection type or a source type (`snowflake-lineage`), in any case.

    Raises ConfigError, naming the nearest known name, when there is none.
    """
    found = _BY_NAME.get(name) or _BY_NAME.get(name.strip().lower().removesuffix("-lineage"))
    if found is None:
        near = nearest(name)
        hint = f"did you mean {near}?" if near else "use ansi where nothing fits"
        raise ConfigError(f"unknown dialect or connection type {name!r}: {hint}")
    return found


def nearest(name: str) -> str | None:
    """The connection type or dialect whose name is most like `name`, None when nothing is near."""
    spelled = {key: key for key in DIALECTS} | {kind.lower(): kind for kind in CONNECTION_TYPES}
    close = get_close_matches(name.strip().lower().removesuffix("-lineage"), spelled, n=1, cutoff=0.6)
    return spelled[close[0]] if close else None


def fold(identifier: str, quoted: bool, dialect: Dialect | str) -> str:
    """The normal form of a database's, schema's or table's name, given without its quotes."""
    rule = (dialect_of(dialect) if isinstance(dialect, str) else dialect).relations
    return _folded(identifier, rule.quoted if quoted else rule.bare)


def fold_column(identifier: str, quoted: bool, dialect: Dialect | str) -> str:
    """The normal form of a column's name, given without its quotes: MySQL and BigQuery fold only these."""
    rule = (dialect_of(dialect) if isinstance(dialect, str) else dialect).columns
    return _folded(identifier, rule.quoted if quoted else rule.bare)


def _folded(identifier: str, rule: Fold) -> str:
    if rule is Fold.KEEP:
        return identifier
    return identifier.lower() if rule is Fold.LOWER else identifier.upper()
