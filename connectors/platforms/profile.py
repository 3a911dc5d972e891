"""How a platform is described: what tells its export, what its columns mean, what it says of lineage itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    Json,
    Output,
    Problem,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.outcomes import ProblemKind

RowStates = Mapping[str, Mapping[str, str | None]]
"""By column: the status that a row has for a value (in lower case) of it; None where that value says nothing bad."""

COLUMNS_NOT_KNOWN = Problem(ProblemKind.INCOMPLETE, "columns")

OTHERWISE = "*"
"""Stands for any value of a column that is not named."""

MILLISECONDS, MICROSECONDS, PICOSECONDS = 1e-3, 1e-6, 1e-12

Row = list[str]
At = Mapping[str, int]
"""The position of each column in a row."""


# The vocabulary of an engine's own lineage: how a row of it is read, and what it says.


class MalformedLineage(ValueError):
    """A row whose lineage cannot be read; the message says why, without its content."""


@dataclass(frozen=True, slots=True)
class EngineLineage:
    """How rows tell lineage: `read` takes the values of `columns` ("" for none).

    It gives None where nothing is written nor read, lineage without a target where there is only reading, and raises
    MalformedLineage. `verbatim`: no word stands for no value, so
    that a table may be called NULL.
    """

    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], StatementLineage | None]
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """A column of a source and what it has to do with one of the target."""

    source: TableName
    column: str
    to: str
    subtype: Subtype = Subtype.TRANSFORMATION


def flow_into(
    target: TableName,
    sources: Iterable[TableName],
    pairs: Iterable[ColumnPair] = (),
    filters: Iterable[ColumnRef] = (),
) -> Flow:
    """What a table is given: by whole `sources`, by `pairs` of columns, and which `filters` have a say in all of it."""
    outputs: dict[str, dict[Reference, None]] = {}
    tables = dict.fromkeys(sources)
    for pair in pairs:
        reference = Reference((ColumnRef(pair.source, pair.column),), Transformation(pair.subtype))
        outputs.setdefault(pair.to, {})[reference] = None
        tables[pair.source] = None
    indirect = {Reference((column,), Transformation(Subtype.FILTER)): None for column in filters}
    tables.update(dict.fromkeys(reference.sources[0].table for reference in indirect))
    return Flow(
        Target(target, WriteMode.APPEND),
        tuple(Output(name, tuple(references)) for name, references in outputs.items()),
        tuple(indirect),
        tuple(tables),
    )


def lineage_of_flows(flows: Iterable[Flow]) -> StatementLineage | None:
    """What a statement did, of which these flows are known; None where there are none."""
    found = tuple(flows)
    return StatementLineage(StatementKind.INSERT, found) if found else None


def only_read(columns: Iterable[ColumnRef], tables: Iterable[TableName], *, whole: bool) -> StatementLineage | None:
    """What a statement read that wrote nothing; not `whole`: it may have read more columns of these tables."""
    references = {Reference((column,), Transformation(Subtype.IDENTITY)): column for column in columns}
    outputs = tuple(Output(column.column, (reference,)) for reference, column in references.items())
    sources = tuple(dict.fromkeys((*tables, *(column.table for column in references.values()))))
    problems = () if whole else (COLUMNS_NOT_KNOWN,)
    return (
        StatementLineage(StatementKind.SELECT, (Flow(None, outputs, (), sources),), (), (), problems)
        if sources
        else None
    )


def objects_of(text: str, column: str) -> list[Json]:
    """The objects of a JSON list, none for an empty text. Raises MalformedLineage."""
    return objects_in(json_of(text, column), column)


def objects_in(value: Any, name: str) -> list[Json]:
    """The objects of a list, none for null; `name` is what an error names. Raises MalformedLineage."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise MalformedLineage(f"{name} is no list of objects")
    return value


def json_of(text: str, column: str) -> Any:
    """The value of a JSON text, None for an empty one."""
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedLineage(f"{column} is not valid JSON") from None


