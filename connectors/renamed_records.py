"""The records of a log with their statements as the source beside it reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from connectors.records import RECORD_SCHEMA, RecordWork
from connectors.source import Files, RecordsWanted, SourceRecords, TextNames

OpenRecords = Callable[[SparkSession, RecordsWanted], SourceRecords | None]


def renamed_records(records: OpenRecords | None, names: TextNames | None) -> OpenRecords | None:
    """What opens the same records by other `names`."""
    if records is None or names is None:
        return records
    opened = records

    def open_records(spark: SparkSession, wanted: RecordsWanted) -> SourceRecords | None:
        found = opened(spark, wanted)
        return None if found is None else _RenamedRecords(found, names)

    return open_records


@dataclass(frozen=True, slots=True)
class _RenamedRecords:
    inner: SourceRecords
    names: TextNames

    @property
    def size(self) -> float:
        return self.inner.size

    @property
    def exporters(self) -> Mapping[str, int]:
        return self.inner.exporters

    @property
    def lacking(self) -> tuple[str, ...]:
        return self.inner.lacking

    @property
    def files(self) -> Files:
        return self.inner.files

    def records(self) -> DataFrame:
        return self.inner.map_records(renaming(self.names), RECORD_SCHEMA)

    def map_records(self, work: RecordWork, schema: StructType) -> DataFrame:
        """What `work` makes of the renamed ones."""
        rename = renaming(self.names)
        return self.inner.map_records(lambda batches: work(rename(batches)), schema)


def renaming(names: TextNames) -> RecordWork:
    """What gives records their statements by other `names`; what is skipped keeps the reason that it had."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            read = [(text, None) if text is None else names(text) for text in batch.column("text").to_pylist()]
            own = batch.column("status").to_pylist()
            status = [had or skipped for had, (_, skipped) in zip(own, read, strict=True)]
            for name, values in (("text", [text for text, _ in read]), ("status", status)):
                at = batch.schema.get_field_index(name)
                batch = batch.set_column(at, batch.schema.field(name), pa.array(values, batch.schema.field(name).type))
            yield batch

    return run
