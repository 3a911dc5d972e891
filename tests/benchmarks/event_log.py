"""How fast event logs of Spark become symbolic lineage, and in how much memory.

    python -m tests.benchmarks.event_log --megabytes 100 1000 10000

The logs are made of the events of a real application (or of the logs in --history), so mixed that SQL start events
are about 5 % of the bytes; its jobs run again and again, as scheduled ones do, each time with other column numbers.
For each size: raw megabytes a second of a core and of a processor second, once Spark has started, and memory at its
highest, in a process of its own, as a scheduled run is one. `--text` tells the same of Spark's own reader of text with
a test of prefixes and `from_json`. `--file-megabytes` is how many raw ones a file has, `--files-a-log` how many files
an application's log is rolled into, `--codec` what they are compressed with: zstd is the default since Spark 3.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import lz4.block
import psutil
import zstandard
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from main_job import Peak, watch  # noqa: E402

from connectors.spark._codecs import LZ4_HEADER, LZ4_MAGIC, codec_of, decode_stream  # noqa: E402
from connectors.spark._event_logs import SparkHistoryOptions  # noqa: E402
from connectors.spark.history import read_spark_history  # noqa: E402
from workflows.config import SparkSettings  # noqa: E402
from workflows.runtime.signals import GracefulShutdown  # noqa: E402
from workflows.runtime.spark import spark_session  # noqa: E402

START = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"'
END = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd"'
HEAD = (
    *(b'{"Event":"SparkListenerLogStart"', b'{"Event":"SparkListenerApplicationStart"'),
    b'{"Event":"SparkListenerEnvironmentUpdate"',
)
SHARE = 0.05
RUNS = 8
"""Runs of the jobs that the logs are made of, each compressed once: a frame of a codec may follow a frame."""

LZ4_BLOCK = 1 << 15
LZ4_PACKED = 0x20 | 5
"""What lz4-java writes for a compressed block of 32 KB, Spark's size."""


class Packed(NamedTuple):
    """Lines as a file has them, and how many bytes they are."""

    content: bytes
    raw: int


def real_lines(history: Path) -> list[bytes]:
    """The events of the largest log of a directory."""
    path = max((p for p in history.rglob("events_1_*") if p.is_file()), key=lambda p: p.stat().st_size)
    with path.open("rb") as stream:
        return b"".join(decode_stream(stream, codec_of(path.name, stream) or "")).splitlines(keepends=True)


def generate(directory: Path, runs: tuple[Packed, list[Packed]], options: argparse.Namespace, megabytes: int) -> int:
    """Logs of the asked size, out of their beginning and the runs that follow it; gives their raw bytes."""
    head, bodies = runs
    each = max(1, round(options.file_megabytes * 1e6 / bodies[0].raw))
    files = max(1, round(megabytes * 1e6 / (each * bodies[0].raw)))
    raw = 0
    for number in range(files):
        application, part = divmod(number, options.files_a_log)
        log = directory / f"eventlog_v2_local-{application}"
        log.mkdir(parents=True, exist_ok=True)
        parts = [] if part else [head]
        parts += [bodies[(number * each + run) % len(bodies)] for run in range(each)]
        with (log / f"events_{part + 1}_local-{application}.{options.codec}").open("wb") as file:
            file.writelines(one.content for one in parts)
        raw += sum(one.raw for one in parts)
    return raw


def packed_runs(lines: list[bytes], codec: str) -> tuple[Packed, list[Packed]]:
    """The beginning of a log, and some runs of its jobs among as many other events as there are in a large log."""
    head = [line for line in lines if line.startswith(HEAD)]
    sql = [line for line in lines if line.startswith((START, END))]
    others = b"".join(line for line in lines if not line.startswith((*HEAD, START, END)))
    wanted = sum(len(line) for line in sql if line.startswith(START)) / SHARE
    filler = others * max(1, round((wanted - sum(map(len, sql))) / len(others)))
    pack = CODECS[codec]
    runs = [b"".join(renumbered(line, run) for line in sql) + filler for run in range(RUNS)]
    return pack(b"".join(head)), [pack(run) for run in runs]


def renumbered(line: bytes, run: int) -> bytes:
    """An event of another run of the same job: the columns of its plan have other numbers, of as many digits."""
    return re.sub(rb"#(\d{2,})", lambda match: b"#%d" % other(int(match.group(1)), run), line)


