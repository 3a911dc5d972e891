"""What a run needs of a machine, looked at one by one."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from connectors.catalog.store.database import open_database
from connectors.catalog.store.entities.registration import put_one
from workflows import doctor
from workflows.config import RunConfig, Server, SparkSettings, load_config
from workflows.doctor import Health, catalog_file, examine

Write = Callable[..., Path]


def server(url: str, token: str = "t") -> Server:
    return Server.model_validate({"hostPort": url, "securityConfig": {"jwtToken": token}})


def publishing_to(config: RunConfig, target: Server) -> RunConfig:
    return config.with_value("workflow_config.open_metadata_server_config", target)


def test_this_machine_is_ready() -> None:
    findings = {finding.subject: finding for finding in examine()}

    assert list(findings) == [
        *("Python", "Java", "PySpark", "class archive", "memory", "cores", "disk"),
        *("temporary files", "full-text search", "catalog file"),
    ]
    assert [finding for finding in findings.values() if finding.health is Health.FAILED] == []


def test_a_missing_java_fails_with_what_to_install(tmp_path: Path) -> None:
    findings = {finding.subject: finding for finding in examine(environment={"PATH": str(tmp_path)})}

    assert findings["Java"].health is Health.FAILED
    assert "install Java 17" in findings["Java"].detail


@pytest.mark.parametrize(("version", "health"), [((3, 10), "failed"), ((3, 12), "ok"), ((3, 15), "failed")])
def test_pythons_outside_the_range_fail(version: tuple[int, int], health: str) -> None:
    assert doctor.python(version).health.value == health


@pytest.mark.parametrize(
    ("megabytes", "health"), [(None, Health.WARNING), (500, Health.WARNING), (2047, Health.WARNING), (2048, Health.OK)]
)
def test_little_or_unknown_memory_is_a_warning(megabytes: int | None, health: Health) -> None:
    assert doctor.memory(None if megabytes is None else megabytes << 20).health is health


def test_a_catalog_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database " * 100)
    (tmp_path / "file").touch()
    with sqlite3.connect(tmp_path / "good.db") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()

    assert catalog_file(tmp_path).health is Health.FAILED
    assert "no SQLite file" in catalog_file(tmp_path / "text.db").detail
    assert "cannot be written" in catalog_file(tmp_path / "file" / "catalog.db").detail
    assert catalog_file(tmp_path / "good.db").health is Health.OK
    assert catalog_file(tmp_path / "new" / "deeper" / "catalog.db").health is Health.OK
    assert not (tmp_path / "new").exists()


def test_a_target_that_does_not_answer_fails(workflow_file: Write) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/api"
    config = publishing_to(load_config(workflow_file()), server(url))

    [finding] = [finding for finding in examine(config) if finding.subject == "target"]

    assert finding.health is Health.FAILED
    assert url in finding.detail


@pytest.mark.parametrize(("version", "health"), [("3.5.1", "failed"), ("4.0.0", "ok"), ("4.3.0", "ok")])
def test_a_pyspark_that_is_too_old_fails(version: str, health: str) -> None:
    assert doctor.pyspark(version, {}).health.value == health


@pytest.mark.parametrize(("jar", "health"), [("3.5.1", "failed"), ("4.0.1", "ok"), ("4.1.0-SNAPSHOT", "failed")])
def test_a_spark_home_of_another_version_fails(tmp_path: Path, jar: str, health: str) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / f"spark-core_2.13-{jar}.jar").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    finding = doctor.pyspark("4.0.0", {"SPARK_HOME": str(tmp_path)})
    assert finding.health.value == health
    assert finding.health is Health.OK or f"is Spark {jar[:3]}, and PySpark here is 4.0.0" in finding.detail


def told_of_cluster(config: RunConfig, *, environment: dict[str, str] | None = None) -> list[str]:
    """What is warned of, and what fails."""
    findings = doctor.cluster(config, environment or {})
    return [finding.detail for finding in findings if finding.health is not Health.OK]


@pytest.mark.parametrize("master", ["sc://spark:15002", "local[*]"])
def test_spark_connect_is_refused_before_a_run(workflow_file: Write, master: str) -> None:
    config = load_config(workflow_file())
    config = config.with_value("headwater.spark.master", master)
    environment = {} if master.startswith("sc:") else {"SPARK_REMOTE": "sc://spark"}
    (told,) = told_of_cluster(config, environment=environment)
    assert "Spark Connect (Databricks serverless too) has no driver" in told
    assert any(finding.detail == told for finding in examine(config, {**os.environ, **environment}))


def test_what_only_the_driver_has_is_told(workflow_file: Write, tmp_path: Path) -> None:
    config = load_config(workflow_file())
    spark = SparkSettings(master="spark://here:7077", conf={"spark.hadoop.fs.defaultFS": "hdfs://name"})
    config = config.with_value("headwater.spark", spark)
    catalog, state = told_of_cluster(config)
    assert catalog.startswith("the embedded catalog is reached from its machine alone")
    assert "headwater.state.folder" in state
    config = config.with_value("headwater.state.folder", str(tmp_path))
    token = tmp_path / "token"
    token.write_text("ey")
    given = {"http://localhost:8585/api": "t", "https://catalog.example/api": str(token), "https://x.example/api": "t"}
    told = [told_of_cluster(publishing_to(config, server(url, of))) for url, of in given.items()]
    assert [[one.partition(" is ")[0] for one in some] for some in told] == [[next(iter(given))], [str(token)], []]


@pytest.mark.parametrize(
    ("master", "path", "default_system", "told"),
    [
        ("spark://here:7077", "/var/log/exports", None, "no scheme"),
        ("yarn", "logs/*.csv", "file:///", "no scheme"),
        ("yarn", "file:///var/log/exports", "hdfs://name:8020", "disks of each host"),
        ("yarn", "/var/log/exports", "hdfs://name:8020", None),
        ("k8s://https://here", "s3a://bucket/log", None, None),
        ("local[*]", "/var/log/exports", None, None),
    ],
)
def test_a_path_that_only_this_host_has_is_told(
    workflow_file: Write, master: str, path: str, default_system: str | None, told: str | None
) -> None:
    config = load_config(workflow_file())
    conf = {"spark.hadoop.fs.defaultFS": default_system} if default_system else {}
    config = config.with_value("source.source_config.config.query_log_file_path", path)
    config = config.with_value("headwater.spark", SparkSettings(master=master, conf=conf))
    config = publishing_to(config, server("https://catalog.example/api"))
    config = config.with_value("headwater.state.folder", "/shared")
    findings = doctor.cluster(config, {})
    warnings = [finding.detail for finding in findings if finding.health is Health.WARNING]
    assert bool(findings) is not master.startswith("local")
    assert [str(told) in warning for warning in warnings] == ([True] if told else [])


def test_namespaces_that_stand_by_themselves_are_listed_with_the_line_that_joins_them(
    minimal: str, workflow_file: Write, tmp_path: Path
) -> None:
    with closing(open_database(tmp_path / "catalog.db")) as database, database.write() as connection:
        for name in ("shop", "postgres://db:1", "postgres://shop:5432", "hive://m:1"):
            kind = "Hive" if name.startswith("hive") else "Postgres"
            put_one(connection, "databaseService", {"name": name, "serviceType": kind})
    ours = (
        f"{{catalog: {{file: '{tmp_path / 'catalog.db'}'}}, openLineage: {{namespaces: {{'postgres://shop': shop}}}}}}"
    )
    found = examine(load_config(workflow_file(f"{minimal}headwater: {ours}\n")))
    told = [one.detail for one in found if one.subject == "namespaces"]
    assert told == [
        "postgres://db:1 has tables of its own; they join with "
        'headwater: {openLineage: {namespaces: {"postgres://db:1": "shop"}}}',
        "postgres://shop:5432 is shop by now; what came before stays in a service of its name till that is deleted",
    ]
