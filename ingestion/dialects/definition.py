"""What there is to say about a dialect: quotes, comments, separators, case; the vocabulary of the table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


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
    CELL = "-- COMMAND"  # a line of its own, between the cells of a Databricks notebook
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
    name_characters: str = "$"  # beside letters, digits and the underscore
    stage_names: bool = False  # @stage/path
    number_suffixes: bool = False  # 10L, 1.5BD
    dollar_amounts: bool = False  # $12.50 is a number
    loose_double_quotes: bool = False  # "text" is a name, or a string where a setting or a missing name makes it one
    separator: Separator = Separator.NONE
    default_schema: str = ""
    recursion_without_keyword: bool = False  # WITH c AS (... FROM c) reads itself, not a table c

    @property
    def double_quotes_are_strings(self) -> bool:
        return '"' in self.string_quotes


_LATERAL_ALIASES = frozenset(
    {"snowflake", "redshift", "databricks", "spark", "teradata", "clickhouse", "duckdb", "ansi", "exasol", "vertica"}
)
_STRUCT_ACCESS = frozenset(
    {"bigquery", "spark", "databricks", "hive", "impala", "presto", "trino", "athena", "duckdb", "clickhouse", "ansi"}
    | {"snowflake", "redshift", "starrocks", "doris", "drill", "dremio", "postgres", "greenplum", "materialize"}
    | {"cockroach", "risingwave", "oracle", "tsql", "fabric", "vertica", "druid"}
)
_WHOLE_ROWS = frozenset(
    {"postgres", "greenplum", "cockroach", "materialize", "risingwave", "bigquery", "duckdb", "redshift", "vertica"}
)
_NO_OUTPUT_NAMES_IN_GROUP_BY = frozenset({"tsql", "fabric", "oracle", "hive", "db2", "trino", "presto", "athena"})
_NO_OUTPUT_NAMES_IN_HAVING = frozenset(
    {"postgres", "greenplum", "cockroach", "materialize", "risingwave", "vertica", "exasol"}
)
_SPARK = frozenset({"spark", "databricks"})
_CASE_KEPT = frozenset(
    {"mysql", "mariadb", "singlestore", "doris", "starrocks", "bigquery", "clickhouse", "druid", "fabric"}
)


@dataclass(frozen=True, slots=True)
class Rules:
    """`lateral_aliases`: an output may use an earlier one's name. `whole_rows`: a relation's name may be a value.

    `semi_joins_merge`: USING puts its columns first also where the join gives none of its right side.
    `fields_unnested`: the fields of an array's structs are columns.
    """

    lateral_aliases: bool
    struct_access: bool
    whole_rows: bool
    output_names_in_group_by: bool
    output_names_in_conditions: bool
    output_names_in_where: bool
    case_kept: bool
    semi_joins_merge: bool
    fields_unnested: bool


@lru_cache(maxsize=64)
def rules_of(dialect: str) -> Rules:
    """The rules of a dialect."""
    return Rules(
        dialect in _LATERAL_ALIASES,
        dialect in _STRUCT_ACCESS,
        dialect in _WHOLE_ROWS,
        dialect not in _NO_OUTPUT_NAMES_IN_GROUP_BY,
        dialect not in _NO_OUTPUT_NAMES_IN_GROUP_BY and dialect not in _NO_OUTPUT_NAMES_IN_HAVING,
        dialect in _LATERAL_ALIASES and dialect not in _SPARK,
        dialect in _CASE_KEPT,
        dialect in _SPARK,
        dialect == "bigquery",
    )


def keywords(spaced: str) -> frozenset[str]:
    """The lower-case words of a text as a set."""
    return frozenset(spaced.split())
