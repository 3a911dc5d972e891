"""What of a run is serial still, and what a log would take on a cluster: from measured processor seconds.

    python -m tests.benchmarks.cluster --rows 100000 1000000 --target-rows 1000000000 --executors 50

runs the main job on nightly logs of both sizes in a cluster of three executors on this machine
(`local-cluster[3,1,1024]`), and on the larger one in one process; compares the catalogs; and parts the processor
seconds into those of the driver (its Python, its JVM), which one machine spends however many executors there are, and
those of the executors, which they share. By what each of the two grows with the rows, a straight line through the two
sizes tells what it is at `--target-rows`: the driver's plus the executors' over their cores, as though no core ever
waited. What the disks and the net take is not in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyspark
import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from main_job import (  # noqa: E402
    DRIVER,
    EXECUTOR,
    JVM,
    NIGHTLY,
    WORKER,
    Measured,
    compare,
    configuration,
    generate,
    measured_job,
)

_CLUSTER = "local-cluster[3,1,1024]"
_SERIAL = (DRIVER, JVM)
_SHARED = (WORKER, EXECUTOR)


@dataclass(frozen=True)
class Line:
    """Seconds over rows: `fixed`, and so many for each row."""

    fixed: float
    each: float

    @classmethod
    def through(cls, rows: tuple[int, int], seconds: tuple[float, float]) -> Line:
        each = max((seconds[1] - seconds[0]) / (rows[1] - rows[0]), 0.0)
        return cls(max(seconds[0] - each * rows[0], 0.0), each)

    def at(self, rows: int) -> float:
        return self.fixed + self.each * rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs=2, default=[100_000, 1_000_000])
    parser.add_argument("--templates", type=int, default=2_000)
    parser.add_argument("--target-rows", type=int, default=1_000_000_000)
    parser.add_argument("--executors", type=int, default=50)
    parser.add_argument("--cores", type=int, default=4, help="of each executor")
    asked = parser.parse_args()
    few, many = asked.rows
    runs = [measured(rows, asked.templates, _CLUSTER) for rows in (few, many)]
    alone, right = measured(many, asked.templates, "local[*]")
    for rows, (run, _right) in zip((few, many), runs, strict=True):
        serial = _seconds(run, _SERIAL)
        share = serial / (serial + _seconds(run, _SHARED))
        print(f"{rows:,} rows on {_CLUSTER}: driver {serial:.1f} s, executors {_seconds(run, _SHARED):.1f} s of")
        print(f"  processor time; {share:.0%} is the driver's")
    one = alone.peak
    print(f"{many:,} rows in one process: {one.processor_seconds(False) + one.processor_seconds(True):.1f} s")
    serial, shared = (
        Line.through((few, many), (_seconds(runs[0][0], kinds), _seconds(runs[1][0], kinds)))
        for kinds in (_SERIAL, _SHARED)
    )
    cores = asked.executors * asked.cores
    spent = serial.at(asked.target_rows), shared.at(asked.target_rows)
    print(
        f"{asked.target_rows:,} rows on {asked.executors} executors of {asked.cores} cores: driver "
        f"{spent[0] / 60:,.0f} min ({serial.fixed:.1f} s and {serial.each * 1e6:.1f} s a million rows), executors "
        f"{spent[1] / cores / 60:,.0f} min each ({shared.each * 1e6:.1f} s a million rows)"
    )
    sys.exit(0 if right and all(is_right for _run, is_right in runs) else "a catalog has not the edges of its log")


def measured(rows: int, templates: int, master: str) -> tuple[Measured, bool]:
    """A run over a log of so many rows, and whether the catalog has its edges."""
    with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
        folder = Path(scratch)
        generate(folder, rows, templates, NIGHTLY)
        workflow = configuration(rows, NIGHTLY)
        workflow["headwater"]["spark"] = {"master": master}
        (folder / "lineage.yaml").write_text(yaml.safe_dump(workflow))
        os.environ |= {"SPARK_HOME": str(_own_home(folder)), "SPARK_LOCAL_IP": "127.0.0.1"}
        run = measured_job(folder, rows)
        return run, compare(folder)


def _own_home(folder: Path) -> Path:
    """Spark as pip installed it, with room of its own for what the executors of a cluster on one machine work in."""
    home = folder / "spark"
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    return home


def _seconds(run: Measured, kinds: tuple[str, ...]) -> float:
    return sum(seconds for (kind, _pid), seconds in run.peak.seconds.items() if kind in kinds)


if __name__ == "__main__":
    main()
