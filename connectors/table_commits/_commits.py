"""What the file of a commit says: an entry of Delta Lake's log, and Iceberg's metadata with a table's snapshots.

Of Delta Lake's log (PROTOCOL.md, "Commit Provenance Information" and "Actions"): a file is a version, a line an action;
`commitInfo` says who did what, `dataChange` of a file that is added or removed whether rows are others than before. Of
Iceberg's table metadata (spec.md, "Table Metadata Fields" and "Snapshots"): `snapshots`, with a `summary` of each.

Neither the parameters of an operation nor a file's statistics are read: predicates and values stand in them.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingestion.dialects.definition import keywords
from ingestion.model.lineage import StatementKind

_COMMIT_INFO = re.compile(rb'\s*+\{\s*+"commitInfo"\s*+:')
_CHANGES_ROWS = re.compile(rb'"dataChange"\s*+:\s*+true')
"""Within a text, as statistics are, the quotes would stand behind a backslash."""
_OPERATION = re.compile(r"[A-Za-z][A-Za-z _]{0,39}")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]++")
_LATEST = 253_402_300_800_000
"""Milliseconds: the end of the year 9999."""
_MOST_WHO = 80
_MOST_METADATA = 128 << 20
"""Bytes of metadata, once they are decompressed."""
_GZIP = 16 + zlib.MAX_WBITS
# as Spark's writers call them, then as delta-rs does
_ROWS_BY_OPERATION: Mapping[str, tuple[str, ...]] = {
    # numOutputRows of a MERGE counts the rows that were copied unchanged too
    "MERGE": (
        "numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted",
        "num_target_rows_inserted", "num_target_rows_updated", "num_target_rows_deleted",
    ),
    "UPDATE": ("numUpdatedRows", "num_updated_rows"),
    "DELETE": ("numDeletedRows", "num_deleted_rows"),
}  # fmt: skip
_ROWS = ("numOutputRows", "num_added_rows")
_ICEBERG_ROWS: Mapping[str, tuple[str, ...]] = {"delete": ("deleted-records", "added-position-deletes")}
_ICEBERG_ADDED = ("added-records",)
_ICEBERG_CHANGES = ("added-", "deleted-", "removed-")
"""How what a snapshot counts begins, of which it leaves out what is none; its totals are there all the same."""
_ENGINE_MARKS = ("spark.app.id", "flink.job-id", "trino_query_id")
_REWRITES = keywords("replace")
"""Iceberg's operation that puts files in the place of others which hold the same rows."""
_KINDS: tuple[tuple[str, StatementKind], ...] = (
    ("MERGE", StatementKind.MERGE),
    ("UPDATE", StatementKind.UPDATE),
    ("DELETE", StatementKind.DELETE),
    ("COPY", StatementKind.COPY),
)


class UnreadableCommit(ValueError):
    """A file that is no commit, or is cut; it says which, without its content."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a table at a time (seconds since the epoch, None: not told), by its `version`.

    `changes_rows`: whether the table has other rows since. `rows`: how many it wrote, changed or deleted, None where
    that is not told. `who`: the job or the user that carried it out, else the engine; "" where nobody is named.
    """

    version: int
    time: float | None
    operation: str
    changes_rows: bool
    rows: int | None = None
    who: str = ""
    user: str | None = None

    @property
    def kind(self) -> StatementKind:
        """What kind of statement makes such a commit."""
        words = self.operation.upper()
        return next((kind for word, kind in _KINDS if words.startswith(word)), StatementKind.INSERT)


