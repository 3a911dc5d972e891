"""A namespace and a service are one thing in both directions, however an agent spells it."""

from __future__ import annotations

from typing import Any

import pytest

from ingestion.dialects.dataset_namespaces import (
    NamespaceMap,
    ServiceAddress,
    is_namespace,
    line_of_map,
    namespace_key,
)

SERVICES: dict[str, tuple[str, dict[str, Any]]] = {
    "athena": ("Athena", {"awsConfig": {"awsRegion": "eu-west-1"}}),
    "dbx": ("Databricks", {"hostPort": "dbc-1.cloud.databricks.com:443"}),
    "glue": ("Glue", {"awsConfig": {"awsRegion": "eu-west-1", "assumeRoleArn": "arn:aws:iam::12:role/r"}}),
    "lake": ("Hive", {"hostPort": "Meta.Internal:9083"}),
    "locator": ("Snowflake", {"account": "xy12345"}),
    "maria": ("MariaDB", {"hostPort": "m"}),
    "pg": ("Postgres", {"hostPort": "db:5432"}),
    "rs": ("Redshift", {"hostPort": "shop.c7x.eu-west-1.redshift.amazonaws.com:5439"}),
    "serverless": ("Redshift", {"hostPort": "wg.123.eu-west-1.redshift-serverless.amazonaws.com:5439"}),
    "snow": ("Snowflake", {"account": "ACME-PROD_EU.snowflakecomputing.com"}),
    "warehouse": ("BigQuery", {}),
}
KNOWN = NamespaceMap({}, {name: ServiceAddress(*one) for name, one in SERVICES.items()})

SPELLINGS = [
    ("arn:aws:glue:eu-west-1:12", "glue"),
    ("awsathena://athena.eu-west-1.amazonaws.com", "athena"),
    ("bigquery", "warehouse"),
    ("databricks://dbc-1.cloud.databricks.com", "dbx"),
    ("hive://meta.internal:9083", "lake"),
    ("mysql://m:3306", "maria"),
    ("postgres://DB", "pg"),
    ("postgres://shop.c7x.eu-west-1.redshift.amazonaws.com:5439", "rs"),
    ("postgresql://user@db:5432/", "pg"),
    ("redshift://shop.c7x.eu-west-1.redshift.amazonaws.com:5439", "rs"),
    ("redshift://shop.eu-west-1:5439", "rs"),
    ("redshift://wg.eu-west-1:5439", "serverless"),
    ("snowflake://acme-prod-eu", "snow"),
    ("snowflake://acme-prod_eu", "snow"),
    ("snowflake://xy12345", "locator"),
    ("snowflake://xy12345.us-west-1.aws", "locator"),
    ("snowflake://xy12345.us-west-2", "locator"),
    ("unity-catalog", "dbx"),
    ("unitycatalog://dbc-1.cloud.databricks.com:443", "dbx"),
]


@pytest.mark.parametrize(("namespace", "service"), SPELLINGS)
def test_an_agents_namespace_is_the_service_at_that_address(namespace: str, service: str) -> None:
    assert KNOWN.services_of(namespace) == (service,)


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_what_a_service_goes_out_as_comes_in_as_that_service(service: str) -> None:
    namespace = KNOWN.namespace_of(service)
    assert namespace is not None
    assert KNOWN.services_of(namespace) == (service,)


@pytest.mark.parametrize(
    "namespace",
    [
        "arn:aws:glue:us-east-1:12",
        "hive://meta.internal:10000",
        "kafka://db:5432",
        "postgres://db:5433",
        "redshift://shop.us-east-1:5439",
        "snowflake://acme-dev",
        "snowflake://xy12345.eu-central-1.aws",
    ],
)
def test_another_address_is_no_service(namespace: str) -> None:
    assert KNOWN.services_of(namespace) == ()


def test_what_is_given_goes_before_what_an_address_tells() -> None:
    given = NamespaceMap({"databricks://*.databricks.com": "b", "postgresql://db": "other"}, KNOWN.services)
    assert given.services_of("postgres://db:5432") == ("other",)
    assert given.services_of("unitycatalog://dbc-9.cloud.databricks.com") == ("b",)
    assert given.namespace_of("other") == "postgresql://db"
    assert given.namespace_of("b") is None  # a pattern is no name
    assert given.namespace_of("pg") == "postgres://db:5432"


@pytest.mark.parametrize(
    ("pattern", "namespace"),
    [
        ("hive://*", "hive://meta.internal:9083"),
        ("postgres://*", "postgresql://db:5433"),
        ("postgres://*.internal", "postgres://db.internal"),
        ("snowflake://*", "snowflake://acme-prod"),
        ("snowflake://xy12345.*", "snowflake://xy12345.east-us-2.azure"),
        ("unitycatalog://*.cloud.databricks.com", "databricks://dbc-9.cloud.databricks.com"),
    ],
)
def test_a_pattern_is_of_any_text_where_its_star_stands(pattern: str, namespace: str) -> None:
    assert NamespaceMap({pattern: "wh"}).services_of(namespace) == ("wh",)
    assert NamespaceMap({pattern: "wh"}).services_of("trino://elsewhere:8080") == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("arn:aws:glue:eu-west-1:12", True),
        ("arn:aws:redshift-serverless:eu-west-1:12", True),
        ("bigquery", True),
        ("file:/data/wh", True),
        ("hive", False),
        ("hive://meta:9083", True),
        ("postgres", False),
        ("snowflake", False),
        ("unity-catalog", True),
        ("web", False),
    ],
)
def test_a_service_that_is_called_as_its_system_is_no_namespace(name: str, expected: bool) -> None:
    assert is_namespace(name) is expected


