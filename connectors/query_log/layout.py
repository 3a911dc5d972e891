"""What a log file looks like: its delimiter, and which column holds what."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from types import MappingProxyType

from connectors.query_log.values import SECONDS_PER_UNIT, parse_time
from ingestion.errors import ConfigError

# a file with one column has no delimiter; this one never occurs in text
_NO_DELIMITER = "\x1f"
_DELIMITERS = (",", ";", "\t", "|")

# field of a record -> column names, the likeliest first
ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text": (
            "query_text", "sql_text", "query", "sql", "statement", "statement_text", "sql_statement", "query_string",
            "querystring", "querytxt", "sql_query", "raw_query", "full_query", "stmt", "statement_string",
            "command_text", "querytext", "sqltext", "sql_fulltext",
        ),
        "start_time": (
            "start_time", "starttime", "query_start_time", "query_start", "start_timestamp", "started_at",
            "begin_time", "creation_time", "create_time", "created", "submit_time", "event_time", "log_time",
            "execution_start_time", "timestamp", "executed_at", "start",
        ),
        "end_time": (
            "end_time", "endtime", "query_end_time", "query_end", "end_timestamp", "ended_at", "finished_at",
            "finish_time", "completed_at", "completion_time", "execution_end_time", "end",
        ),
        "user": (
            "user_name", "username", "user", "usename", "user_email", "executed_by", "db_user", "role_name", "login",
        ),
        "database": (
            "database_name", "databasename", "database", "db_name", "dbname", "datname", "db", "catalog_name",
            "catalog",
        ),
        "schema": ("schema_name", "schemaname", "schema", "default_schema", "current_schema"),
        "session": (
            "session_id", "sessionid", "session", "process_id", "pid", "connection_id", "spid", "backend_pid",
        ),
        "duration": (
            "duration", "elapsed", "elapsed_time", "total_elapsed_time", "execution_time", "total_time", "runtime",
        ),
        "query_type": (
            "query_type", "statement_type", "querytype", "command_type", "command_tag", "operation",
        ),
        "status": ("status", "execution_status", "query_status", "state", "query_state", "success", "succeeded"),
        "failure": ("aborted", "error_code", "error", "error_message", "failed", "exception"),
    }
)  # fmt: skip
# Snowflake's history counts these in milliseconds
_MILLISECOND_COLUMNS = frozenset({"total_elapsed_time", "execution_time"})

# a csvlog row's columns, as "Using CSV-Format Log Output" of PostgreSQL's manual lists them
CSVLOG_COLUMNS = (
    "log_time", "user_name", "database_name", "process_id", "connection_from", "session_id", "session_line_num",
    "command_tag", "session_start_time", "virtual_transaction_id", "transaction_id", "error_severity", "sql_state_code",
    "message", "detail", "hint", "internal_query", "internal_query_pos", "context", "query", "query_pos", "location",
    "application_name", "backend_type", "leader_pid", "query_id",
)  # fmt: skip
_CSVLOG_WIDTHS = frozenset({23, 24, 25, 26})
_CSVLOG_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+")
_CSVLOG_SESSION = re.compile(r"[0-9a-f]+\.[0-9a-f]+")
_NAME = re.compile(r"[A-Za-z_][\w .()#/-]{0,62}")


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read a file's records; `fields` maps a record's field (or csvlog column) to its position."""

    delimiter: str
    widths: frozenset[int]
    fields: Mapping[str, int]
    csvlog: bool = False
    header: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    duration_unit: float = 1.0
    zone: tzinfo = field(default=UTC)

    @property
    def time_positions(self) -> list[int]:
        names = ("log_time",) if self.csvlog else ("start_time", "end_time")
        return [self.fields[name] for name in names if name in self.fields]

    @property
    def anchored(self) -> bool:
        """Whether a record can be told from a line of SQL: it has a time."""
        return bool(self.time_positions)

    def plausible(self, row: list[str]) -> bool:
        """Whether this row is surely a record: as many columns as the others, and times where times belong."""
        if len(row) not in self.widths:
            return False
        if self.csvlog:
            return bool(_CSVLOG_TIME.fullmatch(row[self.fields["log_time"]]))
        times = [row[position] for position in self.time_positions if row[position]]
        known = bool(times) or not self.anchored
        return known and bool(row[self.fields["text"]]) and all(_is_time(time, self.zone) for time in times)

    def begins(self, row: list[str]) -> bool:
        """Whether a record begins so, although the row is none: a time stands where the first time belongs."""
        if not self.anchored or len(row) <= min(self.time_positions):
            return False
        value = row[min(self.time_positions)]
        if self.csvlog:
            return bool(_CSVLOG_TIME.fullmatch(value))
        return _is_time(value, self.zone)


