"""CSV records with the line they start on; a malformed one costs itself and nothing else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from connectors.query_log.layout import Layout

MAX_RECORD_CHARS = 16 * 1024 * 1024
# the csv module's own limit (128 KiB a field) is one setting for the whole process; ours is MAX_RECORD_CHARS
csv.field_size_limit(4 * MAX_RECORD_CHARS)

QUOTE_PROBLEM = "a quoted field that opens in this record is not closed, or holds a quote that is not doubled"
SIZE_PROBLEM = f"longer than {MAX_RECORD_CHARS} characters, or a quoted field that is never closed"

_BACKSLASHED = re.compile(r'\\(["\\])')


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record that cannot be read: its first line (1-based) and why, without its content."""

    line: int
    problem: str


@dataclass(slots=True)
class Records:
    """Rows, the line each starts on, and what could not be read."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Single:
    """An attempt at one record: its row (None: it is none), the index after it, whether more lines may complete it."""

    row: list[str] | None
    end: int
    incomplete: bool = False


class RecordReader:
    """Cuts lines into CSV records, fed a block of lines at a time.

    Quotes are escaped by doubling (RFC 4180); a record that is none by that rule is tried with backslashes before
    quotes. Where the quotes of a record do not add up it is malformed, and so is what follows it up to the next record
    that the layout finds plausible: a line of SQL inside a broken record must not pass for a record.
    """

    def __init__(self, layout: Layout, line: int = 1) -> None:
        self._layout = layout
        self._line = line  # of the first line that is not yet consumed
        self._carry: list[str] = []
        self._lost = False

    def feed(self, lines: list[str], last: bool) -> Records:
        """The records that end in these lines (each with its line end); with `last`, an open one is malformed."""
        if self._carry:
            lines = self._carry + lines
            self._carry = []
        found = Records()
        at = 0 if self._lost else self._read_block(lines, found)
        while at < len(lines):
            at = self._search(lines, at, last) if self._lost else self._read_single(lines, at, found, last)
        self._line += len(lines) - len(self._carry)
        return found

    def _read_block(self, lines: list[str], found: Records) -> int:
        """All records at the csv module's speed, up to the first that needs care; the index of its line."""
        reader = csv.reader(lines, delimiter=self._layout.delimiter, strict=True)
        rows: list[list[str]] = []
        ends = [0]
        try:
            for row in reader:
                rows.append(row)
                ends.append(reader.line_num)
        except csv.Error:
            pass
        good = len(rows)
        if not set(map(len, rows)) <= self._layout.widths:
            good = next(index for index, row in enumerate(rows) if len(row) not in self._layout.widths)
        found.rows = rows[:good]
        found.lines = [self._line + end for end in ends[:good]]
        return ends[good]

    def _read_single(self, lines: list[str], at: int, found: Records, last: bool) -> int:
        line = self._line + at
        record = self._single(lines, at)
        if record.row is not None and len(record.row) in self._layout.widths:
            found.rows.append(record.row)
            found.lines.append(line)
            return record.end
        if record.row == []:
            return record.end
        if record.incomplete and not last and _chars(lines, at) < MAX_RECORD_CHARS:
            self._carry = lines[at:]
            return len(lines)
        if record.row is None:
            found.malformed.append(Malformed(line, SIZE_PROBLEM if record.incomplete else QUOTE_PROBLEM))
        else:
            expected = " or ".join(str(width) for width in sorted(self._layout.widths))
            found.malformed.append(Malformed(line, f"{len(record.row)} columns where {expected} are expected"))
            # many lines and the wrong width: a quote that stayed open may have swallowed good records
            if record.end == at + 1 or not self._layout.anchored:
                return record.end
        self._lost = True
        return at + 1

    def _search(self, lines: list[str], at: int, last: bool) -> int:
        """The index of the next plausible record, or the end."""
        while at < len(lines):
            record = self._single(lines, at)
            if record.row is not None and self._layout.plausible(record.row):
                self._lost = False
                return at
            if record.incomplete and not last and _chars(lines, at) < MAX_RECORD_CHARS:
                self._carry = lines[at:]
                return len(lines)
            at += 1
        return at

    def _single(self, lines: list[str], at: int) -> _Single:
        plain = self._attempt(_from(lines, at), at, len(lines))
        if plain.row is not None:
            return plain
        undone = self._attempt((_BACKSLASHED.sub(_undo, line) for line in _from(lines, at)), at, len(lines))
        if undone.row is not None and self._layout.plausible(undone.row):
            return undone
        return _Single(None, at, plain.incomplete or undone.incomplete)

    def _attempt(self, lines: Iterator[str], at: int, size: int) -> _Single:
        reader = csv.reader(lines, delimiter=self._layout.delimiter, strict=True)
        try:
            row = next(reader)
        except csv.Error:
            return _Single(None, at, at + reader.line_num == size)
        return _Single(row, at + reader.line_num)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds alone (str.splitlines cuts at ten other characters)."""
    return io.StringIO(text, newline="\n").readlines()


def _from(lines: list[str], at: int) -> Iterator[str]:
    return map(lines.__getitem__, range(at, len(lines)))


def _undo(match: re.Match[str]) -> str:
    return '""' if match[1] == '"' else "\\"


def _chars(lines: list[str], at: int) -> int:
    return sum(map(len, _from(lines, at)))
