"""Rules from an engine's names to the services of a catalog."""

from __future__ import annotations

import pytest

from ingestion.model.engine_names import EngineNameRules, JdbcRule, JdbcUrl, Parts, PathRule

PLACES = EngineNameRules(
    {
        ("spark_catalog",): ("hive", "default"),
        ("spark_catalog", "tmp"): ("scratch", "default", "temporary"),
        ("spark_catalog", "stg"): ("scratch",),
        ("lake",): ("iceberg",),
        ("own",): ("mine", "db"),
    },
    (JdbcRule(("shop",), JdbcUrl("", "db")), JdbcRule(("erp", "e", "app"), None, ("*.ord", "legacy_*"))),
    (
        PathRule.of("s3a://raw", ("raw_zone",)),
        PathRule.of("s3://raw/gold/", ("hive", "gold")),
        PathRule.of("/data", ("disk",)),
        PathRule.of("gs://", ("google",)),
    ),
    "mine",
)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("spark_catalog.mart.t", "hive.default.mart.t"),
        ("spark_catalog.tmp.t", "scratch.default.temporary.t"),
        ("spark_catalog.stg.t", "scratch.spark_catalog.stg.t"),
        ("lake.a.t", "iceberg.lake.a.t"),
        ("own.a.t", "db.a.t"),
        ("other.a.t", None),
    ],
)
def test_the_longest_rule_for_a_catalog_wins(name: str, place: str | None) -> None:
    found = PLACES.table(tuple(name.split(".")))
    assert found == (tuple(place.split(".")) if place else None)


def test_namespaces_inside_each_other_are_one_schema() -> None:
    assert PLACES.table(("lake", "a", "b", "t")) == ("iceberg", "lake", "a.b", "t")
    assert PLACES.table(("spark_catalog", "tmp", "x", "t")) == ("hive", "default", "tmp.x", "t")


@pytest.mark.parametrize(
    ("name", "url", "place"),
    [
        (("public", "t"), JdbcUrl("postgresql", "db", 5432, "crm"), ("shop", "crm", "public", "t")),
        (("t",), JdbcUrl("mysql", "db", None, "crm"), ("shop", "", "crm", "t")),
        (("x", "dbo", "t"), JdbcUrl("sqlserver", "db", None, "crm"), ("shop", "x", "dbo", "t")),
        (("APP", "ORD"), None, ("erp", "e", "APP", "ORD")),
        (("LEGACY_1",), None, ("erp", "e", "app", "LEGACY_1")),
        (("APP", "ORD"), JdbcUrl("oracle", "elsewhere"), ("erp", "e", "APP", "ORD")),
        (("public", "t"), None, None),
        (("public", "t"), JdbcUrl("postgresql", "elsewhere"), None),
    ],
)
def test_a_table_behind_jdbc_goes_by_its_url_or_its_name(name: Parts, url: JdbcUrl | None, place: Parts | None) -> None:
    assert PLACES.over_jdbc(name, url) == place


def test_a_path_belongs_to_the_longest_prefix() -> None:
    assert PLACES.storage_of("s3://raw/in/x.csv") == "raw_zone"
    assert PLACES.storage_of("s3://raw2/in") is None
    assert PLACES.storage_of("s3://raw/gold/mart/t") is None
    assert PLACES.storage_of("file:///data/in") == "disk"
    assert PLACES.storage_of("gs://any/thing") == "google"
    assert PLACES.file_table("s3://raw/gold/mart.db/t/part-0") == ("hive", "gold", "mart", "t")
    assert PLACES.file_table("s3://raw/gold/mart") is None
    assert PLACES.file_table("s3://raw/in/x") is None


def test_storage_is_no_service_of_databases() -> None:
    assert PLACES.services == {"hive", "scratch", "iceberg", "shop", "erp"}
