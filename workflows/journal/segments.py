"""Segments of the journal: statements that were read, without their texts, as Parquet at hand or in a file.

Beside a file stand the digests of its records, sorted, as an array that can be mapped into memory.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workflows.journal.damage import state_lost
from workflows.journal.record_digests import Digests, none_known

DIGESTS = ".digests.npy"
"""How the file of the digests ends that stands beside a segment's."""
_COMPRESSION = "zstd"
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of the journal: `statements` rows, as `content` or in a `file`; `newest` is None where a row has no time."""

    content: bytes
    statements: int
    newest: float | None
    file: Path | None = None

    def rows(self, columns: list[str] | None = None) -> pa.Table:
        """The rows. Raises StateLost where they are damaged or gone."""
        return rows_of(self.content if self.file is None else self.file, columns)

    def schema(self) -> pa.Schema:
        """What its rows have. Raises StateLost like `rows`."""
        return self._metadata().schema.to_arrow_schema()

    def digests(self) -> Digests:
        """The records, sorted, each once. Raises StateLost like `rows`."""
        if self.file is None:
            return np.unique(self.rows(["digest"])["digest"].to_numpy())
        return map_digests(digests_file(self.file))

    def span(self, column: str) -> tuple[float, float]:
        """The lowest and the highest value of a column, as Parquet notes them. Raises StateLost like `rows`."""
        metadata = self._metadata()
        number = metadata.schema.names.index(column)
        groups = [metadata.row_group(group).column(number).statistics for group in range(metadata.num_row_groups)]
        return min(group.min for group in groups), max(group.max for group in groups)

    def _metadata(self) -> pq.FileMetaData:
        return _metadata(io.BytesIO(self.content) if self.file is None else self.file)


def segment_of(table: pa.Table) -> Segment:
    """The rows as a segment at hand."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=_COMPRESSION)
    return Segment(sink.getvalue(), table.num_rows, _newest(table["time"]))


def write_segment(file: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> Segment:
    """The rows of tables with one schema, which are looked at one after the other, as a segment in a new file.

    It is on the disk when this returns. Raises OSError.
    """
    _make_folder(file.parent)
    digests, newest, statements = [none_known()], list[float | None](), 0
    with pq.ParquetWriter(file, schema, compression=_COMPRESSION) as writer:
        for table in tables:
            writer.write_table(table)
            digests.append(table["digest"].to_numpy())
            newest.append(_newest(table["time"]))
            statements += table.num_rows
    np.save(digests_file(file), np.unique(np.concatenate(digests)))
    for written in (file, digests_file(file), file.parent, file.parent.parent):
        _sync(written)
    timed = [time for time in newest if time is not None]
    return Segment(b"", statements, max(timed) if len(timed) == len(newest) and timed else None, file)


def stored_segment(file: Path) -> Segment:
    """The segment that was written into a file. Raises StateLost where it is damaged or gone."""
    there = Segment(b"", _metadata(file).num_rows, None, file)
    oldest, newest = there.span("time")
    return Segment(b"", there.statements, newest if oldest > 0 else None, file)


def rows_of(content: bytes | Path, columns: list[str] | None = None) -> pa.Table:
    """The rows of a segment. Raises StateLost where it is damaged or gone."""
    try:
        return pq.read_table(content if isinstance(content, Path) else io.BytesIO(content), columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable() from error


def with_all_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with the columns that an older version did not write, which are empty."""
    for field in schema:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows.select(schema.names)


def digests_file(file: Path) -> Path:
    """Where the digests of the segment in a file stand."""
    return file.with_name(file.name + DIGESTS)


def map_digests(file: Path) -> Digests:
    """The digests in a file, of which only what is looked at comes into memory. Raises StateLost like `rows_of`."""
    try:
        found: Digests = np.load(file, mmap_mode="r" if file.stat().st_size > _HEADER else None)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable() from error
    return found


_HEADER = 128
"""Bytes of a file of digests without any, which cannot be mapped."""


def fingerprints_of(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    """The templates that the statements have, each with its dialect."""
    found: set[tuple[str, str]] = set()
    for segment in segments:
        rows = segment.rows(["fingerprint", "dialect"])
        bearing = rows.filter(pc.is_valid(rows["fingerprint"])).group_by(["fingerprint", "dialect"]).aggregate([])
        found.update(zip(bearing["fingerprint"].to_pylist(), bearing["dialect"].to_pylist(), strict=True))
    return found


def digests_with(segments: Iterable[Segment], templates: Iterable[str]) -> Digests:
    """The records of which a statement has one of the templates (by fingerprint)."""
    wanted, found = pa.array(sorted(templates), pa.string()), [none_known()]
    for segment in segments if len(wanted) else ():
        rows = segment.rows(["digest", "fingerprint"])
        found.append(rows["digest"].to_numpy()[pc.is_in(rows["fingerprint"], wanted).to_numpy()])
    return np.unique(np.concatenate(found))


def digests_of_queries(segments: Iterable[Segment]) -> Digests:
    """The records of which a SELECT was taken apart, sorted, each once."""
    found = [none_known()]
    for segment in segments:
        if "query" in segment.schema().names:
            rows = segment.rows(["digest", "query"])
            found.append(rows.filter(pc.is_valid(rows["query"]))["digest"].to_numpy())
    return np.unique(np.concatenate(found))


def oldest_of(segments: Iterable[Segment]) -> float | None:
    """The oldest time in them; None where none has a time."""
    return min((times[0] for segment in segments if (times := _times(segment, float("inf"))) is not None), default=None)


def newest_of(segments: Iterable[Segment], latest: float) -> float | None:
    """The newest time in them up to `latest`; None where none has one."""
    return max((times[1] for segment in segments if (times := _times(segment, latest)) is not None), default=None)


def any_session_change(segments: Iterable[Segment]) -> bool:
    """Whether any statement changes its session's defaults."""
    return any(segment.span("sets")[1] for segment in segments)


def _times(segment: Segment, latest: float) -> tuple[float, float] | None:
    """The oldest and the newest time up to `latest` of those that are known; None where none is."""
    oldest, newest = segment.span("time")
    if oldest > 0 and newest <= latest:
        return oldest, newest
    times = segment.rows(["time"])["time"]
    timed = times.filter(pc.and_(pc.greater(times, 0.0), pc.less_equal(times, latest)))
    return (pc.min(timed).as_py(), pc.max(timed).as_py()) if len(timed) else None


def _newest(times: pa.ChunkedArray) -> float | None:
    untimed = bool(pc.any(pc.equal(times, 0.0)).as_py())
    newest: float | None = None if untimed else pc.max(times).as_py()
    return newest


def _metadata(source: io.BytesIO | Path) -> pq.FileMetaData:
    try:
        return pq.read_metadata(source)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable() from error


def _unreadable() -> Exception:
    return state_lost("", "a segment of the journal cannot be read")


def _make_folder(folder: Path) -> None:
    for _attempt in range(_ATTEMPTS):
        with suppress(FileNotFoundError):  # an empty one above it was removed at the same moment
            folder.mkdir(parents=True, exist_ok=True)
            return


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def table_groups(tables: Iterable[pa.Table], most: int) -> Iterator[list[pa.Table]]:
    """The tables in lists of together so many rows or somewhat more; the last one may have fewer."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(part.num_rows for part in waiting) >= most:
            yield waiting
            waiting = []
    if sum(part.num_rows for part in waiting):
        yield waiting
