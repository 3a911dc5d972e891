"""How long the sample's run takes, and each command that asks, to its first output and whole.

    python -m tests.benchmarks.first_output [--times 7] [--runs 2] [--beside CHECKOUT]

Prints seconds from the start of the process, and processor seconds of it and of what it waits for, which the JVM of
Spark is not: of each run of the sample into a new catalog (`first`) and into the same one (`again`), and of each
command the median of so many times. Of the checkouts each command is called in turns. To be called where nothing else
runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[2]
SCRIPT = """\
CREATE TABLE mart.daily AS
SELECT o.day, sum(o.total) AS total, c.name FROM shop.orders o JOIN shop.customers c ON o.customer = c.id GROUP BY 1, 3;
CREATE VIEW mart.best AS SELECT day, total FROM mart.daily WHERE total > 10;
"""
COMMANDS = (
    ("--help",),
    ("lineage", "script.sql", "--dialect", "postgres"),
    ("explain", "mart.info.wpage"),
    ("impact", "shop.web.page"),
    ("why", "mart.info.wpage"),
)
ASKED = (0, 1, 4)
"""Exit codes of what was answered: something is wrong with the table, or would break."""


class Taken(NamedTuple):
    """Seconds to the first byte and to the end, and of processor time."""

    first: float
    whole: float
    processor: float


def called(checkout: Path, folder: Path, command: Sequence[str]) -> Taken:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", "from workflows.cli import main; main()", *command],
        cwd=folder, env={**environment, "PYTHONPATH": str(checkout)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.read(1)
        first = time.perf_counter() - begun
        process.stdout.read()
    whole = time.perf_counter() - begun
    if process.returncode not in ASKED:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(first, whole, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def folder_of(checkout: Path, place: Path) -> Path:
    """A folder with the sample's configuration and a script, where nothing has run."""
    folder = Path(tempfile.mkdtemp(dir=place))
    (folder / "config").symlink_to(checkout / "config")
    (folder / "script.sql").write_text(SCRIPT, encoding="utf-8")
    return folder


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--times", type=int, default=7)
    arguments.add_argument("--runs", type=int, default=2)
    arguments.add_argument("--beside", type=Path)
    given = arguments.parse_args()
    checkouts = [HERE] if given.beside is None else [given.beside.resolve(), HERE]
    with tempfile.TemporaryDirectory() as place:
        folders: dict[Path, Path] = {}
        for _ in range(given.runs):
            for checkout in checkouts:
                folders[checkout] = folder_of(checkout, Path(place))
                for name in ("first", "again, its log unchanged"):
                    taken = called(checkout, folders[checkout], ("run", "-c", "config/lineage.yaml"))
                    print(f"{checkout.name}: the sample {name} {taken.whole:.1f} s, processor {taken.processor:.1f} s")
        for command in COMMANDS:
            found: dict[Path, list[Taken]] = {checkout: [] for checkout in checkouts}
            for _ in range(given.times):
                for checkout in checkouts:
                    found[checkout].append(called(checkout, folders[checkout], command))
            for checkout, all_taken in found.items():
                first, whole, processor = (median(values) for values in zip(*all_taken, strict=True))
                print(f"{checkout.name}: {command[0]} {first:.2f} s, whole {whole:.2f} s, processor {processor:.2f} s")


if __name__ == "__main__":
    main()
