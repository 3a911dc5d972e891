"""Query logs read by Spark: exports of many platforms, servers' own logs, tables; texts in several rows put
together.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from connectors.platforms.generic import GENERIC
from connectors.platforms.index import PROFILES, TEXT_LOGS
from connectors.platforms.job_names import job_of
from connectors.platforms.profile import ExportProfile, SplitText
from connectors.query_log._columns import OUTCOME, TIME, ColumnReading, ReadingHints
from connectors.query_log._interpreter import ARROW_SCHEMA, clean_text
from connectors.query_log._spark_tables import (
    TableRead,
    format_of,
    read_directory,
    read_files,
    read_jdbc,
    read_table,
    table_records,
)
from connectors.query_log.files import QueryLogFile, find_log_files, local_files, table_format
from connectors.query_log.log_columns import LogColumn
from connectors.query_log.text_files import FileRange, stored_head, text_records, with_layout
from connectors.records import RECORD_SCHEMA, RecordReading, RecordWork
from connectors.source import Files, NoFiles
from ingestion.errors import ConfigError
from ingestion.model.outcomes import Outcome

# Texts that stand in several rows, put together: rows of one statement may lie in different files.

SPLIT_RECORD_SCHEMA = StructType(
    [
        *RECORD_SCHEMA.fields,
        StructField("piece_key", StringType()),
        StructField("piece", LongType()),
        StructField("exporter", StringType()),
    ]
)
"""Rows that have a piece of a text each, those with a key."""

_LACKING = {
    TIME: "no column tells when a statement ran: all count as seen now, and none lies outside a window; export one, or"
    " name it under headwater.queryLogColumns.time",
    OUTCOME: "no column tells how a statement ended: those that failed count as run; ",
}
_NAME_OUTCOME = "export one, or name it under headwater.queryLogColumns.status"
PROFILES_BY_NAME = {
    profile.name: profile for profile in (*PROFILES, *(log.profile for log in TEXT_LOGS if log.profile is not None))
}


def _join_split_texts(rows: DataFrame) -> DataFrame:
    """The records, with RECORD_SCHEMA, of rows that have a piece of a text each (or, without a `piece_key`, all of it).

    A record stands where its first piece does. One that lacks a piece is malformed.
    """
    columns = RECORD_SCHEMA.fieldNames()
    statement = F.coalesce("piece_key", F.concat(F.lit("\0"), "source_id"))
    grouped = rows.groupBy(statement.alias("statement")).agg(
        F.min_by(F.struct(*columns), F.struct("piece", "source_id")).alias("record"),
        F.collect_list(F.struct("piece", "text", "status")).alias("pieces"),
        F.first("exporter").alias("exporter"),
    )
    joined = grouped.join(F.broadcast(_widest_texts(rows)), "exporter", "left")
    return joined.select("record.*", "pieces", "exporter", "widest").mapInArrow(_join, RECORD_SCHEMA)


@dataclass(frozen=True, slots=True)
class WidestTexts:
    """How wide the widest pieces of a log are, and how many of them it has."""

    width: int = 0
    count: int = 0


_NONE_SEEN = WidestTexts()


def _widest_texts(rows: DataFrame) -> DataFrame:
    """`WidestTexts` by exporter."""
    widths = rows.where("piece_key is not null").groupBy("exporter", F.length("text").alias("width")).count()
    return widths.groupBy("exporter").agg(F.max(F.struct("width", "count")).alias("widest"))


def _join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        records = batch.to_pylist()
        for record in records:
            parts = record.pop("pieces")
            texts = [(part["piece"], part["text"] or "") for part in parts]
            profile, widest = PROFILES_BY_NAME.get(record.pop("exporter")), WidestTexts(**(record.pop("widest") or {}))
            if profile is not None:
                status = joined_status([(part["piece"], part["status"]) for part in parts], profile)
                record.update(whole_text(texts, profile, status, widest))
                record["job"] = record["job"] or job_of(None, record["text"])
        yield pa.RecordBatch.from_pylist(records, schema=ARROW_SCHEMA)


def joined_status(statuses: Sequence[tuple[int, str | None]], profile: ExportProfile) -> str | None:
    """What several rows say of one statement: where one has its text, what those after it say, a failure above all."""
    ordered = [status for _number, status in sorted(statuses, key=lambda one: one[0])]
    if profile.split_text is None or profile.split_text.order:
        return ordered[0]
    return Outcome.FAILED if Outcome.FAILED in ordered else ordered[-1]


def whole_text(
    numbered: Sequence[tuple[int, str]], profile: ExportProfile, status: str | None, widest: WidestTexts = _NONE_SEEN
) -> dict[str, Any]:
    """The text, status and problem of the record that has these numbered pieces; `widest` are those of the log."""
    form = profile.split_text
    ordered = sorted(set(numbered))
    numbers = [number for number, _text in ordered]
    if form is not None and not form.order:
        text = next((text for _number, text in ordered if text.strip()), None)
        return {"text": text, "status": status if text else Outcome.NOT_A_STATEMENT}
    if form is None or numbers != list(range(form.first, form.first + len(numbers))):
        return {"text": None, "problem": "pieces of its text are missing, or two have one number"}
    joined, certain = _text_of([text for _number, text in ordered], form, widest)
    text = clean_text(joined, profile)
    if not text:
        return {"text": text, "status": Outcome.NOT_A_STATEMENT}
    return {"text": text, "status": status if certain or status is not None else Outcome.CUT}


def _text_of(texts: Sequence[str], form: SplitText, widest: WidestTexts) -> tuple[str, bool]:
    """The pieces as one text, and whether it is certain: whether no blank that may be missing would tell words apart.

    A piece that is as wide as the platform's, or as several of the log none of which is wider, is whole. One that is
    not has lost blanks if those of this statement, or of the log, are known to be as wide as the platform's.
    """
    if form.width is None:
        return "".join(texts), True
    width, certain = form.width, True
    whole_widths = {width, widest.width} if widest.count > 1 else {width}
    of_platform = max(widest.width, *map(len, texts)) == width
    joined: list[str] = []
    for text, following in pairwise(texts):
        whole = len(text) in whole_widths or len(text.encode("utf-8", "surrogatepass")) == width
        if not whole and of_platform and text.isascii():
            text = text.ljust(width)
        elif not whole and _may_be_one_word(text, following):
            certain = False
        joined.append(text)
    return "".join([*joined, texts[-1]]), certain


def _may_be_one_word(text: str, following: str) -> bool:
    """Whether a blank between the two makes a difference: `or` and `ders`, `-` and `-`, a backslash and n."""
    ends = text[-1:] + following[:1]
    words = [character.isalnum() or character in "_$#@" for character in ends]
    others = [not character.isalnum() and character not in "_$#@(),;. \t\r\n" for character in ends]
    return len(ends) == 2 and (all(words) or all(others) or ends[0] == "\\")


# The inputs of a log.


@dataclass(frozen=True, slots=True)
class QueryLogOptions:
    """Where the log is, and what its columns mean. One of `path`, `table` and `jdbc` is given.

    `path`: a file, a directory, a glob; a path or any URI that Spark reads. `table`: one of the session's catalogs.
    `jdbc`: the options of Spark's JDBC source, secrets in clear. `timezone` (IANA name) counts for times that the log
    gives without a zone. `connection_type` is the service's, which decides between exporters of the same columns.
    `columns`: where the user says that a record's fields are. `profile`: by which it is to be read, and no other.
    """

    path: str | None = None
    timezone: str = "UTC"
    connection_type: str | None = None
    columns: Mapping[str, LogColumn] = field(default_factory=dict)
    table: str | None = None
    jdbc: Mapping[str, str] = field(default_factory=dict, repr=False)
    profile: ExportProfile | None = None


@dataclass(frozen=True, slots=True)
class QueryLogInput:
    """The parts of a log, and by whom they were exported: the exporter's name and its number of files or tables.

    A log's file goes on growing under one name: what of the `files` is new is told by their records, and the files only
    tell whether there is anything new.
    """

    spark: SparkSession
    texts: tuple[FileRange, ...] = ()
    tables: tuple[TableRead, ...] = ()
    files: Files = field(default_factory=NoFiles)

    @property
    def size(self) -> float:
        """About how many bytes of text it is; those of tables are not known, so infinite."""
        return math.inf if self.tables else sum(part.weight for part in self.texts)

    @property
    def exporters(self) -> dict[str, int]:
        names: Counter[str] = Counter()
        for part in self.texts:
            if part.layout is not None:
                names[part.layout.exporter] += 1
        for table in self.tables:
            names[table.reading.profile.name] += len(table.files or "1")
        return dict(names.most_common())

    @property
    def lacking(self) -> tuple[str, ...]:
        readings = [part.layout.reading for part in self.texts if part.layout is not None]
        readings += [table.reading for table in self.tables]
        found = Counter(_advice(what, one) for one in readings if one is not None for what in one.lacking)
        among = len(readings)
        return tuple(
            f"in {'the log' if number == among else f'{number} of {among} files of the log'} {advice}"
            for advice, number in sorted(found.items(), key=lambda one: one[0] not in _LACKING.values())
        )

    def records(self) -> DataFrame:
        """The log's records, with RECORD_SCHEMA; read in parallel by the tasks, never collected.

        A record without a statement has status `not_a_statement`, one that cannot be read a `problem`; none stops the
        run.
        """
        if not self._has_split_texts:
            return self._read(RecordReading(RECORD_SCHEMA, RECORD_SCHEMA))
        return _join_split_texts(self._read(RecordReading(SPLIT_RECORD_SCHEMA, SPLIT_RECORD_SCHEMA)))

    def map_records(self, work: RecordWork, schema: StructType) -> DataFrame:
        """What `work` makes of the log's records, with `schema`: where they are read, and sent on to nobody."""
        if self._has_split_texts:
            return self.records().mapInArrow(work, schema)
        return self._read(RecordReading(RECORD_SCHEMA, schema, work))

    @property
    def _has_split_texts(self) -> bool:
        if any(part.layout is not None and part.layout.has_split_texts for part in self.texts):
            return True
        return any(table.reading.profile.split_text is not None for table in self.tables)

    def _read(self, reading: RecordReading) -> DataFrame:
        frames = [table_records(table, reading) for table in self.tables]
        if self.texts or not frames:
            frames.append(text_records(self.spark, self.texts, reading))
        return reduce(DataFrame.unionByName, frames)


