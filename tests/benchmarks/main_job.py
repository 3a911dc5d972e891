"""Time and memory of the whole main job on a synthetic log, and whether its answers are right.

    python tests/benchmarks/main_job.py --rows 100000 --templates 2000

makes the log (query_log_generator.py), runs `ingest run` on it in a process of its own, samples the memory of that
process and its children, and compares what the catalog holds with the generator's answers. `--again` runs a second
time over the same log and catalog; `--pooled` makes a log without session ids (pooled_log_generator.py), `--nightly`
one of long statements, most of them with values, among people's queries (nightly_log_generator.py).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.benchmarks.stored_edges import stored_edges  # noqa: E402


@dataclass
class Peak:
    """Bytes of resident memory at its highest, and processor seconds, of the JVM and of everything else.

    `others` is all that is no JVM together, `driver` the run's own process, `workers` all other Python processes
    together, and `worker` the largest of them; `held` is `others` with pages that forks share counted once.
    `stage` is the one that runs; of each stage `driver_by_stage` is the driver's memory at its highest.
    """

    jvm: int = 0
    others: int = 0
    held: int = 0
    driver: int = 0
    workers: int = 0
    worker: int = 0
    stage: str = ""
    driver_by_stage: dict[str, int] = field(default_factory=dict)
    seconds: dict[tuple[str, int], float] = field(default_factory=dict)  # by kind of process, and process
    seconds_by_stage: dict[tuple[str, str], float] = field(default_factory=dict)  # by stage and kind of process

    def processor_seconds(self, jvm: bool) -> float:
        return sum(seconds for (kind, _pid), seconds in self.seconds.items() if (kind in (JVM, EXECUTOR)) is jvm)

    def note_seconds(self, used: dict[tuple[str, int], float]) -> None:
        """Takes in what each process has used until now, on the account of the stage that runs."""
        for process, seconds in used.items():
            account = self.stage, process[0]
            more = seconds - self.seconds.get(process, 0.0)
            self.seconds_by_stage[account] = self.seconds_by_stage.get(account, 0.0) + more
        self.seconds |= used


DRIVER, WORKER, JVM, EXECUTOR = "driver", "worker", "JVM", "executor"
"""Kinds of processes: the run's own, other Python ones, the JVM that it starts, JVMs of a cluster's executors."""
_STAGE_BEGINS = re.compile(r" INFO (?P<stage>[a-z ]+) \.\.\.$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--templates", type=int, default=2_000)
    parser.add_argument("--again", action="store_true")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--pooled", dest="log", action="store_const", const=POOLED, default=SESSIONS)
    kinds.add_argument("--nightly", dest="log", action="store_const", const=NIGHTLY)
    parser.add_argument("--spark", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark")
    arguments = parser.parse_args()
    log = arguments.log
    with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
        folder = Path(scratch)
        generate(folder, arguments.rows, arguments.templates, log)
        workflow = configuration(arguments.rows, log)
        workflow["headwater"]["spark"] = {"conf": dict(one.split("=", 1) for one in arguments.spark)}
        (folder / "lineage.yaml").write_text(yaml.safe_dump(workflow))
        for _run in range(2 if arguments.again else 1):
            run_job(folder, arguments.rows)
        compare(folder)


@dataclass(frozen=True)
class Log:
    """What makes a log, and whose it is."""

    generator: str
    platform: str
    file: str = "query_log.csv"


SESSIONS = Log("query_log_generator.py", "Postgres")
POOLED = Log("pooled_log_generator.py", "Snowflake")
NIGHTLY = Log("nightly_log_generator.py", "Postgres")


def generate(folder: Path, rows: int, templates: int, log: Log = SESSIONS) -> None:
    """The log, its schema and its answers."""
    command = [sys.executable, str(HERE / log.generator), "--out", str(folder)]
    subprocess.run([*command, "--rows", str(rows), "--templates", str(templates)], check=True, capture_output=True)
    made = folder / log.file
    size = sum(file.stat().st_size for file in ([made] if made.is_file() else made.rglob("*")))
    print(f"log: {rows:,} rows in {templates:,} templates, {size / 1e6:,.0f} MB")


def configuration(rows: int, log: Log = SESSIONS) -> dict[str, Any]:
    return {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "warehouse",
            "serviceConnection": {"config": {"type": log.platform}},
            "sourceConfig": {
                "config": {
                    "type": "DatabaseLineage",
                    "queryLogFilePath": log.file,
                    "queryLogDuration": 30,
                    "resultLimit": rows,
                }
            },
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {"schemaFiles": [{"path": "schema.sql", "database": "warehouse", "schema": "mart"}]},
    }


@dataclass(frozen=True)
class Measured:
    """Of one run: its seconds, its memory and processor time, and its report."""

    seconds: float
    peak: Peak
    report: dict[str, Any]


def run_job(folder: Path, rows: int) -> float:
    """Runs the job once, prints what it took, and returns its seconds."""
    return measured_job(folder, rows).seconds


def measured_job(folder: Path, rows: int) -> Measured:
    """Runs the job once, and prints what it took."""
    started = time.monotonic()
    command = [str(Path(sys.executable).with_name("ingest")), "run", "-c", "lineage.yaml", "--report", "report.json"]
    job = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = Peak()
    watcher = threading.Thread(target=watch, args=(job.pid, peak), daemon=True)
    watcher.start()
    printed = []
    for line in job.stdout or ():
        printed.append(line)
        peak.stage = begins["stage"] if (begins := _STAGE_BEGINS.search(line.rstrip())) else peak.stage
    job.wait()
    seconds = time.monotonic() - started
    watcher.join()
    if job.returncode:
        sys.exit(f"the run ended with {job.returncode}:\n{''.join(printed)}")
    report = json.loads((folder / "report.json").read_text())
    counts = report["counts"]
    print(
        f"whole run {seconds:.1f} s, {rows / seconds:,.0f} rows/s; peak memory "
        f"outside the JVM {peak.others / 1e6:,.0f} MB (driver {peak.driver / 1e6:,.0f}, all workers "
        f"{peak.workers / 1e6:,.0f}, one worker {peak.worker / 1e6:,.0f}; {peak.held / 1e6:,.0f} with what forks share "
        f"counted once), JVM {peak.jvm / 1e6:,.0f} MB; "
        f"processor seconds outside the JVM {peak.processor_seconds(False):.1f}, JVM {peak.processor_seconds(True):.1f}"
    )
    for stage, taken in report["seconds_by_stage"].items():
        print(f"  {stage:10}{taken:8.1f} s{counts['statements'] / max(taken, 1e-3):12,.0f} statements/s")
    kept = ("statements", "published", "skipped", "dead", "templates", "edges_new", "edges_unchanged", "column_edges")
    print("  " + ", ".join(f"{name} {counts[name]}" for name in kept), flush=True)
    return Measured(seconds, peak, report)


def watch(pid: int, peak: Peak) -> None:
    """Samples the memory and processor time of a process and its descendants until it ends."""
    while psutil.pid_exists(pid):
        try:
            root = psutil.Process(pid)
            family = [(_kind_of(p, root), p) for p in (root, *root.children(recursive=True))]
            sizes = {p.pid: (kind, p.memory_info().rss) for kind, p in family}
            used = {(kind, p.pid): sum(p.cpu_times()[:2]) for kind, p in family}
            held = sum(p.memory_full_info().pss for kind, p in family if kind in (DRIVER, WORKER))
        except psutil.Error:
            time.sleep(0.05)
            continue
        if root.status() == psutil.STATUS_ZOMBIE:
            return
        peak.note_seconds(used)
        driver = sum(size for kind, size in sizes.values() if kind == DRIVER)
        workers = [size for kind, size in sizes.values() if kind == WORKER]
        peak.jvm = max(peak.jvm, sum(size for kind, size in sizes.values() if kind in (JVM, EXECUTOR)))
        peak.others = max(peak.others, driver + sum(workers))
        peak.held = max(peak.held, held)
        peak.driver = max(peak.driver, driver)
        peak.driver_by_stage[peak.stage] = max(peak.driver_by_stage.get(peak.stage, 0), driver)
        peak.workers = max(peak.workers, sum(workers))
        peak.worker = max([peak.worker, *workers])
        time.sleep(0.2)


def _kind_of(process: psutil.Process, root: psutil.Process) -> str:
    if process == root:
        return DRIVER
    if not process.name().startswith("java"):
        return WORKER
    return EXECUTOR if any("ExecutorBackend" in word for word in process.cmdline()) else JVM


def compare(folder: Path) -> bool:
    """Prints precision and recall of the tables and direct columns in the catalog; whether all are right."""
    tables, columns = stored_edges(folder / ".headwater" / "catalog.db")
    wanted_tables, wanted_columns = answers(folder)
    for name, found, wanted in (
        ("table edges", tables, wanted_tables),
        ("direct column edges", columns, wanted_columns),
    ):
        right = len(found & wanted)
        print(
            f"{name}: {len(found):,} found, {len(wanted):,} known, "
            f"precision {right / max(len(found), 1):.4f}, recall {right / len(wanted):.4f}"
        )
    return tables == wanted_tables and columns == wanted_columns


def answers(folder: Path) -> tuple[set[tuple[str, str]], set[tuple[str, str, str, str]]]:
    tables: set[tuple[str, str]] = set()
    columns: set[tuple[str, str, str, str]] = set()
    for line in (folder / "answers.jsonl").read_text().splitlines():
        answer = json.loads(line)
        target = answer["target"]
        tables |= {(source, target) for source in answer["sources"] if source != target}
        columns |= {(table, column, target, made) for table, column, made in answer["columns"] if table != target}
    return tables, columns


if __name__ == "__main__":
    main()
