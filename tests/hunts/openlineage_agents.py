"""Real events of Airflow's provider, dbt-ol and Spark's agent, each joined to a real log; ours by the specification.

    python tests/hunts/openlineage_agents.py --airflow PYTHON --dbt BIN --spark-agent JAR --spec FOLDER

PYTHON is that of an environment with apache-airflow-providers-openlineage and -snowflake, BIN the folder of programs
of one with openlineage-dbt and dbt-duckdb, JAR openlineage-spark's, FOLDER the `spec` of OpenLineage's repository. What
is left out is not looked at. Two logs, of Snowflake and of Hive, are run into one catalog, once before the agents speak
and once after them. dbt's project is run on DuckDB, and its artifacts are sent as those of a Snowflake. A line for each
edge says who is its witness; the exit code is 1 where a table is there twice, where a witness is missing, or where an
event of ours is not as the specification's schemas have it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from connectors.catalog.http.server import CatalogConfig, running_catalog  # noqa: E402
from ingestion.dialects.dataset_namespaces import NamespaceMap  # noqa: E402
from tests.support.http_client import Client  # noqa: E402
from workflows.config import load_config  # noqa: E402

DEFINITION = "CREATE TABLE {schema}.daily (id int, total int, noted int)"
"""With a column that no agent tells of."""
STATEMENT = "INSERT INTO {schema}.daily (id, total) SELECT id, total FROM {schema}.orders"

AIRFLOW = """
import json, sys, uuid
from airflow.models.connection import Connection
from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter
from airflow.providers.openlineage.sqlparser import SQLParser
from airflow.providers.snowflake.hooks.snowflake import SnowflakeHook

extra = json.dumps({"account": "acme-prod", "database": "DB", "warehouse": "W"})
known = Connection(conn_id="wh", conn_type="snowflake", login="login", password="password", schema="MARTS", extra=extra)
SnowflakeHook.get_connection = classmethod(lambda cls, name: known)
hook = SnowflakeHook(snowflake_conn_id="wh")
dialect, schema = hook.get_openlineage_database_dialect(known), hook.get_openlineage_default_schema()
found = SQLParser(dialect=dialect, default_schema=schema).generate_openlineage_metadata_from_sql(
    sql=sys.argv[1], hook=hook, database_info=hook.get_openlineage_database_info(known), use_connection=False
)
OpenLineageAdapter().complete_task(
    run_id=str(uuid.uuid4()), job_name="etl.daily", end_time="2026-11-20T08:00:00+00:00", task=found,
    nominal_start_time=None, nominal_end_time=None, owners=[], tags=[], job_description=None,
)
"""
SPARK = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.sql("create database sales")
for name in ("orders", "daily"):
    spark.sql(f"create table sales.{name} (id int, total int) using parquet")
spark.sql("insert into sales.daily select id, total from sales.orders")
"""
PROJECT = {
    "dbt_project.yml": {"name": "shop", "version": "1.0.0", "profile": "shop", "models": {"+materialized": "table"}},
    "models/sources.yml": {"version": 2, "sources": [{"name": "marts", "tables": [{"name": "orders"}]}]},
}
DUCKDB = {"type": "duckdb", "path": "db.duckdb", "schema": "marts", "database": "db"}
SNOWFLAKE = {"type": "snowflake", "account": "acme-prod", "user": "u", "database": "db", "schema": "marts"}


@dataclass(frozen=True)
class Log:
    """A query log of a service, and the edge that it tells of."""

    service: str
    connection: dict[str, Any]
    definition: str
    statement: str
    ends: tuple[str, str]


LOGS = (
    Log(
        "wh",
        {"type": "Snowflake", "account": "ACME-PROD"},
        DEFINITION.format(schema="db.marts"),
        STATEMENT.format(schema="db.marts"),
        ("wh.DB.MARTS.ORDERS", "wh.DB.MARTS.DAILY"),
    ),
    Log(
        "lake",
        {"type": "Hive", "hostPort": "hive:10000"},
        DEFINITION.format(schema="sales"),
        STATEMENT.format(schema="sales"),
        ("lake.default.sales.orders", "lake.default.sales.daily"),
    ),
)


