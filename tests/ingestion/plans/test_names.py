"""Names as plans have them, and what becomes of them."""

from __future__ import annotations

import pytest

from ingestion.model.engine_names import EngineNameRules, JdbcRule, JdbcUrl, PathRule, jdbc_url
from ingestion.model.lineage import NameKind
from ingestion.plans.names import NameMapping, clean_location, plain_parts, quoted_parts


def test_names_go_where_the_rules_say() -> None:
    shop = JdbcRule(("crm", "shop"), jdbc_url("jdbc:postgresql://db/shop"))
    places = EngineNameRules(
        {("spark_catalog",): ("hive", "default")}, (shop, JdbcRule(("erp", "x", "y"), None, ("app.*",)))
    )
    names = NameMapping(places, urls={"pg": JdbcUrl("postgresql", "db", 5432, "shop")})
    assert names.table(("spark_catalog", "mart", "t")).parts == ("hive", "default", "mart", "t")
    assert names.table(("mart", "t")).parts == ("hive", "default", "mart", "t")
    assert names.table(("pg", "public", "orders")).parts == ("crm", "shop", "public", "orders")
    assert names.jdbc(("APP", "ORD")).parts == ("erp", "x", "APP", "ORD")


def test_names_without_a_rule_stay_as_spark_has_them() -> None:
    names = NameMapping()
    assert names.jdbc(("public", "orders")).parts == ("jdbc", "public", "orders")
    assert names.jdbc(("db", "public", "orders")).parts == ("jdbc", "db.public", "orders")
    assert names.table(("lake", "a", "b", "t")).parts == ("lake", "a.b", "t")


def test_files_below_a_databases_prefix_are_its_tables() -> None:
    names = NameMapping(EngineNameRules(paths=(PathRule.of("s3a://lake/silver", ("hive", "default", "silver")),)))
    assert names.path("s3://lake/silver/orders/dt=2026-01-01").parts == ("hive", "default", "silver", "orders")
    assert names.path("s3://lake/silver").kind is NameKind.PATH
    assert names.path("s3://lake/silver2/orders").kind is NameKind.PATH


def test_two_parts_are_of_the_session_catalog() -> None:
    assert NameMapping().table(("sales", "orders")).parts == ("spark_catalog", "sales", "orders")


def test_a_path_in_the_warehouse_is_its_table() -> None:
    names = NameMapping(warehouse="/data/wh")
    assert names.path("file:/data/wh/mart.db/t").parts == ("spark_catalog", "mart", "t")
    assert names.path("file:/data/wh/t").parts == ("spark_catalog", "default", "t")
    assert names.path("s3://b/spark-warehouse/mart.db/t").parts == ("spark_catalog", "mart", "t")
    other = names.path("file:/data/other/t")
    assert (other.kind, other.parts) == (NameKind.PATH, ("file:/data/other/t",))


@pytest.mark.parametrize(
    ("location", "cleaned"),
    [
        ("s3a://key:secret@bucket/a/b/?signature=xyz", "s3a://bucket/a/b"),
        ("/data/in/", "file:/data/in"),
        ("file:///data/in", "file:/data/in"),
        ("file:/data/in/day=2026-01-01/hour=3", "file:/data/in"),
        ("file:/data/in/part-00000-6853-c000.json", "file:/data/in"),
        ("hdfs://nn:8020/data/in%20put", "hdfs://nn:8020/data/in put"),
    ],
)
def test_locations_lose_secrets_partitions_and_part_files(location: str, cleaned: str) -> None:
    assert clean_location(location) == cleaned


def test_quoted_names() -> None:
    assert quoted_parts("`spark_catalog`.`a.b`.`c``d`, rest") == ("spark_catalog", "a.b", "c`d")
    assert quoted_parts("rest") == ()
    assert plain_parts("lake.`odd.schema`.t") == ("lake", "odd.schema", "t")


def test_a_catalog_is_told_by_its_class_only_where_one_has_it() -> None:
    iceberg = "org.apache.iceberg.spark.SparkCatalog"
    assert NameMapping(catalogs={"lake": iceberg}).of_class(iceberg + "@4413e5f8") == "lake"
    assert NameMapping(catalogs={"lake": iceberg, "pond": iceberg}).of_class(iceberg + "@4413e5f8") is None


def test_a_branch_or_snapshot_of_an_iceberg_table_is_the_table() -> None:
    names = NameMapping(catalogs={"lake": "org.apache.iceberg.spark.SparkCatalog", "other": "com.example.Catalog"})
    for version in ("branch_audit", "tag_eoy", "snapshot_id_81", "at_timestamp_499162860000"):
        assert names.table(("lake", "mart", "t", version)).parts == ("lake", "mart", "t")
        assert names.table(("other", "mart", "t", version)).parts == ("other", "mart.t", version)
    assert names.table(("lake", "mart", "branch_audit")).parts == ("lake", "mart", "branch_audit")
