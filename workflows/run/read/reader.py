"""What a run reads: the records of its source as statements, with those that it leaves out marked and counted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from connectors.openmetadata.client import Platform
from connectors.records import RECORD_SCHEMA, RecordWork
from connectors.source import Files, FrameOfRecords, NoFiles, OpenSource, RecordsWanted, SourceRecords
from connectors.source_settings import LineageConfig
from ingestion.errors import ConfigError
from ingestion.model.file_marks import FileMarks, marks_of
from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.model.outcomes import Outcome
from ingestion.parsing.templates import TemplateKey
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings, dialect_name
from workflows.counts import RunCounts
from workflows.run.read.called_routines import with_routines
from workflows.run.read.definitions import catalog_definitions, with_views
from workflows.run.read.journal_frames import (
    LeftOut,
    files_folder,
    kept_journal,
    reach_files,
    segments,
    segments_without,
    with_journal,
    without_texts,
)
from workflows.run.read.session_states import with_session_states
from workflows.run.read.sources import LiveDefinitions, live_definitions, with_spark_catalogs
from workflows.run.read.statements import FEW, NO_RECORD, RECORD_ORDER, STATEMENT_SCHEMA, to_statements
from workflows.run.read.statistics import (
    HAS_LINEAGE,
    OF_SESSIONS,
    StatementStatistics,
    first_of_record,
    statement_statistics,
)
from workflows.runtime.spark import interpreted_queries
from workflows.runtime.spill import kept_frame
from workflows.state.dead_letters import DeadLetter
from workflows.state.journal import SECONDS_A_DAY, ReadState
from workflows.state.segments import Segment, any_conditional_change, any_session_change, stored_segment

_NOT_FOR_USERS = frozenset({"symbolic", "edges", "problem", "status"})
_SMALL_LOG = 16 << 20
"""Bytes."""
_TINY_LOG = 1 << 18
"""Bytes of a log whose queries are interpreted."""
_OF_READ_STATEMENTS = ("fingerprint", "dead", "query", "called", "failure", "filled")
_IS_READ = f"skipped is null or skipped not in {NO_RECORD}"


def with_condition(records: DataFrame, condition: str | None) -> DataFrame:
    """Marks the records for which the condition does not hold: they are counted as filtered, and not read.

    Raises ConfigError where it is no condition over a record's columns; the error does not quote it.
    """
    if condition is None:
        return records
    try:
        wanted = F.coalesce(F.expr(condition), F.lit(False))
        outside = F.col("status").isNull() & F.col("problem").isNull() & ~wanted
        status = F.when(outside, Outcome.FILTERED).otherwise(F.col("status"))
        # What failed keeps its reason; without its text it is no failed load of those that are asked for.
        text = F.when(~F.col("status").eqNullSafe(Outcome.FAILED) | wanted, F.col("text"))
        return records.withColumns({"status": status, "text": text})
    except (AnalysisException, ParseException) as error:
        reason = error.getCondition() or "not a condition"
    columns = ", ".join(name for name in RECORD_SCHEMA.fieldNames() if name not in _NOT_FOR_USERS)
    raise ConfigError(
        f"filterCondition is not a Spark SQL condition over a record ({reason.lower()}); its columns are {columns}"
    )


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a source: `frame` has what this run read, `whole` what bears on lineage in the window.

    `statistics` is of those that this run read; its counts have what has ended already. `session_changes`: whether any
    of the whole changes its session's defaults; `with_lineage`: how many they are at most. `files` are those of a Spark
    history, `live_columns` the columns of the live database or of Spark's catalogs. The files `written` have all that
    the journal is to have of the frame, None where that is to be packed (into the `folder`, where there is one).
    `window`: from when to when statements count (seconds since the epoch); `lacking`: what the log does not tell;
    `left_out`: which of the rows `written` this run does not read, None where it reads all.
    """

    frame: DataFrame
    whole: DataFrame
    statistics: StatementStatistics
    session_changes: bool
    with_lineage: int
    files: Files = field(default_factory=NoFiles)
    live_columns: Mapping[RelationKey, tuple[Column, ...]] = field(default_factory=dict)
    written: tuple[str, ...] | None = None
    folder: Path | None = None
    window: tuple[float, float] | None = None
    lacking: tuple[str, ...] = ()
    left_out: LeftOut | None = None

    def segments(self) -> list[Segment]:
        """What the journal is to have of what this run read."""
        if self.written is None:
            return segments(self.frame, self.folder)
        if self.left_out is None:
            return [stored_segment(Path(file)) for file in self.written]
        return segments_without(map(Path, self.written), self.left_out)

    @property
    def counts(self) -> RunCounts:
        """What has ended already."""
        return self.statistics.counts

    @property
    def are_few(self) -> bool:
        """Whether they are so few that one partition is the soonest."""
        return max(self.counts.statements, self.with_lineage) <= FEW