def sniff(head: bytes, name: str, zone: tzinfo) -> Layout:
    """The layout of the (decompressed) file that starts with `head`.

    Raises ConfigError, naming the columns that the file has, where no column holds a query's text.
    """
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    if encoding == "utf-8" and b"\0" in head:
        raise ConfigError(f"{name} is not a CSV file: it holds binary data. Give a CSV export of the query log")
    text = head.decode(encoding, "replace").removeprefix("\ufeff").lstrip("\r\n")
    candidates = [(delimiter, _first_record(text, delimiter)) for delimiter in _DELIMITERS]
    layouts = [found for delimiter, row in candidates if (found := _layout(row, delimiter, encoding, zone))]
    if not layouts:
        raise ConfigError(_no_text_column(max((row for _, row in candidates), key=len), name))
    return max(layouts, key=lambda layout: (len(layout.fields), max(layout.widths)))


def _first_record(text: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter), [])


def _layout(row: list[str], delimiter: str, encoding: str, zone: tzinfo) -> Layout | None:
    if _is_csvlog(row) and delimiter == ",":
        fields = {column: position for position, column in enumerate(CSVLOG_COLUMNS)}
        return Layout(delimiter, _CSVLOG_WIDTHS, fields, csvlog=True, encoding=encoding, zone=zone)
    header = tuple(row)
    names = [_normal(column) for column in header]
    if {"log_time", "error_severity", "message", "virtual_transaction_id"} <= set(names):
        fields = {column: names.index(column) for column in CSVLOG_COLUMNS if column in names}
        return Layout(delimiter, frozenset({len(row)}), fields, True, header, encoding, zone=zone)
    fields, unit = _fields(names)
    if "text" not in fields:
        return None
    if len(header) == 1:
        delimiter = _NO_DELIMITER
    return Layout(delimiter, frozenset({len(row)}), fields, False, header, encoding, unit, zone)


def _is_time(value: str, zone: tzinfo) -> bool:
    if not any(character.isdigit() for character in value[:40]):
        return False
    try:
        return parse_time(value, zone) is not None
    except (ValueError, OverflowError):
        return False


def _is_csvlog(row: list[str]) -> bool:
    return (
        len(row) in _CSVLOG_WIDTHS
        and bool(_CSVLOG_TIME.fullmatch(row[0]))
        and (not row[5] or bool(_CSVLOG_SESSION.fullmatch(row[5])))
    )


def _normal(column: str) -> str:
    """A column's name without the accidents of an export: `Query Text`, `queryText`, `QUERY-TEXT` are `query_text`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[^a-z0-9µ]+", "_", spaced.lower()).strip("_")


def _fields(names: Sequence[str]) -> tuple[dict[str, int], float]:
    fields: dict[str, int] = {}
    for name, aliases in ALIASES.items():
        position = next((names.index(alias) for alias in aliases if alias in names), None)
        if position is not None:
            fields[name] = position
    if "duration" in fields:
        plain = names[fields["duration"]]
        return fields, 1e-3 if plain in _MILLISECOND_COLUMNS else 1.0
    for position, column in enumerate(names):
        stem, _, unit = column.rpartition("_")
        if stem in ALIASES["duration"] and unit in SECONDS_PER_UNIT:
            fields["duration"] = position
            return fields, SECONDS_PER_UNIT[unit]
    return fields, 1.0


def _no_text_column(row: list[str], name: str) -> str:
    names = [column.strip() for column in row if _NAME.fullmatch(column.strip())]
    expected = "query_text, query, sql or statement"
    if not names or len(names) < len(row):
        return f"{name}, line 1: neither a header with a column for the query text ({expected}) nor a PostgreSQL csvlog"
    hits = (difflib.get_close_matches(_normal(column), ALIASES["text"], 1, 0.75) for column in names)
    near = next((hit[0] for hit in hits if hit), None)
    hint = f"; did you mean {near}?" if near else f": name it {expected}"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"{name}, line 1: no column for the query text among {shown}{hint}"
