"""What names mean by the configuration: its names are as they are stored, and fold where quotes make no difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.parsing.sandbox.process import Limits
from workflows.config import SchemaFile, load_config
from workflows.config.namespaces import DEFAULT_DATABASE, SourceSettings, source_settings
from workflows.run.bind.schemas import read_schemas

Write = Callable[[str], Path]
DEFAULTS = "headwater: {defaults: {database: Shop, schema: Web}}\n"


@pytest.mark.parametrize(
    ("connection", "place"),
    [
        ("Mssql", ("shop", "web")),
        ("Trino", ("shop", "web")),
        ("Databricks", ("shop", "web")),
        ("Postgres", ("Shop", "Web")),
        ("Snowflake", ("Shop", "Web")),
        ("BigQuery", ("Shop", "Web")),
        ("Mysql", ("Shop", "Web")),
    ],
)
def test_a_default_folds_as_its_dialect_has_it(
    workflow_file: Write, minimal: str, connection: str, place: tuple[str, str]
) -> None:
    text = minimal.replace("Postgres", connection) + DEFAULTS
    settings = source_settings(load_config(workflow_file(text)), None)
    assert (settings.default_database, settings.default_schema) == place
    assert settings.guessed_database == ""


def test_without_a_default_the_dialects_own_is_it(workflow_file: Write, minimal: str) -> None:
    settings = source_settings(load_config(workflow_file(minimal)), None)
    assert (settings.default_schema, settings.guessed_database) == ("public", DEFAULT_DATABASE)
    two_level = source_settings(load_config(workflow_file(minimal.replace("Postgres", "Mysql"))), None)
    assert (two_level.default_database, two_level.guessed_database) == (DEFAULT_DATABASE, "")


@pytest.mark.parametrize(("dialect", "place"), [("tsql", ("shop", "web")), ("postgres", ("Shop", "Web"))])
def test_a_schema_files_place_folds_likewise(tmp_path: Path, dialect: str, place: tuple[str, str]) -> None:
    file = tmp_path / "tables.sql"
    file.write_text("CREATE TABLE orders (oid int);")
    schemas = read_schemas(
        [SchemaFile(path=file, database="Shop", schema="Web")], dialect, SourceSettings("db", "dbo"), Limits()
    )
    assert schemas == {RelationKey((*place, "orders")): (Column("oid", "INT"),)}
