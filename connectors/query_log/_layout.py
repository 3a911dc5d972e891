"""What a log file looks like: its delimiter, and which column holds what."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from connectors.encodings import text_encoding
from connectors.platforms.generic import GENERIC
from connectors.platforms.index import HEADERLESS_FILES, SERVER_LOGS, TEXT_LOGS, UNREADABLE
from connectors.platforms.profile import HeaderlessFile, ServerLog, TextLog
from connectors.query_log._columns import (
    OUTCOME,
    ColumnReading,
    ReadingHints,
    column_reading,
    plain_name,
    reading_by,
    with_unseen,
)
from connectors.query_log._json_records import Object, is_json, is_json_lines, names_of, sample_objects, values_of
from connectors.query_log._text_logs import text_log_of
from connectors.query_log._values import parse_time
from ingestion.arguments import listing
from ingestion.errors import ConfigError

if TYPE_CHECKING:
    from _csv import Reader

# a file with one column has no delimiter; this one never occurs in text
_NO_DELIMITER = "\x1f"
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 200
_ESCAPED = re.compile(r"\\[nt\\]")
_ESCAPED_APOSTROPHE = re.compile(r"(?<!\\)(?:\\\\)*\\'")
_BARE_APOSTROPHE = re.compile(r"(?<!\\)(?:\\\\)*'")
_QUOTED_AFTER_TAB = re.compile(r'(?:^|\t)"', re.MULTILINE)

_TYPE = re.compile(
    r"(?:Nullable|LowCardinality|Array|Map|Tuple|Enum8|Enum16|FixedString|DateTime|DateTime64|Decimal)\(.*\)|U?Int\d+|"
    r"Float\d+|String|UUID|Date|Date32|DateTime|Bool|IPv[46]"
)
"""What ClickHouse's formats that end in WithNamesAndTypes have as a second line."""
_DELIMITER_NAMED = re.compile(r"\Asep=[,;|\t]\r?\n", re.IGNORECASE)
"""The line above the header that tells Excel how columns are parted, and is no record."""
_NAME = re.compile(r"[A-Za-z_][\w .()#/-]{0,62}")


class Form(Enum):
    """How a file's records are written."""

    DELIMITED = "delimited"
    JSON_LINES = "JSON lines"
    JSON_DOCUMENT = "JSON document"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read a file's records; `fields` maps a record's field (or a server log's column) to its position.

    `reading` says what the columns mean, of all but a server's own log; `names` are that one's keys in JSON.
    """

    delimiter: str
    widths: frozenset[int]
    fields: Mapping[str, int]
    server_log: ServerLog | None = None
    header: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None  # what stands below the header, where that is the columns' types
    encoding: str = "utf-8"
    zone: tzinfo = field(default=UTC)
    quote: str = '"'  # none: backslashes before what cannot stand in a field
    escaped_apostrophes: bool = False  # among what has a backslash before it
    reading: ColumnReading | None = None
    form: Form = Form.DELIMITED
    names: tuple[str, ...] = ()
    text_log: TextLog | None = None
    outer: Layout | None = None  # of the table in whose column `text` a log's lines stand

    @property
    def exporter(self) -> str:
        """Who wrote it, in words."""
        if self.text_log is not None:
            return self.text_log.name
        if self.reading is not None:
            return self.reading.profile.name
        assert self.server_log is not None
        return self.server_log.name if self.form is Form.DELIMITED else self.server_log.json_name

    @property
    def json_names(self) -> tuple[str, ...]:
        """What of each JSON object is read, in this order."""
        return self.names or (self.reading.names if self.reading is not None else ())

    @property
    def time_positions(self) -> list[int]:
        names = ("start_time", "end_time") if self.server_log is None else self.server_log.written_at[:1]
        width = min(self.widths, default=0)
        return [at for name in names if (at := self.fields.get(name, width)) < width]

    @property
    def anchored(self) -> bool:
        """Whether a record can be told from a line of SQL: it has a time."""
        return bool(self.time_positions)

    def reader(self, lines: Iterable[str], *, strict: bool = True) -> Reader:
        """The csv module's reader of such lines; it raises csv.Error."""
        if not self.quote:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, strict=strict)
        return csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote, strict=strict)

    @property
    def has_split_texts(self) -> bool:
        return self.reading is not None and self.reading.profile.split_text is not None

    def plausible(self, row: list[str]) -> bool:
        """Whether this row is surely a record: as many columns as the others, and times where times belong."""
        if len(row) not in self.widths:
            return False
        if self.server_log is not None:
            column, pattern = self.server_log.written_at
            return bool(pattern.fullmatch(row[self.fields[column]]))
        times = [row[position] for position in self.time_positions if row[position]]
        known = bool(times) or not self.anchored
        return known and self._has_text(row) and all(_is_time(time, self.zone) for time in times)

    def _has_text(self, row: list[str]) -> bool:
        positions = (self.fields["text"],) if self.reading is None else self.reading.content
        return any(row[position] for position in positions if position < len(row))

    def begins(self, row: list[str]) -> bool:
        """Whether a record begins so, although the row is none: a time stands where the first time belongs."""
        if not self.anchored or len(row) <= min(self.time_positions):
            return False
        value = row[min(self.time_positions)]
        if self.server_log is not None:
            return bool(self.server_log.written_at[1].fullmatch(value))
        return _is_time(value, self.zone)


