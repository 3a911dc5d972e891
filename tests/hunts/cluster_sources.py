"""Every source on a cluster of three executors in folders of their own, beside the same run in one process.

    python tests/hunts/cluster_sources.py [--at-once TEMPLATES] [SOURCE ...]

A query log as CSV, gzip, JSON lines and Parquet, what an engine recorded beside its history, one of 60,000 rows during
whose reading an executor is killed, event logs of Spark, a dbt project, and a live PostgreSQL: a line for each says
how many contributions the catalogs hold. With `--at-once` a third run, on the cluster too, works on batches of so many
templates, in its tasks where these can do it; of the log of 60,000 rows an executor is killed while tasks bind, and one
while they publish. The exit code is 1 where they differ, or where what was to be killed was not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pyarrow.csv
import pyarrow.parquet
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from tests.benchmarks.main_job import SESSIONS, configuration, generate  # noqa: E402
from tests.support import growing_log, live_postgres, spark_history_runs  # noqa: E402
from tests.support.dbt_project import BUILT  # noqa: E402
from tests.support.spark_jobs import older_logs  # noqa: E402
from tests.workflows.run.test_cluster import own_home  # noqa: E402
from tests.workflows.run.test_engine_lineage import ACCESSES, QUERIES  # noqa: E402

EXECUTORS = 3
ROWS, TEMPLATES = 60_000, 400
IN_TASKS = "in Spark's tasks"
"""What the log says where shards are worked on by tasks."""


@dataclass(frozen=True)
class Place:
    """Where a run is carried out, in `batches` or not; in `killed_at` are the lines of its log that cost an executor.

    "" for one that is killed as soon as all are at work.
    """

    name: str
    master: str
    batches: bool = False
    killed_at: tuple[str, ...] = ()


ON_CLUSTER = f"local-cluster[{EXECUTORS},1,1024]"
PROCESS = Place("process", "local[2]")
CLUSTER = Place("cluster", ON_CLUSTER, killed_at=("",))
BATCHES = Place("batches", ON_CLUSTER, batches=True, killed_at=(IN_TASKS, "INFO publish ..."))
APART = [("s9", f"INSERT INTO apart{n} (a) SELECT upper(b) FROM before{n}") for n in range(6)]
"""Statements that hang together with no other, so that there are batches."""
_OF_AN_EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Source:
    """`opened` writes what is to be read into a folder, and gives the workflow for as long as it can be read.

    `dated` False: its times are those of the run. `loses_executor`: one is killed while it is read.
    """

    opened: Callable[[Path], AbstractContextManager[dict[str, Any]]]
    dated: bool = True
    loses_executor: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help=f"of {', '.join(SOURCES)}; all where none is named"
    )
    parser.add_argument("--at-once", type=int, help="headwater.templatesAtOnce of the run in batches")
    arguments = parser.parse_args()
    if unknown := set(arguments.sources) - set(SOURCES):
        parser.error(f"no such source: {', '.join(sorted(unknown))}")
    wrong = []
    for name in arguments.sources or SOURCES:
        with tempfile.TemporaryDirectory(prefix="headwater-cluster-") as scratch:
            if not is_the_same(name, SOURCES[name], Path(scratch), arguments.at_once):
                wrong.append(name)
    sys.exit(f"differ: {', '.join(wrong)}" if wrong else 0)


def is_the_same(name: str, source: Source, scratch: Path, at_once: int | None) -> bool:
    """Whether a source gives one catalog on both, which is said in a line."""
    found = []
    killed = lost = 0
    in_tasks = False
    for place in (CLUSTER, *([] if at_once is None else [BATCHES]), PROCESS):
        folder = scratch / place.name
        folder.mkdir()
        with source.opened(folder) as workflow:
            ours = workflow.setdefault("headwater", {})
            ours |= {"catalog": {"file": "catalog.db"}, "deadLetters": "dead.jsonl", "state": {"url": "state.db"}}
            ours["spark"] = {"master": place.master, "conf": growing_log.SPARK}
            if place.batches:
                ours["templatesAtOnce"] = at_once
            workflow["workflowConfig"] = {
                "openMetadataServerConfig": {"hostPort": "embedded"},
                "successThreshold": 50,
            }
            (folder / "lineage.yaml").write_text(yaml.safe_dump(workflow))
            signs = place.killed_at if source.loses_executor else ()
            killed += run(folder, signs)
            lost += len(signs)
        said = growing_log.contributions_in(folder / "catalog.db")
        in_tasks = in_tasks or IN_TASKS in (folder / "output.txt").read_text()
        found.append({one if source.dated else (one.source, one.target, one.producer, one.text) for one in said})
    same = bool(found[0]) and all(one == found[0] for one in found) and killed == lost
    print(
        f"{name:12} {' '.join(f'{len(one):7,}' for one in found)} contributions, {killed} executors killed, "
        f"batches in tasks: {in_tasks}, same: {same}",
        flush=True,
    )
    for one in sorted(set.union(*found) - set.intersection(*found), key=str)[:5]:
        print(f"  not all have {one}")
    return same


def run(folder: Path, signs: tuple[str, ...]) -> int:
    """Carries out the workflow in the folder, and tells how many executors were killed on the way, one for a sign."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["SPARK_HOME"] = str(own_home(folder / "spark"))
    command = [sys.executable, "-m", "workflows", "run", "-c", "lineage.yaml"]
    shown = folder / "output.txt"
    with shown.open("w") as output:
        job = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        killed: list[int] = []
        killer = threading.Thread(target=kill_at, args=(job, signs, shown, killed), daemon=True)
        killer.start()
        code = job.wait()
        killer.join()
    if code:
        sys.exit(shown.read_text()[-3_000:])
    return len(killed)


