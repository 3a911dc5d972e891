"""Processor seconds of each stage of a run, for a thousand of its statements, by the processes that spent them.

    python tests/benchmarks/stage_costs.py --rows 10000 --templates 10000

makes the log (query_log_generator.py), runs `ingest run` on it, and reads the processor clocks of the driver (the
embedded catalog is in it), the JVM, Spark's Python workers and the parser processes wherever the run tells that a stage
is over. Clocks of processors and not of walls, so that runs may be compared on a machine that does other things too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.benchmarks.main_job import configuration, generate  # noqa: E402

_KINDS = ("driver", "jvm", "worker", "parser")
_POLLED_EVERY = 0.1


class _Clocks:
    """Processor seconds of a process and its descendants by their kinds, those that have ended among them."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._seconds: dict[tuple[str, int], float] = {}
        self._lock = threading.Lock()

    def read(self) -> dict[str, float]:
        """The sums so far."""
        with self._lock:
            for process in [self._root, *self._root.children(recursive=True)]:
                try:
                    used = process.cpu_times()
                    self._seconds[self._kind(process), process.pid] = used.user + used.system
                except psutil.Error:
                    continue
            sums = dict.fromkeys(_KINDS, 0.0)
            for (kind, _pid), seconds in self._seconds.items():
                sums[kind] += seconds
            return sums

    def _kind(self, process: psutil.Process) -> str:
        if process.pid == self._root.pid:
            return "driver"
        if process.name().startswith("java"):
            return "jvm"
        return "parser" if any("sandbox.child" in word for word in process.cmdline()) else "worker"

    def poll(self) -> None:
        """Reads until the process ends, so that nothing is missed of those that end between two stages."""
        while psutil.pid_exists(self._root.pid) and self._root.status() != psutil.STATUS_ZOMBIE:
            self.read()
            time.sleep(_POLLED_EVERY)


def _measure(folder: Path, statements: int) -> None:
    command = [str(Path(sys.executable).with_name("ingest")), "run", "-c", "lineage.yaml"]
    job = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    clocks = _Clocks(job.pid)
    threading.Thread(target=clocks.poll, daemon=True).start()
    before = dict.fromkeys(_KINDS, 0.0)
    print(f"{'per 1,000':18}" + "".join(f"{kind:>10}" for kind in _KINDS))
    assert job.stderr is not None
    for line in job.stderr:
        _time, _, message = line.strip().partition(" INFO ")
        name, _, told = message.partition(":")
        if " in " not in told or not told.endswith(" s"):
            continue
        now = clocks.read()
        spent = {kind: (now[kind] - before[kind]) * 1000 / statements for kind in _KINDS}
        print(f"{name:18}" + "".join(f"{spent[kind]:10.2f}" for kind in _KINDS), flush=True)
        before = now
    if job.wait():
        sys.exit(f"the run ended with {job.returncode}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=10_000)
    arguments.add_argument("--templates", type=int, default=10_000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
        folder = Path(scratch)
        generate(folder, given.rows, given.templates)
        (folder / "lineage.yaml").write_text(yaml.safe_dump(configuration(given.rows)))
        _measure(folder, given.rows)


if __name__ == "__main__":
    main()
