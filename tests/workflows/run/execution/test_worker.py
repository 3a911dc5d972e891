"""What a task of Spark is built from."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr
from pyspark.core.rdd import _prepare_for_python_RDD
from pyspark.sql import SparkSession

from connectors.openmetadata.connection import Connection, local_files
from tests.behaviour.harness import Warehouse
from tests.support.growing_log import configuration, write_log
from workflows.config import RunConfig, load_config
from workflows.run.execution import WorkerFacts, WorkerSettings, shard_task
from workflows.run.passes import bind_shard
from workflows.runtime.options import Failpoints

CANARY = "canary-secret-4711"
SERVER = {
    "hostPort": "http://openmetadata.example:8585/api",
    "securityConfig": {"jwtToken": f"{CANARY}-token"},
    "extraHeaders": {"X-Key": f"{CANARY}-header"},
}


def full_of_secrets(folder: Path) -> RunConfig:
    write_log(folder / "log" / "all.csv", ())
    file = configuration(
        folder,
        SERVER,
        spark={"master": "local[2]", "conf": {"spark.hadoop.fs.s3a.secret.key": f"{CANARY}-spark"}},
        state={"url": f"postgresql://lineage:{CANARY}-state@state.example/headwater", "workflow": "shop"},
        openLineage={"transport": {"type": "http", "url": "http://events.example", "auth": f"{CANARY}-events"}},
    )
    content = yaml.safe_load(file.read_text())
    content["source"]["serviceConnection"]["config"] |= {
        "username": "reader",
        "authType": {"password": f"{CANARY}-source"},
        "hostPort": "db.example:5432",
    }
    file.write_text(yaml.safe_dump(content))
    return load_config(file)


def test_the_configuration_that_tasks_get_holds_no_secret(tmp_path: Path) -> None:
    config = full_of_secrets(tmp_path)
    places = ("token", "header", "spark", "state", "events", "source")
    clear = lambda one: one.get_secret_value() if isinstance(one, SecretStr) else str(one)  # noqa: E731
    whole = json.dumps(config.model_dump(), default=clear)
    assert all(f"{CANARY}-{place}" in whole for place in places)
    given = config.without_secrets()
    assert CANARY.encode() not in pickle.dumps(given)
    assert (given.registers_tables, given.source.dialect) == (config.registers_tables, config.source.dialect)


@pytest.mark.spark
def test_the_code_of_a_task_stays_small_and_in_memory_since_the_token_is_in_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """PySpark puts code of more than a megabyte into a file of each executor."""
    context = spark.sparkContext
    config = full_of_secrets(tmp_path).without_secrets()
    config = config.with_value("headwater.catalog_services", {f"service{n}": "Postgres" for n in range(100_000)})
    facts = context.broadcast(WorkerFacts(config, Warehouse().settings, ()))
    connection = Connection("http://openmetadata.example:8585/api", f"{CANARY}-token")
    settings = WorkerSettings("key", facts, connection, "run", Failpoints(), config.sink)
    payload = context.broadcast(b"")
    code, broadcasts, *_ = _prepare_for_python_RDD(context, shard_task(settings, bind_shard, payload))
    assert f"{CANARY}-token".encode() in code
    assert len(code) < 20_000
    assert len(broadcasts) == 2
    assert CANARY.encode() not in Path(facts._path).read_bytes()
    facts.destroy()
    payload.destroy()


@pytest.mark.parametrize(
    ("connection", "files"),
    [
        (Connection("https://openmetadata.example"), []),
        (Connection("https://openmetadata.example", "eyJ", verify=False), []),
        (Connection("https://openmetadata.example", verify="/etc/ca.pem"), ["/etc/ca.pem"]),
        (Connection("https://openmetadata.example", client_certificate="/c.pem"), ["/c.pem"]),
        (Connection("https://openmetadata.example", client_certificate=("/c.pem", "/k.pem")), ["/c.pem", "/k.pem"]),
        (Connection("https://openmetadata.example", __file__), [__file__]),
    ],
)
def test_the_files_that_only_one_machine_has(connection: Connection, files: list[str]) -> None:
    assert local_files(connection) == files