@contextmanager
def _read_statements(
    spark: SparkSession, config: RunConfig, settings: SourceSettings, definitions: LiveDefinitions, past: ReadState
) -> Iterator[Statements]:
    """The statements of the configured source, which Spark keeps for the block.

    Raises ConfigError where it cannot be read.
    """
    dialect = definitions.dialect
    records = _records(spark, config, definitions.source, past)
    known = past.known if reach_files(spark, past) else past.known.all_at_hand()
    folder = files_folder(spark, past)
    work = with_journal(to_statements(dialect, known, past.literal_key), folder)
    reading = partial(_statements_of, records, config.lineage.filter_condition)
    since = _since(config, past)
    kept_rows = kept_frame(spark, reading, work, STATEMENT_SCHEMA, are_few=records.size < _SMALL_LOG)
    few = interpreted_queries(spark, are_few=records.size < _TINY_LOG)
    with few, kept_rows as kept, kept_journal(spark, past, since) as journal:
        statistics = statement_statistics(kept, past.latest)
        as_read = kept.where(_IS_READ)
        left_out = _left_out(as_read, statistics, config, past)
        in_window = _in_window(as_read, statistics, left_out, past)
        frame = defined = with_views(in_window, definitions.definitions, dialect, definitions.failures)
        if config.lineage.process_stored_procedure_lineage:
            frame = with_routines(frame, statistics, definitions.definitions, dialect, settings)
        whole = _whole(frame, journal, past, statistics)
        # Definitions are in no journal, and what is left out can be taken out of the files.
        is_as_read = not statistics.ahead and frame is defined and folder is not None
        written = statistics.written if is_as_read else None
        if frame is not as_read:
            statistics = _statistics_again(frame, statistics)
        statistics = replace(statistics, counts=statistics.counts + RunCounts(exporters=records.exporters))
        changes = bool(statistics.session_changes) or any_session_change(past.journal)
        with_lineage = statistics.with_lineage + sum(segment.statements for segment in past.journal)
        yield Statements(
            frame,
            whole,
            statistics,
            changes,
            with_lineage,
            records.files,
            definitions.columns,
            written,
            folder,
            window=_window(statistics, config.lineage, past),
            left_out=left_out,
            lacking=records.lacking,
        )


def _in_window(
    statements: DataFrame, statistics: StatementStatistics, left_out: LeftOut | None, past: ReadState
) -> DataFrame:
    """The statements with possible times, those marked that this run leaves out; the same frame where all are so."""
    possible = _with_possible_times(statements, past) if statistics.ahead else statements
    return possible if left_out is None else _mark_left_out(possible, left_out)


def _statistics_again(statements: DataFrame, before: StatementStatistics) -> StatementStatistics:
    """The figures of what was made of statements, of whose records some were read by earlier runs."""
    statistics = statement_statistics(statements)
    read_before = RunCounts(records_read_before=before.counts.records_read_before)
    return replace(statistics, counts=statistics.counts + read_before, ahead=before.ahead)


def files_done(statements: Statements) -> FileMarks:
    """The files that need no reading until they change: not those that could not be had.

    There are none where records of them were left out, which another run may take, or where each run is to warn of what
    they lack.
    """
    if statements.left_out is not None or statements.lacking:
        return {}
    unread_files: tuple[str, ...] = ()
    if Outcome.UNREAD in statements.counts.skipped:
        unread = statements.frame.where(F.col("skipped") == Outcome.UNREAD).select("file").distinct()
        unread_files = tuple(row["file"] for row in unread.toLocalIterator())
    done = (file for file in statements.files.to_read if not any(start.startswith(file.log) for start in unread_files))
    return marks_of(done)


