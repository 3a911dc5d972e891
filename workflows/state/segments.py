"""Segments of the journal: statements that were read, without their texts, as Parquet at hand or in a file."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from connectors.private_files import private_file, private_folder
from connectors.records import RecordWork
from ingestion.errors import Unparsable
from ingestion.model.digests import digest
from ingestion.plans.rendering import plan_fingerprint
from workflows.state._damage import segments_unwritten, state_lost

_PREFIX = "segments."
SEGMENT = ".parquet"
"""How the file of a segment ends; before it are no dots."""
Digests = npt.NDArray[np.int64]
"""Record digests."""
_CONTENTS = ("text", "symbolic", "edges", "source_id")
_LITTLE_ENDIAN = np.dtype("<i8")
LOCAL = "local"
"""How a statement changes what its session has set: until the transaction ends."""
EMPTIES = "empties"
"""What a statement does that changes nothing of that: all rows of a table go, if they stay gone."""
OF_TRANSACTION = "transaction_"
"""How a `TransactionStep` is noted, which stands behind it; they are of use only where something else is noted."""
DIGESTS = ".digests.npy"
"""How the file of the digests ends that stands beside a segment's."""
_COMPRESSION = "zstd"
_FOLDER_ATTEMPTS = 3
_HEADER = 128
"""Bytes of a file of digests without any, which cannot be mapped."""
STATEMENTS_A_SEGMENT = 100_000
FileRow = Callable[[str], pa.RecordBatch]
"""Makes the row that names a file among the rows of a task."""
Times = npt.NDArray[np.float64]
"""Seconds since the epoch; 0 where a record has none."""
_MAPPED = 256
"""Files that a process has mapped at once."""


# Where the segments of a workflow's journal are that are files: what no commit names is nobody's, and is removed.


@dataclass(frozen=True, slots=True)
class SegmentFolder:
    """The files of one workflow, each below the id of the run that wrote it.

    `everywhere`: every host of a cluster sees it. `root` has those of other workflows too.
    """

    root: Path
    workflow: str
    everywhere: bool = False

    @property
    def own(self) -> Path:
        """Where the files of the workflow are."""
        return self.root / digest(self.workflow, size=8)

    def of_run(self, run_id: str) -> Path:
        """Where a run writes its files."""
        return self.own / digest(run_id, size=8)

    def name_of(self, file: Path) -> str:
        """What a commit calls a file."""
        return file.relative_to(self.root).as_posix()

    def file_of(self, name: str) -> Path:
        """The file that a commit named."""
        return self.root / name

    def present_files(self) -> frozenset[Path]:
        """The files of the workflow that are there now, named or not."""
        return frozenset(self.own.glob("*/*"))

    def remove(self, written: Collection[Path], named: Collection[Path]) -> None:
        """Removes those of the files that no commit names, and folders that are empty then; what cannot be stays."""
        for file in written:
            if file.with_name(file.name.partition(".")[0] + SEGMENT) not in named:
                with suppress(OSError):
                    file.unlink()
        for folder in ({file.parent for file in written}, {self.own}, {self.root}):
            for each in folder:
                with suppress(OSError):  # where there are others it is in use
                    each.rmdir()


def beside(state: str) -> Path | None:
    """The folder beside a state's file; None for what is no file of its own."""
    if not state or state.startswith((":memory:", "file:")):
        return None
    file = Path(state).absolute()
    return file.with_name(_PREFIX + file.name)


def new_segment_file(folder: Path) -> Path:
    """A file that nobody else writes."""
    return folder / f"{uuid.uuid4().hex}{SEGMENT}"


# What makes a record of a log the same record when it is met again, in the same file or in another.


def none_known() -> Digests:
    """No records at all."""
    return np.empty(0, np.int64)


def sessions_of(records: pa.RecordBatch) -> pa.Array:
    """The session of each record; where the log names none, all of one user in one database are one."""
    user, database = (pc.coalesce(records.column(name), "") for name in ("user", "database"))
    session = pc.coalesce(records.column("session"), "")
    return pc.if_else(pc.equal(session, ""), pc.binary_join_element_wise(user, database, "@"), session)


