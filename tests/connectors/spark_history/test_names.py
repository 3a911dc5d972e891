"""Names as plans have them, and what becomes of them."""

from __future__ import annotations

import pytest

from connectors.spark_history.names import NameMapping, clean_location, plain_parts, quoted_parts
from ingestion.model import NameKind


def test_the_session_catalog_maps_to_the_services_database() -> None:
    names = NameMapping({"spark_catalog": "hive.default", "spark_catalog.sales": "hive.shop", "jdbc": "crm_postgres"})
    assert names.table(("spark_catalog", "mart", "t")).parts == ("hive", "default", "mart", "t")
    assert names.table(("spark_catalog", "sales", "t")).parts == ("hive", "shop", "t")
    assert names.table(("jdbc", "public", "customers")).parts == ("crm_postgres", "public", "customers")
    assert names.table(("lake", "a", "b", "t")).parts == ("lake", "a", "b", "t")


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