def sniff(head: bytes, name: str, hints: ReadingHints) -> Layout:
    """The layout of the (decompressed) file that starts with `head`.

    Raises ConfigError, naming the columns that the file has, where no column holds a query's text.
    """
    encoding = text_encoding(head)
    _check_readable(head, name)
    if encoding is None:
        raise ConfigError(f"{name} is not a CSV file: it holds binary data. Give a CSV export of the query log")
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    text = _DELIMITER_NAMED.sub("", text, count=1).lstrip("\r\n")
    if "\r" in text and "\n" not in text:
        raise ConfigError(f"{name}: its lines end with carriage returns alone: save it as CSV with line feeds")
    if is_json(text):
        return _json_layout(text, name, hints, encoding)
    if (log := text_log_of(text)) is not None:
        plain = Layout("", frozenset(), {}, encoding=encoding, zone=hints.zone, form=Form.TEXT)
        return _of_text_log(plain, log, hints, text)
    plain = Layout("", frozenset(), {}, encoding=encoding, zone=hints.zone)
    quote = "'" if text.startswith("'") else '"'
    plains = [_tabbed_layout(replace(plain, delimiter=delimiter, quote=quote), text) for delimiter in _DELIMITERS]
    candidates = [(layout, _first_records(text, layout)) for layout in plains]
    layouts: list[Layout] = []
    problems: list[tuple[int, str]] = []
    for layout, rows in candidates:
        try:
            found = _with_columns(layout, rows, hints)
        except ConfigError as error:
            problems.append((len(rows[0]), f"{name}: {error}"))
            continue
        if found is None:
            problems.append((len(rows[0]), _no_text_column(rows[0], name)))
        else:
            layouts.append(found)
    if not layouts:
        raise ConfigError(max(problems)[1])
    return max(layouts, key=lambda layout: (len(layout.fields), max(layout.widths)))


def names_delimiter(line: str) -> bool:
    """Whether a file's first line tells a spreadsheet how its columns are parted."""
    return _DELIMITER_NAMED.match(line.removeprefix("\ufeff")) is not None


def _check_readable(head: bytes, name: str) -> None:
    """Raises ConfigError for a log in a form of its platform that is not read, with what to do."""
    start = head[:4096].decode("latin-1")
    instead = next((one.instead for one in UNREADABLE if one.begins.match(start)), None)
    if instead is not None:
        raise ConfigError(f"{name} is {instead}")


def _tabbed_layout(layout: Layout, text: str) -> Layout:
    """Tabs between columns without any quotes: line ends and tabs inside are then written with backslashes."""
    if layout.delimiter != "\t" or _QUOTED_AFTER_TAB.search(text):
        return layout
    names, _, rest = text.partition("\n")
    if all(map(_TYPE.fullmatch, rest.partition("\n")[0].split("\t"))):
        text = f"{names}\n{rest.partition(chr(10))[2]}"
    # ClickHouse writes every apostrophe so; where one stands bare, \' is of the statement itself
    apostrophes = bool(_ESCAPED_APOSTROPHE.search(text)) and not _BARE_APOSTROPHE.search(text)
    if _ESCAPED.search(text) or apostrophes:
        return replace(layout, quote="", escaped_apostrophes=apostrophes)
    return layout


def _json_layout(text: str, name: str, hints: ReadingHints, encoding: str) -> Layout:
    form = Form.JSON_LINES if is_json_lines(text) else Form.JSON_DOCUMENT
    objects = sample_objects(text, _SAMPLE_ROWS)
    names = names_of(objects)
    layout = Layout("", frozenset(), {}, encoding=encoding, zone=hints.zone, form=form)
    if (handed_on := _text_log_in(objects, names)) is not None:
        return replace(
            _of_text_log(layout, handed_on[0], hints, text),
            names=(handed_on[1], *(name for name in _TIMES_BESIDE if name in names)),
        )
    for log in SERVER_LOGS:
        for keys in log.json_keys:
            if all(keys[column] in names for column in log.json_marks):
                fields = {column: position for position, column in enumerate(keys)}
                return replace(layout, fields=fields, server_log=log, names=tuple(keys.values()))
    samples = list(zip(*(values_of(record, names) for record in objects), strict=True))
    reading = column_reading(names, samples, hints)
    if reading is None:
        raise ConfigError(_no_text_column(names, name))
    return replace(layout, reading=with_unseen(reading))


def _text_log_in(objects: Sequence[Object], names: Sequence[str]) -> tuple[TextLog, str] | None:
    """The log whose lines a service hands on in a field of objects, and that field."""
    for log in TEXT_LOGS:
        for field_name in log.in_fields:
            values = [values_of(one, [field_name])[0] for one in objects] if field_name in names else []
            if _are_lines_of(log, values):
                return log, field_name
    return None