def times_of(records: pa.RecordBatch) -> pa.Array:
    """When each record began, or ended where only that is known; null where neither is."""
    return pc.coalesce(records.column("start_time"), records.column("end_time"))


def record_digests(records: pa.RecordBatch) -> Digests:
    """The same number for the same session, time and content, wherever it is logged; with no content, for its id."""
    contents = map(_content, *(records.column(name).to_pylist() for name in _CONTENTS))
    when = (column.to_pylist() for column in (sessions_of(records), times_of(records)))
    return np.frombuffer(b"".join(map(_digest, *when, contents)), _LITTLE_ENDIAN).astype(np.int64, copy=False)


def are_known(digests: Digests, known: Digests) -> npt.NDArray[np.bool_]:
    """Which of the digests are among the `known` ones, which are sorted."""
    if not known.size:
        return np.zeros(digests.size, np.bool_)
    indexes = np.minimum(np.searchsorted(known, digests), known.size - 1)
    return np.asarray(known[indexes] == digests)


def _digest(session: str, time: float | None, content: str) -> bytes:
    # What `digest` gives, in half the time: it is made of every record of a log.
    return blake2b(f"{session}\0{time}\0{content}".encode(), digest_size=8).digest()


def _content(text: str | None, symbolic: bytes | None, edges: bytes | None, source_id: str) -> str:
    return text or _plan_content(symbolic or edges) or f"\0{source_id}"


def _plan_content(encoded: bytes | None) -> str | None:
    try:
        return plan_fingerprint(encoded) if encoded else None
    except (Unparsable, TypeError):  # what cannot be read is told where the record is
        return None


# The segments.
#
# Beside a file stand the digests of its records, sorted, as an array that can be mapped into memory.


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

    def digests(self) -> Digests:
        """The records, sorted, each once. Raises StateLost like `rows`."""
        if self.file is None:
            return np.unique(self.rows(["digest"])["digest"].to_numpy())
        return _map_digests(_digests_file(self.file))

    def span(self, column: str) -> tuple[float, float]:
        """The lowest and the highest value of a column, as Parquet notes them. Raises StateLost like `rows`."""
        metadata = self._metadata()
        number = metadata.schema.names.index(column)
        groups = [metadata.row_group(group).column(number).statistics for group in range(metadata.num_row_groups)]
        return min(group.min for group in groups), max(group.max for group in groups)

    def extremes(self, column: str) -> tuple[str, ...]:
        """The lowest and the highest value of a column in each part of the rows that has one.

        Raises StateLost like `rows`.
        """
        metadata = self._metadata()
        number = metadata.schema.names.index(column)
        groups = (metadata.row_group(group) for group in range(metadata.num_row_groups))
        found = (group.column(number).statistics for group in groups)
        return tuple(value for one in found if one is not None and one.has_min_max for value in (one.min, one.max))

    def _metadata(self) -> pq.FileMetaData:
        return _metadata(io.BytesIO(self.content) if self.file is None else self.file)


