"""The jobs that an older Spark knows, with their truth and what its event log says of them, as one small file.

python older_application.py --root DIR --out FILE.json.gz

To be run by an interpreter that has that Spark's pyspark. Users, hosts and paths of the machine are left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
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
SQL = ("executionId", "rootExecutionId", "description", "physicalPlanDescription", "time", "errorMessage")
KEPT = {
    "LogStart": ("Spark Version",),
    "ApplicationStart": ("App ID",),
    "EnvironmentUpdate": ("Spark Properties",),
    "SQLExecutionStart": SQL,
    "SQLExecutionEnd": SQL,
    "JobStart": ("Job ID", "Properties"),
    "JobEnd": ("Job ID", "Job Result"),
}
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
    for name, part in (("Properties", EXECUTION), ("Spark Properties", WAREHOUSE), ("Job Result", "Result")):
        if name in kept:
            kept[name] = {part: kept[name].get(part)}
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    root: Path = options.root.resolve()
    logs = root / "logs"
    logs.mkdir()
    kept = [f"spark.eventLog.dir={logs.as_uri()}", "spark.eventLog.compress=false"]
    spark = session("older", root, kept)
    spark.sparkContext.setLogLevel("OFF")
    version, truth = spark.version, jobs(spark, root)
    spark.stop()
    (log,) = logs.iterdir()
    events = [event for line in log.read_text().splitlines() if (event := said(line)) is not None]
    content = json.dumps({"version": version, "truth": truth, "events": events})
    content = content.replace(str(root), "/data")
    with options.out.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(content.encode())


if __name__ == "__main__":
    main()
