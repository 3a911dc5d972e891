"""CSV records with the line they start on; a malformed one costs itself and nothing else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from connectors.query_log._interpreter import Malformed, Records
from connectors.query_log._layout import Layout
from connectors.query_log._streams import CUT_LINE_TEXT, LONGEST_LINE, TOO_LARGE

MAX_RECORD_CHARS = LONGEST_LINE
# the csv module's own limit (128 KiB a field) is one setting for the whole process; ours is MAX_RECORD_CHARS
csv.field_size_limit(4 * MAX_RECORD_CHARS)

QUOTE_PROBLEM = "a quoted field that opens in this record is not closed, or holds a quote that is not doubled"

_BACKSLASHED = re.compile(r"\\([\"'\\])")

_PASSES, _LINE_COST, _FEW_CHARS = 8, 32, 1 << 16


@dataclass(slots=True)
class ReadingLimit:
    """How much of some lines may still be read in attempts at records; beyond it an attempt gets one line.

    Lines that each close a quote and open another make a record to their end from wherever one begins.
    """

    left: int

    @classmethod
    def of(cls, lines: list[str]) -> ReadingLimit:
        return cls(_PASSES * max(sum(map(len, lines)) + _LINE_COST * len(lines), _FEW_CHARS))

    def lines_from(self, lines: list[str], at: int) -> Iterator[str]:
        """The lines from `at` on, as far as the limit goes, but one at least."""
        for index in range(at, len(lines)):
            self.left -= len(lines[index]) + _LINE_COST
            yield lines[index]
            if self.left <= 0:
                return


@dataclass(frozen=True, slots=True)
class _Single:
    """An attempt at one record: its row (None: it is none), and the index of the line after those it used."""

    row: list[str] | None
    end: int
    awaits_more: bool = False


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
        self._backslashed = False  # this file is known to write quotes so
        self._limit = ReadingLimit(0)

    def feed(self, lines: list[str], *, last: bool) -> Records:
        """The records that end in these lines (each with its line end); with `last`, an open one is malformed."""
        found = Records()
        while (cut := _first_cut(lines)) is not None:
            self._feed(lines[:cut], found, last=False)
            self._pass_over(found)
            lines = lines[cut + 1 :]
        self._feed(lines, found, last=last)
        return found

    def _pass_over(self, found: Records) -> None:
        """The record that a line of which only the beginning was kept stands in, which may end with it or later."""
        found.malformed.append(Malformed(self._line, TOO_LARGE))
        self._line += len(self._carry) + 1
        self._carry = []
        self._lost = True

    def _feed(self, lines: list[str], found: Records, *, last: bool) -> None:
        if self._carry:
            lines = self._carry + lines
            self._carry = []
        self._limit = ReadingLimit.of(lines)
        at = 0 if self._lost else self._read_block(lines, 0, found)
        while at < len(lines):
            if self._lost:
                at = self._search(lines, at, last=last)
                continue
            at = self._read_single(lines, at, found, last=last)
            if not (self._lost or self._backslashed):  # of the latter, what follows here may yet double its quotes
                at = self._read_block(lines, at, found)
        self._line += len(lines) - len(self._carry)

    def _read_block(self, lines: list[str], at: int, found: Records) -> int:
        """All records from `at` on at the csv module's speed, up to the first that needs care; the index of its line.

        A block with such a record in it is read on behind that as fast as before, as far as the limit goes.
        """
        given: Iterable[str] = self._limit.lines_from(lines, at) if at else lines
        reader = self._layout.reader(map(self._without_backslashes, given) if self._backslashed else given)
        allowed = self._layout.widths | {0}
        rows: list[list[str]] = []
        ends = [0]
        with suppress(csv.Error):
            for row in reader:
                if len(row) not in allowed:
                    break
                rows.append(row)
                ends.append(reader.line_num)
        kept = [index for index, row in enumerate(rows) if row]  # the others are blank lines
        found.rows += rows if len(kept) == len(rows) else [rows[index] for index in kept]
        found.lines += [self._line + at + ends[index] for index in kept]
        return at + ends[-1]

    def _read_single(self, lines: list[str], at: int, found: Records, *, last: bool) -> int:
        record = self._single(lines, at, last=last)
        if record.awaits_more:
            self._carry = lines[at:]
            return len(lines)
        if record.row == []:
            return record.end
        if record.row is not None and len(record.row) in self._layout.widths:
            found.rows.append(record.row)
            found.lines.append(self._line + at)
            return record.end
        too_large = record.end == len(lines) and _chars(lines, at) >= MAX_RECORD_CHARS
        found.malformed.append(Malformed(self._line + at, TOO_LARGE if too_large else self._problem(record)))
        if record.row is not None and not self._swallows_records(record, lines, at):
            return record.end
        self._lost = True
        return at + 1

    def _swallows_records(self, record: _Single, lines: list[str], at: int) -> bool:
        """Whether a quote that stayed open may have taken good records into this row of many lines."""
        if record.row is None or record.end == at + 1 or not self._layout.anchored:
            return False
        inside = range(at + 1, record.end)
        return not self._layout.begins(record.row) or any(self._line_begins(lines[index]) for index in inside)

    def _problem(self, record: _Single) -> str:
        if record.row is None:
            return QUOTE_PROBLEM
        expected = " or ".join(str(width) for width in sorted(self._layout.widths))
        # not how many: what ended is counted by its reason, of which there are to be few
        return (
            f"{'fewer' if len(record.row) < min(self._layout.widths) else 'more'} columns than the {expected} expected"
        )

    def _search(self, lines: list[str], at: int, *, last: bool) -> int:
        """The index of the next record, or of what begins like one, or the end."""
        while at < len(lines):
            record = self._single(lines, at, last=last)
            if record.awaits_more:
                self._carry = lines[at:]
                return len(lines)
            plausible = record.row is not None and self._layout.plausible(record.row)
            if plausible or self._begins(record, lines[at]):
                self._lost = False
                return at
            at += 1
        return at

    def _begins(self, record: _Single, line: str) -> bool:
        return self._line_begins(line) if record.row is None else self._layout.begins(record.row)

    def _line_begins(self, line: str) -> bool:
        # the last field is left out: it is the open one
        return self._layout.begins(next(self._layout.reader([line], strict=False), [])[:-1])

    def _single(self, lines: list[str], at: int, *, last: bool) -> _Single:
        plain = self._attempt(self._limit.lines_from(lines, at), at)
        if plain.row is not None and (len(plain.row) in self._layout.widths or not plain.row):
            return plain
        if not last and plain.row is None and _is_unfinished(plain, lines, at):
            return _Single(None, plain.end, awaits_more=True)
        escaped = "\\" + self._layout.quote
        if not self._layout.quote or not any(escaped in line for line in lines[at : plain.end]):
            return plain
        undone = self._attempt(map(self._without_backslashes, self._limit.lines_from(lines, at)), at)
        if undone.row is not None and self._layout.plausible(undone.row):
            self._backslashed = True
            return undone
        if not last and undone.row is None and _is_unfinished(undone, lines, at):
            return _Single(None, undone.end, awaits_more=True)
        return plain

    def _without_backslashes(self, line: str) -> str:
        return _BACKSLASHED.sub(self._undo, line) if "\\" in line else line

    def _undo(self, match: re.Match[str]) -> str:
        return match[1] * 2 if match[1] == self._layout.quote else match[1]

    def _attempt(self, lines: Iterator[str], at: int) -> _Single:
        reader = self._layout.reader(lines)
        try:
            row = next(reader)
        except csv.Error:
            return _Single(None, at + reader.line_num)
        return _Single(row, at + reader.line_num)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, cut at line feeds alone (str.splitlines cuts at ten other characters)."""
    return io.StringIO(text, newline="\n").readlines()


def _is_unfinished(record: _Single, lines: list[str], at: int) -> bool:
    """Whether it failed for want of lines, and may have more."""
    return record.end == len(lines) and _chars(lines, at) < MAX_RECORD_CHARS


def _chars(lines: list[str], at: int) -> int:
    return sum(len(lines[index]) for index in range(at, len(lines)))


def _first_cut(lines: list[str]) -> int | None:
    """Where the first line is that was too long to be read."""
    return next((index for index, line in enumerate(lines) if line.endswith(CUT_LINE_TEXT)), None)
