"""Datasets are called as DataHub's own connectors call them."""

from __future__ import annotations

import pytest

from connectors.datahub.names import DatahubNames, DatasetName
from connectors.datahub.settings import ServiceNaming
from ingestion.errors import Rejected
from ingestion.model.entities import EntityReference


def name(fqn: str, own_type: str, kind: str = "table", **naming: object) -> DatasetName:
    services = {"svc": ServiceNaming.model_validate(naming)} if naming else {}
    return DatahubNames("svc", own_type, "PROD", services).of(EntityReference("1", kind, None, fqn))


@pytest.mark.parametrize(
    ("own_type", "fqn", "platform", "expected"),
    [
        ("Athena", "svc.default.Sales.T", "athena", "Sales.T"),
        ("BigQuery", "svc.Proj.Data.T", "bigquery", "Proj.Data.T"),
        ("BigQuery", "svc.p.d.events_20240131", "bigquery", "p.d.events"),
        ("BigQuery", "svc.p.d.events$20240131", "bigquery", "p.d.events"),
        ("BigQuery", "svc.p.d.events_2024*", "bigquery", "p.d.events"),
        ("BigQuery", "svc.p.d.events@1624046611000", "bigquery", "p.d.events"),
        ("BigQuery", "svc.p.d.events2_20240131", "bigquery", "p.d.events2"),
        ("BigQuery", "svc.p.d.20240131", "bigquery", "p.d.d"),
        ("BigQuery", "svc.p.d.events_20241331", "bigquery", "p.d.events_20241331"),
        ("Glue", "svc.default.db.t", "glue", "db.t"),
        ("Hive", "svc.default.db.T", "hive", "db.T"),
        ("Mssql", "svc.Db.dbo.T", "mssql", "Db.dbo.T"),
        ("Mysql", "svc.default.db.t", "mysql", "db.t"),
        ("Postgres", 'svc.db.s."a.b"', "postgres", "db.s.a.b"),
        ("Snowflake", "svc.DB.SCHEMA.T", "snowflake", "db.schema.t"),
        ("Trino", "svc.cat.s.T", "trino", "cat.s.T"),
        ("UnityCatalog", "svc.c.s.t", "databricks", "c.s.t"),
    ],
)
def test_a_table_is_named_by_its_platforms_rules(own_type: str, fqn: str, platform: str, expected: str) -> None:
    found = name(fqn, own_type)
    assert (found.platform, found.name, found.env) == (platform, expected, "PROD")


def test_what_the_configuration_says_goes_before_the_rules() -> None:
    found = name("svc.DB.S.T", "Snowflake", platform_instance="eu", env="DEV", lowercase=False)
    assert found == DatasetName("snowflake", "DB.S.T", "DEV", "eu", lowercase=False)
    assert name("svc.Db.S.T", "", platform="dbt") == DatasetName("dbt", "db.s.t", "PROD", lowercase=True)


@pytest.mark.parametrize(
    ("fqn", "platform", "expected"),
    [('s3."b/in/x"', "s3", "b/in/x"), ('gs."b/x"', "gcs", "b/x"), ('files."/srv/x.csv"', "file", "/srv/x.csv")],
)
def test_a_path_is_named_by_its_scheme(fqn: str, platform: str, expected: str) -> None:
    found = name(fqn, "Postgres", "container")
    assert (found.platform, found.name) == (platform, expected)


@pytest.mark.parametrize(
    ("fqn", "own_type"), [("other.db.s.t", "Postgres"), ("svc.db.s.t", "CustomDatabase"), ("svc.db.s.t", "")]
)
def test_a_service_of_which_nothing_is_known_is_named_in_the_refusal(fqn: str, own_type: str) -> None:
    with pytest.raises(Rejected, match=f"platform of {fqn.partition('.')[0]} is not known"):
        name(fqn, own_type)