@pytest.mark.parametrize(
    ("kind", "options", "namespace"),
    [
        (
            "Postgres",
            {"hostPort": "postgresql://u:secret@db.internal:5432/shop?password=secret"},
            "postgres://db.internal",
        ),
        (
            "Databricks",
            {"hostPort": "token:secret@dbc-1.cloud.databricks.com:443"},
            "unitycatalog://dbc-1.cloud.databricks.com",
        ),
        ("Snowflake", {"account": "u:secret@acme-prod?passcode=secret"}, "snowflake://acme-prod"),
    ],
)
def test_who_enters_a_service_is_no_part_of_its_namespace(kind: str, options: dict[str, str], namespace: str) -> None:
    address = ServiceAddress(kind, options)
    assert address.namespaces()[0].removesuffix(":5432") == namespace
    assert "secret" not in str(address.address)
    for unclear in ("u:secret/x@host:1", "host:1?password=a@secret"):
        assert ServiceAddress("Postgres", {"hostPort": unclear}).namespaces() == ()


def test_an_address_of_several_services_means_each() -> None:
    two = NamespaceMap({}, {name: ServiceAddress("BigQuery") for name in ("a", "b")})
    assert two.services_of("bigquery") == ("a", "b")


@pytest.mark.parametrize(
    "address", ["0.0.0.0:5432", "127.0.0.1:5432", "LOCALHOST", "[::1]:5432", "host.docker.internal", "localhost:5432"]
)
def test_an_address_of_this_machine_alone_is_that_of_no_service_unless_it_is_given(address: str) -> None:
    known = {"pg": ServiceAddress("Postgres", {"hostPort": address})}
    assert NamespaceMap({}, known).services_of(f"postgres://{address}") == ()
    assert NamespaceMap({f"postgres://{address}": "pg"}, known).services_of(f"postgres://{address}") == ("pg",)


def test_an_address_that_the_source_lacks_is_taken_from_the_catalog() -> None:
    source = NamespaceMap({}, {"pg": ServiceAddress("Postgres", {"hostPort": "db:1"}), "s": ServiceAddress("Hive")})
    catalog = {
        "pg": ServiceAddress("Postgres", {"hostPort": "old:1"}),
        "s": ServiceAddress("Hive", {"hostPort": "m:1"}),
    }
    both = source.with_services(catalog)
    assert (both.namespace_of("pg"), both.namespace_of("s")) == ("postgres://db:1", "hive://m:1")


@pytest.mark.parametrize(
    ("kind", "written", "parts"),
    [
        ("BigQuery", ["p", "d", "t$20260101"], ["p", "d", "t"]),
        ("Glue", ["table/sales/orders"], ["sales", "orders"]),
        ("Mysql", ["def", "web", "orders"], ["web", "orders"]),
        ("Postgres", ["shop", "public", "a$1"], ["shop", "public", "a$1"]),
        ("Spark", ["ice", "sales", "orders"], ["ice", "sales", "orders"]),
        ("Spark", ["spark_catalog", "sales", "orders"], ["sales", "orders"]),
    ],
)
def test_a_name_has_the_parts_that_count_on_its_platform(kind: str, written: list[str], parts: list[str]) -> None:
    assert ServiceAddress(kind).table_parts(written) == parts


@pytest.mark.parametrize(
    ("kind", "schemas"), [("Mysql", {"", "default"}), ("Postgres", {"public", "default"}), ("other", {"", "default"})]
)
def test_a_name_alone_stands_where_its_platform_looks_first(kind: str, schemas: set[str]) -> None:
    assert ServiceAddress(kind).default_schemas == schemas


def test_the_line_that_would_join_a_namespace() -> None:
    assert line_of_map("hive://m:9083", ["lake"]) == (
        'headwater: {openLineage: {namespaces: {"hive://m:9083": "lake"}}}'
    )
    assert line_of_map("hive://m:9083", ["a", "b"]).endswith("# or b")


def test_a_login_is_no_part_of_a_namespace() -> None:
    assert namespace_key("postgres://u:secret@db:5432") == "postgres://db:5432"


def test_of_a_connection_its_address_is_told_and_no_secret() -> None:
    of_aws = {"awsRegion": "r", "awsSecretAccessKey": "canary"}
    options = {"hostPort": "u:canary@db:1", "password": "canary", "awsConfig": of_aws}
    assert ServiceAddress("Postgres", options).address == {"hostPort": "db:1", "awsConfig": {"awsRegion": "r"}}
