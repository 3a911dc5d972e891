"""The pipeline on a cluster, whose executors are processes of their own, beside the pipeline in one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from tests.support import growing_log, run_in_session, spark_history_runs
from tests.support.catalog_contents import REPOSITORY
from tests.support.growing_log import SHOP, Said, contributions_in, rows_of, write_log
from tests.support.spark_jobs import older_logs

pytestmark = pytest.mark.spark

EXECUTORS = 2
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
CLUSTER = {
    "master": f"local-cluster[{EXECUTORS},1,1024]",
    "conf": {**growing_log.SPARK, "spark.executor.extraJavaOptions": QUICK},
}


def folders(root: Path) -> tuple[Path, Path]:
    """A folder with a query log in several files, and one with the event logs of two applications."""
    queries, events = root / "queries", root / "events"
    for number, start in enumerate(range(0, len(SHOP), 6)):
        write_log(queries / "log" / f"{number}.csv", rows_of(SHOP)[start : start + 6])
    (events / "logs").mkdir(parents=True)
    for number, version in enumerate(older_logs.VERSIONS):
        older_logs.write_log(older_logs.kept(version)["thrift"], events / "logs", f"local-{number}")
    return queries, events


def own_home(folder: Path) -> Path:
    """Spark as pip installed it, but with room for the executors' work that is the test's."""
    folder.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (folder / part.name).symlink_to(part)
    return folder


def catalogs(*folders: Path) -> list[set[Said]]:
    return [contributions_in(folder / "catalog.db") for folder in folders]


def test_executors_give_what_one_process_gives(spark: SparkSession, tmp_path: Path) -> None:
    queries, events = folders(tmp_path / "cluster")
    files = [
        growing_log.configuration(queries, spark=CLUSTER),
        spark_history_runs.configuration(events, events / "logs", spark=CLUSTER),
    ]
    home = own_home(tmp_path / "spark")
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.one_session", *map(str, files)],
        cwd=REPOSITORY,
        env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=270,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    sent = list((home / "work").glob("app-*/*/headwater.zip"))
    assert len(sent) == EXECUTORS

    same_queries, same_events = folders(tmp_path / "process")
    growing_log.configuration(same_queries)
    run_in_session.run(same_queries)
    spark_history_runs.run(spark_history_runs.configuration(same_events, same_events / "logs"))
    found, expected = catalogs(queries, events), catalogs(same_queries, same_events)
    assert all(expected)
    assert found == expected
