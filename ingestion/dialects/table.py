"""The dialects themselves, from each system's own manual: two families and the warehouses have their own files."""

from __future__ import annotations

from dataclasses import replace

from ingestion.dialects.definition import IGNORED_CASE, KEPT_CASE, ORACLE_CASE, POSTGRES_CASE, Dialect, Separator
from ingestion.dialects.postgres_family import POSTGRES_FAMILY
from ingestion.dialects.spark_family import SPARK_FAMILY
from ingestion.dialects.warehouses import WAREHOUSES

_TRINO = Dialect(
    "trino",
    "trino",
    "trino",
    IGNORED_CASE,
    IGNORED_CASE,
    output_names_in_group_by=False,
    output_names_in_having=False,
    numbered_output="_col{}",
    values_column="_col{}",
    values_column_first=0,
)

_TRINO_FAMILY = (
    _TRINO,
    replace(_TRINO, name="presto", sqlglot="presto"),
    # Athena's DDL is Hive's and quotes with backticks.
    replace(_TRINO, name="athena", sqlglot="athena", sqlfluff="athena", name_quotes='"`', default_schema="default"),
)

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
    two_level=True,
    listed_keys=True,
    listed_indexes=True,
    exchange_swaps=True,
    named_partitions=True,
    struct_access=False,
)

_MYSQL_FAMILY = (
    replace(_MYSQL, create_as_by_name=True, values_column="column_{}", values_column_first=0),
    replace(_MYSQL, name="mariadb", sqlfluff="mariadb", create_as_by_name=True),
    replace(_MYSQL, name="singlestore", sqlglot="singlestore", create_as_by_name=True),
    replace(_MYSQL, name="doris", sqlglot="doris", sqlfluff="doris", struct_access=True),
    replace(_MYSQL, name="starrocks", sqlglot="starrocks", sqlfluff="starrocks", struct_access=True),
)

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
    table_variables=True,
    separator=Separator.GO,
    default_schema="dbo",
    use_names_database=True,
    client_command=":",
    client_variables=True,
    select_into_creates=True,
    listed_keys=True,
    listed_indexes=True,
    drop_needs_column=True,
    output_clause=True,
    linked_servers=True,
    recursion_without_keyword=True,
    goes_on_after_errors=True,
    output_names_in_group_by=False,
    output_names_in_having=False,
    assigned_names=True,
    text_addition=True,
    bare_date_parts=True,
)

_TSQL_FAMILY = (
    _TSQL,
    # A Fabric warehouse compares names case-sensitively unless created with another collation.
    replace(_TSQL, name="fabric", sqlglot="fabric", relations=KEPT_CASE, columns=KEPT_CASE),
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
    sqlplus_commands=True,
    declare_opens_block=True,
    declarations_after_is=True,
    declare_section=True,
    bare_calls=True,
    modify_names_columns=True,
    exchange_swaps=True,
    recursion_without_keyword=True,
    output_names_in_group_by=False,
    output_names_in_having=False,
    sequence_values=True,
)

_ORACLE_FAMILY = (
    _ORACLE,
    Dialect(
        "db2",
        "",
        "db2",
        ORACLE_CASE,
        ORACLE_CASE,
        nested_comments=True,
        name_characters="$#@",
        declare_opens_block=True,
        recursion_without_keyword=True,
        struct_access=False,
        output_names_in_group_by=False,
        output_names_in_having=False,
        sequence_values=True,
    ),
    Dialect(
        "saphana",
        "",
        "ansi",
        ORACLE_CASE,
        ORACLE_CASE,
        name_characters="$#",
        declare_opens_block=True,
        recursion_without_keyword=True,
        struct_access=False,
        sequence_values=True,
    ),
    Dialect(
        "exasol",
        "exasol",
        "exasol",
        ORACLE_CASE,
        ORACLE_CASE,
        name_quotes='"[',
        separator=Separator.SLASH,
        declare_opens_block=True,
        declare_section=True,
        execute_runs_text=True,
        bare_calls=True,
        select_into_creates=True,
        lateral_aliases=True,
        struct_access=False,
        output_names_in_where=True,
        output_names_in_having=False,
        sequence_values=True,
    ),
)

_ANSI = Dialect(
    "ansi",
    "",
    "ansi",
    POSTGRES_CASE,
    POSTGRES_CASE,
    name_quotes='"`',
    nested_comments=True,
    loose_double_quotes=True,
    lateral_aliases=True,
    output_names_in_where=True,
    strings_in_from=True,
    control_opens_block=True,
    select_into_creates=True,
)

_ANSI_FAMILY = (
    _ANSI,
    # Without DELIMIDENT, its default, Informix reads double quotes as strings.
    replace(
        _ANSI,
        name="informix",
        name_quotes="`",
        string_quotes="'\"",
        loose_double_quotes=False,
        brace_comments=True,
        lateral_aliases=False,
        struct_access=False,
        output_names_in_where=False,
        strings_in_from=False,
        control_opens_block=False,
        sequence_values=True,
    ),
    Dialect("dremio", "dremio", "ansi", IGNORED_CASE, IGNORED_CASE, slash_comments=True),
    Dialect("drill", "drill", "ansi", IGNORED_CASE, IGNORED_CASE, name_quotes='`"'),
    Dialect("druid", "druid", "ansi", KEPT_CASE, KEPT_CASE, default_schema="druid"),
    Dialect("pinot", "", "ansi", IGNORED_CASE, IGNORED_CASE, struct_access=False),
    Dialect("soql", "", "soql", IGNORED_CASE, IGNORED_CASE, backslash_escapes=True, struct_access=False),
)

ALL_DIALECTS = (
    *POSTGRES_FAMILY,
    *SPARK_FAMILY,
    *_TRINO_FAMILY,
    *_MYSQL_FAMILY,
    *_TSQL_FAMILY,
    *_ORACLE_FAMILY,
    *WAREHOUSES,
    *_ANSI_FAMILY,
)