def open_query_log(spark: SparkSession, options: QueryLogOptions) -> QueryLogInput:
    """The log, of which so much is read that it is known what its columns mean.

    Text (CSV and its kin, JSON, csvlog) may be plain or compressed (gzip, bzip2, zstd). Such files on local disks are
    streamed, big plain ones in ranges; those of other file systems come whole through Spark's binaryFile and may have
    up to 2 GiB each as stored. Parquet, ORC and Avro are Spark's own.

    Raises ConfigError where there is no such file or table, or none is a query log.
    """
    hints = ReadingHints(options.connection_type, _zone(options.timezone), options.columns, options.profile)
    if options.jdbc:
        return QueryLogInput(spark, tables=(read_jdbc(spark, options.jdbc, hints),))
    if options.table is not None:
        return QueryLogInput(spark, tables=(read_table(spark, options.table, hints),))
    path = options.path or ""
    if (kind := table_format(spark, path)) is not None:
        return QueryLogInput(spark, tables=(read_directory(spark, kind, path, hints),))
    listed = time.time()
    found = find_log_files(spark, path)
    return replace(_of_files(spark, found, hints), files=local_files(found, listed))


def _of_files(spark: SparkSession, files: Iterable[QueryLogFile], hints: ReadingHints) -> QueryLogInput:
    texts: list[FileRange] = []
    by_format: dict[str, list[QueryLogFile]] = defaultdict(list)
    for file in files:
        head = stored_head(spark, file)
        kind = format_of(head)
        if kind is not None:
            by_format[kind].append(file)
        elif head:
            texts.append(with_layout(file, head, hints))
    tables = tuple(read_files(spark, kind, found, hints) for kind, found in by_format.items())
    if texts and not tables and all(part.layout is None for part in texts):
        raise ConfigError(texts[0].problem or "")
    return QueryLogInput(spark, tuple(texts), tables)


def _advice(lacking: str, reading: ColumnReading) -> str:
    """What a log does not tell, and what to do about it."""
    if lacking != OUTCOME:
        return _LACKING[lacking]
    profile = reading.profile
    if profile.outcome_in:
        return f"{_LACKING[OUTCOME]}{profile.outcome_in} has it, and docs/query_logs.md the statement that joins it"
    ends = {"status", "failure"}.isdisjoint(profile.columns) and profile is not GENERIC
    return _LACKING[OUTCOME] + (f"{profile.name} has no such column" if ends else _NAME_OUTCOME)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigError(f"{name} is no time zone: give a name such as UTC or Europe/Berlin") from error
