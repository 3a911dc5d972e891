"""Hunt: the statements of sqlfluff's dialect fixtures and of sqlglot's tests, one run of the pipeline per dialect.

    pip download --no-binary sqlfluff,sqlglot --no-deps sqlfluff sqlglot   # unpack both; or check them out
    python tests/hunts/dialect_fixtures.py sqlfluff-4.5.0 sqlglot-30.30.0 --only tsql --findings findings.txt

Of sqlfluff the folder needs test/fixtures/dialects, which some of its source distributions leave out: then take a
checkout of the same version. For each dialect a query log is written (each file as one record, and each statement as a
record and a session of its own, in a database of its own), `ingest run` reads it in the one Spark session of the
script, and what it leaves is judged: exit code 0 (the counts add up, or it would be 1), and for every single statement

no edge    by an independent look it writes what it reads elsewhere; it has no edge, and no reason that is true of it
lost       its edge does not stand in the catalog, or an exception took it
dead       it writes what it reads elsewhere, and no parser took it
invented   a name of its lineage stands nowhere in it, or stands there as something else (a CTE, an alias)
refused    it is dead, and writes nothing that it reads elsewhere: told, and no finding

What explained_fixtures.txt names is left out of the findings: `dialect place kind: why`, where the place may have
wildcards. The exit code is 1 where findings are left.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(REPOSITORY))

from ingestion.dialects.connection_types import CONNECTION_TYPES  # noqa: E402
from tests.hunts.fixture_statements import WHOLE, FixtureStatement, fixture_statements  # noqa: E402
from tests.hunts.fixture_verdicts import Verdict, outcome_of, verdicts  # noqa: E402
from tests.support.growing_log import SPARK  # noqa: E402
from tests.support.run_in_session import command_line  # noqa: E402

EXPLAINED = HERE / "explained_fixtures.txt"
_MORNING = datetime(2026, 1, 1)
_KINDS = ("no edge", "lost", "dead", "invented")


@dataclass(frozen=True, slots=True)
class Explanation:
    """A line of the explained list; `used` is filled as findings match it."""

    dialect: str
    place: str
    kind: str
    why: str
    used: list[Verdict] = field(default_factory=list)

    def explains(self, verdict: Verdict) -> bool:
        statement = verdict.statement
        return (
            self.kind == verdict.kind
            and fnmatchcase(statement.dialect, self.dialect)
            and fnmatchcase(statement.place, self.place)
        )


@dataclass(frozen=True, slots=True)
class Hunted:
    """What a dialect's run came to."""

    dialect: str
    exit_code: int
    said: str
    counts: dict[str, Any]
    endings: dict[str, int]
    findings: list[Verdict]
    explained: int
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="dialects")
    parser.add_argument("--findings", type=Path, help="a file for the findings, with the statements' texts")
    parser.add_argument("--keep", type=Path, help="where the runs' folders stay; else they go")
    arguments = parser.parse_args()
    explanations = read_explanations()
    by_dialect = fixture_statements(arguments.folders)
    if unknown := set(arguments.only) - set(by_dialect):
        parser.error(f"no statements of {', '.join(sorted(unknown))}; there are {', '.join(sorted(by_dialect))}")
    with tempfile.TemporaryDirectory(prefix="headwater-hunt-") as scratch, spark():
        folder = (arguments.keep or Path(scratch)).resolve()
        done = []
        for dialect in sorted(arguments.only or by_dialect):
            done.append(hunted(dialect, by_dialect[dialect], folder / dialect, explanations))
            print(_line(done[-1]), flush=True)
    print(_total(done))
    print(f"explained list: {len(explanations)} lines, unused {sum(not e.used for e in explanations)}")
    if arguments.findings:
        arguments.findings.write_text("".join(_text_of(one) for run in done for one in run.findings), encoding="utf-8")
    sys.exit(any(run.exit_code or any(one.kind in _KINDS for one in run.findings) for run in done))


def read_explanations() -> list[Explanation]:
    """The lines of the explained list."""
    found = []
    for line in EXPLAINED.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, why = line.partition(": ")
            dialect, place, kind = key.split(maxsplit=2)
            found.append(Explanation(dialect, place, kind, why))
    return found


