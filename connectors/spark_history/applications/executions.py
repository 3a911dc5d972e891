"""What an application's log tells of its executions, operations and statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ingestion.names.jdbc_urls import JdbcUrl

SESSION_TAG = re.compile(r"^spark-session-([0-9a-f-]{36})$")
COMPACTION = re.compile(r"Rewriting \d+ (?:position delete )?files \(.* in \S+$", re.DOTALL)
"""How Iceberg describes an execution that puts a table's rows together into fewer files."""

REPEATED = re.compile(r"== Physical Plan ==\nCommandResult\b")

_YEAR_10000 = 253_402_300_800_000


@dataclass(slots=True)
class Execution:
    """One SQL execution; times are seconds. `error` is None until it is known to have ended, "" if it ended well.

    `client` is the session of a Thrift server's client that it prepares. `rows` is how many it wrote, as the metric of
    that number tells.
    """

    id: int
    root: int
    description: str = ""
    details: str = ""
    plan: str = ""
    start: float | None = None
    end: float | None = None
    error: str | None = None
    tags: tuple[str, ...] = ()
    group: str | None = None
    started: bool = False
    ended: bool = False
    client: str = ""
    rows_metric: int | None = None
    rows: int | None = None

    @property
    def session(self) -> str:
        """Spark's id of the session that it ran in; before Spark 4 the client that it prepares, if any."""
        return next((match.group(1) for tag in self.tags if (match := SESSION_TAG.match(tag))), self.client)

    @property
    def repeats(self) -> bool:
        """Whether it only shows what a command gave, which an execution before it carried out: `sql(…).collect()`."""
        return REPEATED.search(self.plan) is not None


@dataclass(slots=True)
class Operation:
    """One operation of a Thrift or Connect server: its text, who asked for it, and its executions."""

    id: str
    text: str | None
    user: str
    session: str
    start: float | None
    plan: str | None = None
    end: float | None = None
    error: str | None = None
    executions: list[Execution] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Environment:
    """What an application's names depend on: its warehouse directory, its catalogs' classes and their JDBC URLs."""

    warehouse: str = ""
    catalogs: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, JdbcUrl] = field(default_factory=dict)

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Environment:
        """That of an event's reduced form."""
        urls = {name: JdbcUrl(*place) for name, place in (event.get("urls") or {}).items()}
        return cls(str(event.get("warehouse") or ""), event.get("catalogs") or {}, urls)


@dataclass(frozen=True, slots=True)
class ExecutedStatement:
    """What an application ran as one: its text where the log has it, the plans of its executions, root first.

    `key` is unique in the log and the same in every reading. `error` is None for one that had not ended, "" for one
    that ended well. `sink` is where a streaming query writes, where only its progress says so. `described` is a text
    that a user set as the job's description: perhaps a statement. `stream` tells a micro-batch of a streaming query.
    `spark_session` is what Spark calls the session whose catalog and namespace it runs in. `rows`: how many it wrote.
    """

    key: str
    text: str | None
    plans: tuple[str, ...]
    start: float | None
    end: float | None
    user: str
    session: str
    error: str | None
    application: str
    sink: str | None = None
    described: str | None = None
    stream: bool = False
    environment: Environment = Environment()
    spark_session: str = ""
    rows: int | None = None


def rows_written(executions: Iterable[Execution]) -> int | None:
    """How many rows a statement wrote; None where that is not told, or of several of its executions."""
    counts = [each.rows for each in executions if each.rows is not None]
    return counts[0] if len(counts) == 1 else None


def plans_of(executions: Iterable[Execution]) -> list[str]:
    """The plans that tell what a statement reads and writes: not those that write a table's own rows into new files."""
    return [each.plan for each in executions if each.plan and not COMPACTION.match(each.description)]


def outcome(members: list[Execution]) -> str | None:
    """A group's: failed if any failed, unknown if its root has no end."""
    if any(execution.error for execution in members):
        return "failed"
    return members[0].error


def with_sink(statement: ExecutedStatement, sink: str) -> ExecutedStatement:
    return replace(statement, sink=sink)


def seconds(milliseconds: Any) -> float | None:
    """Seconds since the epoch of an event's time; None for what is none: no number, up to 1970, or beyond 9999."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return milliseconds / 1000 if 0 < milliseconds < _YEAR_10000 else None
