"""A soak: many runs over a log that grows, killed at random; in the end the catalog is that of one run over it all.

    python tests/benchmarks/soak.py --runs 50

Each run is a process of its own. Most of them meet one of these at a random moment: kill -9, SIGTERM, or kill -9 for
one of their children (the JVM, a worker, a parser). For each run a line tells how it ended, the memory of its driver
and of its JVM at their highest, and the sizes of the files that it keeps. Exit code 1 where the catalog differs, a
process outlives its run, a run ends in a way that nobody could foresee, or memory grows.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from soak_log import make_log  # noqa: E402

from tests.support.growing_log import Said, configuration, contributions_in  # noqa: E402

_DISTURBED = 0.7
_DISTURBANCES = {"kill": 0.4, "term": 0.3, "child": 0.3}
_FORESEEN = {"": {0}, "kill": {0, -9}, "term": {0, 143, -15}, "child": {0, 1}}
"""How a run may end; the signal may come before it is caught, or when all is done."""
_GONE_SECONDS = 30.0
_MEMORY_GROWTH = 1.25
_MB = 1e6


@dataclass
class Course:
    """How one run went. Bytes; `others` are the processes beside the driver and the JVM."""

    number: int
    disturbance: str
    code: int = 0
    seconds: float = 0.0
    driver: int = 0
    jvm: int = 0
    others: int = 0
    log: int = 0
    state: int = 0
    catalog: int = 0
    complaints: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        sizes = [self.driver, self.jvm, self.others, self.log, self.state, self.catalog]
        shown = "".join(f"{size / _MB:9.1f}" for size in sizes)
        begins = f"{self.number:4} {self.disturbance or '-':6}{self.code:5}{self.seconds:8.1f}"
        return f"{begins}{shown}  {'; '.join(self.complaints)}"


@dataclass
class Watched:
    """A run that is at work: its processes as they come, and their memory at its highest."""

    process: subprocess.Popen[bytes]
    course: Course
    family: dict[int, psutil.Process] = field(default_factory=dict)

    def watch(self) -> None:
        while self.process.poll() is None:
            with suppress(psutil.Error):
                self._look()
            time.sleep(0.1)

    def _look(self) -> None:
        root = self.family.setdefault(self.process.pid, psutil.Process(self.process.pid))
        others = 0
        for child in root.children(recursive=True):
            self.family.setdefault(child.pid, child)
            with suppress(psutil.Error):
                if child.name().startswith("java"):
                    self.course.jvm = max(self.course.jvm, child.memory_info().rss)
                else:
                    others += child.memory_info().rss
        self.course.driver = max(self.course.driver, root.memory_info().rss)
        self.course.others = max(self.course.others, others)

    def meets(self, disturbance: str, rng: random.Random) -> None:
        """Lets it come, if there is still something to come to."""
        children = [one for pid, one in self.family.items() if pid != self.process.pid and one.is_running()]
        with suppress(psutil.Error, ProcessLookupError):
            if disturbance == "child" and children:
                rng.choice(children).kill()
            elif disturbance == "child":
                self.course.disturbance = ""
            else:
                self.process.send_signal(signal.SIGKILL if disturbance == "kill" else signal.SIGTERM)

    def left_behind(self) -> list[str]:
        """What outlives the run."""
        _, alive = psutil.wait_procs(list(self.family.values()), _GONE_SECONDS)
        found = []
        for one in alive:
            with suppress(psutil.Error):
                if one.status() != psutil.STATUS_ZOMBIE:
                    found.append(f"outlived by {one.name()} {one.pid}")
                    one.kill()
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rows", type=int, default=200, help="records that are new to each run")
    parser.add_argument("--templates", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="also write what each run came to here, as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headwater-soak-") as scratch:
        courses, same = soak(Path(scratch), arguments)
    if arguments.report:
        arguments.report.write_text(json.dumps([asdict(course) for course in courses], indent=1))
    complaints = [f"run {course.number}: {text}" for course in courses for text in course.complaints]
    complaints += growth(courses)
    if not same:
        complaints.append("the catalog is not that of one run")
    conclude(courses, complaints)
    sys.exit(1 if complaints else 0)


def soak(folder: Path, arguments: argparse.Namespace) -> tuple[list[Course], bool]:
    """How each run went, and whether the catalog is that of one run over everything in the end."""
    rng = random.Random(arguments.seed)
    log = make_log(arguments.runs, arguments.rows, arguments.templates, arguments.seed)
    parts = folder / "parts"
    parts.mkdir()
    configuration(parts)
    print(f"{'run':>4} {'met':6}{'exit':>5}{'s':>8}   driver      jvm   others      log    state  catalog (MB)")
    courses: list[Course] = []
    usual = [20.0]
    for number in range(arguments.runs):
        log.write(parts / "log", number)
        last = number == arguments.runs - 1
        disturbed = number > 0 and not last and rng.random() < _DISTURBED
        disturbance = rng.choices(list(_DISTURBANCES), list(_DISTURBANCES.values()))[0] if disturbed else ""
        course = Course(number + 1, disturbance)
        run(parts, course, rng.uniform(0.0, 1.1 * statistics.median(usual)), rng)
        if not disturbance and number:
            usual.append(course.seconds)
        courses.append(course)
        print(course, flush=True)
    at_once = folder / "at_once"
    at_once.mkdir()
    shutil.copytree(parts / "log", at_once / "log")
    configuration(at_once)
    alone = Course(0, "")
    run(at_once, alone, 0.0, rng)
    print(f"{alone} (one run over everything)")
    return courses, compare(contributions_in(parts / "catalog.db"), contributions_in(at_once / "catalog.db"))


def run(folder: Path, course: Course, after: float, rng: random.Random) -> None:
    """Carries out one run, which is disturbed `after` so many seconds."""
    command = [str(Path(sys.executable).with_name("ingest")), "run", "-c", str(folder / "lineage.yaml")]
    begun = time.monotonic()
    with (folder / "shown.txt").open("w+b") as shown:
        process = subprocess.Popen(command, stdout=shown, stderr=subprocess.STDOUT, cwd=folder)
        watched = Watched(process, course)
        watcher = threading.Thread(target=watched.watch)
        watcher.start()
        if course.disturbance:
            with suppress(subprocess.TimeoutExpired):
                process.wait(after)
            watched.meets(course.disturbance, rng)
        course.code = process.wait()
        watcher.join()
        shown.seek(0)
        text = shown.read().decode(errors="replace")
    course.seconds = time.monotonic() - begun
    course.complaints += watched.left_behind()
    if course.code not in _FORESEEN[course.disturbance]:
        course.complaints.append(f"unforeseen: {' '.join(text.splitlines()[-1:])}")
    course.complaints += [f"it told of a {sign}" for sign in ("Traceback", "a bug") if sign in text]
    course.log = sum(file.stat().st_size for file in (folder / "log").iterdir())
    course.state, course.catalog = (_size(folder / name) for name in ("state.db", "catalog.db"))


def _size(file: Path) -> int:
    return sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))


def compare(found: set[Said], wanted: set[Said]) -> bool:
    """Whether two catalogs say the same; prints some of what one lacks."""
    for name, lacks in (("missing", wanted - found), ("too much", found - wanted)):
        for said in sorted(lacks, key=str)[:5]:
            print(f"{name}: {said.source} -> {said.target} ({said.producer}, {said.records} records)")
    print(f"{len(found):,} contributions, {len(wanted):,} of one run, {len(found & wanted):,} the same")
    return bool(wanted) and found == wanted


def growth(courses: list[Course]) -> list[str]:
    """What to complain of in the memory of the runs that came to their end."""
    whole = [course.driver for course in courses if not course.disturbance and not course.code]
    third = len(whole) // 3
    if not third:
        return []
    early, late = statistics.median(whole[:third]), statistics.median(whole[-third:])
    print(f"driver's memory, median of the first {third} whole runs {early / _MB:.1f} MB, the last {late / _MB:.1f} MB")
    return [f"the driver's memory grew by {late / early - 1:.0%}"] if late > _MEMORY_GROWTH * early else []


def conclude(courses: list[Course], complaints: list[str]) -> None:
    met = Counter(course.disturbance or "nothing" for course in courses)
    print(f"{len(courses)} runs; they met {', '.join(f'{name} {count}' for name, count in sorted(met.items()))}")
    print("\n".join(complaints) if complaints else "the catalog is that of one run, and nothing was left behind")


if __name__ == "__main__":
    main()
