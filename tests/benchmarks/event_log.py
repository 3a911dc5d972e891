"""How fast event logs become symbolic lineage, beside reading the same files as text and parsing their JSON.

python tests/benchmarks/event_log.py [--megabytes 1100] [--history DIR] [--cores 2]

The logs are made of the events of a real application (or of the logs in --history), so mixed that SQL start events are
about 5 % of the bytes; the jobs run again and again, as scheduled ones do, each time with other column numbers.
Prints raw megabytes a second of each way and the memory of the Python workers at two sizes, in a session that has done
both ways before; and at the larger size in a new process each, as a scheduled run is one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import zstandard
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

sys.path.insert(0, str(Path(__file__).parents[2]))

from connectors.spark._codecs import codec_of, decode_stream
from connectors.spark._event_logs import SparkHistoryOptions
from connectors.spark.history import read_spark_history

START = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"'
END = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd"'
HEAD = (b'{"Event":"SparkListenerLogStart"', b'{"Event":"SparkListenerApplicationStart"')
FILES = 24
SHARE = 0.05


def real_lines(history: Path) -> list[bytes]:
    """The events of the largest log of a directory."""
    path = max((p for p in history.rglob("events_1_*") if p.is_file()), key=lambda p: p.stat().st_size)
    with path.open("rb") as stream:
        return b"".join(decode_stream(stream, codec_of(path.name, stream) or "")).splitlines(keepends=True)


def generate(directory: Path, lines: list[bytes], megabytes: int) -> tuple[int, int]:
    """Logs of the asked size; gives raw bytes and the bytes of SQL start events."""
    sql = [line for line in lines if line.startswith((START, END))]
    head = [line for line in lines if line.startswith(HEAD)]
    other = [line for line in lines if line.startswith(b'{"Event":"SparkListener') and line not in head]
    started = sum(len(line) for line in sql if line.startswith(START))
    filler = b"".join(other)
    each = megabytes * 1_000_000 // FILES
    rounds = max(1, round(each * SHARE / started))
    raw = starts = 0
    for number in range(FILES):
        log = directory / f"eventlog_v2_local-{number}"
        log.mkdir(parents=True)
        with (
            (log / f"events_1_local-{number}.zstd").open("wb") as file,
            zstandard.ZstdCompressor().stream_writer(file) as out,
        ):
            size = sum(out.write(line) and len(line) for line in head)
            for part in range(1, rounds + 1):
                run = number * rounds + part
                size += sum(out.write(renumbered(line, run)) and len(line) for line in sql)
                starts += started
                while size < each / rounds * part:
                    out.write(filler)
                    size += len(filler)
        raw += size
    return raw, starts


def renumbered(line: bytes, run: int) -> bytes:
    """An event of another run of the same job: the columns of its plan have other numbers, of as many digits."""
    return re.sub(rb"#(\d{2,})", lambda match: b"#%d" % other(int(match.group(1)), run), line)


def other(number: int, run: int) -> int:
    lowest = 10 ** (len(str(number)) - 1)
    return lowest + (number - lowest + 7 * run) % (9 * lowest)


def session(cores: int) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    return builder.config("spark.driver.memory", "1g").config("spark.log.level", "ERROR").getOrCreate()


class WorkerMemory:
    """The largest resident size of any Python worker while the block runs, in megabytes."""

    def __enter__(self) -> WorkerMemory:
        self.peak = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(0.2):
            for child in me.children(recursive=True):
                try:
                    if "python" in child.name():
                        self.peak = max(self.peak, child.memory_info().rss / 1e6)
                except psutil.Error:
                    continue

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def processor_seconds() -> float:
    """What this process and all below it have used: it tells two ways apart on a machine that others use too."""
    me = psutil.Process()
    used = 0.0
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            used += times.user + times.system
    return used


def as_text(spark: SparkSession, directory: Path) -> int:
    """The same files through Spark's own text reader: prefix test, then from_json of the start events."""
    text = spark.read.option("recursiveFileLookup", "true").text(f"{directory.as_uri()}")
    chosen = text.where(F.col("value").startswith(START.decode()))
    schema = "executionId BIGINT, description STRING, physicalPlanDescription STRING, time BIGINT"
    return chosen.select(F.from_json("value", schema).alias("e")).where("length(e.physicalPlanDescription) > 0").count()