def kill_at(job: subprocess.Popen[bytes], signs: tuple[str, ...], shown: Path, killed: list[int]) -> None:
    """Kills an executor once the log shows a sign and each of them works for the job; the next sign costs another."""
    for sign in signs:
        before = len(killed)
        while job.poll() is None and len(killed) == before:
            time.sleep(0.2)
            if sign not in shown.read_text():
                continue
            executors = executors_of(job.pid)
            working = [one for one in executors if any("python" in child.name() for child in one.children())]
            if len(working) == EXECUTORS:
                time.sleep(1)
                working[0].kill()
                killed.append(working[0].pid)


def executors_of(pid: int) -> list[psutil.Process]:
    """The executors that a process has started, whose parents are Spark's workers within its JVM."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        try:
            if any(_OF_AN_EXECUTOR in argument for argument in process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def query_log(path: Path) -> dict[str, Any]:
    lineage = {"type": "DatabaseLineage", "queryLogFilePath": str(path)}
    return {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "shop",
            "serviceConnection": {"config": {"type": "Postgres"}},
            "sourceConfig": {"config": lineage},
        },
        "sink": {"type": "metadata-rest", "config": {}},
    }


def csv_log(folder: Path) -> dict[str, Any]:
    rows = growing_log.rows_of([*growing_log.SHOP, *APART])
    for number, start in enumerate(range(0, len(rows), 6)):
        growing_log.write_log(folder / "log" / f"{number}.csv", rows[start : start + 6])
    return query_log(folder / "log")


def gzip_log(folder: Path) -> dict[str, Any]:
    csv_log(folder)
    for file in (folder / "log").iterdir():
        file.with_suffix(".csv.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    return query_log(folder / "log")


def json_log(folder: Path) -> dict[str, Any]:
    for number, rows in enumerate(records(folder)):
        file = folder / "json" / f"{number}.jsonl"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(map(json.dumps, rows)))
    return query_log(folder / "json")


def records(folder: Path) -> Iterator[list[dict[str, Any]]]:
    """The records of each file of the log."""
    csv_log(folder)
    as_text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(growing_log.HEADER.strip().split(","), "string"))
    for file in sorted((folder / "log").iterdir()):
        yield pyarrow.csv.read_csv(file, convert_options=as_text).to_pylist()


def parquet_log(folder: Path) -> dict[str, Any]:
    (folder / "parquet").mkdir()
    for number, rows in enumerate(records(folder)):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "parquet" / f"{number}.parquet")
    return query_log(folder / "parquet")


def engine_log(folder: Path) -> dict[str, Any]:
    (folder / "log").mkdir()
    (folder / "log" / "query_history.csv").write_text(QUERIES)
    (folder / "log" / "access_history.jsonl").write_text("".join(ACCESSES))
    workflow = query_log(folder / "log")
    workflow["source"]["serviceConnection"]["config"]["type"] = "Snowflake"
    return workflow


def large_log(folder: Path) -> dict[str, Any]:
    generate(folder, ROWS, TEMPLATES)
    workflow: dict[str, Any] = configuration(ROWS, SESSIONS)
    return workflow


def history(folder: Path) -> dict[str, Any]:
    (folder / "logs").mkdir()
    for number, version in enumerate(older_logs.VERSIONS):
        older_logs.write_log(older_logs.kept(version)["thrift"], folder / "logs", f"local-{number}")
    workflow: dict[str, Any] = yaml.safe_load(spark_history_runs.configuration(folder, folder / "logs").read_text())
    return workflow


def dbt(folder: Path) -> dict[str, Any]:
    files = {"dbtConfigType": "local", "dbtManifestFilePath": str(BUILT / "manifest.json")}
    files |= {"dbtCatalogFilePath": str(BUILT / "catalog.json")}
    settings = {"type": "DBT", "dbtConfigSource": files}
    return {"source": {"type": "dbt", "serviceName": "roastery", "sourceConfig": {"config": settings}}}


@contextmanager
def postgres(folder: Path) -> Iterator[dict[str, Any]]:
    with live_postgres.server(folder / "data") as (socket, uri), psycopg.connect(uri, autocommit=True) as session:
        live_postgres.fill(session)
        live_postgres.make_procedures(session)
        yield dict(live_postgres.configuration(socket))


def of_files(make: Callable[[Path], dict[str, Any]], **traits: bool) -> Source:
    """A source that is there once its files are."""
    return Source(lambda folder: nullcontext(make(folder)), **traits)


SOURCES = {
    "csv": of_files(csv_log),
    "gzip": of_files(gzip_log),
    "json": of_files(json_log),
    "parquet": of_files(parquet_log),
    "engine": of_files(engine_log),
    "large": of_files(large_log, loses_executor=True),
    "spark": of_files(history),
    "dbt": of_files(dbt, dated=False),
    "postgres": Source(postgres, dated=False),
}

if __name__ == "__main__":
    main()
