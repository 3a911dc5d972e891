"""What runs say to an OpenMetadata, held against its own models: python -m tests.hunts.openmetadata_models [1.6 ...]

For each minor version a server that has the calls of that version and no others (`tests/support/openmetadata_stub.py`),
in a process of its own beside the models of that version's client: every body that comes in is read by them, and one of
which they lose a part is a fault; answers are what they make of those of the stub. Runs of the sample, of a Spark
history and of a log that defines things again are published to each, in one session of Spark; and a dbt project and
metrics of a log are filed.

The clients' packages are downloaded to a folder below the temporary one (--cache), and nothing of them is kept here.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.openmetadata_stub import Json, StubPlatform, served

REPOSITORY = Path(__file__).parents[2]
PACKAGES = {
    "1.5": "1.5.15.2", "1.6": "1.6.13.2", "1.7": "1.7.7.4", "1.8": "1.8.12.0", "1.9": "1.9.17.6", "1.10": "1.10.14.7",
    "1.11": "1.11.14.0", "1.12": "1.12.14.2", "1.13": "1.13.6.3", "2.0": "2.0.7.0",
}  # fmt: skip
_MODELS = "metadata/ingestion/models/"
_UNPACKED = ("metadata/generated/", f"{_MODELS}custom_pydantic.py", f"{_MODELS}custom_basemodel_validation.py")
_SCHEMA = "metadata.generated.schema"

# By collection: the models of a create request and of an entity.
_REQUESTS = {
    "services/databaseServices": ("api.services.createDatabaseService", "CreateDatabaseServiceRequest"),
    "services/storageServices": ("api.services.createStorageService", "CreateStorageServiceRequest"),
    "databases": ("api.data.createDatabase", "CreateDatabaseRequest"),
    "databaseSchemas": ("api.data.createDatabaseSchema", "CreateDatabaseSchemaRequest"),
    "tables": ("api.data.createTable", "CreateTableRequest"),
    "storedProcedures": ("api.data.createStoredProcedure", "CreateStoredProcedureRequest"),
    "containers": ("api.data.createContainer", "CreateContainerRequest"),
    "queries": ("api.data.createQuery", "CreateQueryRequest"),
    "lineage": ("api.lineage.addLineage", "AddLineageRequest"),
    "services/dashboardServices": ("api.services.createDashboardService", "CreateDashboardServiceRequest"),
    "dashboards": ("api.data.createDashboard", "CreateDashboardRequest"),
    "dashboard/datamodels": ("api.data.createDashboardDataModel", "CreateDashboardDataModelRequest"),
    "metrics": ("api.data.createMetric", "CreateMetricRequest"),
    "classifications": ("api.classification.createClassification", "CreateClassificationRequest"),
    "tags": ("api.classification.createTag", "CreateTagRequest"),
    "dataQuality/testDefinitions": ("api.tests.createTestDefinition", "CreateTestDefinitionRequest"),
    "dataQuality/testCases": ("api.tests.createTestCase", "CreateTestCaseRequest"),
}
_ENTITIES = {
    "databaseSchemas": ("entity.data.databaseSchema", "DatabaseSchema"),
    "tables": ("entity.data.table", "Table"),
    "storedProcedures": ("entity.data.storedProcedure", "StoredProcedure"),
    "containers": ("entity.data.container", "Container"),
    "queries": ("entity.data.query", "Query"),
}
_DETAILS = ("type.entityLineage", "LineageDetails")
_GRAPH = ("type.entityLineage", "EntityLineage")

_AFTER_THE_FIRST_LOG = 1_767_229_200_000
"""When entities are made: after the log that made them."""

# The server of one version, beside its models. It runs where nothing of ours is installed.


@dataclass
class ModelledPlatform(StubPlatform):
    """A stub whose calls are read, and whose answers are made, by the models of its version."""

    faults: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def answer(self, method: str, url: str, body: Any, user: str) -> tuple[int, Any]:
        path = url.partition("?")[0].removeprefix("/api/v1/")
        status, value = super().answer(method, url, body, user)
        where = f"{method} {path.partition('/name/')[0]}"
        if method == "PUT" and status == 200:
            for one in body if path.endswith("/bulk") else [body]:
                self._read(_REQUESTS[path.removesuffix("/bulk")], one, where)
        if method == "PATCH" and status == 200:
            known = _DETAILS if path.startswith("lineage/") else _ENTITIES[path.partition("/")[0]]
            changed = {operation["path"].split("/")[1]: None for operation in body}
            lacking = changed.keys() - _names(known)
            self.faults += [f"{where}: {name} is none of its fields" for name in sorted(lacking)]
        return status, self._answered(path, value, where) if status == 200 else value

    def _answered(self, path: str, value: Any, where: str) -> Any:
        if path.startswith("lineage/getLineageEdge/"):
            return {"edge": self._read(_DETAILS, value["edge"], where)}
        if path.startswith("lineage/") and value is not None:
            return self._read(_DETAILS if where.startswith("PATCH") else _GRAPH, value, where)
        collection = path.partition("/")[0]
        if collection in _ENTITIES and value is not None and "id" in value:
            return self._read(_ENTITIES[collection], value, f"answer to {where}")
        return value

    def _read(self, known: tuple[str, str], given: Json, where: str) -> Json:
        """What the model makes of it; what it refuses or loses is a fault."""
        self.checked[known[1]] += 1
        try:
            made = _model(*known).model_validate(given).model_dump(mode="json", by_alias=True, exclude_unset=True)
        except ValueError as error:
            self.faults.append(f"{where}: {' '.join(str(error).split())[:300]}")
            return given
        self.faults += [f"{where}: {lost} is lost" for lost in _losses(given, made, known[1])]
        found: Json = made
        return found


@cache
def _model(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{_SCHEMA}.{module}"), name)


def _names(known: tuple[str, str]) -> set[str]:
    fields: Mapping[str, Any] = _model(*known).model_fields
    return {found.alias or name for name, found in fields.items()}


def _losses(given: Any, made: Any, path: str) -> Iterator[str]:
    """What is in one value and not in the other, by its path."""
    if isinstance(given, dict) and isinstance(made, dict):
        for key, value in given.items():
            if key in made:
                yield from _losses(value, made[key], f"{path}.{key}")
            elif value is not None:
                yield f"{path}.{key}"
    elif isinstance(given, list) and isinstance(made, list):
        if len(given) != len(made):
            yield f"{path}: {len(made)} of {len(given)}"
        for one, other in zip(given, made, strict=False):
            yield from _losses(one, other, f"{path}[]")
    elif given != made and not isinstance(given, float):
        yield f"{path}: {given!r} as {made!r}"


def serve(minor: str) -> None:
    """Prints the address; what was found once standard input ends."""
    first, second = map(int, minor.split("."))
    platform = ModelledPlatform((first, second), clock=_AFTER_THE_FIRST_LOG)
    with served(platform) as url:
        print(url, flush=True)
        for _line in sys.stdin:  # a run has ended
            refused = Counter(f"{one.method} {one.status}" for one in platform.received if one.status in (400, 405))
            edges = list(platform.edges.values())
            found = {
                "faults": platform.faults,
                "checked": platform.checked,
                "calls": len(platform.received),
                "refused": refused,
                "edges": len(edges),
                "columns": sum(len(one["columnsLineage"]) for one in edges),
            }
            print(json.dumps(found), flush=True)
            platform.received.clear()
            platform.faults.clear()
            platform.checked.clear()


# The models, and a Python that has what they need.


def python_of(folder: Path) -> Path:
    """An environment with pydantic and nothing of ours."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "pydantic", "email-validator"], check=True)
    return python