def _with_possible_times(statements: DataFrame, past: ReadState) -> DataFrame:
    """A time that cannot be yet is none: it would end the window after all others, and outlive them in the catalog."""
    return statements.withColumn("time", F.when(F.col("time") <= past.latest, F.col("time")).otherwise(F.lit(0.0)))


def _since(config: RunConfig, past: ReadState) -> float | None:
    """Where the window that lineage is bound over begins."""
    return None if past.newest is None else past.newest - config.lineage.days_kept * SECONDS_A_DAY


def _whole(frame: DataFrame, journal: DataFrame | None, past: ReadState, statistics: StatementStatistics) -> DataFrame:
    """The statements that bear on lineage, each with whether it was `read_in_this_run`.

    What their sessions set says what is set after it, where some of it depends on more.
    """
    if not statistics.conditional_changes and not any_conditional_change(past.journal):
        return _read_and_before(frame, journal, past, HAS_LINEAGE)
    whole = _read_and_before(frame, journal, past, OF_SESSIONS)
    statements = statistics.counts.statements + sum(segment.statements for segment in past.journal)
    return with_session_states(whole, are_few=statements <= FEW)


def _read_and_before(frame: DataFrame, journal: DataFrame | None, past: ReadState, condition: str) -> DataFrame:
    read_now = without_texts(frame.where(condition)).withColumn("read_in_this_run", F.lit(True))
    if journal is None:
        return read_now
    before = _with_possible_times(journal.where(condition), past)
    if past.rereads:
        again = frame.where(F.col("digest").isNotNull()).select("digest").distinct()
        before = before.join(again, "digest", "left_anti").select(journal.columns)
    return read_now.unionByName(before.withColumn("read_in_this_run", F.lit(False)))


def _statements_of(records: SourceRecords, condition: str | None, work: RecordWork, schema: StructType) -> DataFrame:
    if condition is None:
        return records.map_records(work, schema)
    return with_condition(records.records(), condition).mapInArrow(work, schema)


def _records(spark: SparkSession, config: RunConfig, source: OpenSource, past: ReadState) -> SourceRecords:
    wanted = RecordsWanted(config.lineage.result_limit, past.files, _since(config, past))
    found = None
    try:
        found = source.records(spark, wanted) if source.records is not None else None
    except ConfigError:
        if not (past.log_may_be_gone and config.has_query_log):
            raise
    if source.records is None and config.lineage.needs_query_log:
        raise ConfigError(f"{config.origin}: set sourceConfig.config.queryLogFilePath to the query log")
    return FrameOfRecords(spark.createDataFrame([], RECORD_SCHEMA)) if found is None else found


def _left_out(
    statements: DataFrame, statistics: StatementStatistics, config: RunConfig, past: ReadState
) -> LeftOut | None:
    """What is older than the window, which ends at the newest record, and what comes after the limit; None: nothing is.

    Of more records than the limit the oldest are taken, so that a later run goes on where this one ended.
    """
    window = _window(statistics, config.lineage, past) if config.has_query_log else None
    if window is None or statistics.newest is None:
        return None
    (begin, end), most = window, config.lineage.result_limit
    if statistics.records <= most and (
        statistics.oldest is None or begin <= statistics.oldest <= statistics.newest < end
    ):
        return None
    left_out = LeftOut(begin, end)
    if statistics.records <= most:
        return left_out
    possible = _with_possible_times(statements, past) if statistics.ahead else statements
    inside = _mark_left_out(possible, left_out).where(first_of_record() & ~_is_outside(left_out))
    at = F.struct(*RECORD_ORDER)
    last = inside.select(at.alias("at")).orderBy("at").limit(most).agg(F.max("at").alias("at")).first()
    return left_out if last is None or last["at"] is None else replace(left_out, limit=tuple(last["at"]))


