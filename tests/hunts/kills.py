"""Runs that are killed at every failpoint of the code, into a served catalog: it ends as that of a run that was not.

    python -m tests.hunts.kills [--passes 3] [--ways run schedule replay together sinks]

`run`: killed at each failpoint, at its first and later passes, then run to its end. `schedule`: each run that
`ingest schedule` starts is killed there, then it is started without. `replay`: `ingest replay` likewise, of letters
that a run has left which had too little memory for its parsers. `together`: two workflows into one catalog at the same
time, both killed at each failpoint and run to their ends, and each then says less: no edge is lost, and each takes
back its own alone.
`sinks`: a run over a log that has grown, into DataHub, a file for it, a file of edges, and a receiver of OpenLineage.
Prints what was tried and what came of it; exit code 1 where a catalog differs.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.support.catalog_contents import REPOSITORY
from tests.support.datahub_service import Model
from tests.support.datahub_service import served as served_datahub
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import SHOP, Said, configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.config import load_config
from workflows.runtime.options import VARIABLE, Backfill, Failpoints
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

_REACHED = re.compile(r"\.reach\(\s*\"(\w+)\"\s*\)")
_INGEST = str(Path(sys.executable).with_name("ingest"))
_WAIT = 900.0
HEAVY = ", ".join(str(900_000_000 + number) for number in range(60_000))
DEAD = [
    ("s1", "INSERT INTO good (a) SELECT a FROM src"),
    ("s1", f"CREATE TEMP TABLE t AS SELECT a, b FROM base WHERE b IN ({HEAVY})"),
    ("s1", "INSERT INTO target (a) SELECT a FROM t"),
    ("s2", "INSERT INTO broken (a SELECT 1"),
]
FIRST = [
    ("a", "CREATE TABLE orders (id int, total int)"),
    ("a", "CREATE VIEW shared AS SELECT id, total FROM orders"),
    ("a", "INSERT INTO both (id) SELECT id FROM orders"),
    ("a", "CREATE VIEW own AS SELECT id FROM orders"),
]
SECOND = [
    ("b", "CREATE TABLE clients (id int, city text)"),
    ("b", "INSERT INTO both (id) SELECT id FROM clients"),
    ("b", "INSERT INTO both (city) SELECT city FROM clients"),
    ("b", "CREATE VIEW theirs AS SELECT city FROM clients"),
]
LATER = {
    "first": [("a", "CREATE OR REPLACE VIEW own AS SELECT total FROM orders")],
    "second": [("b", "CREATE OR REPLACE VIEW theirs AS SELECT id FROM clients")],
}


def failpoints_of_code() -> list[str]:
    """The names of all failpoints that a run passes, but those of what is not configured here."""
    found = {name for file in (REPOSITORY / "workflows").rglob("*.py") for name in _REACHED.findall(file.read_text())}
    return sorted(found - {"events"})


@contextmanager
def served(folder: Path) -> Iterator[dict[str, Any]]:
    """`ingest serve` over the folder's catalog; how a workflow is told where it is."""
    command = [_INGEST, "serve", "--catalog", str(folder / "catalog.db"), "--port", "0"]
    with (folder / "served.txt").open("w") as shown:
        process = subprocess.Popen(command, stdout=shown, stderr=shown)
    try:
        yield {"hostPort": f"{_address(folder / 'served.txt')}/api", "securityConfig": {"jwtToken": "none"}}
    finally:
        process.terminate()
        process.wait()


def _address(shown: Path) -> str:
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        found = re.search(r"http://[\d.]+:\d+", shown.read_text())
        if found:
            return found.group()
        time.sleep(0.1)
    raise TimeoutError(f"not served: {shown.read_text()}")


Work = Callable[[Path, Failpoints], object]


def _run(folder: Path, failpoints: Failpoints) -> object:
    return run(folder, failpoints=failpoints)


def _replay(folder: Path, failpoints: Failpoints) -> object:
    return run(folder, failpoints=failpoints, may_lack_log=True, extent=Backfill(dead=True))


def _killed_and_resumed(spark: SparkSession, folder: Path, armed: str, work: Work) -> tuple[int, set[Said]]:
    """How the run with the failpoint ended, and what the catalog says after one without."""
    ending = in_a_fork(spark, lambda: work(folder, Failpoints(armed)))
    work(folder, Failpoints())
    return ending.code, contributions_in(folder / "catalog.db")


