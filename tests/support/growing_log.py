"""A log that grows from run to run, and everything that a catalog says in the end."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HEADER = "query_text,start_time,session_id,status\n"
SPARK = {
    "spark.sql.shuffle.partitions": 2,
    # For a few rows, compiling costs more than it saves.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

SHOP = [
    ("s1", "CREATE TABLE orders (oid int, cid int, total numeric)"),
    ("s1", "CREATE TABLE customers (cid int, city text)"),
    ("s2", "CREATE VIEW late AS SELECT * FROM early"),
    ("s3", "CREATE TEMP TABLE tmp AS SELECT oid, cid FROM orders WHERE total > 111222333"),
    ("s4", "CREATE TEMP TABLE tmp AS SELECT cid AS oid, city AS cid FROM customers"),
    ("s2", "CREATE VIEW early AS SELECT o.oid, c.city FROM orders o JOIN customers c ON o.cid = c.cid"),
    ("s5", "INSERT INTO daily (oid, city) SELECT oid, city FROM late WHERE city = 'canary-city'"),
    ("s3", "INSERT INTO marked (a, b) SELECT oid, cid FROM tmp"),
    ("s4", "INSERT INTO marked (a, b) SELECT oid, cid FROM tmp"),
    ("s6", "SET search_path TO mart"),
    ("s6", "CREATE TABLE summary AS SELECT city, count(*) AS n FROM public.daily GROUP BY city"),
    ("s7", "INSERT INTO report SELECT * FROM wide"),
    ("s8", "CREATE TABLE wide AS SELECT oid, total FROM orders"),
    ("s6", "INSERT INTO summary (city, n) SELECT city, 1 FROM public.customers"),
    ("s5", "INSERT INTO daily (oid, city) SELECT oid, city FROM late WHERE city = 'another'"),
    ("s9", "SELECT 1"),
    ("s9", "INSERT INTO broken (a SELECT"),
    ("s8", "CREATE OR REPLACE VIEW early AS SELECT o.oid, o.total AS city FROM orders o"),
]
"""Sessions and statements whose lineage depends on what stands in other parts of the log."""


def rows_of(statements: Sequence[tuple[str, str]]) -> list[str]:
    """A record for each statement, one a minute."""
    return [
        '"{}",2026-01-01 {:02d}:{:02d}:00,{},'.format(text.replace('"', '""'), number // 60, number % 60, session)
        for number, (session, text) in enumerate(statements)
    ]


def write_log(file: Path, rows: Sequence[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")


def configuration(folder: Path, server: dict[str, Any] | None = None, **ours: Any) -> Path:
    """The YAML of a workflow over log/ in the folder, whose catalog and state are beside it."""
    lineage = {"type": "DatabaseLineage", "queryLogFilePath": str(folder / "log"), "queryLogDuration": 3}
    content = {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "shop",
            "serviceConnection": {"config": {"type": "Postgres"}},
            "sourceConfig": {"config": lineage},
        },
        "sink": {"type": "metadata-rest", "config": {"bulk_sink_batch_size": 1}},
        "workflowConfig": {
            "successThreshold": 50,
            "openMetadataServerConfig": server or {"hostPort": "embedded"},
        },
        "headwater": {
            "spark": {"master": "local[2]", "conf": SPARK},
            "catalog": {"file": str(folder / "catalog.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            "state": {"url": str(folder / "state.db")},
            **ours,
        },
    }
    file = folder / "lineage.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


@dataclass(frozen=True)
class Said:
    """What one producer says of one edge; `records` is how many log records say so.

    Of a view none are counted: of a definition that was replaced later, only who saw it in force has a record.
    """

    source: str
    target: str
    producer: str
    records: int
    first: int
    last: int
    content: dict[str, Any] = field(compare=False)
    text: str = ""


def contributions_in(catalog: Path, at: int | None = None) -> set[Said]:
    """Everything that stands in a catalog's file, or stood `at` a time (milliseconds), by the names of its tables."""
    connection = sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)
    try:
        names = dict(connection.execute("select id, fqn from entities"))
        rows = connection.execute(
            "select i.from_id, i.to_id, c.kind, c.key, v.content, i.start, i.last_seen, "
            "(select count(*) from records r where r.contribution_id = c.id) "
            "from intervals i join versions v on v.id = i.version_id join contributions c on c.id = v.contribution_id "
            'where iif(:at is null, i."end" is null, i.start <= :at and (i."end" is null or i."end" > :at))',
            {"at": at},
        ).fetchall()
    finally:
        connection.close()
    found = set()
    for source, target, kind, key, content, first, last, records in rows:
        parsed = json.loads(content)
        shown = json.dumps(parsed, sort_keys=True)
        counted = 0 if kind == "view" else records
        found.add(Said(names[source], names[target], f"{kind} {key}", counted, first, last, parsed, shown))
    return found