def _is_outside(left_out: LeftOut) -> SparkColumn:
    """Without a time a record is inside: it cannot be shown to be old."""
    return (F.col("time") > 0) & ((F.col("time") < left_out.begin) | (F.col("time") >= left_out.end))


def _mark_left_out(statements: DataFrame, left_out: LeftOut) -> DataFrame:
    """The statements, those marked that are left out."""
    outside = _is_outside(left_out)
    marked = _skipping(statements, outside, Outcome.OUTSIDE_WINDOW)
    if left_out.limit is None:
        return marked
    limit = F.struct(*(F.lit(value).alias(name) for name, value in zip(RECORD_ORDER, left_out.limit, strict=True)))
    return _skipping(marked, ~outside & (F.struct(*RECORD_ORDER) > limit), Outcome.OVER_LIMIT)


def _window(statistics: StatementStatistics, wanted: LineageConfig, past: ReadState) -> tuple[float, float] | None:
    """From when to when statements count, None where none has a time that could be outside."""
    if statistics.newest is None:
        return None
    newest = statistics.newest if past.newest is None else max(statistics.newest, past.newest)
    return past.between or (_window_begin(newest, wanted, past), float("inf"))


def _window_begin(newest: float, wanted: LineageConfig, past: ReadState) -> float:
    """Without a window a log is read whole once, and then what came since, or came as late as is remembered."""
    if wanted.query_log_duration is not None:
        return newest - wanted.query_log_duration * SECONDS_A_DAY
    return float("-inf") if past.newest is None else past.newest - wanted.days_kept * SECONDS_A_DAY


def _skipping(statements: DataFrame, condition: SparkColumn, reason: str) -> DataFrame:
    """Marks the statements that are left out; session changes among them still hold."""
    left_out = condition & ~F.col("skipped").eqNullSafe(Outcome.NOT_A_STATEMENT)
    gone = {name: F.when(~left_out, F.col(name)) for name in _OF_READ_STATEMENTS}
    skipped = F.when(left_out, reason).otherwise(F.col("skipped"))
    return statements.withColumns({**gone, "skipped": skipped})


# What reads the source of a run.


@dataclass(frozen=True, slots=True)
class Reading:
    """Takes a Spark session, gives the statements that this run reads and those of its journal.

    `past` is what needs no reading.
    """

    config: RunConfig
    settings: SourceSettings
    platform: Platform
    source: OpenSource
    past: ReadState

    def has_nothing_new(self) -> bool:
        """Whether earlier runs have read all that this one would: the log's files as they are, and nothing beside.

        Raises TargetDown where the catalog, which may have definitions from elsewhere, does not answer.
        """
        wanted, source = self.config.lineage, self.source
        other = self.config.spark_catalogs or wanted.is_whole or wanted.process_entities
        if other or not source.is_as_read(self.past.files):
            return False
        return all(one.own for one in catalog_definitions(self.platform, self.config.source.service_name, wanted))

    @contextmanager
    def statements(self, spark: SparkSession) -> Iterator[Statements]:
        """The statements, which Spark keeps for the block.

        Raises ConfigError where the source cannot be read, TargetDown where the catalog does not answer.
        """
        source = with_spark_catalogs(self.source, self.config, spark, self.settings.default_database)
        definitions = live_definitions(self.config, dialect_name(self.config), self.platform, source)
        with _read_statements(spark, self.config, self.settings, definitions, self.past) as statements:
            yield statements


def texts_of_the_dead(statements: DataFrame, dead_letters: Collection[DeadLetter]) -> dict[TemplateKey, str]:
    """For a replay: the masked texts of dead templates of which the log has no statement any more."""
    masked = {
        (letter.fingerprint, str(letter.details["dialect"])): str(letter.details["masked"])
        for letter in dead_letters
        if letter.fingerprint and letter.details.get("masked")
    }
    here = statements.where(F.col("fingerprint").isin([key[0] for key in masked]))
    found = {row["fingerprint"] for row in here.select("fingerprint").distinct().toLocalIterator()}
    return {key: text for key, text in masked.items() if key[0] not in found}
