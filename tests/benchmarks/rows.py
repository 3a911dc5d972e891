"""What ten times the rows cost in the same templates, and what a second run costs that knows them all.

    python tests/benchmarks/rows.py --rows 100000 --templates 2000

runs the main job on so many rows, on ten times as many, and on those once more; exit code 1 where ten times the rows
take three times as long or longer, or the second run reads anything again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from main_job import compare, configuration, generate, run_job  # noqa: E402

_TIMES = 10
_AT_MOST = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--templates", type=int, default=2_000)
    arguments = parser.parse_args()
    few, _ = measured(arguments.rows, arguments.templates, runs=1)
    many, again = measured(_TIMES * arguments.rows, arguments.templates, runs=2)
    print(f"{_TIMES} times the rows: {many / few:.2f} times the time; the second run {again / many:.2f} of the first")
    sys.exit(0 if many < _AT_MOST * few else 1)


def measured(rows: int, templates: int, runs: int) -> tuple[float, float]:
    """Seconds of the first and of the last run over a log of so many rows."""
    with tempfile.TemporaryDirectory(prefix="headwater-benchmark-") as scratch:
        folder = Path(scratch)
        generate(folder, rows, templates)
        (folder / "lineage.yaml").write_text(yaml.safe_dump(configuration(rows)))
        seconds = [run_job(folder, rows) for _run in range(runs)]
        counts = json.loads((folder / "report.json").read_text())["counts"]
        if runs > 1 and (counts["statements"] or counts["records_read_before"] != rows):
            sys.exit("the second run read again what the first had read")
        compare(folder)
    return seconds[0], seconds[-1]


if __name__ == "__main__":
    main()
