"""The SELECTs of a log: what each was taken apart into, who ran it how often, and the metrics that were filed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, Table, delete, insert, select
from sqlalchemy.exc import IntegrityError

from ingestion.model.digests import KEY_BYTES, digest
from workflows.state.store import VALUES_AT_ONCE, StateStore, log_metrics, log_queries, log_query_uses, meta

if TYPE_CHECKING:
    from ingestion.metrics.model import QueryMetrics
    from ingestion.metrics.process import NameParts

ANY_LITERAL = ""
"""Stands for the literals of a query that was met with more of them than are told apart."""
_KEY = "query literals"


class QueryKey(NamedTuple):
    """What runs of a SELECT have in common: its text but for its literals, a digest of these, and its namespace."""

    query: str
    dialect: str
    literals: str
    database: str
    search_path: tuple[str, ...]

    @property
    def id(self) -> str:
        return digest(json.dumps(self))


class Runs(NamedTuple):
    """How often somebody ran a query, and when last (seconds since the epoch; None: the log has no times)."""

    times: int
    last: float | None

    def with_more(self, other: Runs) -> Runs:
        """Both as one."""
        return Runs(self.times + other.times, max(filter(None, (self.last, other.last)), default=None))


@dataclass(frozen=True, slots=True)
class LogQuery:
    """A SELECT taken apart by code of a `version`, or the `reason` why not; `tables` are the full names that it reads.

    `runs`: by user, "" where the log does not say.
    """

    key: QueryKey
    version: str
    metrics: QueryMetrics | None = None
    reason: str = ""
    tables: tuple[NameParts, ...] = ()
    runs: Mapping[str, Runs] = field(default_factory=dict)

    @property
    def last(self) -> float | None:
        """When it ran last."""
        return max((one.last for one in self.runs.values() if one.last is not None), default=None)


class FiledMetric(NamedTuple):
    """A metric as the catalog `sink` has it: its name there, and a digest of what was said of it."""

    name: str
    digest: str
    sink: str


@dataclass(frozen=True, slots=True)
class QueryChanges:
    """What a run adds: queries as they are `now`, those that are `gone`, and all metrics (by identity) with names."""

    now: Collection[LogQuery] = ()
    gone: Collection[QueryKey] = ()
    metrics: Mapping[str, FiledMetric] = field(default_factory=dict)


def literal_key(store: StateStore) -> bytes:
    """The secret under which literals are compared, the same in every run; made where there is none yet."""
    found = _literal_key(store)
    if found is None:
        try:
            with store.write() as connection:
                connection.execute(insert(meta).values(key=_KEY, value=secrets.token_hex(KEY_BYTES)))
        except IntegrityError:  # another run made one at the same moment
            pass
        found = _literal_key(store)
    assert found is not None
    return found


def _literal_key(store: StateStore) -> bytes | None:
    with store.read() as connection:
        value = connection.scalar(select(meta.c.value).where(meta.c.key == _KEY))
    return None if value is None else bytes.fromhex(value)


def known_queries(connection: Connection, workflow: str) -> dict[QueryKey, LogQuery]:
    """The queries of a workflow; one whose content cannot be read is as if it had been taken apart by other code."""
    from ingestion.metrics import stored  # what takes queries apart is loaded where any are

    runs: dict[str, dict[str, Runs]] = {}
    for row in connection.execute(select(log_query_uses).where(log_query_uses.c.workflow == workflow)):
        runs.setdefault(row.id, {})[row.user] = Runs(row.runs, row.last)
    found = {}
    for row in connection.execute(select(log_queries).where(log_queries.c.workflow == workflow)):
        key = QueryKey(row.query, row.dialect, row.literals, row.database, tuple(json.loads(row.search_path)))
        version, content = row.version, None
        try:
            content = stored.loads(row.content) if row.content else None
        except ValueError:
            version = ""
        tables = tuple(map(tuple, json.loads(row.tables)))
        found[key] = LogQuery(key, version, content, row.reason, tables, runs.get(row.id, {}))
    return found


def filed_metrics(connection: Connection, workflow: str) -> dict[str, FiledMetric]:
    """The metrics that were filed of them, by identity."""
    rows = connection.execute(select(log_metrics).where(log_metrics.c.workflow == workflow))
    return {row.identity: FiledMetric(row.name, row.digest, row.sink) for row in rows}


def store_changes(connection: Connection, workflow: str, changes: QueryChanges) -> None:
    """Keeps the queries of the `changes` as they are now, with all of their runs, in place of what was kept of them."""
    identifiers = [query.key.id for query in changes.now] + [key.id for key in changes.gone]
    for table in (log_queries, log_query_uses):
        for start in range(0, len(identifiers), VALUES_AT_ONCE):
            chosen = table.c.id.in_(identifiers[start : start + VALUES_AT_ONCE])
            connection.execute(delete(table).where(table.c.workflow == workflow, chosen))
    _insert(connection, log_queries, (_values(workflow, query) for query in changes.now))
    _insert(
        connection,
        log_query_uses,
        (
            {"workflow": workflow, "id": query.key.id, "user": user, "runs": runs.times, "last": runs.last}
            for query in changes.now
            for user, runs in query.runs.items()
        ),
    )
    connection.execute(delete(log_metrics).where(log_metrics.c.workflow == workflow))
    filed = changes.metrics.items()
    _insert(connection, log_metrics, ({"workflow": workflow, "identity": of, **one._asdict()} for of, one in filed))


def _insert(connection: Connection, table: Table, rows: Iterable[Mapping[str, object]]) -> None:
    found = list(rows)
    if found:
        connection.execute(insert(table), found)


def _values(workflow: str, query: LogQuery) -> dict[str, object]:
    from ingestion.metrics import stored

    key = query.key
    return {
        "workflow": workflow,
        "id": key.id,
        "query": key.query,
        "dialect": key.dialect,
        "literals": key.literals,
        "database": key.database,
        "search_path": json.dumps(key.search_path),
        "version": query.version,
        "content": "" if query.metrics is None else stored.dumps(query.metrics),
        "reason": query.reason,
        "tables": json.dumps(query.tables),
    }
