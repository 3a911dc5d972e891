"""Real event logs for the tests: applications of every kind, each in a layout and codec of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connectors.spark._application_log import ApplicationLog
from connectors.spark._codecs import codec_of, decode_stream
from connectors.spark._event_logs import EventLogFile, event_log_files
from connectors.spark._events import event_lines
from connectors.spark._history_records import DIALECT, RecordWriter, Row, TextReader, problem_row
from ingestion.plans.cache import PlanCache
from ingestion.plans.names import NameMapping

GENERATOR = Path(__file__).parents[2] / "support" / "spark_jobs" / "generator"
LAYOUTS = {
    "sql": ("spark.eventLog.compression.codec=zstd", "spark.eventLog.rolling.enabled=true"),
    "dataframe": ("spark.eventLog.compression.codec=lz4", "spark.eventLog.rolling.enabled=false"),
    "cli": ("spark.eventLog.compression.codec=snappy", "spark.eventLog.rolling.enabled=false"),
    "connect": (
        "spark.eventLog.compression.codec=lzf",
        "spark.eventLog.rolling.enabled=true",
        "spark.sql.catalogImplementation=in-memory",  # not Hive's, which those before it in their JVM have
    ),
    "thrift": ("spark.eventLog.compression.codec=zstd", "spark.eventLog.rolling.enabled=false"),
    "streaming": ("spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=false"),
    "sources": ("spark.eventLog.compression.codec=zstd", "spark.eventLog.rolling.enabled=true"),
}
CHEAP = (
    "spark.driver.defaultJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.factoryMode=NO_CODEGEN",
)
"""For a few rows, compiling costs more than it saves; the plans stay as they are."""

LONGEST_RUN = 600
"""Seconds after which a group of applications is given up on."""


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


def script(kind: str, root: Path) -> list[str]:
    """The script of an application of this kind, with its arguments."""
    place = ["--root", str(root), *conf_arguments(kind, root / "logs")]
    if kind not in ("sql", "dataframe"):
        return [f"{kind}_application.py", *place]
    killed = ["--kill"] if kind == "dataframe" else []
    return ["application.py", "--jobs", kind, "--truth", str(root / "truth.json"), *killed, *place]


def cli_command(root: Path) -> list[str]:
    """Spark's own command line, over a file of statements."""
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
    confs = conf_arguments("cli", root / "logs")
    confs += [argument for conf in more for argument in ("--conf", conf)]
    submit = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
    program = ["--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal"]
    return [*submit, *confs, *program, "--hiveconf", "hive.cli.errors.ignore=true", "-f", str(GENERATOR / "cli.sql")]


GROUPS = (("sql", "streaming", "dataframe"), ("sources", "thrift", "connect"), ("cli",))
"""The applications of one group share a JVM, and the last of the first one is killed."""

KINDS = tuple(kind for group in GROUPS for kind in group if kind != "sources")
"""The applications that plain tables of the session catalog are enough for."""


def made_history(groups: Sequence[tuple[str, ...]], folder: Path) -> History:
    """The logs of applications, two groups at a time; HEADWATER_SPARK_HISTORY names a folder to keep them in."""
    kept = os.environ.get("HEADWATER_SPARK_HISTORY")
    root = Path(kept) if kept else folder
    waiting = [group for group in groups if not all((root / kind / "done").exists() for kind in group)]
    running: dict[tuple[str, ...], subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < 2:
                group = waiting.pop(0)
                running[group] = started(group, root)
            group, process = next(iter(running.items()))
            process.wait(LONGEST_RUN)
            if group == ("cli",) or (group[-1] == "dataframe" and (root / "dataframe" / "truth.json").exists()):
                (root / group[-1] / "done").touch()
            unfinished = [kind for kind in group if not (root / kind / "done").exists()]
            if unfinished:
                output_text = (root / group[0] / "output.txt").read_text()[-3000:]
                pytest.fail(f"the {unfinished[0]} application failed: {output_text}")
            del running[group]
    finally:
        for process in running.values():
            process.kill()
    return History(root)


def started(group: tuple[str, ...], root: Path) -> subprocess.Popen[bytes]:
    for kind in group:
        shutil.rmtree(root / kind, ignore_errors=True)
        (root / kind / "logs").mkdir(parents=True)
    first = root / group[0]
    scripts = json.dumps([script(kind, root / kind) for kind in group])
    command = cli_command(first) if group == ("cli",) else [sys.executable, str(GENERATOR / "sequence.py"), scripts]
    with (first / "output.txt").open("wb") as output:
        return subprocess.Popen(command, cwd=first, env=environment(), stdout=output, stderr=output)


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
                        else:
                            rows += [row for statement in reading.read(line) for row in writer.rows(statement)]
            rows += [row for statement in reading.finish() for row in writer.rows(statement)]
    return rows
