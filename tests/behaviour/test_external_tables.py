"""Tables over storage, loads and unloads end at the container of their path, columns by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.behaviour.conftest import Shop
from tests.behaviour.harness import add_container

Opened = Callable[..., Shop]
_buckets = count()


@pytest.fixture
def bucket() -> str:
    return f"bucket{next(_buckets)}"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hive", "create external table logs (a int, b string) partitioned by (dt string) location '{path}'"),
        ("athena", "create external table logs (a int, b string) stored as parquet location '{path}'"),
        ("redshift", "create external table logs (a int, b varchar(9)) stored as parquet location '{path}'"),
        ("spark", "create table logs (a int, b string) using parquet options (path '{path}')"),
        ("databricks", "create table logs (a int, b string) using delta location '{path}'"),
        ("trino", "create table logs (a int, b varchar) with (external_location = '{path}', format = 'parquet')"),
        (
            "bigquery",
            "create external table public.logs (a int64, b string) options (uris = ['{path}'])",
        ),
    ],
)
@pytest.mark.parametrize("spelling", ["s3://{0}/logs", "s3a://{0}/logs/", "s3://{0}/logs/dt=2026-01-01/*.parquet"])
def test_an_external_table_comes_from_the_container_of_its_location(
    shop: Opened, bucket: str, dialect: str, text: str, spelling: str
) -> None:
    made = shop({"public.logs": ("a", "b")}, dialect=dialect)
    add_container(made.platform, f"s3://{bucket}/logs", ("a", "b", "more"))
    outcome = made.run(text.format(path=spelling.format(bucket)))
    (request,) = outcome.requests
    assert request.from_entity.type == "container"
    assert request.edge.lineage_details.source == "ExternalTableLineage"
    assert {target for _source, target in outcome.columns} == {"logs.a", "logs.b"}
    assert bucket not in (request.edge.lineage_details.sql_query or "")


def test_columns_of_a_load_go_by_name(shop: Opened, bucket: str) -> None:
    made = shop({"PUBLIC.LOGS": ("A", "B")}, dialect="snowflake", schema="PUBLIC")
    add_container(made.platform, f"s3://{bucket}/in", ("a", "b"))
    outcome = made.run(f"copy into logs from 's3://{bucket}/in/' file_format = (type = parquet)")
    (request,) = outcome.requests
    assert request.edge.lineage_details.source == "ExternalTableLineage"
    assert request.to_entity.name == "LOGS"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("redshift", "unload ('select a, b from public.src') to 's3://{0}/out/' iam_role 'secret-role'"),
        ("athena", "unload (select a, b from public.src where b = 'x') to 's3://{0}/out' with (format = 'PARQUET')"),
        ("snowflake", "copy into 's3://{0}/out/' from public.src"),
        ("spark", "insert overwrite directory 's3a://{0}/out' using parquet select a, b from public.src"),
    ],
)
def test_what_is_unloaded_goes_to_the_container(shop: Opened, bucket: str, dialect: str, text: str) -> None:
    made = shop({"public.src": ("a", "b")}, dialect=dialect)
    add_container(made.platform, f"s3://{bucket}/out", ("a", "b"))
    (request,) = made.run(text.format(bucket)).requests
    assert (request.from_entity.name, request.to_entity.type) == ("src", "container")
    assert "secret-role" not in (request.edge.lineage_details.sql_query or "")


@pytest.mark.parametrize("scheme", ["gs", "abfss", "hdfs", "file"])
def test_other_schemes_are_found_too(shop: Opened, bucket: str, scheme: str) -> None:
    made = shop({"public.tgt": ("a",)}, dialect="spark")
    add_container(made.platform, f"{scheme}://{bucket}/data/", ("a",))
    outcome = made.run(f"insert into public.tgt select a from parquet.`{scheme}://{bucket}/data/part-*.parquet`")
    assert [request.from_entity.type for request in outcome.requests] == ["container"]


def test_a_file_is_found_in_the_container_of_its_directory(shop: Opened, bucket: str) -> None:
    made = shop({"public.tgt": ("a",)}, dialect="spark")
    add_container(made.platform, f"s3://{bucket}/data", ("a",))
    outcome = made.run(f"insert into public.tgt select a from csv.`s3a://{bucket}/data/monday.csv.gz`")
    assert [request.from_entity.type for request in outcome.requests] == ["container"]


def test_a_path_that_nobody_has_is_reported_and_not_guessed(shop: Opened, bucket: str) -> None:
    made = shop({"public.tgt": ("a",)}, dialect="spark")
    add_container(made.platform, f"s3://{bucket}/data", ("a",))
    outcome = made.run(f"insert into public.tgt select a from parquet.`s3://{bucket}/database/x`")
    assert outcome.edges == {}
    assert ("skipped", "unresolved") in outcome.outcomes


def test_a_stage_is_a_place_of_its_own_and_no_table(shop: Opened) -> None:
    made = shop({"PUBLIC.LOGS": ("A",), "PUBLIC.STAGE": ("A",)}, dialect="snowflake", schema="PUBLIC")
    outcome = made.run("copy into logs from @stage/day/ file_format = (type = csv)")
    assert outcome.edges == {}
    (names,) = outcome.entities.names.values()
    assert [name.lower() for name in names] == ["@stage/day"]
