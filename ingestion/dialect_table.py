"""The dialects themselves, from each system's own manual of its lexical structure."""

from __future__ import annotations

from dataclasses import replace

from ingestion.dialect_rules import (
    IGNORED_CASE,
    KEPT_CASE,
    ORACLE_CASE,
    POSTGRES_CASE,
    Dialect,
    DollarQuotes,
    Separator,
)

_ANSI = Dialect(
    "ansi", "", "ansi", POSTGRES_CASE, POSTGRES_CASE, name_quotes='"`', nested_comments=True, loose_double_quotes=True
)
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
    number_suffixes=True,
    default_schema="default",
)
_HIVE = replace(_SPARK, name="hive", sqlglot="hive", sqlfluff="hive", raw_strings=False, nested_comments=False)
_TSQL = Dialect(
    "tsql",
    "tsql",
    "tsql",
    IGNORED_CASE,
    IGNORED_CASE,
    name_quotes='["',
    nested_comments=True,
    name_characters="$#@",
    dollar_amounts=True,
    loose_double_quotes=True,
    separator=Separator.GO,
    default_schema="dbo",
    recursion_without_keyword=True,
)
_ORACLE = Dialect(
    "oracle",
    "oracle",
    "oracle",
    ORACLE_CASE,
    ORACLE_CASE,
    q_quotes=True,
    name_characters="$#",
    separator=Separator.SLASH,
    recursion_without_keyword=True,
)

ALL_DIALECTS = (
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
        name_characters="$#",  # #1 is the first column
    ),
    replace(_POSTGRES, name="questdb", relations=IGNORED_CASE, columns=IGNORED_CASE, default_schema=""),
    _TRINO,
    replace(_TRINO, name="presto", sqlglot="presto"),
    # Athena's DDL is Hive's and quotes with backticks.
    replace(_TRINO, name="athena", sqlglot="athena", sqlfluff="athena", name_quotes='"`', default_schema="default"),
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
    Dialect(
        "db2",
        "",
        "db2",
        ORACLE_CASE,
        ORACLE_CASE,
        nested_comments=True,
        name_characters="$#@",
        recursion_without_keyword=True,
    ),
    Dialect("saphana", "", "ansi", ORACLE_CASE, ORACLE_CASE, name_characters="$#", recursion_without_keyword=True),
    Dialect("exasol", "exasol", "exasol", ORACLE_CASE, ORACLE_CASE, name_quotes='"[', separator=Separator.SLASH),
    Dialect("teradata", "teradata", "teradata", IGNORED_CASE, IGNORED_CASE, name_characters="$#"),
    # Without DELIMIDENT, its default, Informix reads double quotes as strings.
    replace(_ANSI, name="informix", name_quotes="`", string_quotes="'\"", loose_double_quotes=False),
    Dialect(
        "snowflake",
        "snowflake",
        "snowflake",
        ORACLE_CASE,
        ORACLE_CASE,
        backslash_escapes=True,
        dollar_quotes=DollarQuotes.PLAIN,
        slash_comments=True,
        stage_names=True,
        default_schema="PUBLIC",
        recursion_without_keyword=True,
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
        name_characters="$@",  # @parameter, @@system_variable
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
        "sqlite",
        "sqlite",
        "sqlite",
        IGNORED_CASE,
        IGNORED_CASE,
        name_quotes='"`[',
        loose_double_quotes=True,
        default_schema="main",
        recursion_without_keyword=True,
    ),
    Dialect("dremio", "dremio", "ansi", IGNORED_CASE, IGNORED_CASE, slash_comments=True),
    Dialect("drill", "drill", "ansi", IGNORED_CASE, IGNORED_CASE, name_quotes='`"'),
    Dialect("druid", "druid", "ansi", KEPT_CASE, KEPT_CASE, default_schema="druid"),
    Dialect("pinot", "", "ansi", IGNORED_CASE, IGNORED_CASE),
    Dialect("soql", "", "soql", IGNORED_CASE, IGNORED_CASE, backslash_escapes=True),
)
