"""What names may mean where, by dialect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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