def delta_commit(version: int, content: bytes, written: float) -> Commit:
    """The commit of a version, as its file (`00000000000000000042.json`) has it, last `written` at a time (seconds).

    A file without `commitInfo`, which the protocol leaves to who writes, is a commit of nobody at that time. Raises
    UnreadableCommit.
    """
    lines = [line for line in content.splitlines() if line.strip()]
    if not lines or not all(line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") for line in lines):
        raise UnreadableCommit("not a commit of Delta Lake, or cut: a line in it is no action")
    changes = _CHANGES_ROWS.search(content) is not None
    info = next((line for line in lines if _COMMIT_INFO.match(line)), None)
    if info is None:
        return Commit(version, written, "commit", changes)
    provenance = _value(_json(info), "commitInfo")
    operation = _operation(_value(provenance, "operation"))
    time = _seconds(_value(provenance, "inCommitTimestamp")) or _seconds(_value(provenance, "timestamp")) or written
    names = _ROWS_BY_OPERATION.get(operation, _ROWS)
    known = [count for name in names if (count := _count(_value(provenance, "operationMetrics", name))) is not None]
    user = _name(_value(provenance, "userName")) or None
    engine = re.split(r"[/:\s]", _name(_value(provenance, "engineInfo")), maxsplit=1)[0]
    who = _name(_value(provenance, "job", "jobName")) or _name(_value(provenance, "job", "jobId")) or user or engine
    return Commit(version, time, operation, changes, sum(known) if known else None, who, user)


def iceberg_commits(content: bytes) -> Iterator[Commit]:
    """The snapshots that made a table what it is, by its metadata file, which may be compressed.

    Those of other branches, and those that were rolled back, wrote nothing that is in it. Raises UnreadableCommit.
    """
    metadata = _json(_plain_bytes(content))
    snapshots = metadata.get("snapshots", [])
    if "format-version" not in metadata or not isinstance(snapshots, list):
        raise UnreadableCommit("not the metadata of an Iceberg table")
    versions = [_count(_value(snapshot, "snapshot-id")) for snapshot in snapshots]
    kept = _of_main_branch(metadata, snapshots)
    for version, snapshot in zip(versions, snapshots, strict=True):
        if version is None:
            raise UnreadableCommit("a snapshot in it has no snapshot-id")
        if kept is not None and version not in kept:
            continue
        operation = _operation(_value(snapshot, "summary", "operation"))
        user = _name(_value(snapshot, "summary", "trino_user")) or None
        who = user or _name(_value(snapshot, "summary", "engine-name")) or _engine(snapshot)
        counts = (_count(_value(snapshot, "summary", name)) for name in _ICEBERG_ROWS.get(operation, _ICEBERG_ADDED))
        rows = next((count for count in counts if count is not None), None)
        changes = operation not in _REWRITES and _moves_files(_value(snapshot, "summary"))
        yield Commit(version, _seconds(_value(snapshot, "timestamp-ms")), operation, changes, rows, who, user)


def _of_main_branch(metadata: Mapping[str, object], snapshots: Sequence[object]) -> Collection[int] | None:
    """The snapshots that the table's content came about by, None where the metadata does not tell which was current.

    `snapshot-log` has those that were, one after the other: where the next one goes back to an ancestor, or goes on
    from one, all between is rolled back. One without ancestors is that of a table made anew, which others were before.
    """
    parents = {_count(_value(one, "snapshot-id")): _count(_value(one, "parent-snapshot-id")) for one in snapshots}
    log = metadata.get("snapshot-log")
    logged = [_count(_value(entry, "snapshot-id")) for entry in (log if isinstance(log, list) else ())]
    current = _count(metadata.get("current-snapshot-id"))
    line: dict[int, None] = {}
    before: set[int] = set()
    known = [one for one in (*logged, current) if one is not None]
    for tip in known:
        path: list[int] = []
        at: int | None = tip
        while at is not None and at not in line and at not in path:
            path.append(at)
            at = parents.get(at)
        if at is None or at not in line:
            before.update(line)
            line = {}
        while line and next(reversed(line)) != at:
            line.popitem()
        line.update(dict.fromkeys(reversed(path)))
    return before | line.keys() if known else None


def _moves_files(summary: object) -> bool:
    """Whether a snapshot has other files than the one before it: a DELETE that finds no row makes one with the same."""
    names = tuple(summary) if isinstance(summary, dict) else ()
    return "total-data-files" not in names or any(name.startswith(_ICEBERG_CHANGES) for name in names)


def _engine(snapshot: object) -> str:
    """The engine, by what each of them leaves in a summary under a name that begins with its own."""
    found = next((mark for mark in _ENGINE_MARKS if _value(snapshot, "summary", mark) is not None), "")
    return re.split(r"[._]", found, maxsplit=1)[0]


def _plain_bytes(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    stream = zlib.decompressobj(_GZIP)
    try:
        whole = stream.decompress(content, _MOST_METADATA)
    except zlib.error:
        raise UnreadableCommit("its compression is damaged") from None
    if not stream.eof:
        raise UnreadableCommit(f"cut, or of more than {_MOST_METADATA >> 20} MiB")
    return whole


def _json(content: bytes) -> dict[str, Any]:
    """The object that a text is; one without anything where it is another value."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise UnreadableCommit("not JSON, or cut") from None
    return found if isinstance(found, dict) else {}


def _value(found: object, *names: str) -> object:
    """What stands under names within each other; None where it does not, or something else stands on the way."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _operation(value: object) -> str:
    """An operation's name; "commit" where there is none, or a text in its place."""
    return value if isinstance(value, str) and _OPERATION.fullmatch(value) else "commit"


def _name(value: object) -> str:
    return _UNPRINTABLE.sub(" ", value).strip()[:_MOST_WHO] if isinstance(value, str) else ""


def _seconds(value: object) -> float | None:
    return value / 1000 if isinstance(value, int) and 0 < value < _LATEST else None


def _count(value: object) -> int | None:
    """A number of rows, which Delta Lake and Iceberg write as a text."""
    if isinstance(value, str):
        value = int(value) if value.isdecimal() and len(value) < 19 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None