def hunt_run(spark: SparkSession, folder: Path, passes: int) -> Iterator[tuple[str, bool]]:
    """Of `ingest run` into a served catalog."""
    write_log(folder / "whole" / "log" / "all.csv", rows_of(SHOP))
    with served(folder / "whole") as server:
        configuration(folder / "whole", server, registerTables="always", templatesAtOnce=3)
        run(folder / "whole")
    expected = contributions_in(folder / "whole" / "catalog.db")
    for place in failpoints_of_code():
        for number in range(1, passes + 1):
            own = folder / f"{place}{number}"
            write_log(own / "log" / "all.csv", rows_of(SHOP))
            with served(own) as server:
                configuration(own, server, registerTables="always", templatesAtOnce=3)
                code, found = _killed_and_resumed(spark, own, f"{place}:{number}:kill", _run)
            yield f"run killed at {place}:{number} (ended {code})", found == expected
            if code != -signal.SIGKILL:  # it is not passed so often
                break


def hunt_replay(spark: SparkSession, folder: Path, passes: int) -> Iterator[tuple[str, bool]]:
    """Of `ingest replay`, after a run whose parsers had too little memory."""
    for name in ("whole", "replayed"):
        write_log(folder / name / "log" / "all.csv", rows_of(DEAD))
    with served(folder / "whole") as server:
        configuration(folder / "whole", server, registerTables="always")
        run(folder / "whole")
    expected = contributions_in(folder / "whole" / "catalog.db")
    for place in failpoints_of_code():
        own = folder / place
        write_log(own / "log" / "all.csv", rows_of(DEAD))
        with served(own) as server:
            configuration(own, server, registerTables="always")
            run(own, "parserMemoryLimit=1")
            before = contributions_in(own / "catalog.db")
            code, found = _killed_and_resumed(spark, own, f"{place}:1:kill", _replay)
        yield f"replay killed at {place}:1 (ended {code})", found == expected and before != expected


def hunt_schedule(_spark: SparkSession, folder: Path, passes: int) -> Iterator[tuple[str, bool]]:
    """Of the runs that `ingest schedule --once-due` starts, each in a process of its own."""
    write_log(folder / "whole" / "log" / "all.csv", rows_of(SHOP))
    expected: set[Said] = set()
    for armed in ("", *(f"{place}:1:kill" for place in failpoints_of_code())):
        own = folder / (armed.replace(":", "-") or "unkilled")
        write_log(own / "log" / "all.csv", rows_of(SHOP))
        with served(own) as server:
            # a run that is killed is repeated after a minute, and would be killed in the same place
            schedule = {"cron": "* * * * *", "timezone": "UTC", "retries": 0}
            configuration(own, server, registerTables="always", templatesAtOnce=3, schedule=schedule)
            codes = [_once_due(own, armed)] if armed else []
            time.sleep(61 - time.time() % 60)  # it is due again with the next minute
            codes.append(_once_due(own, ""))
        found = contributions_in(own / "catalog.db")
        expected = expected or found
        yield (
            f"schedule whose run is killed at {armed or 'no place'} (ended {codes})",
            found == expected and codes[-1] == 0,
        )


def _once_due(folder: Path, armed: str) -> int:
    command = ["env", *([f"{VARIABLE}={armed}"] if armed else []), _INGEST, "schedule", "--once-due"]
    arguments = ["-c", str(folder / "lineage.yaml"), "--metrics-port", "0"]
    with (folder / "schedule.txt").open("a") as shown:
        return subprocess.run([*command, *arguments], stdout=shown, stderr=shown, timeout=_WAIT, check=False).returncode


def _workflow(folder: Path, name: str, server: dict[str, Any], log: Sequence[tuple[str, str]]) -> Path:
    own = folder / name
    write_log(own / "log" / "all.csv", rows_of(log))
    state = {"url": str(own / "state.db"), "workflow": name}
    configuration(own, server, registerTables="always", state=state)
    return own


def hunt_together(_spark: SparkSession, folder: Path, passes: int) -> Iterator[tuple[str, bool]]:
    """Of two workflows into one catalog, whose processes run at the same time."""
    ends: list[set[Said]] = []
    killed = [(f"together, killed at {place}", f"{place}:1:kill") for place in failpoints_of_code()]
    ways = (("one after the other", ""), ("together", ""), *killed, ("together, killed at sent:2", "sent:2:kill"))
    for way, armed in ways:
        own = folder / way.replace(" ", "-").replace(":", "-")
        own.mkdir()
        with served(own) as server:
            both = _workflow(own, "first", server, FIRST), _workflow(own, "second", server, SECOND)
            _processes(both, armed, together=way != "one after the other")
            if armed:
                _processes(both, "", together=True)
            for one, log in zip(both, (FIRST, SECOND), strict=True):
                write_log(one / "log" / "all.csv", rows_of([*log, *LATER[one.name]]))
            codes = _processes(both, "", together=way != "one after the other")
        ends.append(contributions_in(own / "catalog.db"))
        targets = {said.target.rpartition(".")[2] for said in ends[-1]}
        whole = targets == {"both", "shared", "own", "theirs"} and codes == [0, 0]
        yield f"two workflows {way} (ended {codes})", whole and ends[-1] == ends[0]