def text_of(record: Json, key: str, column: str) -> str:
    """The text that an object of `column` must have as `key`. Raises MalformedLineage."""
    value = record.get(key)
    if not isinstance(value, str) or not value:
        raise MalformedLineage(f"{column}: an object without {key}")
    return value


# What is known of one exporter: which headers tell it, and what its columns mean.


def marks(*sets: str) -> tuple[frozenset[str], ...]:
    """Sets of columns, each written as one text."""
    return tuple(frozenset(names.split()) for names in sets)


@dataclass(frozen=True, slots=True)
class SplitText:
    """How a text stands in several rows: those with one `key`, in the order of a column that counts from `first`.

    Without an order one row has the text, and a later one tells how its statement ended.

    `width`: characters of every piece but the last as the platform makes them, where blanks may be cut off their ends.
    Without one no blank is ever cut off.
    """

    key: tuple[str, ...]
    order: str = ""
    first: int = 0
    width: int | None = None


@dataclass(frozen=True, slots=True)
class TextLimit:
    """Where a platform cuts a column's texts: at so many characters, or (`in_bytes`) bytes of UTF-8.

    `mark` is what it puts in place of the last characters of a text that it cuts.
    """

    length: int
    in_bytes: bool = False
    mark: str = ""

    def cuts(self, text: str) -> bool:
        """Whether a text is just as long as it can be, which is hardly ever all of it.

        A longer one comes from a server that was told to cut later, or from a column of another kind.
        """
        if len(text) * 4 < self.length - 4:
            return False
        if self.mark and text.endswith(self.mark):
            return True
        if not self.in_bytes or text.isascii():
            return len(text) == self.length
        # A character that does not fit is left out whole.
        return self.length - 4 < len(text.encode("utf-8", "surrogatepass")) <= self.length


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Rows that are no statement and do what one does: where `column` is `value`, and the text has `pattern`."""

    column: str
    value: str
    pattern: re.Pattern[str]
    statement: str


@dataclass(frozen=True, slots=True)
class FieldsInText:
    """A column whose text holds fields: `read` gives them as an object, their names are those after `prefix`.

    It raises ValueError where they cannot be read.
    """

    column: str
    read: Callable[[str], Any]
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Withheld:
    """What the platform writes in place of a text that it does not show, and where the text can be had."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True, slots=True)
