"""Spark and Hive, and what takes their statements."""

from __future__ import annotations

from dataclasses import replace

from ingestion.dialects.definition import IGNORED_CASE, Dialect, DollarQuotes, Separator

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
    separator=Separator.CELL,
    unquoted_settings=True,
    default_schema="default",
    control_opens_block=True,
    change_keeps_names=True,
    lateral_aliases=True,
    semi_joins_merge=True,
    row_generators=True,
    identifier_clause=True,
    range_column="id",
)
_HIVE = replace(
    _SPARK,
    name="hive",
    sqlglot="hive",
    sqlfluff="hive",
    raw_strings=False,
    nested_comments=False,
    separator=Separator.NONE,
    two_level=True,
    identifier_clause=False,
    control_opens_block=False,
    lateral_aliases=False,
    semi_joins_merge=False,
    output_names_in_group_by=False,
    output_names_in_having=False,
    range_column="",
    numbered_output="_c{}",
)

SPARK_FAMILY = (
    _SPARK,
    replace(
        _SPARK,
        name="databricks",
        sqlglot="databricks",
        sqlfluff="databricks",
        dollar_quotes=DollarQuotes.PLAIN,
    ),
    _HIVE,
    # Impala has no functions that give rows.
    replace(
        _HIVE,
        name="impala",
        sqlfluff="impala",
        unquoted_settings=False,
        output_names_in_group_by=True,
        output_names_in_having=True,
        row_generators=False,
    ),
)
