"""What a hostile log, file, client or disk does to this: each line of the list tried, with what was expected and seen.

    python -m tests.hunts.red_list [--only gates endings] [--unions 1500 5000 16000]

Secrets in every literal form, statements that are much too large, records and files that are damaged, names with any
sign, stores with flipped bytes, full disks, bodies that do not come, links, gates that must not say yes, and columns
that say how a statement ended. A line begins with pass or FAIL; exit code 1 where one fails. Runs share one Spark
session, but for those whose memory or whose end is measured. `tests.hunts.kills` has the runs that are killed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from pyspark.sql import SparkSession

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import LineageError
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.tiers import ParseRequest, parse_chunk
from tests.behaviour.harness import Warehouse, catalog_with, publish
from tests.support.catalog_contents import ingest
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import HEADER, SHOP, configuration, contributions_in, rows_of, write_log
from tests.support.literal_forms import filled
from tests.support.run_in_session import command_line, run
from workflows.config import load_config
from workflows.counts import RunSummary
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

_MOST_MEMORY = 2_000
"""Megabytes of all Python processes of a run, together."""
_SOON = 20.0
"""Seconds in which a run ends after SIGTERM, on a machine that others use as well."""


@dataclass(frozen=True)
class Seen:
    """What was tried, what was to be expected, and what came of it."""

    tried: str
    expected: str
    seen: str
    right: bool


@dataclass(frozen=True)
class Trial:
    """What a line of the list works with: an empty folder, and the one Spark session."""

    folder: Path
    spark: SparkSession
    unions: tuple[int, ...]

    def own(self, name: str) -> Path:
        """A folder of its own in it."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder


def _run(folder: Path, statements: list[tuple[str, str]]) -> RunSummary:
    """A run over a log of these statements, in its folder."""
    write_log(folder / "log" / "all.csv", rows_of(statements))
    configuration(folder)
    return run(folder)


def _of_type(file: Path, kind: str) -> None:
    """Has a workflow's YAML say another type of database, and that it may fail in all its statements."""
    content = file.read_text().replace("type: Postgres", f"type: {kind}")
    file.write_text(content.replace("successThreshold: 50", "successThreshold: 0"))


def _ends(summary: RunSummary) -> str:
    counts = summary.counts
    ended = {"published": counts.published, **dict(counts.skipped), **dict(counts.dead)}
    return ", ".join(f"{reason} {count}" for reason, count in ended.items() if count)


def _files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for file in folder.rglob("*"):
        if file.is_file() and "log" not in file.relative_to(folder).parts:
            yield file, file.read_bytes()


# Secrets and literals.


def _is_in_path(canary: str, text: str) -> bool:
    """Whether it is in the path of a file, which names a container of the catalog: of gs://b/x, x."""
    return re.search(rf"(?:\b(?:s3a?|gs|abfss?|wasbs?|hdfs)://|'/(?:s3|gs|az)/)[^'\"@?]*{canary}", text) is not None


def canaries(trial: Trial) -> Iterator[Seen]:
    """Secrets in options, credentials, URLs, literals: in no byte that a run leaves."""
    by_dialect: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for form in filled():
        by_dialect.setdefault(form.dialect, []).append((form.text, form.canaries))
    types = {dialect: kind for kind, dialect in sorted(CONNECTION_TYPES.items())}
    for dialect, forms in sorted(by_dialect.items()):
        folder = trial.own(dialect)
        write_log(folder / "log" / "all.csv", rows_of([("s", text) for text, _canaries in forms]))
        _of_type(configuration(folder), types[dialect])
        summary = run(folder)
        known = {one.encode() for text, found in forms for one in found if not _is_in_path(one, text)}
        left = {
            f"{canary.decode()} in {file.name}" for file, data in _files(folder) for canary in known if canary in data
        }
        seen = f"{len(left)} of {len(known)} left {sorted(left)[:3]}; {summary.counts.statements} statements"
        yield Seen(f"{len(forms)} forms of secrets in {dialect}", "none in any file", seen, not left)


# One statement.


