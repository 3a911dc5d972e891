"""What grows how with a log: processor seconds of every stage and memory, for logs of several sizes.

    python -m tests.benchmarks.growth --rows 100000 1000000 10000000
    python -m tests.benchmarks.growth --rows 200000 --templates 1000 10000 100000
    python -m tests.benchmarks.growth --log parquet --rows 1000000 10000000 --templates 20000 200000
    python -m tests.benchmarks.growth --log parquet --distinct 10000 100000

Where one number is given for one of rows and templates, it holds for all sizes of the other. The logs are nightly ones
(nightly_log_generator.py), or written by Spark as Parquet (parquet_log_generator.py), each in a folder that is removed
after its run, and the catalog is compared with the generator's answers. `--distinct`: logs of so many statements, no
two of one shape. The last lines are a table of stages over the sizes: processor seconds of all processes, which tell
the same on a machine that others use too, the wall seconds of the whole, and memory; `n^` is the power of the size by
which a figure grew between the last two. Exit code 1 where an answer is missing or wrong, or the driver's Python took
more than `--driver-mb`. `--at-once` templates are bound and published together.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from main_job import NIGHTLY, Log, Measured, compare, configuration, generate, measured_job  # noqa: E402

LOGS = {"nightly": NIGHTLY, "parquet": Log("parquet_log_generator.py", "Postgres", "query_log")}
Size = tuple[int, int]
"""Rows and templates."""
_LEAST = 0.5
"""Seconds and MB of which no power is told: they are sampled five times a second."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", choices=LOGS, default="nightly")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--templates", type=int, nargs="+", default=[2_000])
    parser.add_argument("--distinct", type=int, nargs="+")
    parser.add_argument("--driver-mb", type=int, default=1_000)
    parser.add_argument("--at-once", type=int, default=5_000, help="headwater.templatesAtOnce")
    arguments = parser.parse_args()
    if arguments.distinct:
        sizes = [(count, count) for count in arguments.distinct]
    else:
        most = max(len(arguments.rows), len(arguments.templates))
        rows, templates = (one * most if len(one) == 1 else one for one in (arguments.rows, arguments.templates))
        sizes = list(zip(rows, templates, strict=True))
    runs, right = [], True
    for size in sizes:
        found, is_right = measured(size, LOGS[arguments.log], arguments.at_once)
        runs.append(found)
        right = right and is_right
    print_table(sizes, runs)
    within = all(run.peak.driver <= arguments.driver_mb * 1e6 for run in runs)
    sys.exit(0 if right and within else 1)


def measured(size: Size, log: Log, at_once: int) -> tuple[Measured, bool]:
    """A run over a log of this size, so many of its templates in a batch, and whether its answers are right."""
    with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
        folder = Path(scratch)
        generate(folder, *size, log)
        content = configuration(size[0], log)
        content["headwater"]["templatesAtOnce"] = at_once
        (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
        run = measured_job(folder, size[0])
        return run, compare(folder)


def print_table(sizes: list[Size], runs: list[Measured]) -> None:
    """A row for each figure, as Markdown: its value at each size, and the power that it last grew by."""
    stages = list(dict.fromkeys(stage for run in runs for stage in run.report["seconds_by_stage"]))
    seconds = {f"{stage}, processor s": _of_stage(stage) for stage in stages}
    whole: dict[str, Callable[[Measured], float]] = {
        "all, processor s without the JVM": lambda run: run.peak.processor_seconds(jvm=False),
        "all, processor s of the JVM": lambda run: run.peak.processor_seconds(jvm=True),
        "whole run, s": lambda run: run.seconds,
        "driver, MB": lambda run: run.peak.driver / 1e6,
        "driver and workers, shared pages once, MB": lambda run: run.peak.held / 1e6,
        "JVM, MB": lambda run: run.peak.jvm / 1e6,
    }
    heads = (f"{rows:,} rows, {templates:,} templates" for rows, templates in sizes)
    print(f"\n| | {' | '.join(heads)} | n^ |\n|---|{'---:|' * (len(sizes) + 1)}")
    for name, figure in {**seconds, **whole}.items():
        values = [figure(run) for run in runs]
        if max(values) >= _LEAST:
            print(f"| {name} | {' | '.join(f'{value:,.1f}' for value in values)} | {_power(sizes, values)} |")


def _of_stage(stage: str) -> Callable[[Measured], float]:
    """The processor seconds of all processes while it ran."""
    return lambda run: sum(seconds for (own, _kind), seconds in run.peak.seconds_by_stage.items() if own == stage)


def _power(sizes: list[Size], values: list[float]) -> str:
    if len(sizes) < 2 or min(values[-2:]) < _LEAST:
        return ""
    # the one of both numbers that grew more
    times = max(new / old for old, new in zip(sizes[-2], sizes[-1], strict=True))
    return f"{math.log(values[-1] / values[-2]) / math.log(times):.2f}" if times > 1 else ""


if __name__ == "__main__":
    main()
