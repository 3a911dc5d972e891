"""Real event logs for the tests: applications of every kind, each in a layout and codec of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connectors.spark_history.applications.application_log import ApplicationLog
from connectors.spark_history.applications.statement_text import TextReader
from connectors.spark_history.event_logs.codecs import codec_of, decode_stream
from connectors.spark_history.event_logs.event_lines import event_lines
from connectors.spark_history.event_logs.log_files import EventLogFile, event_log_files
from connectors.spark_history.records import DIALECT, RecordWriter, Row, problem_row
from ingestion.plans.cache import PlanCache
from ingestion.plans.text.name_mapping import NameMapping

GENERATOR = Path(__file__).parents[2] / "support" / "spark_jobs" / "generator"
LAYOUTS = {
    "sql": ("spark.eventLog.compression.codec=zstd", "spark.eventLog.rolling.enabled=true"),
    "dataframe": ("spark.eventLog.compression.codec=lz4", "spark.eventLog.rolling.enabled=false"),
    "cli": ("spark.eventLog.compression.codec=snappy", "spark.eventLog.rolling.enabled=false"),
    "connect": ("spark.eventLog.compression.codec=lzf", "spark.eventLog.rolling.enabled=true"),
    "thrift": ("spark.eventLog.compression.codec=zstd", "spark.eventLog.rolling.enabled=false"),
    "streaming": ("spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=false"),
    "sources": ("spark.eventLog.compression.codec=zstd", "spark.eventLog.rolling.enabled=true"),
}
CHEAP = (
    "spark.driver.defaultJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.factoryMode=NO_CODEGEN",
)
"""For a few rows, compiling costs more than it saves; the plans stay as they are."""

LONGEST_RUN = 280
"""Seconds after which an application is given up on."""


@dataclass(frozen=True)
class History:
    """What the applications left: `root` has a folder of each; `truth` is what the jobs said of themselves."""

    root: Path

    def logs(self, kind: str) -> Path:
        return self.root / kind / "logs"

    def truth(self, kind: str) -> list[dict[str, Any]]:
        facts: list[dict[str, Any]] = json.loads((self.root / kind / "truth.json").read_text())
        return facts


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONWARNINGS": "ignore",
    }


def conf_arguments(kind: str, logs: Path) -> list[str]:
    confs = [f"spark.eventLog.dir={logs.as_uri()}", "spark.eventLog.compress=true", *LAYOUTS[kind], *CHEAP]
    return [argument for conf in confs for argument in ("--conf", conf)]


def command(kind: str, root: Path) -> list[str]:
    """The command line of an application of this kind."""
    confs = conf_arguments(kind, root / "logs")
    if kind in ("sql", "dataframe"):
        killed = ["--kill"] if kind == "dataframe" else []
        script = [str(GENERATOR / "application.py"), "--jobs", kind, "--truth", str(root / "truth.json"), *killed]
        return [sys.executable, *script, "--root", str(root), *confs]
    if kind != "cli":
        return [sys.executable, str(GENERATOR / f"{kind}_application.py"), "--root", str(root), *confs]
    import pyspark

    home = Path(pyspark.__file__).parent
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    connection = f"jdbc:derby:;databaseName={root / 'metastore'};create=true"
    more = [
        "spark.ui.enabled=false",
        "spark.eventLog.enabled=true",
        f"spark.sql.warehouse.dir={root / 'warehouse'}",
        f"spark.driver.extraJavaOptions={options} -Dderby.system.home={root}",
        f"spark.hadoop.javax.jdo.option.ConnectionURL={connection}",
    ]
    confs += [argument for conf in more for argument in ("--conf", conf)]
    submit = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
    program = ["--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal"]
    return [*submit, *confs, *program, "--hiveconf", "hive.cli.errors.ignore=true", "-f", str(GENERATOR / "cli.sql")]


KINDS = ("sql", "dataframe", "cli", "thrift", "connect", "streaming")
"""The applications that plain tables of the session catalog are enough for."""


def made_history(kinds: tuple[str, ...], folder: Path) -> History:
    """The logs of applications, two at a time; HEADWATER_SPARK_HISTORY names a folder to keep them in."""
    kept = os.environ.get("HEADWATER_SPARK_HISTORY")
    root = Path(kept) if kept else folder
    waiting = [kind for kind in kinds if not (root / kind / "done").exists()]
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < 2:
                kind = waiting.pop(0)
                running[kind] = started(kind, root / kind)
            kind, process = next(iter(running.items()))
            process.wait(LONGEST_RUN)
            if process.returncode != 0 and kind not in ("dataframe", "cli"):
                output_text = (root / kind / "output.txt").read_text()[-3000:]
                pytest.fail(f"the {kind} application failed: {output_text}")
            (root / kind / "done").touch()
            del running[kind]
    finally:
        for process in running.values():
            process.kill()
    return History(root)


def started(kind: str, root: Path) -> subprocess.Popen[bytes]:
    shutil.rmtree(root, ignore_errors=True)
    (root / "logs").mkdir(parents=True)
    with (root / "output.txt").open("wb") as output:
        return subprocess.Popen(command(kind, root), cwd=root, env=environment(), stdout=output, stderr=output)


def log_files(directory: Path) -> list[EventLogFile]:
    """The event logs of a local directory, as the reader lists them."""
    found = [path for path in directory.rglob("*") if path.is_file()]
    return event_log_files((path.as_uri(), path.stat().st_size, path.stat().st_mtime) for path in found)


def read_directory(
    directory: Path, names: NameMapping | None = None, through_views: bool = False, plans: PlanCache | None = None
) -> list[Row]:
    """The records of a directory without Spark: the same parts in the same order as the reader has them."""
    rows: list[Row] = []
    logs: dict[str, list[EventLogFile]] = {}
    for file in log_files(directory):
        logs.setdefault(file.log, []).append(file)
    with TextReader(DIALECT) as texts:
        for log, files in logs.items():
            reading, writer = ApplicationLog(), RecordWriter.of(log, names or NameMapping(), texts)
            writer.application.through_views = through_views
            writer.plans = plans or writer.plans
            for file in files:
                path = Path(file.path.removeprefix("file://"))
                with path.open("rb") as stream:
                    for line in event_lines(decode_stream(stream, codec_of(path.name, stream) or "")):
                        if line.kind == "problem":
                            rows.append(problem_row(f"{file.path}:{line.number}", line.problem or ""))
                        elif line.kind != "ignored":
                            rows += [row for statement in reading.read(line) for row in writer.rows(statement)]
            rows += [row for statement in reading.finish() for row in writer.rows(statement)]
    return rows
