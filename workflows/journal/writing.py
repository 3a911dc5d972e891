"""Segments that are written by the tasks that read a log, beside what they give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from connectors.base import BatchWork
from workflows.journal.folder import new_segment_file
from workflows.journal.segments import segment_of, table_groups, write_segment

STATEMENTS_A_SEGMENT = 100_000
FileRow = Callable[[str], pa.RecordBatch]
"""Makes the row that names a file among the rows of a task."""


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


def with_segments(work: BatchWork, rows: JournalRows, folder: Path, named: FileRow) -> BatchWork:
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


def pack_task(schema: pa.Schema, result: pa.Schema, folder: Path | None) -> BatchWork:
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
