"""PostgreSQL and what is made of it."""

from __future__ import annotations

from dataclasses import replace

from ingestion.dialects.definition import IGNORED_CASE, POSTGRES_CASE, Dialect, DollarQuotes

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
    declare_section=True,
    execute_runs_text=True,
    select_into_creates=True,
    whole_rows=True,
    output_names_in_having=False,
    named_by_function=True,
    values_column="column{}",
)

POSTGRES_FAMILY = (
    _POSTGRES,
    replace(_POSTGRES, name="cockroach", use_names_database=True),
    replace(_POSTGRES, name="greenplum", sqlfluff="greenplum"),
    replace(
        _POSTGRES,
        name="materialize",
        sqlglot="materialize",
        sqlfluff="materialize",
        use_names_database=True,
        select_into_creates=False,
    ),
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
        use_names_database=True,
        lateral_aliases=True,
        output_names_in_where=True,
        output_names_in_having=True,
        list_aggregate="listagg",
    ),
    replace(
        _POSTGRES,
        name="vertica",
        sqlfluff="vertica",
        relations=IGNORED_CASE,
        columns=IGNORED_CASE,
        lateral_aliases=True,
        output_names_in_where=True,
        values_column="col{}",
        sequence_values=True,
    ),
    replace(
        _POSTGRES,
        name="duckdb",
        sqlglot="duckdb",
        sqlfluff="duckdb",
        relations=IGNORED_CASE,
        columns=IGNORED_CASE,
        default_schema="main",
        name_characters="$#",  # #1 is the first column
        strings_in_from=True,
        use_names_database=True,
        search_path_in_string=True,
        select_into_creates=False,
        merge_star_by_place=True,
        lateral_aliases=True,
        output_names_in_where=True,
        output_names_in_having=True,
        described_relations=True,
        columns_function=True,
        named_by_function=False,
        values_column="col{}",
        values_column_first=0,
    ),
    replace(
        _POSTGRES,
        name="questdb",
        relations=IGNORED_CASE,
        columns=IGNORED_CASE,
        default_schema="",
        select_into_creates=False,
        whole_rows=False,
        struct_access=False,
        output_names_in_having=True,
        named_by_function=False,
        values_column="col{}",
    ),
)
