"""Every connection type: its dialect, its source type in the YAML, and the nearest one for what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.dialects import DIALECTS, dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import ConfigError
from ingestion.parser import LineageParser
from workflows.config import load_config

MAPPED = {
    "Athena": "athena", "BigQuery": "bigquery", "Clickhouse": "clickhouse", "Databricks": "databricks",
    "UnityCatalog": "databricks", "Db2": "db2", "Hive": "hive", "Impala": "impala", "Mysql": "mysql",
    "Oracle": "oracle", "Postgres": "postgres", "Redshift": "redshift", "Snowflake": "snowflake",
    "DeltaLake": "spark", "SQLite": "sqlite", "Mssql": "tsql", "AzureSQL": "tsql", "Teradata": "teradata",
    "MariaDB": "mariadb", "SingleStore": "singlestore", "Exasol": "exasol", "Trino": "trino", "Vertica": "vertica",
    "Greenplum": "greenplum", "Doris": "doris", "StarRocks": "starrocks", "MicrosoftFabric": "fabric",
    "Informix": "informix",
}  # fmt: skip
ONCE_ANSI = {
    "Presto": "presto", "Timescale": "postgres", "Cockroach": "cockroach", "Synapse": "tsql", "Glue": "athena",
    "Druid": "druid", "PinotDB": "pinot", "SapHana": "saphana", "Dremio": "dremio", "QuestDB": "questdb",
}  # fmt: skip
YAML = """\
source:
  type: {kind}
  serviceName: s
  sourceConfig: {{config: {{queryLogFilePath: log.csv}}}}
"""


@pytest.mark.parametrize(("connection", "dialect"), sorted({**MAPPED, **ONCE_ANSI}.items()))
def test_a_connection_type_has_its_own_dialect(connection: str, dialect: str) -> None:
    assert dialect_of(connection).name == CONNECTION_TYPES[connection] == dialect


@pytest.mark.parametrize("connection", sorted(CONNECTION_TYPES))
def test_its_source_type_is_accepted_with_that_dialect(
    connection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("query_text\n")
    (tmp_path / "lineage.yaml").write_text(YAML.format(kind=f"{connection.lower()}-lineage"))
    source = load_config(Path("lineage.yaml")).source
    assert source.connection is not None
    assert (source.connection.type, source.dialect) == (connection, CONNECTION_TYPES[connection])


@pytest.mark.parametrize(
    ("written", "near"), [("snowflak", "Snowflake"), ("postgress-lineage", "Postgres"), ("Clikhouse", "Clickhouse")]
)
def test_an_unknown_type_names_the_nearest(written: str, near: str) -> None:
    with pytest.raises(ConfigError, match=near):
        dialect_of(written)


def test_an_unknown_source_type_names_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("query_text\n")
    (tmp_path / "lineage.yaml").write_text(YAML.format(kind="snowflak-lineage"))
    with pytest.raises(ConfigError, match="snowflake-lineage"):
        load_config(Path("lineage.yaml"))


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_dialect_reads_a_plain_insert(dialect: str) -> None:
    parser = LineageParser("INSERT INTO tgt SELECT src.a FROM src", dialect)
    assert [str(table).lower() for table in parser.source_tables] == ["src"]
    assert [str(table).lower() for table in parser.target_tables] == ["tgt"]