def segment_of(table: pa.Table) -> Segment:
    """The rows as a segment at hand."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=_COMPRESSION)
    return Segment(sink.getvalue(), table.num_rows, _newest(table["time"]))


def write_segment(file: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> Segment:
    """The rows of tables with one schema, which are looked at one after the other, as a segment in a new file.

    It is on the disk when this returns. Raises StateLost where the folder takes no more.
    """
    try:
        return _written_segment(file, tables, schema)
    except OSError as error:
        raise segments_unwritten(file.parent, error) from error


def _written_segment(file: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> Segment:
    _make_folder(file.parent)
    digests, newest, statements = [none_known()], list[float | None](), 0
    with pq.ParquetWriter(private_file(file), schema, compression=_COMPRESSION) as writer:
        for table in tables:
            writer.write_table(table)
            digests.append(table["digest"].to_numpy())
            newest.append(_newest(table["time"]))
            statements += table.num_rows
    np.save(_digests_file(file), np.unique(np.concatenate(digests)))
    for written in (file, _digests_file(file), file.parent, file.parent.parent):
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


def _digests_file(file: Path) -> Path:
    """Where the digests of the segment in a file stand."""
    return file.with_name(file.name + DIGESTS)


def _map_digests(file: Path) -> Digests:
    """The digests in a file, of which only what is looked at comes into memory. Raises StateLost like `rows_of`."""
    try:
        found: Digests = np.load(file, mmap_mode="r" if file.stat().st_size > _HEADER else None)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable() from error
    return found


def fingerprints_of(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    """The templates that the statements have, each with its dialect."""
    found: set[tuple[str, str]] = set()
    for segment in segments:
        rows = segment.rows(["fingerprint", "dialect"])
        with_lineage = rows.filter(pc.is_valid(rows["fingerprint"])).group_by(["fingerprint", "dialect"]).aggregate([])
        found.update(zip(with_lineage["fingerprint"].to_pylist(), with_lineage["dialect"].to_pylist(), strict=True))
    return found


def queries_of(segments: Iterable[Segment]) -> set[tuple[str, str]]:
    """The templates of the SELECTs that were taken apart, each with its dialect."""
    found: set[tuple[str, str]] = set()
    for segment in segments:
        rows = segment.rows(["query", "dialect"])
        asked = rows.filter(pc.is_valid(rows["query"])).group_by(["query", "dialect"]).aggregate([])
        found.update(zip(asked["query"].to_pylist(), asked["dialect"].to_pylist(), strict=True))
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
        rows = segment.rows(["digest", "query"])
        found.append(rows.filter(pc.is_valid(rows["query"]))["digest"].to_numpy())
    return np.unique(np.concatenate(found))


def rows_only_skipped(segment: Segment) -> npt.NDArray[np.bool_]:
    """Which rows tell only that a record was read and why it was skipped: no lineage, session or query needs them."""
    rows = segment.rows(["skipped", "fingerprint", "query", "sets", "set_how"])
    needed = pc.or_(rows["sets"], pc.is_valid(rows["set_how"]))
    for column in ("fingerprint", "query"):
        needed = pc.or_(needed, pc.is_valid(rows[column]))
    found: npt.NDArray[np.bool_] = pc.and_not(pc.is_valid(rows["skipped"]), needed).to_numpy()
    return found


def oldest_of(segments: Iterable[Segment]) -> float | None:
    """The oldest time in them; None where none has a time."""
    return min((times[0] for segment in segments if (times := _times(segment, float("inf"))) is not None), default=None)


def newest_of(segments: Iterable[Segment], latest: float) -> float | None:
    """The newest time in them up to `latest`; None where none has one."""
    return max((times[1] for segment in segments if (times := _times(segment, latest)) is not None), default=None)


def any_session_change(segments: Iterable[Segment]) -> bool:
    """Whether any statement changes its session's defaults."""
    return any(segment.span("sets")[1] for segment in segments)


def any_conditional_change(segments: Iterable[Segment]) -> bool:
    """Whether a session has to be gone through: anything is noted but where transactions begin and end.

    Between two values that begin alike stands none, by the alphabet, that begins otherwise.
    """
    return any(not one.startswith(OF_TRANSACTION) for segment in segments for one in segment.extremes("set_how"))


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
    for _attempt in range(_FOLDER_ATTEMPTS):
        with suppress(FileNotFoundError):  # an empty one above it was removed at the same moment
            private_folder(folder)
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


# Segments that are written by the tasks that read a log, beside what they give.


@dataclass(frozen=True, slots=True)
class JournalRows:
    """Which rows of a log the journal has (`schema`): those with a digest that were not skipped as `not_read`."""

    schema: pa.Schema
    not_read: Collection[str]

    def of(self, batch: pa.RecordBatch) -> pa.Table:
        """Those of a batch."""
        left_out = pc.is_in(batch.column("skipped"), pa.array(sorted(self.not_read), pa.string()))
        kept = pc.and_(pc.is_valid(batch.column("digest")), pc.invert(left_out))
        return pa.Table.from_batches([batch]).select(self.schema.names).filter(kept).cast(self.schema)


