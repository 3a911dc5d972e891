"""Runs OpenMetadata's own workflows against `ingest serve`, and prints what became of each.

    python tests/hunts/official_workflows.py /path/to/a/venv/with/openmetadata-ingestion/bin/metadata

A SQLite file with three tables and a view is made and crawled (`metadata ingest`); a query log over them is read for
lineage (`metadata ingest` with a lineage workflow) and for use (`metadata usage`). Then the catalog is asked for what
should be there. The exit code is 1 where a workflow failed or something is missing.
"""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
DDL = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, total REAL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT);
CREATE TABLE sales (city TEXT, total REAL);
CREATE VIEW big_orders AS SELECT id, total FROM orders WHERE total > 100;
"""
QUERIES = (
    "INSERT INTO sales SELECT c.city, o.total FROM orders o JOIN customers c ON o.customer = c.id",
    "SELECT c.city, sum(o.total) FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.city",
    "SELECT * FROM sales WHERE total > 5",
)
SCHEMA = "shop.default.main"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A catalog of its own; gives its address."""
    command = [sys.executable, "-m", "workflows", "serve", "--catalog", str(folder / "catalog.db"), "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=folder)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.terminate()
        server.wait(timeout=30)


def inputs(folder: Path) -> None:
    """The database and its query log."""
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.executescript(DDL)
    now = time.strftime("%Y-%m-%d %H:%M:%S.000000")
    with (folder / "log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("query_text", "database_name", "schema_name", "user_name", "start_time", "end_time"))
        writer.writerows((query, "default", "main", "ann", now, now) for query in QUERIES)


def workflow(folder: Path, url: str, kind: str) -> dict[str, Any]:
    """The configuration of one of the three."""
    crawled = {"config": {"type": "SQLite", "databaseMode": str(folder / "shop.db"), "database": "default"}}
    # of SQLite the client reads no lineage: the same log as that of a MySQL
    read = {"config": {"type": "Mysql", "username": "u", "hostPort": "localhost:3306"}}
    log = {"queryLogFilePath": str(folder / "log.csv")}
    sources: dict[str, tuple[str, dict[str, Any]]] = {
        "metadata": ("sqlite", {"type": "DatabaseMetadata"}),
        "lineage": ("query-log-lineage", {"type": "DatabaseLineage", **log}),
        "usage": ("query-log-usage", {"type": "DatabaseUsage", **log}),
    }
    type_, settings = sources[kind]
    source = {"type": type_, "serviceName": "shop", "serviceConnection": crawled if kind == "metadata" else read}
    login = {"hostPort": url, "authProvider": "openmetadata", "securityConfig": {"jwtToken": "no_token"}}
    config: dict[str, Any] = {
        "source": {**source, "sourceConfig": {"config": settings}},
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"loggerLevel": "INFO", "openMetadataServerConfig": login},
    }
    if kind == "usage":
        staged = str(folder / "staged")
        config["processor"] = {"type": "query-parser", "config": {}}
        config["stage"] = {"type": "table-usage", "config": {"filename": staged}}
        config["bulkSink"] = {"type": "metadata-usage", "config": {"filename": staged}}
        del config["sink"]
    return config


def run(command: str, folder: Path, url: str, kind: str) -> bool:
    """Runs a workflow; whether it ended well."""
    file = folder / f"{kind}.yaml"
    file.write_text(yaml.safe_dump(workflow(folder, url, kind)))
    verb = "usage" if kind == "usage" else "ingest"
    done = subprocess.run([command, verb, "-c", str(file)], cwd=folder, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    (Path(tempfile.gettempdir()) / f"official_{kind}.log").write_text(told)
    complaints = [line for line in told.splitlines() if " ERROR " in line or " WARNING " in line]
    print(f"metadata {verb} ({kind}): exit {done.returncode}")
    for line in complaints[:10]:
        print(f"    {line[:300]}")
    return done.returncode == 0


def missing(url: str) -> list[str]:
    """What should be in the catalog by now and is not."""

    def read(path: str, **params: object) -> Any:
        answer = requests.get(f"{url}/v1{path}", params=params, timeout=30)  # type: ignore[arg-type]
        return answer.json() if answer.ok else {}

    table = read(f"/tables/name/{SCHEMA}.orders", fields="usageSummary,joins,lifeCycle")
    edge = read(f"/lineage/getLineageEdge/table/name/{SCHEMA}.orders/table/name/{SCHEMA}.sales").get("edge", {})
    view = read(f"/lineage/getLineageEdge/table/name/{SCHEMA}.orders/table/name/{SCHEMA}.big_orders").get("edge", {})
    queries = read("/queries", entityId=table.get("id"), limit=10).get("data", [])
    found = {
        "the table": bool(table),
        "its columns": [one["name"] for one in table.get("columns", ())] == ["id", "customer", "total"],
        "lineage by column": any(one["toColumn"].endswith("sales.total") for one in edge.get("columnsLineage", ())),
        "lineage of the view": bool(view),
        "use": table.get("usageSummary", {}).get("dailyStats", {}).get("count", 0) > 0,
        "joins": bool(table.get("joins", {}).get("columnJoins")),
        "queries": len(queries) >= 2,
        "the life cycle": bool(table.get("lifeCycle")),
    }
    print(json.dumps({"usageSummary": table.get("usageSummary"), "joins": table.get("joins"), "queries": len(queries)}))
    return [name for name, there in found.items() if not there]


def main() -> int:
    """Runs the three, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs(folder)
        with served(folder) as url:
            ended = [run(sys.argv[1], folder, url, kind) for kind in ("metadata", "lineage", "usage")]
            absent = missing(url)
    print(f"{sum(ended)} of {len(ended)} workflows ended well; missing: {', '.join(absent) or 'nothing'}")
    return 0 if all(ended) and not absent else 1


if __name__ == "__main__":
    sys.exit(main())
