"""The jobs that an older Spark knows, with their truth and what its event logs say of them, as one small file.

The second log is that of its Thrift server.

python older_application.py --root DIR --out FILE.json.gz

To be run by an interpreter that has that Spark's pyspark. Users, hosts and paths of the machine are left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dataframe_jobs
import sql_jobs
from application import run_frames, run_sql, session
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

try:
    from pyspark.errors import AnalysisException, PySparkException
except ImportError:  # before Spark 3.4
    from pyspark.sql.utils import AnalysisException
    from pyspark.sql.utils import CapturedException as PySparkException

EXECUTION, WAREHOUSE = "spark.sql.execution.id", "spark.sql.warehouse.dir"
SQL = ("executionId", "rootExecutionId", "description", "details", "physicalPlanDescription", "time", "errorMessage")
DETAILS = 200
"""Characters of a stack trace: how a statement came to Spark."""
KEPT = {
    "LogStart": ("Spark Version",),
    "ApplicationStart": ("App ID",),
    "EnvironmentUpdate": ("Spark Properties",),
    "SQLExecutionStart": SQL,
    "SQLExecutionEnd": SQL,
    "JobStart": ("Job ID", "Properties"),
    "JobEnd": ("Job ID", "Job Result"),
    "StreamingQueryListener$QueryProgressEvent": ("progress",),
    "ThriftServerSessionCreated": ("sessionId", "userName", "startTime"),
    "ThriftServerOperationStart": ("id", "sessionId", "statement", "startTime", "userName"),
    "ThriftServerOperationParsed": ("id", "executionPlan"),
    "ThriftServerOperationFinish": ("id", "finishTime"),
    "ThriftServerOperationError": ("id", "finishTime"),
}
PARTS = {
    "Properties": (EXECUTION,),
    "Spark Properties": (WAREHOUSE, "spark.sql.catalog."),
    "Job Result": ("Result",),
    "progress": ("runId", "id", "sink"),
}
"""What is kept of the fields that hold more than lineage needs."""
FAILING = "CREATE TABLE mart.failing AS SELECT order_id, concat(note, raise_error(status)) AS e FROM sales.orders"


def known(run: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What a job says of itself; nothing where this Spark does not know its statement or cannot run it."""
    try:
        return run()
    except (AnalysisException, PySparkException, Py4JJavaError, ImportError, IndexError) as error:
        print(type(error).__name__, str(error)[:100].replace("\n", " "))
        return []


def jobs(spark: SparkSession, root: Path) -> list[dict[str, Any]]:
    for text in sql_jobs.SETUP:
        spark.sql(text)
    truth = [fact for job in sql_jobs.JOBS for fact in known(lambda job=job: run_sql(spark, [job]))]
    truth += [
        fact for job in dataframe_jobs.JOBS for fact in known(lambda job=job: run_frames(spark, str(root), [job]))
    ]
    known(lambda: spark.sql(FAILING).collect())
    return truth


def said(line: str) -> dict[str, Any] | None:
    """An event as far as lineage needs it, and nothing of the machine."""
    event: dict[str, Any] = json.loads(line)
    kind = event["Event"].rpartition(".")[2].removeprefix("SparkListener")
    if kind not in KEPT:
        return None
    kept = {name: event[name] for name in ("Event", *KEPT[kind]) if name in event}
    for name, parts in PARTS.items():
        if name in kept:
            kept[name] = {part: value for part, value in kept[name].items() if part.startswith(parts)}
    if "details" in kept:
        kept["details"] = kept["details"][:DETAILS]
    return kept


def log_of(folder: Path) -> list[dict[str, Any]]:
    """The events of the one log in a folder."""
    (log,) = folder.iterdir()
    return [event for line in log.read_text().splitlines() if (event := said(line)) is not None]


def pack(out: Path, content: dict[str, Any], root: Path) -> None:
    """Write what is kept of a Spark, without the folder that it ran in."""
    text = json.dumps(content).replace(str(root), "/data")
    with out.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(text.encode())


def confs(logs: Path) -> list[str]:
    logs.mkdir(parents=True)
    return [f"spark.eventLog.dir={logs.as_uri()}", "spark.eventLog.compress=false"]


def thrift(root: Path) -> list[dict[str, Any]]:
    """The events of this Spark's Thrift server."""
    arguments = [part for conf in confs(root / "logs") for part in ("--conf", conf)]
    script = Path(__file__).parent / "thrift_application.py"
    subprocess.run([sys.executable, str(script), "--root", str(root), *arguments], cwd=root, check=True, timeout=300)
    return log_of(root / "logs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    root: Path = options.root.resolve()
    spark = session("older", root, confs(root / "logs"))
    spark.sparkContext.setLogLevel("OFF")
    version, truth = spark.version, jobs(spark, root)
    spark.stop()
    events = {"events": log_of(root / "logs"), "thrift": thrift(root / "thrift")}
    pack(options.out, {"version": version, "truth": truth, **events}, root)


if __name__ == "__main__":
    main()