def as_lineage(spark: SparkSession, directory: Path) -> int:
    records = read_spark_history(spark, SparkHistoryOptions(event_log_directory=directory.as_uri()))
    return records.where("symbolic is not null").count()


WAYS = {"read.text + from_json": as_text, "to symbolic lineage": as_lineage}


def of_a_new_process(way: str, directory: Path, cores: int) -> tuple[int, float]:
    """What a way finds in a process of its own, as a scheduled run is one, and its seconds once Spark has started."""
    command = [sys.executable, __file__, "--cores", str(cores), "--once", way, str(directory)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    found, seconds = ended.stdout.split()[-2:]
    return int(found), float(seconds)


def once(way: str, directory: Path, cores: int) -> None:
    spark = session(cores)
    begun = time.perf_counter()
    found = WAYS[way](spark, directory)
    print(found, time.perf_counter() - begun)
    spark.stop()


def warm(spark: SparkSession, directory: Path, raw: int, repeats: int) -> None:
    """Prints the best of several turns in one session, for each way."""
    for name, way in WAYS.items():
        seconds = spent = float("inf")
        with WorkerMemory() as memory:
            for _ in range(repeats):
                begun, before = time.perf_counter(), processor_seconds()
                found = way(spark, directory)
                seconds = min(seconds, time.perf_counter() - begun)
                spent = min(spent, processor_seconds() - before)
        print(
            f"  {name}: {found} found, {seconds:.1f} s, {raw / 1e6 / seconds:.0f} MB/s, "
            f"{raw / 1e6 / spent:.0f} MB per processor second, worker {memory.peak:.0f} MB"
        )


def cold(directory: Path, raw: int, cores: int, repeats: int) -> None:
    """Prints the best of several processes for each way, in turn."""
    best = dict.fromkeys(WAYS, float("inf"))
    for _ in range(repeats):
        for way in WAYS:
            _, seconds = of_a_new_process(way, directory, cores)
            best[way] = min(best[way], seconds)
    for way, seconds in best.items():
        print(f"  {way}, in a process of its own: {seconds:.1f} s, {raw / 1e6 / seconds:.0f} MB/s")
    text, lineage = best.values()
    print(f"  {text / lineage:.2f} of the speed of text")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1100)
    parser.add_argument("--history", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="the best of them is printed")
    parser.add_argument("--once", nargs=2, metavar=("WAY", "DIRECTORY"), help="one way once, over logs that are there")
    options = parser.parse_args()
    if options.once:
        once(options.once[0], Path(options.once[1]), options.cores)
        return
    with tempfile.TemporaryDirectory() as scratch:
        compare(Path(scratch), options)


def compare(root: Path, options: argparse.Namespace) -> None:
    lines = real_lines(options.history or application(root / "application"))
    spark = session(options.cores)
    size, _ = generate(root / "warm", lines, 30)
    for way in WAYS.values():
        way(spark, root / "warm")
    print(f"warmed up on {size / 1e6:.0f} MB")
    for megabytes in (options.megabytes // 4, options.megabytes):
        directory = root / f"logs-{megabytes}"
        raw, starts = generate(directory, lines, megabytes)
        print(f"{raw / 1e6:.0f} MB raw, SQL start events {starts / raw:.1%} of it")
        warm(spark, directory, raw, options.repeats)
    spark.stop()
    cold(directory, raw, options.cores, options.repeats)


def application(root: Path) -> Path:
    """The folder of a real application's logs, made now."""
    (root / "logs").mkdir(parents=True)
    script = Path(__file__).parents[1] / "support/spark_jobs/generator/application.py"
    confs = ["--conf", f"spark.eventLog.dir={(root / 'logs').as_uri()}"]
    arguments = ["--jobs", "sql", "--root", str(root), "--truth", str(root / "truth.json"), *confs]
    subprocess.run([sys.executable, str(script), *arguments], check=True, cwd=root)
    return root


if __name__ == "__main__":
    main()