def models_of(minor: str, folder: Path) -> Path:
    """The models of a minor version, unpacked: of their packages only what they are made of."""
    unpacked, wheels = folder / minor, folder / "wheels"
    if not unpacked.exists():
        package = f"openmetadata-ingestion=={PACKAGES[minor]}"
        named = f"*-{PACKAGES[minor]}-*.whl"
        if not list(wheels.glob(named)):
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, package], check=True
            )
        (wheel,) = wheels.glob(named)
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory(dir=folder) as partial:
            for name in archive.namelist():
                if name.startswith(_UNPACKED):
                    archive.extract(name, partial)
            Path(partial).joinpath("metadata").replace(_made(unpacked) / "metadata")
    return unpacked


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@dataclass(frozen=True)
class ServedModels:
    """A version's server in its process."""

    url: str
    process: subprocess.Popen[str]

    def found(self) -> Json:
        """What it has seen since it was asked last."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found: Json = json.loads(self.process.stdout.readline())
        return found


@contextmanager
def served_models(minor: str, folder: Path) -> Iterator[ServedModels]:
    """A server of that version, for the block."""
    command = [str(python_of(folder)), "-m", "tests.hunts.openmetadata_models", "--serve", minor]
    environment = {"PYTHONPATH": f"{models_of(minor, folder)}:{REPOSITORY}"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        yield ServedModels(process.stdout.readline().strip(), process)
        process.stdin.close()


# The runs.

_HEADER = "query_text,start_time,session_id,status\n"
_TABLES = [f"CREATE TABLE {name} (id int; amount numeric)" for name in ("a", "b", "loaded", "kept")]
_FIRST = [
    *_TABLES,
    "CREATE VIEW v AS SELECT id; amount FROM a",
    "CREATE PROCEDURE load() LANGUAGE sql AS $$ INSERT INTO loaded SELECT id; amount FROM a $$",
    "CALL load()",
    "CREATE TEMP TABLE hop AS SELECT id; amount * 2 AS amount FROM a",
    "INSERT INTO kept SELECT id; amount FROM hop",
]
_SECOND = [
    "CREATE OR REPLACE VIEW v AS SELECT id; amount FROM b",
    "CREATE OR REPLACE PROCEDURE load() LANGUAGE sql AS $$ INSERT INTO loaded SELECT id; amount FROM b $$",
    "CALL load()",
    "INSERT INTO kept SELECT id; amount FROM b",
]


def _log(statements: list[str], day: str) -> str:
    rows = [f"{json.dumps(text.replace(';', ','))},{day} 00:00:{n:02d},s," for n, text in enumerate(statements)]
    return _HEADER + "\n".join(rows) + "\n"


def _workflow(folder: Path, url: str, source: Json, **ours: Any) -> Path:
    """The file of a workflow whose state is in the folder."""
    server = {"hostPort": url, "securityConfig": {"jwtToken": "us"}}
    content = {
        "source": source,
        "workflowConfig": {"openMetadataServerConfig": server},
        "headwater": {
            "registerTables": "always",
            "state": {"url": str(folder / "state.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            "spark": {"master": "local[2]"},
            **ours,
        },
    }
    file = folder / "workflow.yaml"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def _log_source(kind: str, service: str, path: Path, **settings: Any) -> Json:
    config = {"type": "DatabaseLineage", "queryLogFilePath": str(path), **settings}
    return {
        "type": "query-log-lineage",
        "serviceName": service,
        "serviceConnection": {"config": {"type": kind}},
        "sourceConfig": {"config": config},
    }


def _sample(folder: Path, url: str) -> Iterator[Path]:
    data = REPOSITORY / "config" / "sample"
    schema = {"path": str(data / "schema.sql"), "database": "shopdb", "schema": "shop"}
    source = _log_source("Postgres", "shop", data / "query_log.csv", queryLogDuration=1)
    yield _workflow(folder, url, source, schemaFiles=[schema], defaults={"database": "shopdb", "schema": "shop"})


def _history(folder: Path, url: str) -> Iterator[Path]:
    config = {"type": "DatabaseLineage", "eventLogDirectory": str(folder.parent.parent / ".headwater" / "spark-events")}
    yield _workflow(
        folder,
        url,
        {
            "type": "spark-history-lineage",
            "serviceName": "spark",
            "serviceConnection": {"config": {"type": "Hive"}},
            "sourceConfig": {"config": config | {"status": "all"}},
        },
    )


def _redefinition(folder: Path, url: str) -> Iterator[Path]:
    """Two runs: the second defines again, and what was read forty days before is not said any more."""
    logs = _made(folder / "log")
    source = _log_source("Postgres", "again", logs)
    stale = {"afterDays": 30, "mostPercent": 100}
    file = _workflow(folder, url, source, defaults={"database": "db", "schema": "public"}, staleEdges=stale)
    logs.joinpath("1.csv").write_text(_log(_FIRST, "2026-01-01"), encoding="utf-8")
    yield file
    logs.joinpath("2.csv").write_text(_log(_SECOND, "2026-02-10"), encoding="utf-8")
    yield file


RUNS = {"sample": _sample, "spark history": _history, "redefinition": _redefinition}


def main(minors: list[str], cache_folder: Path) -> int:
    """Publishes every run to every version; how many faults were found."""
    from workflows.config import load_config
    from workflows.runtime.signals import GracefulShutdown
    from workflows.runtime.spark import spark_session

    cache_folder.mkdir(parents=True, exist_ok=True)
    faults = 0
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, REPOSITORY / "config" / "sample" / "spark_job.py"], cwd=work, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        first = next(_sample(_made(Path(work) / "first"), "http://localhost/api"))
        with spark_session(load_config(first).headwater.spark, GracefulShutdown()):
            for minor in minors:
                with served_models(minor, cache_folder) as server:
                    faults += sum(_published(minor, name, Path(work), server) for name in RUNS)
                    faults += _filed(minor, server)
    return faults


def _published(minor: str, name: str, work: Path, server: ServedModels) -> int:
    """One kind of run, published to one version, and what came of it, printed; how many faults there were."""
    from workflows.config import load_config
    from workflows.run.start import run_workflow
    from workflows.runtime.options import RunOptions
    from workflows.runtime.progress import LoggedProgress

    faults = 0
    for number, file in enumerate(RUNS[name](_made(work / minor / name.replace(" ", "_")), server.url), 1):
        summary = run_workflow(load_config(file), RunOptions(f"{name} {number}"), LoggedProgress())
        found, edges = server.found(), summary.counts.edges
        print(f"{minor} {name} {number}: {found['edges']} edges there, {found['columns']} columns")
        print(
            f"    new {edges.new}, merged {edges.merged}, unchanged {edges.unchanged}, replaced {edges.replaced}, ",
            end="",
        )
        print(f"removed {edges.removed}, rejected {edges.rejected}; {found['calls']} calls, refused {found['refused']}")
        print(f"    read by the models: {found['checked']}")
        for warning in summary.warnings:
            if warning.startswith("OpenMetadata"):
                print(f"    told: {warning}")
        listed: list[str] = found["faults"]
        for fault, times in Counter(listed).items():
            print(f"    FAULT ({times}x) {fault}", flush=True)
        faults += len(listed) + edges.rejected
    return faults


def _filed(minor: str, server: ServedModels) -> int:
    """A dbt project and a metric of a log, filed to one version; how many faults there were."""
    from connectors.openmetadata.client import connect
    from connectors.openmetadata.connection import Connection
    from connectors.openmetadata.metrics import file_report
    from ingestion.metrics.collection import MetricCollection, QueryUse
    from ingestion.metrics.report import FiledTable, MetricReport
    from tests.support.decompositions import decomposed
    from tests.support.filed_projects import filed_to
    from tests.support.openmetadata_shop import register_shop

    orders, found = "shop.db.public.orders", MetricCollection()
    found.add(decomposed("SELECT sum(amount) AS gmv FROM shop.orders"), QueryUse(3, ("ann",), 1_000))
    platform = connect(Connection(server.url, jwt_token="us"))
    register_shop(platform)
    told = filed_to(platform, orders)
    tables = {"shop.orders": FiledTable(orders, {"amount": (f"{orders}.amount", "int")})}
    told += file_report(platform, MetricReport(found.metrics()), "nightly", tables)
    platform.close()
    seen = server.found()
    print(f"{minor} dbt and metrics: {seen['calls']} calls, refused {seen['refused']}")
    print(f"    read by the models: {seen['checked']}")
    for line in told:
        if line.startswith("OpenMetadata"):
            print(f"    told: {line}")
    faults: list[str] = seen["faults"]
    for fault, times in Counter(faults).items():
        print(f"    FAULT ({times}x) {fault}", flush=True)
    return len(faults)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("minors", nargs="*", metavar="MINOR", help=f"of {', '.join(PACKAGES)}; all if none is named")
    arguments.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "headwater-openmetadata-models")
    arguments.add_argument("--serve", metavar="MINOR", help="be the server of one version")
    given = arguments.parse_args()
    if given.serve:
        serve(given.serve)
    else:
        found = main(given.minors or list(PACKAGES), given.cache.resolve())
        print(f"{found} faults")
        sys.exit(bool(found))
