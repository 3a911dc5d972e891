"""What grows how with a log: seconds of every stage and memory, for logs of several sizes.

    python tests/benchmarks/large_log.py --rows 100000 1000000 10000000 --templates 2000 20000 200000
    python tests/benchmarks/large_log.py --distinct 10000 100000

The logs are written by Spark as Parquet (parquet_log_generator.py), each in a folder that is removed after its run, and
the catalog is compared with the generator's answers. `--distinct`: logs of so many statements, no two of one shape. The
last lines are a table of stages over the sizes, and what another million rows cost between the last two of them. Exit
code 1 where an answer is missing or wrong, or the driver's Python took more than `--driver-mb`. `--at-once` templates
are bound and published together.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from main_job import Log, Measured, compare, configuration, generate, measured_job  # noqa: E402

LARGE = Log("parquet_log_generator.py", "Postgres", "query_log")
Size = tuple[int, int]
"""Rows and templates."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--templates", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    parser.add_argument("--distinct", type=int, nargs="+")
    parser.add_argument("--driver-mb", type=int, default=1_000)
    parser.add_argument("--at-once", type=int, default=5_000, help="headwater.templatesAtOnce")
    arguments = parser.parse_args()
    if arguments.distinct:
        sizes = [(count, count) for count in arguments.distinct]
    else:
        sizes = list(zip(arguments.rows, arguments.templates, strict=True))
    runs, right = [], True
    for rows, templates in sizes:
        found, is_right = measured(rows, templates, arguments.at_once)
        runs.append(found)
        right = right and is_right
    print_table(sizes, runs)
    within = all(run.peak.driver <= arguments.driver_mb * 1e6 for run in runs)
    sys.exit(0 if right and within else 1)


def measured(rows: int, templates: int, at_once: int) -> tuple[Measured, bool]:
    """A run over a log of this size, so many of its templates in a batch, and whether its answers are right."""
    with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
        folder = Path(scratch)
        generate(folder, rows, templates, LARGE)
        content = configuration(rows, LARGE)
        content["headwater"]["templatesAtOnce"] = at_once
        (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
        run = measured_job(folder, rows)
        return run, compare(folder)


def print_table(sizes: list[Size], runs: list[Measured]) -> None:
    """Stages over sizes; in the last columns what a statement costs at the largest, and another million rows."""
    stages = list(dict.fromkeys(stage for run in runs for stage in run.report["seconds_by_stage"]))
    lines = {f"{stage} s": [run.report["seconds_by_stage"].get(stage, 0.0) for run in runs] for stage in stages}
    lines["whole run s"] = [run.seconds for run in runs]
    lines["processor s, no JVM"] = [run.peak.processor_seconds(jvm=False) for run in runs]
    lines["processor s, JVM"] = [run.peak.processor_seconds(jvm=True) for run in runs]
    grows = dict.fromkeys(lines, True)
    lines["whole run µs a row"] = [
        run.seconds / rows * 1e6 for run, (rows, _templates) in zip(runs, sizes, strict=True)
    ]
    for name in ("driver", "workers", "worker", "jvm"):
        lines[f"{name} MB"] = [getattr(run.peak, name) / 1e6 for run in runs]
    print(f"{'':22}" + "".join(f"{f'{rows:,} / {templates:,}':>24}" for rows, templates in sizes) + f"{'µs a row':>12}")
    for name, values in lines.items():
        last = f"{values[-1] / sizes[-1][0] * 1e6:12.1f}" if name in grows else ""
        step = ""
        if name in grows and len(sizes) > 1 and sizes[-1][0] != sizes[-2][0]:
            more = (values[-1] - values[-2]) / (sizes[-1][0] - sizes[-2][0])
            step = f"   {more * 1e6:8.1f} s each further million rows"
        print(f"{name:22}" + "".join(f"{value:24,.1f}" for value in values) + last + step)


if __name__ == "__main__":
    main()
