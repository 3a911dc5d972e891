"""The journal: every statement of the window that was read, without its text, as compressed segments.

Lineage is bound over the whole window, so that what a run adds means the same as if all had been read at once: a
temporary table of an earlier run's part of a session, a view that is defined after its reader. It is also what tells a
record that was read from one that is new or late.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlalchemy import Connection, delete, insert, select, update

from workflows.state.record_digests import Digests, none_known
from workflows.state.schema import journal, log_files
from workflows.state.store import state_lost

SMALL = 50_000
"""Segments of fewer statements are put together when there are many."""
_MANY = 32


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of the journal: `statements` rows as Parquet; `newest` is None where a row has no time."""

    content: bytes
    statements: int
    newest: float | None


def segment_of(table: pa.Table) -> Segment:
    """The rows as a segment."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    times = table["time"]
    untimed = bool(pc.any(pc.equal(times, 0.0)).as_py())
    return Segment(sink.getvalue(), table.num_rows, None if untimed else pc.max(times).as_py())


def rows_of(content: bytes, columns: list[str] | None = None) -> pa.Table:
    """The rows of a segment. Raises StateLost where it is damaged."""
    try:
        return pq.read_table(io.BytesIO(content), columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise state_lost("", "a segment of the journal cannot be read") from error


def append(connection: Connection, workflow: str, segments: Iterable[Segment]) -> None:
    """Adds segments."""
    for segment in segments:
        connection.execute(insert(journal).values(workflow=workflow, **_values(segment)))


def contents(connection: Connection, workflow: str) -> Iterator[tuple[int, bytes]]:
    """Every segment with its id, one at a time, in the order in which they were added."""
    ids = list(connection.scalars(select(journal.c.id).where(journal.c.workflow == workflow).order_by(journal.c.id)))
    for identifier in ids:
        yield identifier, bytes(connection.scalar(select(journal.c.content).where(journal.c.id == identifier)) or b"")


def digests_of(segments: Iterable[bytes], stale: Set[str] = frozenset()) -> Digests:
    """The records of which no statement has a `stale` template."""
    known, again = [none_known()], [none_known()]
    templates = pa.array(sorted(stale), pa.string())
    for content in segments:
        rows = rows_of(content, ["digest", "fingerprint"])
        digests = rows["digest"].to_numpy()
        known.append(np.unique(digests))
        if stale:
            again.append(digests[pc.is_in(rows["fingerprint"], templates).to_numpy()])
    return np.setdiff1d(np.concatenate(known), np.concatenate(again))


def digests_between(segments: Iterable[bytes], begin: float, end: float) -> Digests:
    """The records from `begin` to before `end` (seconds since the epoch)."""
    found = [none_known()]
    for content in segments:
        rows = rows_of(content, ["digest", "time"])
        inside = pc.and_(pc.greater_equal(rows["time"], begin), pc.less(rows["time"], end))
        found.append(rows.filter(inside)["digest"].to_numpy())
    return np.unique(np.concatenate(found))


def oldest_of(segments: Iterable[bytes]) -> float | None:
    """The oldest time in them; None where none has a time."""
    oldest: list[float] = []
    for content in segments:
        times = rows_of(content, ["time"])["time"]
        oldest += filter(None, [pc.min(times.filter(pc.greater(times, 0.0))).as_py()])
    return min(oldest, default=None)


def newest_of(segments: Iterable[bytes], latest: float) -> float | None:
    """The newest time in them up to `latest`; None where none has one."""
    newest: list[float] = []
    for content in segments:
        times = rows_of(content, ["time"])["time"]
        timed = pc.and_(pc.greater(times, 0.0), pc.less_equal(times, latest))
        newest += filter(None, [pc.max(times.filter(timed)).as_py()])
    return max(newest, default=None)


def statements_in(segments: Iterable[bytes]) -> int:
    """How many statements there are."""
    return sum(pq.read_metadata(io.BytesIO(content)).num_rows for content in segments)


def any_session_change(segments: Iterable[bytes]) -> bool:
    """Whether any statement changes its session's defaults."""
    return any(pc.any(rows_of(content, ["sets"])["sets"]).as_py() for content in segments)


def fingerprints_of(segments: Iterable[bytes]) -> set[tuple[str, str]]:
    """The templates that the statements have, each with its dialect."""
    found: set[tuple[str, str]] = set()
    for content in segments:
        rows = rows_of(content, ["fingerprint", "dialect"])
        bearing = rows.filter(pc.is_valid(rows["fingerprint"])).group_by(["fingerprint", "dialect"]).aggregate([])
        found.update(zip(bearing["fingerprint"].to_pylist(), bearing["dialect"].to_pylist(), strict=True))
    return found


def keep_only(connection: Connection, workflow: str, kept: Callable[[pa.Table], pa.Table]) -> None:
    """Rewrites the journal to the rows that `kept` leaves of each segment."""
    for identifier, content in contents(connection, workflow):
        before = rows_of(content)
        after = kept(before)
        if after.num_rows == before.num_rows:
            continue
        if after.num_rows:
            changed = update(journal).where(journal.c.id == identifier)
            connection.execute(changed.values(**_values(segment_of(after))))
        else:
            connection.execute(delete(journal).where(journal.c.id == identifier))


def forget_before(connection: Connection, workflow: str, time: float) -> None:
    """Drops the segments all of whose statements are older than `time` (seconds since the epoch)."""
    connection.execute(delete(journal).where(journal.c.workflow == workflow, journal.c.newest < time))


def compact(connection: Connection, workflow: str) -> None:
    """Puts small segments together, where there are many."""
    where = journal.c.workflow == workflow, journal.c.statements < SMALL
    small = connection.execute(select(journal.c.id, journal.c.statements).where(*where).order_by(journal.c.id)).all()
    if len(small) < _MANY:
        return
    tables = []
    for identifier, _statements in small:
        content = connection.scalar(select(journal.c.content).where(journal.c.id == identifier))
        tables.append(rows_of(bytes(content or b"")))
        connection.execute(delete(journal).where(journal.c.id == identifier))
    append(connection, workflow, [segment_of(pa.concat_tables(tables, promote_options="default"))])


def _values(segment: Segment) -> dict[str, object]:
    return {"content": segment.content, "statements": segment.statements, "newest": segment.newest}


FileMarks = Mapping[str, tuple[int, float]]
"""Paths with their size in bytes and their modification time in seconds since the epoch."""


def files_read(connection: Connection, workflow: str) -> dict[str, tuple[int, float]]:
    """The files that were read, as they were then."""
    found = connection.execute(select(log_files).where(log_files.c.workflow == workflow))
    return {row.path: (row.size, row.modified) for row in found}


def note_files(connection: Connection, workflow: str, read: FileMarks, there: Collection[str]) -> None:
    """Notes files as read, and forgets those that are not there any more."""
    before = files_read(connection, workflow)
    present = set(there)
    now = {**{path: mark for path, mark in before.items() if path in present}, **read}
    if now == before:
        return
    connection.execute(delete(log_files).where(log_files.c.workflow == workflow))
    rows = [{"workflow": workflow, "path": path, "size": size, "modified": at} for path, (size, at) in now.items()]
    if rows:
        connection.execute(insert(log_files), rows)