@dataclass(frozen=True)
class Agents:
    """The programs that speak; None for one that is not asked."""

    airflow: str | None
    dbt: str | None
    jar: str | None

    def expected(self, service: str) -> set[str]:
        """The namespaces of the jobs that say something of a service's tables."""
        asked = {"airflow": self.airflow, "dbt": self.dbt} if service == "wh" else {"spark": self.jar}
        return {name for name, program in asked.items() if program}


def called(arguments: list[str], folder: Path, **environment: str) -> None:
    """A program that has to succeed; what it shows is shown where it does not."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{arguments[0]}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def configured(log: Log, root: Path) -> Path:
    """The YAML of the run over a log, whose events go to a file."""
    folder = root / log.service
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f'"{statement}",2026-11-20 07:00:00\n' for statement in (log.definition, log.statement)]
    (folder / "log.csv").write_text("".join(["query_text,start_time\n", *rows]))
    lineage = {"type": "DatabaseLineage", "queryLogFilePath": str(folder / "log.csv"), "queryLogDuration": 3650}
    events = {"type": "file", "log_file_path": str(root / "events.jsonl"), "append": True}
    namespaces = {f"file:{root / 'warehouse'}": "lake"}
    content = {
        "source": {
            "type": "query-log-lineage",
            "serviceName": log.service,
            "serviceConnection": {"config": log.connection},
            "sourceConfig": {"config": lineage},
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "spark": {"master": "local[1]"},
            "catalog": {"file": str(root / "catalog.db")},
            "state": {"url": str(folder / "state.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            "openLineage": {"transport": events, "namespaces": namespaces if log.service == "lake" else {}},
        },
    }
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
    return folder / "lineage.yaml"


def run_logs(root: Path) -> None:
    for log in LOGS:
        program = [sys.executable, "-c", "from workflows.cli import main; main()", "run", "-c"]
        called([*program, str(configured(log, root))], root, PYTHONPATH=str(REPOSITORY))


def speak(agents: Agents, root: Path, *, told: bool) -> None:
    """Has the agents send their events to the catalog, which is `told` the services' addresses by the YAML of the logs,
    or knows them by the run over these.
    """
    maps = [load_config(configured(log, root)).namespaces for log in LOGS]
    known = NamespaceMap(
        {name: service for one in maps for name, service in one.given.items()},
        {name: address for one in maps for name, address in one.services.items()} if told else {},
    )
    config = CatalogConfig(root / "catalog.db", port=0, openlineage=True, namespaces=known)
    with running_catalog(config) as address:
        url = address.url.removesuffix("/api")
        if agents.airflow:
            transport = json.dumps({"type": "http", "url": url})
            named = {"AIRFLOW__OPENLINEAGE__TRANSPORT": transport, "AIRFLOW__OPENLINEAGE__NAMESPACE": "airflow"}
            program = [agents.airflow, "-c", AIRFLOW, LOGS[0].statement.replace("db.marts", "marts")]
            called(program, root, AIRFLOW_HOME=str(root / "airflow"), **named)
        if agents.dbt:
            run_dbt(Path(agents.dbt), root / "dbt", url)
        if agents.jar:
            run_spark(agents.jar, root, url)


def run_dbt(programs: Path, folder: Path, url: str) -> None:
    (folder / "models").mkdir(parents=True)
    for name, content in PROJECT.items():
        (folder / name).write_text(yaml.safe_dump(content))
    (folder / "models" / "daily.sql").write_text("select id, total from {{ source('marts', 'orders') }}")
    tables = "create schema marts; create table marts.orders (id int, total int)"
    called([str(programs / "python"), "-c", f"import duckdb; duckdb.connect('db.duckdb').execute('{tables}')"], folder)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "OPENLINEAGE_NAMESPACE": "dbt"}
    silent = {"OPENLINEAGE__TRANSPORT": json.dumps({"type": "noop"})}
    for target, transport in ((DUCKDB, silent), (SNOWFLAKE, {"OPENLINEAGE_URL": url})):
        profile = {"shop": {"target": "dev", "outputs": {"dev": target}}}
        (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
        command = "run" if target is DUCKDB else "send-events"
        called([str(programs / "dbt-ol"), command, "--profiles-dir", "."], folder, **environment, **transport)


def run_spark(jar: str, root: Path, url: str) -> None:
    import pyspark

    home = Path(pyspark.__file__).parent
    (root / "job.py").write_text(SPARK)
    settings = {
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": url,
        "spark.openlineage.namespace": "spark",
        "spark.sql.warehouse.dir": str(root / "warehouse"),
        "spark.ui.enabled": "false",
    }
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    program = [str(home / "bin" / "spark-submit"), "--master", "local[1]", "--jars", jar, *options, "job.py"]
    called(program, root, SPARK_HOME=str(home), PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")


def differences(agents: Agents, root: Path) -> Iterator[str]:
    """What is not as it should be; each edge with its witnesses is printed."""
    with running_catalog(CatalogConfig(root / "catalog.db", port=0)) as address:
        client = Client(address.url)
        tables = [one["fullyQualifiedName"] for one in client.get("/tables", limit=100)[1]["data"]]
        wanted = {end for log in LOGS for end in log.ends}
        yield from (f"a table of its own: {name}" for name in tables if name not in wanted)
        for log in LOGS:
            params = {"root": log.ends[1], "upstream": 1, "downstream": 0, "days": 0}
            edges = client.get("/headwater/graph", **params)[1]["edges"]
            contributions = [one for edge in edges for one in edge["contributions"]]
            witnesses = {(one["producer"]["kind"], one["producer"]["key"].partition("/")[0]) for one in contributions}
            columns = {(one["from"][0], one["to"]) for said in contributions for one in said["columns"]}
            print(f"{' > '.join(log.ends)}: {len(edges)} edge, {sorted(witnesses)}, {len(columns)} edges of columns")
            spoken = {key for kind, key in witnesses if kind == "openlineage"}
            if not any(kind == "query" for kind, _key in witnesses):
                yield f"{log.service}: the log is no witness"
            yield from (f"{log.service}: {name} is no witness" for name in agents.expected(log.service) - spoken)
            if len(edges) != 1 or len(columns) != 2:
                yield f"{log.service}: {len(edges)} edges, columns {sorted(columns)}"


def schema_errors(spec: Path, events: Path) -> Iterator[str]:
    """Where our events, and each facet of them, are not as the specification's schemas have them."""
    files = [json.loads(file.read_text()) for file in (spec / "OpenLineage.json", *(spec / "facets").glob("*.json"))]
    documents = {one["$id"]: one for one in files}
    resources = [(name, Resource.from_contents(one)) for name, one in documents.items()]
    registry: Registry[Any] = Registry().with_resources(resources)
    latest = {name.rpartition("/")[2]: name for name in documents}
    lines = events.read_text().splitlines()
    print(f"{len(lines)} events of ours")
    for line in lines:
        event = json.loads(line)
        holders = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
        facets = [one for holder in holders for one in (holder.get("facets") or {}).values()]
        for value, url in [(event, event["schemaURL"]), *((one, one["_schemaURL"]) for one in facets)]:
            file, _, definition = url.partition("#")
            name = latest.get(file.rpartition("/")[2])
            if name is None:
                yield f"no schema {file}"
                continue
            checker = Draft202012Validator({"$ref": f"{name}#{definition}"}, registry=registry)
            yield from (
                f"{event['job']['name']}: {error.json_path} {error.validator}" for error in checker.iter_errors(value)
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--airflow", "--dbt", "--spark-agent", "--spec"):
        parser.add_argument(name)
    options = parser.parse_args()
    agents = Agents(options.airflow, options.dbt, options.spark_agent)
    found = []
    for log_first in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            print("the log first" if log_first else "the agents first")
            steps = [
                lambda root=root: run_logs(root),
                lambda root=root, told=not log_first: speak(agents, root, told=told),
            ]
            for step in steps if log_first else reversed(steps):
                step()
            found += differences(agents, root)
            found += schema_errors(Path(options.spec), root / "events.jsonl") if options.spec else ()
    print("\n".join(found) or "all as it should be")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
