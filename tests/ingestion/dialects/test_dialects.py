from __future__ import annotations

import pytest
import sqlfluff
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from ingestion.dialects import DIALECTS, dialect_of, fold, fold_column, nearest_dialect
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import ConfigError


@pytest.mark.parametrize(
    ("connection_type", "name"),
    [
        ("Athena", "athena"),
        ("BigQuery", "bigquery"),
        ("Clickhouse", "clickhouse"),
        ("Databricks", "databricks"),
        ("UnityCatalog", "databricks"),
        ("Hive", "hive"),
        ("Mysql", "mysql"),
        ("Oracle", "oracle"),
        ("Postgres", "postgres"),
        ("Redshift", "redshift"),
        ("Snowflake", "snowflake"),
        ("DeltaLake", "spark"),
        ("SQLite", "sqlite"),
        ("Mssql", "tsql"),
        ("AzureSQL", "tsql"),
        ("Teradata", "teradata"),
        ("Exasol", "exasol"),
        ("Trino", "trino"),
        ("StarRocks", "starrocks"),
        ("SingleStore", "singlestore"),
        ("Doris", "doris"),
    ],
)
def test_a_connection_type_has_the_dialect_that_the_platform_gives_it(connection_type: str, name: str) -> None:
    assert dialect_of(connection_type).sqlglot == name


@pytest.mark.parametrize(
    ("connection_type", "sqlglot", "sqlfluff_name"),
    [
        ("Presto", "presto", "trino"),
        ("Timescale", "postgres", "postgres"),
        ("Cockroach", "postgres", "postgres"),
        ("Greenplum", "postgres", "greenplum"),
        ("Synapse", "tsql", "tsql"),
        ("MicrosoftFabric", "fabric", "tsql"),
        ("Glue", "athena", "athena"),
        ("Druid", "druid", "ansi"),
        ("Dremio", "dremio", "ansi"),
        ("SapHana", "", "ansi"),
        ("Db2", "", "db2"),
        ("Impala", "hive", "impala"),
        ("MariaDB", "mysql", "mariadb"),
        ("Vertica", "postgres", "vertica"),
        ("CustomDatabase", "", "ansi"),
    ],
)
def test_types_that_fall_to_ansi_elsewhere_get_the_nearest_parser(
    connection_type: str, sqlglot: str, sqlfluff_name: str
) -> None:
    dialect = dialect_of(connection_type)
    assert (dialect.sqlglot, dialect.sqlfluff) == (sqlglot, sqlfluff_name)


@pytest.mark.parametrize("name", ["POSTGRES", "postgres", " Postgres ", "postgres-lineage", "PostgreSQL"])
def test_names_are_found_in_any_case_and_as_source_types(name: str) -> None:
    assert dialect_of(name).name == "postgres"


def test_every_name_given_to_a_parser_is_one_the_parser_knows() -> None:
    known = {dialect.label for dialect in sqlfluff.list_dialects()}
    for dialect in DIALECTS.values():
        assert dialect.sqlglot in SqlglotDialect.classes
        assert dialect.sqlfluff in known


def test_every_connection_type_has_a_dialect() -> None:
    assert {dialect_of(kind).name for kind in CONNECTION_TYPES} <= set(DIALECTS)


def test_no_character_opens_both_a_name_and_a_string() -> None:
    for dialect in DIALECTS.values():
        assert not set(dialect.name_quotes) & set(dialect.string_quotes), dialect.name


@pytest.mark.parametrize(
    ("wrong", "right"), [("Postgress", "Postgres"), ("snowflke", "Snowflake"), ("big-query", "BigQuery")]
)
def test_an_unknown_type_names_the_nearest(wrong: str, right: str) -> None:
    assert nearest_dialect(wrong) == right
    with pytest.raises(ConfigError, match=right):
        dialect_of(wrong)


def test_an_unknown_type_with_nothing_near_says_what_to_use() -> None:
    assert nearest_dialect("xyzzy") is None
    with pytest.raises(ConfigError, match="ansi"):
        dialect_of("xyzzy")


@pytest.mark.parametrize(
    ("dialect", "bare", "quoted"),
    [
        ("postgres", "mixed", "MiXed"),
        ("redshift", "mixed", "mixed"),
        ("snowflake", "MIXED", "MiXed"),
        ("oracle", "MIXED", "MiXed"),
        ("db2", "MIXED", "MiXed"),
        ("exasol", "MIXED", "MiXed"),
        ("mysql", "MiXed", "MiXed"),
        ("bigquery", "MiXed", "MiXed"),
        ("clickhouse", "MiXed", "MiXed"),
        ("tsql", "mixed", "mixed"),
        ("spark", "mixed", "mixed"),
        ("trino", "mixed", "mixed"),
        ("duckdb", "mixed", "mixed"),
    ],
)
def test_relation_names_fold_as_the_system_folds_them(dialect: str, bare: str, quoted: str) -> None:
    assert fold("MiXed", dialect, quoted=False) == bare
    assert fold("MiXed", dialect_of(dialect), quoted=True) == quoted


@pytest.mark.parametrize("dialect", ["mysql", "bigquery", "doris", "starrocks"])
def test_columns_fold_where_tables_keep_their_case(dialect: str) -> None:
    assert fold_column("MiXed", dialect, quoted=False) == "mixed"
    assert fold_column("MiXed", dialect, quoted=True) == "mixed"