def with_segments(work: RecordWork, rows: JournalRows, folder: Path, named: FileRow) -> RecordWork:
    """The work, that writes what it gives into files of the folder; each file has a row (`named`) among its results."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.Table] = []
        for batch in work(batches):
            yield batch
            waiting.append(rows.of(batch))
            if sum(table.num_rows for table in waiting) >= STATEMENTS_A_SEGMENT:
                yield named(str(_write(waiting, rows, folder)))
                waiting = []
        if any(table.num_rows for table in waiting):
            yield named(str(_write(waiting, rows, folder)))

    return run


def _write(tables: list[pa.Table], rows: JournalRows, folder: Path) -> Path:
    file = new_segment_file(folder)
    write_segment(file, [pa.concat_tables(tables)], rows.schema)
    return file


def pack_task(schema: pa.Schema, result: pa.Schema, folder: Path | None) -> RecordWork:
    """Packs rows into segments: `result` has a row for each, which is in a file of the folder where there is one."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = (pa.Table.from_batches([batch]).cast(schema) for batch in batches)
        for parts in table_groups(tables, STATEMENTS_A_SEGMENT):
            together = pa.concat_tables(parts)
            if folder is None:
                segment = segment_of(together)
            else:
                segment = write_segment(new_segment_file(folder), [together], schema)
            file = None if segment.file is None else str(segment.file)
            values = (segment.content, segment.statements, segment.newest, file)
            yield pa.RecordBatch.from_arrays([pa.array([value]) for value in values], schema=result)

    return run


# Which records of a log were read before, as the tasks that read it ask.


@dataclass(frozen=True, slots=True)
class DigestFile:
    """The digests of records from `oldest` to `newest` (seconds since the epoch); 0 where one has no time."""

    path: str
    oldest: float
    newest: float


@dataclass(frozen=True, slots=True)
class KnownRecords:
    """Records that are not read again: those `at_hand` and in `files`, without those to be read `again`.

    The digests are sorted. `again` are too those of the time `between`; a time after `latest` counts as none.
    """

    at_hand: Digests = field(default_factory=none_known)
    files: tuple[DigestFile, ...] = ()
    again: Digests = field(default_factory=none_known)
    between: tuple[float, float] | None = None
    latest: float = float("inf")

    def __bool__(self) -> bool:
        return bool(self.at_hand.size or self.files)

    @property
    def leaves_out(self) -> bool:
        """Whether some may be read again."""
        return bool(self.again.size) or self.between is not None

    def among(self, digests: Digests, times: Times) -> npt.NDArray[np.bool_]:
        """Which of the records, by digest and time, are known."""
        if not self:
            return np.zeros(digests.size, np.bool_)
        possible = np.where(times <= self.latest, times, 0.0)
        known = are_known(digests, self.at_hand)
        for file in self._files_with(possible):
            known |= are_known(digests, _mapped_digests(file.path))
        known &= ~are_known(digests, self.again)
        if self.between is not None:
            begin, end = self.between
            known &= (possible < begin) | (possible >= end)
        return known

    def all_at_hand(self) -> KnownRecords:
        """The same, for tasks that cannot read the files."""
        digests = [self.at_hand, *(_map_digests(Path(file.path)) for file in self.files)]
        return replace(self, at_hand=np.unique(np.concatenate(digests)), files=())

    def _files_with(self, times: Times) -> Iterable[DigestFile]:
        """The files that may have records of these times: where one has none, its records may have any."""
        if not times.size:
            return ()
        oldest, newest = times.min(), times.max()
        if oldest <= 0:
            return self.files
        return (file for file in self.files if file.oldest <= 0 or (file.oldest <= newest and oldest <= file.newest))


def known_records(segments: Iterable[Segment]) -> KnownRecords:
    """The records of all segments."""
    at_hand, files = [none_known()], list[DigestFile]()
    for segment in segments:
        if segment.file is None:
            at_hand.append(segment.digests())
        else:
            files.append(DigestFile(str(_digests_file(segment.file)), *segment.span("time")))
    return KnownRecords(np.unique(np.concatenate(at_hand)), tuple(files))


@lru_cache(_MAPPED)
def _mapped_digests(path: str) -> Digests:
    return _map_digests(Path(path))