def other(number: int, run: int) -> int:
    lowest = 10 ** (len(str(number)) - 1)
    return lowest + (number - lowest + 7 * run) % (9 * lowest)


def _zstd(raw: bytes) -> Packed:
    return Packed(zstandard.ZstdCompressor(level=1).compress(raw), len(raw))


def _lz4(raw: bytes) -> Packed:
    blocks = []
    for start in range(0, len(raw), LZ4_BLOCK):
        block = raw[start : start + LZ4_BLOCK]
        content = lz4.block.compress(block, store_size=False)
        blocks += [LZ4_HEADER.pack(LZ4_MAGIC, LZ4_PACKED, len(content), len(block), 0), content]
    return Packed(b"".join(blocks), len(raw))


CODECS: dict[str, Callable[[bytes], Packed]] = {"zstd": _zstd, "lz4": _lz4}


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


WAYS = {"text": as_text, "lineage": as_lineage}


def once(way: str, directory: Path, cores: int) -> None:
    """Prints what a way finds, its seconds, and those of processors."""
    with spark_session(SparkSettings(master=f"local[{cores}]"), GracefulShutdown()) as spark:
        begun, before = time.perf_counter(), processor_seconds()
        found = WAYS[way](spark, directory)
        print(found, time.perf_counter() - begun, processor_seconds() - before)


def measure(way: str, directory: Path, raw: int, cores: int) -> None:
    """Prints what a way takes in a process of its own."""
    command = [sys.executable, __file__, "--cores", str(cores), "--once", way, str(directory)]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = Peak()
    watcher = threading.Thread(target=watch, args=(job.pid, peak), daemon=True)
    watcher.start()
    printed, _ = job.communicate()
    watcher.join()
    if job.returncode:
        sys.exit(f"{way} ended with {job.returncode}")
    found, seconds, spent = map(float, printed.split()[-3:])
    print(
        f"  {way}: {found:,.0f} found, {seconds:.1f} s, {raw / 1e6 / seconds / cores:.0f} MB/s of a core, "
        f"{raw / 1e6 / spent:.0f} MB of a processor second; driver {peak.driver / 1e6:.0f} MB, largest worker "
        f"{peak.worker / 1e6:.0f}, all Python {peak.held / 1e6:.0f} with what forks share counted once, "
        f"JVM {peak.jvm / 1e6:,.0f}",
        flush=True,
    )


@contextlib.contextmanager
def application() -> Iterator[Path]:
    """The folder of a real application's logs, made now."""
    script = HERE.parent / "support/spark_jobs/generator/application.py"
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        (root / "logs").mkdir()
        confs = ["--conf", f"spark.eventLog.dir={(root / 'logs').as_uri()}"]
        arguments = ["--jobs", "sql", "--root", scratch, "--truth", str(root / "truth.json"), *confs]
        subprocess.run([sys.executable, str(script), *arguments], check=True, cwd=root, capture_output=True)
        yield root


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--file-megabytes", type=int, default=64)
    parser.add_argument("--files-a-log", type=int, default=1)
    parser.add_argument("--codec", choices=CODECS, default="zstd")
    parser.add_argument("--history", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--text", action="store_true", help="Spark's own reader of text too, which reads no lz4")
    parser.add_argument("--once", nargs=2, metavar=("WAY", "DIRECTORY"), help="one way once, over logs that are there")
    options = parser.parse_args()
    if options.once:
        once(options.once[0], Path(options.once[1]), options.cores)
        return
    with contextlib.nullcontext(options.history) if options.history else application() as history:
        runs = packed_runs(real_lines(history), options.codec)
    for megabytes in options.megabytes:
        with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
            raw = generate(Path(scratch), runs, options, megabytes)
            files = [file for file in Path(scratch).rglob("*") if file.is_file()]
            print(
                f"{raw / 1e6:,.0f} MB raw in {len(files):,} files, {sum(f.stat().st_size for f in files) / 1e6:,.0f} MB"
            )
            for way in ("text", "lineage") if options.text else ("lineage",):
                measure(way, Path(scratch), raw, options.cores)


if __name__ == "__main__":
    main()