def _processes(folders: Sequence[Path], armed: str, *, together: bool) -> list[int]:
    environment = ["env", *([f"{VARIABLE}={armed}"] if armed else [])]
    begun = []
    for folder in folders:
        command = [*environment, _INGEST, "run", "-c", str(folder / "lineage.yaml")]
        with (folder / "shown.txt").open("a") as shown:
            begun.append(subprocess.Popen(command, stdout=shown, stderr=shown))
        if not together:
            begun[-1].wait()
    return [process.wait() for process in begun]


_SINKS = ("datahub-rest", "datahub-file", "edge-file", "openlineage")


def hunt_sinks(spark: SparkSession, folder: Path, passes: int) -> Iterator[tuple[str, bool]]:
    """Of runs into each of the other sinks, after one that was not killed, over a log that says more than then."""
    for kind in _SINKS:
        expected = None
        for armed in (None, *((place, number) for place in _failpoints(kind) for number in range(1, passes + 1))):
            own = folder / kind / ("-".join(map(str, armed)) if armed else "whole")
            code, found = _into_sink(spark, own, kind, armed)
            expected = expected or found
            if armed and code != -signal.SIGKILL:  # it is not passed so often
                continue
            yield f"{kind} killed at {armed or 'no place'} (ended {code})", found == expected and bool(found)


def _failpoints(kind: str) -> list[str]:
    return [*failpoints_of_code(), *(["events"] if kind == "openlineage" else [])]


def _into_sink(spark: SparkSession, folder: Path, kind: str, armed: tuple[str, int] | None) -> tuple[int, object]:
    """How the second run ended, which was killed if anything is `armed`, and what stands in the sink in the end."""
    with ExitStack() as opened:
        service = opened.enter_context(served_datahub()) if kind == "datahub-rest" else None
        receiver = opened.enter_context(receiving()) if kind == "openlineage" else None
        config: dict[str, Any] = {
            "datahub-rest": {"server": service.server.url_for("").rstrip("/") if service else ""},
            "datahub-file": {"filename": str(folder / "datahub.json")},
            "edge-file": {"path": str(folder / "edges.csv")},
        }.get(kind, {})
        events = {"openLineage": {"transport": {"type": "http", "url": receiver.url}}} if receiver else {}
        sink = {"type": "metadata-rest" if receiver else kind, "config": {**config, "bulk_sink_batch_size": 2}}
        write_log(folder / "log" / "all.csv", rows_of(SHOP[:-4]))
        file = configuration(folder, registerTables="always", templatesAtOnce=3, **events)
        file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | {"sink": sink}))
        run(folder)
        write_log(folder / "log" / "all.csv", rows_of(SHOP))
        code = 0
        if armed:
            place, number = armed
            code = in_a_fork(spark, lambda: _run(folder, Failpoints(f"{place}:{number}:kill"))).code
        run(folder)
        if service is not None:
            return code, service.model.aspects
        if receiver is not None:
            return code, receiver.said
        return code, _in_file(folder, kind)


def _in_file(folder: Path, kind: str) -> object:
    """What stands in a file of edges, or in DataHub once it has taken its file in."""
    if kind == "edge-file":
        return (folder / "edges.csv").read_text(encoding="utf-8")
    model = Model()
    model.take(json.loads((folder / "datahub.json").read_text(encoding="utf-8")))
    return model.aspects


@dataclass
class Receiver:
    """A receiver of OpenLineage: what each run's event said last, without who its parent is."""

    url: str
    said: dict[str, object] = field(default_factory=dict)

    def take(self, request: Request) -> Response:
        event = request.get_json()
        if event["inputs"]:
            event["run"].pop("facets", None)
            self.said[event["run"]["runId"]] = event
        return Response("", 201)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """One of its own, for the block."""
    with HTTPServer("127.0.0.1", 0) as server:
        receiver = Receiver(server.url_for("").rstrip("/"))
        server.expect_request("/api/v1/lineage").respond_with_handler(receiver.take)
        yield receiver


WAYS: dict[str, Callable[[SparkSession, Path, int], Iterator[tuple[str, bool]]]] = {
    "run": hunt_run,
    "replay": hunt_replay,
    "together": hunt_together,
    "schedule": hunt_schedule,
    "sinks": hunt_sinks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    given = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "spark").mkdir()
        write_log(Path(scratch) / "spark" / "log" / "all.csv", [])
        config = load_config(configuration(Path(scratch) / "spark"))
        with spark_session(config.headwater.spark, GracefulShutdown()) as spark:
            for way in given.ways:
                (Path(scratch) / way).mkdir()
                for tried, equal in WAYS[way](spark, Path(scratch) / way, given.passes):
                    print(f"{'pass' if equal else 'FAIL'}  {tried}", flush=True)
                    good &= equal
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