_TIMES_BESIDE = ("timestamp",)
"""The field in which services have the time of a line that they hand on."""


def _are_lines_of(log: TextLog, texts: Sequence[str]) -> bool:
    """Whether these are lines of the log: a message of something else may quote one."""
    given = [text for text in texts if text.strip()]
    return 2 * sum(1 for text in given if log.begins.match(text)) > len(given)


def _text_log_in_column(
    layout: Layout, names: Sequence[str], sample: Sequence[list[str]], hints: ReadingHints
) -> Layout | None:
    """That of a table whose rows have the lines of a log in a column, as consoles export them."""
    for log in TEXT_LOGS:
        for position in (names.index(name) for name in log.in_fields if name in names):
            texts = [row[position] for row in sample if len(row) == len(names)]
            if _are_lines_of(log, texts):
                outer = replace(layout, fields={"text": position})
                return replace(_of_text_log(layout, log, hints, "\n".join(texts)), header=None, outer=outer)
    return None


def _of_text_log(layout: Layout, log: TextLog, hints: ReadingHints, text: str) -> Layout:
    layout = replace(layout, text_log=log, widths=frozenset({len(log.columns)}))
    fields = {column: position for position, column in enumerate(log.columns)}
    if log.server_log is not None:
        return replace(layout, server_log=log.server_log, fields=fields)
    if log.profile is None:
        raise ConfigError(f"{log.name} has no text of statements")
    reading = reading_by(log.profile, log.columns, hints)
    if log.outcome_mark is not None and log.outcome_mark.search(text) is None:
        reading = replace(reading, lacking=(*reading.lacking, OUTCOME))
    return replace(layout, reading=reading)


def _first_records(text: str, layout: Layout) -> list[list[str]]:
    """The first row and those after it that are sound; the last may be cut by the end of `text`."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(layout.reader(io.StringIO(text, newline="\n"), strict=False), _SAMPLE_ROWS))
    return rows or [[]]


def _with_columns(layout: Layout, rows: list[list[str]], hints: ReadingHints) -> Layout | None:
    row, *sample = rows
    for log in SERVER_LOGS:
        if log.is_row(row) and layout.delimiter == ",":
            fields = {column: position for position, column in enumerate(log.columns)}
            return replace(layout, widths=log.widths, fields=fields, server_log=log)
    layout = replace(layout, widths=frozenset({len(row)}))
    for file in HEADERLESS_FILES:
        if len(row) == len(file.columns) and file.is_row(row) and _is_time(row[0], UTC):
            return _headerless(layout, file, hints)
    names = [plain_name(column) for column in row]
    layout = replace(layout, header=tuple(row))
    if (in_column := _text_log_in_column(layout, names, sample, hints)) is not None:
        return in_column
    if sample and len(row) > 1 and all(map(_TYPE.fullmatch, sample[0])):
        layout = replace(layout, types=tuple(sample.pop(0)))
    for log in SERVER_LOGS:
        if log.marks <= set(names):
            fields = {name: names.index(name) for name in log.columns if name in names}
            return replace(layout, fields=fields, server_log=log)
    samples = list(zip(*(record for record in sample if len(record) == len(row)), strict=True))
    reading = column_reading(names, samples, hints)
    if reading is None:
        return None
    if len(row) == 1:
        layout = replace(layout, delimiter=_NO_DELIMITER)
    return replace(layout, fields={name: at[0] for name, at in reading.fields.items()}, reading=reading)


def _is_time(value: str, zone: tzinfo) -> bool:
    if not any(character.isdigit() for character in value[:40]):
        return False
    try:
        return parse_time(value, zone) is not None
    except (ValueError, OverflowError):
        return False


def _headerless(layout: Layout, file: HeaderlessFile, hints: ReadingHints) -> Layout | None:
    reading = column_reading(file.columns, (), hints)
    if reading is None:
        return None
    fields = {name: at[0] for name, at in reading.fields.items()}
    return replace(layout, fields=fields, reading=replace(reading, profile=file.profile))


def _no_text_column(row: list[str], name: str) -> str:
    names = [column.strip() for column in row if _NAME.fullmatch(column.strip())]
    expected = "query_text, query, sql or statement"
    if not names or len(names) < len(row):
        servers = "".join(f" nor a {log.name}" for log in SERVER_LOGS)
        return f"{name}, line 1: neither a header with a column for the query text ({expected}){servers}"
    return f"{name}, line 1: no column for the query text among {listing(names)}{_hint(names, expected)}"


def _hint(names: Sequence[str], expected: str) -> str:
    numbers = next((column for column in names if plain_name(column) in GENERIC.columns["text"]), None)
    if numbers:
        return f": {numbers} holds no text"
    hits = (difflib.get_close_matches(plain_name(column), GENERIC.columns["text"], 1, 0.75) for column in names)
    near = next((hit[0] for hit in hits if hit), None)
    return f"; did you mean {near}?" if near else f": name it {expected}"