def large_unions(trial: Trial) -> Iterator[Seen]:
    """An INSERT of a UNION over very many tables ends in bounded memory."""
    for count in trial.unions:
        folder = trial.own(f"unions{count}")
        text = "INSERT INTO target (a, b) " + " UNION ALL ".join(f"SELECT a, b FROM t{n}" for n in range(count))
        write_log(folder / "log" / "all.csv", rows_of([("s", text), ("s", "INSERT INTO small (a) SELECT a FROM t1")]))
        configuration(folder)
        code, memory, _seconds = _watched(folder)
        edges = len(contributions_in(folder / "catalog.db"))
        megabytes = (folder / "catalog.db").stat().st_size / 1e6
        right = code == 0 and memory < _MOST_MEMORY and edges == count + 1 and megabytes < 6 * count / 1_000
        seen = f"exit {code}, {edges} edges, {memory} MB, catalog {megabytes:.1f} MB"
        yield Seen(f"{count} unions in one INSERT", f"exit 0, {count + 1} edges, under {_MOST_MEMORY} MB", seen, right)


def many_steps(trial: Trial) -> Iterator[Seen]:
    """Bare columns over as many tables that nobody knows are dead with a reason, and cost no other."""
    columns, tables = (", ".join(f"{letter}{n}" for n in range(3_000)) for letter in "ct")
    folder = trial.own("steps")
    log = [("s", f"INSERT INTO w SELECT {columns} FROM {tables}"), ("s", "INSERT INTO small (a) SELECT a FROM x")]
    write_log(folder / "log" / "all.csv", rows_of(log))
    configuration(folder)
    code, memory, _seconds = _watched(folder)
    letters = (folder / "dead.jsonl").read_text()
    right = code == 0 and "too_many_steps" in letters and memory < _MOST_MEMORY
    seen = f"exit {code}, {letters.count('too_many_steps')} too_many_steps, {memory} MB"
    yield Seen("3,000 bare columns of 3,000 unknown tables", "dead: too_many_steps; the other published", seen, right)


def columns_together(trial: Trial) -> Iterator[Seen]:
    """What several statements name of one table beyond what it may have ends those alone, in one run and over two."""
    wide = [(f"c{n}" for n in range(first, first + 1_000)) for first in range(0, 24_000, 1_000)]
    names = [", ".join(columns) for columns in wide]
    log = [("s", f"INSERT INTO wide ({one}) SELECT {one} FROM s{n}") for n, one in enumerate(names)]
    log += [("s", f"INSERT INTO {name} (a) SELECT {name} FROM wide") for name in ("c0", "c23999")]
    for parts in ((len(log),), (15, len(log))):
        folder = trial.own(f"wide{len(parts)}")
        for count in parts:
            write_log(folder / "log" / "all.csv", rows_of(log[:count]))
            configuration(folder)
            summary = run(folder)
        targets = {said.source.rpartition(".")[2] for said in contributions_in(folder / "catalog.db")}
        dead = dict(summary.counts.dead).get("too_many_columns", 0)
        right = dead == 5 and targets == {*(f"s{n}" for n in range(20)), "wide"}
        tried = f"24 statements with 24,000 columns of one table, and two that read it, in {len(parts)} runs"
        yield Seen(tried, "20 and 1 published, 5 too_many_columns", f"{_ends(summary)}; {len(targets)} sources", right)


def signals(trial: Trial) -> Iterator[Seen]:
    """SIGTERM in the middle of a statement ends the run soon, and the next one ends as if there had been none."""
    folder = trial.own("signals")
    count = max(trial.unions)
    text = "INSERT INTO target (a, b) " + " UNION ALL ".join(f"SELECT a, b FROM t{n}" for n in range(count))
    write_log(folder / "log" / "all.csv", rows_of([("s", text)]))
    configuration(folder)
    for stage in ("bind", "publish"):
        code, _memory, seconds = _watched(folder, stage)
        seen = f"exit {code} after {seconds:.1f} s"
        tried = f"SIGTERM in {stage} of {count} unions"
        yield Seen(tried, f"exit 143 within {_SOON:.0f} s", seen, code in (0, 143) and seconds < _SOON)
    summary = run(folder)
    edges = len(contributions_in(folder / "catalog.db"))
    yield Seen("the run after them", f"{count} edges", f"{edges} edges, {_ends(summary)}", edges == count)


def _watched(folder: Path, ended_in: str = "") -> tuple[int, int, float]:
    """A run as a process: its exit code, the megabytes of its processes of Python, the seconds after a SIGTERM."""
    command = [str(Path(sys.executable).with_name("ingest")), "run", "-c", str(folder / "lineage.yaml")]
    shown = folder / "shown.txt"
    with shown.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    memory, signalled = 0, 0.0
    while process.poll() is None:
        with suppress(psutil.Error):
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            memory = max(memory, sum(one.memory_info().rss for one in family if "java" not in one.name()) >> 20)
        if ended_in and not signalled and f" {ended_in} ..." in shown.read_text():
            time.sleep(0.3)
            signalled = time.monotonic()
            process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
    return process.returncode, memory, time.monotonic() - signalled if signalled else 0.0


