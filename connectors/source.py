"""What a source gives a run: records of what ran, definitions that are in no log, columns, a planner's word.

A source is a room: its `source` has a context manager `open_source(settings, run)`, and `connectors.sources` a line
with its type. It offers what it has; what it lacks has a default that says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from connectors.assets import Assets
from connectors.records import RecordWork
from ingestion.model.engine_names import EngineNameRules
from ingestion.model.file_marks import FileMarks, MarkedFile
from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.parsing.sandbox.process import Limits
from ingestion.statements.routines.definition import Definition

Reads = Mapping[tuple[str, str], frozenset[str]]
"""(schema, relation) -> the columns of it that are read; the schema of temporary relations is "".

Of a statement over one relation alone a planner writes most columns without its name, and they are not told here.
"""

Schemas = Mapping[RelationKey, tuple[Column, ...]]
"""The columns of relations, in their order."""


@dataclass(frozen=True, slots=True)
class SourceRun:
    """The run that a source is opened for: its `dialect` ("" where the source itself has to tell it), what Spark's
    names mean, and the `limits` of one parser.
    """

    dialect: str = ""
    names: EngineNameRules = field(default_factory=EngineNameRules)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class RecordsWanted:
    """Which records a run asks for.

    `limit`: how many at most, of a source that keeps no order. `known`: size and modification time of the files that
    earlier runs read; of what they have read, they have read what had ended by `read_until` (seconds since the epoch).
    """

    limit: int = 100_000
    known: FileMarks = field(default_factory=dict)
    read_until: float | None = None


class LogFile(MarkedFile, Protocol):
    """A file of a source, with what tells a later run whether it has changed; `log` names the log that it is of."""

    @property
    def log(self) -> str: ...


class Files(Protocol):
    """The files of a source that are `there`, and those that this run reads so that a later one may leave them out."""

    @property
    def there(self) -> Sequence[LogFile]: ...
    @property
    def to_read(self) -> Sequence[LogFile]: ...


@dataclass(frozen=True, slots=True)
class NoFiles:
    """Of a source of which no run remembers files."""

    there: tuple[LogFile, ...] = ()
    to_read: tuple[LogFile, ...] = ()


class SourceRecords(Protocol):
    """The records of a source (RECORD_SCHEMA), read by Spark's tasks and never collected."""

    @property
    def size(self) -> float:
        """About how many bytes of text they are; infinite where that is not known."""

    @property
    def exporters(self) -> Mapping[str, int]:
        """By whom they were exported, and how many files or tables of each."""

    @property
    def lacking(self) -> tuple[str, ...]:
        """What their exports leave out that a run needs, in words, with the key that names it."""

    @property
    def files(self) -> Files: ...

    def records(self) -> DataFrame: ...

    def map_records(self, work: RecordWork, schema: StructType) -> DataFrame:
        """What `work` makes of them, with `schema`: where they are read, and sent on to nobody."""


@dataclass(frozen=True, slots=True)
class FrameOfRecords:
    """Records that are a DataFrame already."""

    frame: DataFrame
    files: Files = field(default_factory=NoFiles)
    size: float = math.inf
    exporters: Mapping[str, int] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()

    def records(self) -> DataFrame:
        return self.frame

    def map_records(self, work: RecordWork, schema: StructType) -> DataFrame:
        return self.frame.mapInArrow(work, schema)


@dataclass(frozen=True, slots=True)
class FailedDefinition:
    """A definition whose text cannot be had: where it stands (`file:line`), and why."""

    definition: Definition
    source_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Question:
    """A statement, the statements that make what it needs (in their order), and where its bare names are looked up."""

    statement: str
    dependencies: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()


Planner = Callable[[Question], Reads | None]
"""Which columns a statement reads by a live database's own planner; None where it cannot plan it."""


TextNames = Callable[[str], tuple[str, str | None]]
"""A statement's text as it is to be read, and why it is skipped, None where it is not. It goes to Spark's tasks."""


def _nothing() -> tuple[()]:
    return ()


def _still_stands(_stored: Definition) -> bool:
    return True


def _never_as_read(_known: FileMarks) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class OpenSource:
    """An open source.

    `database`: in which its bare names are, None where nothing tells. `views` and `routines`: its definitions as they
    stand now; `keeps`: whether a definition that the catalog has of it, and the source has not, still stands;
    `failures`: those whose text cannot be had. `columns` are of the relations that it knows.
    `assets`: what its records define that is no table. `text_names`: what the statements of a log beside it are read
    as. `is_as_read`: whether all files of its records are as earlier runs read them, given their marks by path; told
    without Spark, and False where it cannot be told.
    """

    database: str | None = None
    records: Callable[[SparkSession, RecordsWanted], SourceRecords | None] | None = None
    views: Callable[[], Iterable[Definition]] = _nothing
    routines: Callable[[], Iterable[Definition]] = _nothing
    keeps: Callable[[Definition], bool] = _still_stands
    failures: Callable[[], Iterable[FailedDefinition]] = _nothing
    columns: Callable[[], Schemas] = dict
    assets: Callable[[], Assets] | None = None
    planner: Planner | None = None
    text_names: TextNames | None = None
    is_as_read: Callable[[FileMarks], bool] = _never_as_read

    @property
    def has_definitions(self) -> bool:
        """Whether it can have definitions of its own."""
        return self.views is not _nothing