class ExportProfile:
    """One exporter. Column names are in lower case, words joined by `_`, fields of fields too: `status_state`.

    `marks`: any one of these sets of columns tells it, and any of `own_marks` where the connection is of one of its
    `services`, which also decide where two fit. `columns`: a record's field to its columns, of which the first that
    holds something counts. `units`: seconds in one unit of a column. `patterns`: what of a column's value counts, the
    pattern's first group. `noise`: what stands before the statement. `escaped`: line ends are written `\\n`. `limits`:
    where a column's texts are cut. `job_ids`: columns that name a job by its id, and what kind of job. `lineage`: what
    the engine itself tells of it, beside the text or, where no column has one, in its place. `adds_rows`: the columns
    of `rows` count different rows (inserted, updated), and are no aliases of one count. `only_ran`: what failed is not
    in it. `only_begun`: its rows are written when a statement begins. `outcome_in`: where the platform has how it
    ended, if not in the export itself. `inside`: columns with others in them. `withheld`: what stands for a text that
    is not shown. `without_text`: what to do where the export has no text at all. `fills`: the columns that name the
    table, where a text is only the query that fills it.
    """

    name: str
    marks: tuple[frozenset[str], ...]
    columns: Mapping[str, tuple[str, ...]]
    services: frozenset[str] = frozenset()
    own_marks: tuple[frozenset[str], ...] = ()
    units: Mapping[str, float] = field(default_factory=dict)
    patterns: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    states: RowStates = field(default_factory=dict)
    rewrites: tuple[Rewrite, ...] = ()
    split_text: SplitText | None = None
    noise: re.Pattern[str] | None = None
    escaped: bool = False
    limits: Mapping[str, TextLimit] = field(default_factory=dict)
    job_ids: Mapping[str, str] = field(default_factory=dict)
    lineage: EngineLineage | None = None
    adds_rows: bool = False
    only_ran: bool = False
    only_begun: bool = False
    outcome_in: str = ""
    inside: tuple[FieldsInText, ...] = ()
    withheld: Withheld | None = None
    without_text: str = ""
    fills: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that it reads, each once."""
        found = [name for names in self.columns.values() for name in names]
        found += [*self.states, *(rewrite.column for rewrite in self.rewrites)]
        if self.split_text is not None:
            found += [name for name in (*self.split_text.key, self.split_text.order) if name]
        if self.lineage is not None:
            found += self.lineage.columns
        found += [one.column for one in self.inside]
        found += self.fills
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class LoggedStatement:
    """What a row of a server's log says was executed.

    `duration` in seconds is known where the row was written after the execution. Other rows may tell of the same one:
    one with its plan (`planned`), and all that have its `number` within the session. Of one that is `cut` the end of
    the text is not known.
    """

    text: str
    duration: float | None = None
    failed: bool = False
    planned: bool = False
    number: int | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ServerLog:
    """A server's own log, most rows of which are messages, as delimited text or as JSON.

    `name` and `json_name` are what it is called in either form. Without a header it has one of `widths` of the
    `columns`, and `is_row` knows its rows; `marks` are those columns that tell it by its header. `json_keys`: each way
    in which JSON has the columns, told by the keys of the `json_marks`. `fields`: a record's field to its column;
    `written_at`: the column with when a row was written, and how that looks. `transaction`: with the session it tells
    one execution of a text from the next.

    `statement` gives what a row says was executed, `failure` the text of a statement that failed by it ("": none), and
    `failure_marks` is what lines have in which such a row begins. `states`: values of query_type that are none.
    """

    name: str
    json_name: str
    columns: tuple[str, ...]
    widths: frozenset[int]
    is_row: Callable[[Row], bool]
    marks: frozenset[str]
    json_keys: tuple[Mapping[str, str], ...]
    json_marks: tuple[str, ...]
    fields: Mapping[str, str]
    written_at: tuple[str, re.Pattern[str]]
    transaction: str
    statement: Callable[[Row, At], LoggedStatement | None]
    failure: Callable[[Row, At], str]
    failure_marks: tuple[str, ...]
    states: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class HeaderlessFile:
    """A file in which a server keeps a table as delimited text, without a header: its `columns`, and how they read.

    `is_row` knows its rows, but for the time that stands in their first column.
    """

    columns: tuple[str, ...]
    profile: ExportProfile
    is_row: Callable[[Row], bool]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A form of a platform's log that is not read: how such a file begins, and `instead`, what it is and what to do."""

    begins: re.Pattern[str]
    instead: str


Entry = tuple[int, str]
"""The number of an entry's first line, and its lines."""


@dataclass(frozen=True, slots=True)
class TextLog:
    """A log that is lines of text, neither delimited nor JSON.

    `begins`: how the first line of an entry begins; those after it are of the same entry. `rows` makes rows of the
    `columns` of entries, each with the number of its line; they are read by a `profile`, or as those of a `server_log`.
    `in_fields`: fields of JSON objects in which services hand on such lines. `banner`: lines that are of no entry.
    `outcome_mark`: what logs have in them that tell how a statement ended, where not all do. `needs`: what others
    whose entries begin so do not have.
    """

    name: str
    begins: re.Pattern[str]
    columns: tuple[str, ...]
    rows: Callable[[Iterator[Entry]], Iterator[tuple[int, Row]]]
    profile: ExportProfile | None = None
    server_log: ServerLog | None = None
    in_fields: tuple[str, ...] = ()
    banner: re.Pattern[str] | None = None
    outcome_mark: re.Pattern[str] | None = None
    needs: re.Pattern[str] | None = None
