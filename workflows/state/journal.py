"""The journal: every statement of the window that was read, without its text, as compressed segments.

Lineage is bound over the whole window, so that what a run adds means the same as if all had been read at once: a
temporary table of an earlier run's part of a session, a view that is defined after its reader. It is also what tells a
record that was read from one that is new or late.

Small segments are in the store, larger ones in files that it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa
from sqlalchemy import Connection, delete, insert, select

from ingestion.model.file_marks import FileMarks
from workflows.state._damage import state_lost
from workflows.state.segments import (
    KnownRecords,
    Segment,
    SegmentFolder,
    beside,
    known_records,
    new_segment_file,
    rows_only_skipped,
    segment_of,
    table_groups,
    write_segment,
)
from workflows.state.store import StateStore, identity_of, journal, positions

SMALL = 50_000
"""Segments of fewer statements are put together when there are many, and need no file of their own."""
_MANY = 32
_TOGETHER = 100_000
SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of a workflow in a store; `files` is None where all of it is to be in the store.

    `run_id`: whose files are written.
    """

    workflow: str
    files: SegmentFolder | None
    run_id: str

    @property
    def folder(self) -> Path | None:
        """Where this run writes its files."""
        return None if self.files is None else self.files.of_run(self.run_id)

    @property
    def is_everywhere(self) -> bool:
        """Whether every host of a cluster sees that folder."""
        return self.files is not None and self.files.everywhere

    def segments(self, connection: Connection) -> list[Segment]:
        """Every segment, in the order in which they were added."""
        return [segment for _id, segment in self._segments_by_id(connection)]

    def present_files(self) -> frozenset[Path]:
        """The files that are there now, whoever wrote them."""
        return frozenset() if self.files is None else self.files.present_files()

    def remove_unnamed(self, written: Collection[Path], segments: Iterable[Segment]) -> None:
        """Removes those of the files that none of the segments is in: of runs that did not come to their end.

        The files are to be listed before the segments are read: what another run writes and names since is not touched.
        """
        if self.files is not None:
            self.files.remove(written, {segment.file for segment in segments if segment.file is not None})

    def append(self, connection: Connection, segments: Iterable[Segment]) -> None:
        """Adds segments."""
        for segment in segments:
            connection.execute(insert(journal).values(workflow=self.workflow, **self._values(segment)))

    def without_small_files(self, segments: Sequence[Segment]) -> Sequence[Segment]:
        """New segments as they are kept: where there are few statements together, they need no file."""
        if sum(segment.statements for segment in segments) >= SMALL or all(one.file is None for one in segments):
            return segments
        return [segment_of(pa.concat_tables([segment.rows() for segment in segments]))]

    def drop_records(self, connection: Connection, again: Iterable[Segment], *, skipped: bool = False) -> None:
        """Takes out the records that the segments have, and all rows of what was only `skipped`, where it is so."""
        read = known_records(again)
        for identifier, segment in self._segments_by_id(connection):
            rows = segment.rows(["digest", "time"])
            gone = read.among(rows["digest"].to_numpy(), rows["time"].to_numpy())
            if skipped:
                gone |= rows_only_skipped(segment)
            if gone.any():
                connection.execute(delete(journal).where(journal.c.id == identifier))
            if gone.any() and not gone.all():
                self.append(connection, [self._segment_of([segment.rows().filter(pa.array(~gone))])])

    def forget_before(self, connection: Connection, time: float) -> None:
        """Drops the segments all of whose statements are older than `time` (seconds since the epoch)."""
        connection.execute(delete(journal).where(journal.c.workflow == self.workflow, journal.c.newest < time))

    def compact(self, connection: Connection) -> None:
        """Puts small segments together, where there are many, and large ones into files."""
        own, few = journal.c.workflow == self.workflow, journal.c.statements < SMALL
        moved = [*connection.scalars(select(journal.c.id).where(own, few))]
        if len(moved) < _MANY:
            moved = []
        if self.files is not None:
            moved += connection.scalars(select(journal.c.id).where(own, ~few, journal.c.file.is_(None)))
        if not moved:
            return
        segments = [self._segment(connection, identifier) for identifier in moved]
        connection.execute(delete(journal).where(journal.c.id.in_(moved)))
        tables = (segment.rows() for segment in segments)
        self.append(connection, (self._segment_of(parts) for parts in table_groups(tables, _TOGETHER)))

    def _segment_of(self, tables: Sequence[pa.Table]) -> Segment:
        if self.folder is None or sum(table.num_rows for table in tables) < SMALL:
            return segment_of(pa.concat_tables(tables))
        return write_segment(new_segment_file(self.folder), tables, tables[0].schema)

    def _segments_by_id(self, connection: Connection) -> Iterator[tuple[int, Segment]]:
        """Every segment with its id, one at a time."""
        for identifier in [*connection.scalars(select(journal.c.id).where(journal.c.workflow == self.workflow))]:
            yield identifier, self._segment(connection, identifier)

    def _segment(self, connection: Connection, identifier: int) -> Segment:
        row = connection.execute(select(journal).where(journal.c.id == identifier)).one()
        if row.file is None:
            return Segment(bytes(row.content), row.statements, row.newest)
        file = None if self.files is None else self.files.file_of(row.file)
        if file is None or not file.is_file():
            raise state_lost("", f"there is no {row.file if file is None else file}; see headwater.state.folder")
        return Segment(b"", row.statements, row.newest, file)

    def _values(self, segment: Segment) -> dict[str, object]:
        file = None if segment.file is None or self.files is None else self.files.name_of(segment.file)
        return {
            "content": segment.content,
            "statements": segment.statements,
            "newest": segment.newest,
            "file": file,
        }