def failing(_trial: Trial) -> Iterator[Seen]:
    """A statement that sqlglot refuses costs some milliseconds, and not fifty."""
    good = [
        ParseRequest(str(n), f"INSERT INTO t{n} (a, b) SELECT a, b FROM s WHERE c > {n}", "postgres") for n in range(50)
    ]
    bad = [ParseRequest(str(n), f"INSERT INTO t{n} (a, b) SELECT f(a b c), b FROM s", "postgres") for n in range(50)]
    seconds = []
    with Sandbox(Limits(seconds=60)) as sandbox:
        for requests in (good, bad):
            parse_chunk(requests[:1], sandbox)
            begun = time.monotonic()
            parse_chunk(requests, sandbox)
            seconds.append((time.monotonic() - begun) / len(requests) * 1000)
    seen = f"{seconds[0]:.2f} and {seconds[1]:.2f} ms"
    yield Seen(
        "an INSERT that parses and one that fails", "at most thirty times as long", seen, seconds[1] < 30 * seconds[0]
    )


# Damage.


def damaged_records(trial: Trial) -> Iterator[Seen]:
    """A NUL costs its record, a file of another encoding and a cut archive are read as far as they go, and told."""
    good = [("s", f"INSERT INTO t{n} (a) SELECT a FROM s{n}") for n in range(40)]
    folder = trial.own("nul")
    write_log(
        folder / "log" / "all.csv", [*rows_of(good), '"INSERT INTO x (a) SELECT a \0 FROM y",2026-01-01 05:00:00,s,']
    )
    configuration(folder)
    summary = run(folder)
    yield Seen("a NUL in the last of 41 records", "40 published", _ends(summary), summary.counts.published == 40)
    others = rows_of([("s", f"INSERT INTO o{n} (a) SELECT a FROM p{n}") for n in range(300)])
    content = gzip.compress((HEADER + "\n".join(others) + "\n").encode())
    for name, data in (("cut", content[: len(content) // 2]), ("checksum", content[:-8] + b"\1\2\3\4" + content[-4:])):
        folder = trial.own(name)
        write_log(folder / "log" / "good.csv", rows_of(good))
        (folder / "log" / "bad.csv.gz").write_bytes(data)
        configuration(folder)
        summary = run(folder)
        told = [warning for warning in summary.warnings if "bad.csv.gz" in warning]
        published = summary.counts.published
        right = bool(told) and (published > 40 if name == "cut" else published == 40)
        expected = "told, and the lines before it published" if name == "cut" else "told, and none of it published"
        yield Seen(f"a gz with a wrong {name} beside a good file", expected, f"{_ends(summary)}; {told[:1]}", right)
    folder = trial.own("encoding")
    (folder / "good.sql").write_text("CREATE VIEW v AS SELECT a FROM t;\n")
    (folder / "latin.sql").write_bytes("CREATE VIEW w AS SELECT a AS größe FROM u;\n".encode("latin-1"))
    done = command_line(folder, "lineage", str(folder), "--dialect", "postgres")
    yield Seen(
        "a file that is not UTF-8",
        "both files' lineage",
        f"exit {done.exit_code}",
        "t" in done.stdout and "u" in done.stdout,
    )


def encodings(trial: Trial) -> Iterator[Seen]:
    """Files in any encoding are read, by `ingest lineage` and as logs, and a bad byte costs its statement."""
    text = "CREATE VIEW v{0} AS SELECT größe FROM t{0};\n"
    row = '"INSERT INTO v{0} (a) SELECT größe FROM t{0}",2026-01-01 05:00:00,s,\n'
    sql, log = trial.own("sql"), trial.own("encoded")
    (log / "log").mkdir()
    for number, encoding in enumerate(("utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be")):
        (sql / f"{encoding}.sql").write_bytes(text.format(number).encode(encoding))
        (log / "log" / f"{encoding}.csv").write_bytes((HEADER + row.format(number)).encode(encoding))
    (sql / "damaged.sql").write_bytes(b'CREATE VIEW x AS SELECT "g\xff" FROM y;\n' + text.format(6).encode())
    done = command_line(sql, "lineage", str(sql), "--dialect", "postgres")
    found = {name for name in (f"t{number}.größe" for number in range(7)) if name in done.stdout}
    seen = f"exit {done.exit_code}, {sorted(found)}; {done.stderr.strip()[:120]}"
    right = len(found) == 7 and done.exit_code == 1 and "damaged.sql:1" in done.stderr
    yield Seen("seven files in six encodings, one with a bad byte", "seven views, exit 1, the byte told", seen, right)
    configuration(log)
    summary = run(log)
    right = summary.counts.published == 6
    yield Seen("logs in six encodings", "6 published", f"{_ends(summary)}; {summary.warnings[:2]}", right)


def odd_names(trial: Trial) -> Iterator[Seen]:
    """A name with any sign is published under it and found by it."""
    names = ['a"b', "x>y", "p::q", "new\nline", "dot.ted", "sp ace"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    folder = trial.own("names")
    summary = _run(folder, [("s", f"INSERT INTO {name} (a) SELECT a FROM src") for name in quoted])
    targets = {said.target for said in contributions_in(folder / "catalog.db")}
    seen = f"{_ends(summary)}; {len(targets)} targets"
    yield Seen(
        f"tables called {names}",
        f"{len(names)} published",
        seen,
        summary.counts.published == len(targets) == len(names),
    )


def flipped_bytes(trial: Trial) -> Iterator[Seen]:
    """A damaged store is told in one line with what mends it, and mended by that."""
    folder = trial.own("flipped")
    _run(folder, SHOP)
    for file, arguments in (("catalog.db", ("impact", "orders")), ("state.db", ("run",))):
        path = folder / file
        content = bytearray(path.read_bytes())
        content[8192:] = bytes(byte ^ 0xFF for byte in content[8192:])
        path.write_bytes(content)
        named = ("--catalog", path) if file == "catalog.db" else ("-c", folder / "lineage.yaml")
        done = ingest(*arguments, *named, cwd=folder)  # a process of its own, for its own Spark
        told = done.stderr.strip().splitlines()[-1:] or [""]
        right = done.returncode == 2 and "doctor --repair" in told[0]
        yield Seen(
            f"flipped bytes in {file}",
            "exit 2, one line, what mends it",
            f"exit {done.returncode}: {told[0][:90]}",
            right,
        )
        mended = command_line(folder, "doctor", "--repair", *map(str, named))
        yield Seen(f"doctor --repair of {file}", "exit 0", f"exit {mended.exit_code}", mended.exit_code == 0)
    summary = run(folder)
    yield Seen("the run after the repairs", "publishes", _ends(summary), summary.counts.published > 0)


def full_disk(trial: Trial) -> Iterator[Seen]:
    """Where a file cannot grow, the run ends at once and names the file; the next one goes on."""
    folder = trial.own("full")
    write_log(folder / "log" / "all.csv", rows_of(SHOP))
    configuration(folder)

    def limited() -> object:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        return run(folder)

    begun = time.monotonic()
    ending = in_a_fork(trial.spark, limited)
    right = ending.code in (2, 75) and len(ending.sentence.splitlines()) == 1
    seen = f"exit {ending.code} after {time.monotonic() - begun:.0f} s: {ending.sentence[:90]}"
    yield Seen("files that cannot grow beyond 60 kB", "exit 2 or 75, one line", seen, right)
    summary = run(folder)
    yield Seen("the run after that", "publishes", _ends(summary), summary.counts.published > 0)


# Clients.


def bodies(trial: Trial) -> Iterator[Seen]:
    """Slow bodies are given up, and a length that is told twice is refused."""
    head = b"PUT /api/v1/services/databaseServices HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    both = b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with running_catalog(CatalogConfig(trial.own("bodies") / "c.db", port=0, body_seconds=0.5)) as address:
        for tried, sent, expected in (
            ("a body that does not come", b"Content-Length: 400\r\n\r\n{", "408"),
            ("Transfer-Encoding beside Content-Length", both, "400"),
        ):
            with socket.create_connection(("127.0.0.1", urlsplit(address.url).port or 0), timeout=20) as connection:
                connection.sendall(head + sent)
                status = connection.recv(65_536).split(b" ", 2)[1].decode()
            yield Seen(tried, expected, status, status == expected)


def links(trial: Trial) -> Iterator[Seen]:
    """A link out of a folder is not followed."""
    folder, outside = trial.own("project"), trial.own("outside")
    (outside / "secret.sql").write_text("CREATE VIEW leaked AS SELECT a FROM hidden;\n")
    (folder / "good.sql").write_text("CREATE VIEW v AS SELECT a FROM t;\n")
    (folder / "link.sql").symlink_to(outside / "secret.sql")
    done = command_line(folder, "lineage", str(folder), "--dialect", "postgres")
    yield Seen("a link out of the folder", "not followed", f"exit {done.exit_code}", "hidden" not in done.stdout)


# Gates.


def gates(trial: Trial) -> Iterator[Seen]:
    """Exit code 0 only where all that was given was read, and nothing breaks."""
    folder = trial.own("gates")
    tables = {f"shop.db.shop.{name}": ["id", "total", "city"] for name in ("orders", "daily", "unread")}
    with catalog_with(folder / "catalog.db", tables) as (platform, _catalog):
        warehouse = Warehouse(service="shop", schema="shop")
        publish(platform, ["INSERT INTO daily (city, total) SELECT city, total FROM orders"], warehouse)
    changes = {
        "garbage here": 1,
        "ALTER TABEL shop.orders DROP COLUMN total": 1,
        "DROP TABEL shop.orders": 1,
        "": 2,
        "ALTER TABLE shop.nosuch DROP COLUMN total": 1,
        "ALTER TABLE shop.orders DROP COLUMN nosuch": 1,
        "DROP DATABASE db": 1,
        "ALTER TABLE shop.orders REPLACE COLUMNS (id int)": 4,
        "ALTER TABLE shop.orders DROP COLUMN total": 4,
        "ALTER TABLE shop.unread DROP COLUMN total": 0,
        "EXPLAIN SELECT nosuch FROM shop.orders": 1,
        "DESCRIBE shop.nosuch": 1,
        "CREATE TABLE shop.n (a int) PARTITION BY RANGE (nosuch)": 1,
        "EXPLAIN SELECT total FROM shop.orders": 0,
    }
    for text, expected in changes.items():
        done = command_line(folder, "impact", "--ddl", text, "--catalog", "catalog.db")
        right = done.exit_code == expected or (expected and done.exit_code in (1, 2, 4))
        yield Seen(f"impact --ddl {text!r}", f"exit {expected}", f"exit {done.exit_code}", bool(right))
    (folder / "mistyped.sql").write_text("selec x")
    done = command_line(folder, "lineage", "mistyped.sql", "--dialect", "postgres")
    yield Seen("lineage of 'selec x'", "exit 1", f"exit {done.exit_code}", done.exit_code == 1)
    done = command_line(folder, "impact", "total", "--catalog", "nosuch.db")
    yield Seen("impact on a catalog that is not there", "exit 2", f"exit {done.exit_code}", done.exit_code == 2)
    done = command_line(folder, "impact", "total", "--catalog", "catalog.db")
    named = done.output
    yield Seen("impact of a column of three tables", "names the three", named.strip()[:90], named.count(".total") >= 3)


# What a log says of time, dialect and end.


def _log_of(folder: Path, header: str, rows: list[str], kind: str = "Postgres") -> RunSummary:
    """A run over a log of these columns and rows."""
    (folder / "log").mkdir()
    (folder / "log" / "all.csv").write_text("\n".join([header, *rows]) + "\n")
    _of_type(configuration(folder), kind)
    return run(folder)


def times(trial: Trial) -> Iterator[Seen]:
    """A statement of the future or of no time hides none of the others."""
    near = datetime.now(UTC) - timedelta(days=1)
    rows = [f'"INSERT INTO t{n} (a) SELECT a FROM s{n}",{near:%Y-%m-%d} 10:0{n}:00' for n in range(3)]
    for name, last in (("future", "2099-01-01 00:00:00"), ("undated", "")):
        more = [*rows, f'"INSERT INTO odd (a) SELECT a FROM s9",{last}']
        summary = _log_of(trial.own(name), "query_text,start_time", more)
        seen = f"{_ends(summary)}; warned {[one[:80] for one in summary.warnings][:2]}"
        right = summary.counts.published >= 3 and "outside_window" not in summary.counts.skipped
        yield Seen(f"one {name} statement among four", "the three others published", seen, right)


def forms_of_times(trial: Trial) -> Iterator[Seen]:
    """Times under other names, in other forms and units are the same time."""
    moment = datetime(2026, 11, 20, 10, tzinfo=UTC)
    seconds = int(moment.timestamp())
    forms = (
        ("submitted_ts", f"{seconds}"), ("STARTED", f"{seconds}000"), ("EVENT_TIMESTAMP", f"{seconds}000000"),
        ("queryStart", f"{seconds}000000000"), ("ts_ms", f"{seconds}000"), ("created", "11/20/2026 10:00:00 AM"),
        ("begin_ts", "20.11.2026 10:00:00"), ("datetime", "2026-11-20 11:00:00 Europe/Berlin"),
        ("start_date", "46346.4166667"), ("start_time", "20/Nov/2026:10:00:00 +0000"),
    )  # fmt: skip
    for name, written in forms:
        summary = _log_of(trial.own(name), f"query_text,{name}", [f'"INSERT INTO t (a) SELECT a FROM s","{written}"'])
        times = {said.first // 1000 for said in contributions_in(trial.folder / name / "catalog.db")}
        seen = f"{_ends(summary)}; {[datetime.fromtimestamp(one, UTC).isoformat() for one in times]}"
        yield Seen(f"{name}: {written}", moment.isoformat(), seen, times == {seconds})


def other_dialect(trial: Trial) -> Iterator[Seen]:
    """A log whose SQL is of another dialect than its type is told, with the type that fits."""
    rows = [
        f'"INSERT INTO `p-x.d.t{n}` (a) SELECT a FROM `p-x.d.s{n}` WHERE DATE_TRUNC(ts, DAY) > x",2026-01-01 10:0{n}:00'
        for n in range(5)
    ]
    summary = _log_of(trial.own("dialect"), "query_text,start_time", rows, "Snowflake")
    told = [one for one in summary.warnings if "bigquery" in one.lower()]
    seen = f"{_ends(summary)}; {told[:1]}"
    yield Seen("BigQuery's SQL under Snowflake", "told, with the type that fits", seen, bool(told))


def endings(trial: Trial) -> Iterator[Seen]:
    """A column that says how a statement ended is read by what its name means."""
    for column, done, not_done in (
        ("success", "1", "0"),
        ("succeeded", "1", "0"),
        ("is_success", "true", "false"),
        ("status", "success", "failed"),
        ("is_error", "0", "1"),
        ("return_code", "0", "7"),
    ):
        rows = [
            f'"INSERT INTO good (a) SELECT a FROM s",2026-01-01 10:00:00,{done}',
            f'"INSERT INTO bad (a) SELECT a FROM s",2026-01-01 10:01:00,{not_done}',
        ]
        folder = trial.own(column)
        summary = _log_of(folder, f"query_text,start_time,{column}", rows)
        targets = {said.target.rpartition(".")[2] for said in contributions_in(folder / "catalog.db")}
        seen = f"{sorted(targets)}; {_ends(summary)}"
        yield Seen(f"{column}: {done} and {not_done}", "good alone", seen, targets == {"good"})


def _tried(tries: Callable[[Trial], Iterator[Seen]], trial: Trial) -> Iterator[Seen]:
    """What is seen; an error that ends a run where none should is seen as well."""
    try:
        yield from tries(trial)
    except LineageError as error:
        yield Seen(tries.__name__, "no error", f"{type(error).__name__}: {error}", right=False)


LIST: tuple[Callable[[Trial], Iterator[Seen]], ...] = (
    bodies, links, gates, damaged_records, encodings, odd_names, flipped_bytes, full_disk, times, forms_of_times,
    endings, other_dialect, failing, canaries, large_unions, many_steps, columns_together, signals,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[one.__name__ for one in LIST], help="lines of the list")
    parser.add_argument("--unions", type=int, nargs="+", default=[1_500, 5_000])
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "spark").mkdir()
        write_log(Path(scratch) / "spark" / "log" / "all.csv", [])
        config = load_config(configuration(Path(scratch) / "spark"))
        with spark_session(config.headwater.spark, GracefulShutdown()) as spark:
            for tries in LIST:
                if given.only and tries.__name__ not in given.only:
                    continue
                for one in _tried(tries, Trial(Path(scratch) / tries.__name__, spark, tuple(given.unions))):
                    failed += not one.right
                    print(
                        f"{'pass' if one.right else 'FAIL'}  {one.tried}: expected {one.expected}; {one.seen}",
                        flush=True,
                    )
    print(json.dumps({"failed": failed}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