@contextmanager
def spark() -> Iterator[None]:
    """One session for all runs, so that only the first has to warm it up."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("dialect-fixtures").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    for key, value in {**SPARK, "spark.log.level": "ERROR", "spark.sql.session.timeZone": "UTC"}.items():
        builder = builder.config(key, str(value))
    session = builder.getOrCreate()
    try:
        yield
    finally:
        session.stop()


def hunted(
    dialect: str, statements: Sequence[FixtureStatement], folder: Path, explanations: Sequence[Explanation]
) -> Hunted:
    """One run over all of a dialect's statements, and the judgement."""
    started = time.monotonic()
    folder.mkdir(parents=True)
    write_log(folder / "log.csv", statements)
    (folder / "lineage.yaml").write_text(yaml.safe_dump(configuration(dialect, folder)))
    ran = command_line(folder, "run", "-c", "lineage.yaml", "--report", "report.json")
    counts: dict[str, Any] = {}
    endings: dict[str, int] = {}
    found: list[Verdict] = []
    if not ran.exit_code:
        counts = json.loads((folder / "report.json").read_text())["counts"]
    if (folder / "state.db").exists():
        endings, found = verdicts(statements, outcome_of(folder, published=not ran.exit_code))
    left = []
    for verdict in found:
        explaining = next((one for one in explanations if one.explains(verdict)), None)
        if explaining is not None:
            explaining.used.append(verdict)
        else:
            left.append(verdict)
    said = f"{ran.output[-2000:]}{ran.exception or ''}" if ran.exit_code else ""
    seconds = time.monotonic() - started
    return Hunted(dialect, ran.exit_code, said, counts, endings, left, len(found) - len(left), seconds)


def write_log(file: Path, statements: Sequence[FixtureStatement]) -> None:
    """A query log with a record for each; single statements are in a session, database and schema of their own."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("query_text", "start_time", "session_id", "database_name", "schema_name"))
        for number, statement in enumerate(statements):
            own = ("", "") if statement.number == WHOLE else (f"d{number}", f"s{number}")
            text = statement.text.replace("\0", "")  # a file with it is no CSV file
            moment = _MORNING + timedelta(seconds=number)
            writer.writerow((text, moment.isoformat(sep=" "), f"session{number}", *own))


def configuration(dialect: str, folder: Path) -> dict[str, Any]:
    """The workflow over the log in the folder, whose catalog and state are beside it."""
    connection = next(kind for kind, name in CONNECTION_TYPES.items() if name == dialect)
    log = {
        "type": "DatabaseLineage",
        "queryLogFilePath": "log.csv",
        "queryLogDuration": 3,
        "parsingTimeoutLimit": 20,
        "threads": 2,
    }
    return {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "hunt",
            "serviceConnection": {"config": {"type": connection}},
            "sourceConfig": {"config": log},
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"successThreshold": 0, "openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "spark": {"master": "local[2]"},
            "catalog": {"file": str(folder / "catalog.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            "state": {"url": str(folder / "state.db")},
            "defaults": {"database": "base", "schema": "shared"},
        },
    }


def _line(run: Hunted) -> str:
    by_kind = {kind: sum(one.kind == kind for one in run.findings) for kind in _KINDS}
    dead = sum(count for ending, count in run.endings.items() if ending.startswith("dead"))
    by_kind["refused"] = sum(one.kind == "refused" for one in run.findings)
    by_kind_text = ", ".join(f"{kind} {count}" for kind, count in by_kind.items())
    line = (
        f"{run.dialect:12} exit {run.exit_code}  statements {run.counts.get('statements', 0):6,}"
        f"  published {run.counts.get('published', 0):6,}  single: edge {run.endings.get('edge', 0):5,} dead {dead:4,}"
        f"  | {by_kind_text}, explained {run.explained}  {run.seconds:.0f} s"
    )
    return f"{line}\n{run.said}" if run.exit_code else line


def _total(done: Sequence[Hunted]) -> str:
    kinds = ", ".join(f"{kind} {sum(one.kind == kind for run in done for one in run.findings)}" for kind in _KINDS)
    ended = sum(not run.exit_code for run in done)
    edges = sum(run.endings.get("edge", 0) for run in done)
    return f"{ended} of {len(done)} runs ended with 0; single statements with an edge {edges:,}; findings: {kinds}"


def _text_of(verdict: Verdict) -> str:
    statement = verdict.statement
    return f"## {statement.dialect} {statement.place} {verdict.kind}: {verdict.detail}\n{statement.text}\n\n"


if __name__ == "__main__":
    main()