def journal_of(store: StateStore, workflow: str, run_id: str, folder: str | None) -> Journal:
    """The journal of a workflow; `folder` is where all hosts of a cluster see its files, None where none was given."""
    if folder is not None:
        # Which store it is belongs to the name: what no commit of this one names may be named by another's.
        with store.read() as connection:
            owner = f"{identity_of(connection)} {workflow}"
        return Journal(workflow, SegmentFolder(Path(folder).absolute(), owner, everywhere=True), run_id)
    root = beside(store.location) if store.is_file else None
    return Journal(workflow, None if root is None else SegmentFolder(root, workflow), run_id)


# How far a workflow has read, and what its published lineage depended on.


@dataclass(frozen=True, slots=True)
class Watermark:
    """`newest` and `source_id`: the newest record that was read. Times are seconds since the epoch.

    `complete_since`: the journal has every record that was read with a time from then on; None: every record at all.
    `version` and `settings` say what lineage depended on; `to_retry` counts the names and edges to try again.
    """

    newest: float | None = None
    source_id: str = ""
    complete_since: float | None = None
    version: str = ""
    settings: str = ""
    to_retry: int = 0


def position_of(connection: Connection, workflow: str) -> Watermark | None:
    """The position of a workflow; None before its first run came to its end."""
    row = connection.execute(select(positions).where(positions.c.workflow == workflow)).one_or_none()
    if row is None:
        return None
    return Watermark(row.newest, row.source_id, row.complete_since, row.version, row.settings, row.to_retry)


def store_position(connection: Connection, workflow: str, position: Watermark) -> None:
    """Keeps the position in place of the one before."""
    connection.execute(delete(positions).where(positions.c.workflow == workflow))
    connection.execute(insert(positions).values(workflow=workflow, **asdict(position)))


@dataclass(frozen=True, slots=True)
class ReadState:
    """What earlier runs have read, as the journal has it.

    Records that are `known` are not read again, nor are logs all of whose `files` are as they were. Where the run reads
    others of the journal again (`rereads`), each counts as what it is read as now. `newest` is the newest time that was
    read. `between` is the window that is asked for, in place of the configured one; `log_may_be_gone`: a log that is
    not there any more is an empty one. No time after `latest` can be right: what has one counts as without a time.
    Into the folder `written` go the segments of this run that are files, None where none are to be; `everywhere`: all
    hosts of a cluster see it. Under `literal_key` the literals of SELECTs are compared, None where these are not taken
    apart. Whether records before `complete_since` were read is not known.
    """

    known: KnownRecords = field(default_factory=KnownRecords)
    journal: Sequence[Segment] = ()
    files: FileMarks = field(default_factory=dict)
    newest: float | None = None
    rereads: bool = False
    between: tuple[float, float] | None = None
    log_may_be_gone: bool = False
    latest: float = float("inf")
    written: Path | None = None
    everywhere: bool = False
    literal_key: bytes | None = field(default=None, repr=False)
    complete_since: float | None = None
