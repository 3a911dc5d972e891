"""An answer in rows, and its pages: totals first, then as many rows as the budget has room for, and a cursor."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from connectors.catalog.answer.writing import Name, quoted_text, shared_prefixes, shorten_name, text_lines
from ingestion.errors import ConfigError
from ingestion.model.digests import digest
from ingestion.model.lineage import Json
from ingestion.model.moments import minute_text

DEFAULT_BUDGET = 2_000
LEAST_BUDGET = 500
"""Tokens in which the totals, a long row and the cursor still have room."""

_TOKENS = re.compile(r"([A-Za-z]+)|(\s+)|([^\x00-\x7f]+)|\",\"|.", re.DOTALL)

Cell = str | int | bool | None
_CURSOR = re.compile(r"(\d{1,9})-([0-9a-f]{12})")
_CUT = "…"

_INLINE = 160
"""Characters of an expression that stand in its row; of a longer one the text follows after the rows."""


# How large a text is for a language model, told without a network and without its tokenizer: never too small a
# number.
#
# Tokenizers take the common words of their language whole and names apart. So what is counted is what names cost: a
# token for each two and a half letters, each digit, each sign and each two spaces begun, and one a byte outside
# ASCII. What is between two values of JSON is one.


def token_count(text: str) -> int:
    """At most so many tokens is `text`; of texts that are put together with a line end or a sign it is the sum."""
    count = 0
    for word, spaces, others in _TOKENS.findall(text):
        if word:
            count += (2 * len(word) + 4) // 5
        elif spaces:
            count += (len(spaces) + 1) // 2
        elif others:
            count += len(others.encode("utf-8", "surrogatepass"))
        else:
            count += 1
    return count


# An answer and its pages: totals first, then as many rows as the budget has room for, and a cursor to the next.


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an answer: `parts` are its text, and `cells` the same as values; names among both are shortened."""

    parts: tuple[str, ...]
    cells: tuple[Cell, ...]


def fact(*parts: str) -> Row:
    """A line that stands above the rows."""
    return Row(parts, parts)


@dataclass(frozen=True)
class AnswerRows:
    """Everything that there is to tell: `facts` come first on every page, `rows` on as many pages as they need.

    `what` is the plural of what a row is; `notes` say what the rows do not hold, and why.
    """

    what: str
    facts: tuple[Row, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def page(self, budget: int = DEFAULT_BUDGET, cursor: str | None = None) -> AnswerPage:
        """The page that begins at the cursor, in at most `budget` tokens, both as text and as JSON.

        Raises ConfigError for a budget in which nothing has room, and for a cursor of another answer.
        """
        if budget < LEAST_BUDGET:
            raise ConfigError(f"a budget of {budget} tokens is too small: give {LEAST_BUDGET} or more")
        return _Composer(self, self._prefixes, self._digest).page(self._start(cursor), budget)

    @cached_property
    def _prefixes(self) -> dict[str, str]:
        rows = (*self.facts, *self.rows)
        return shared_prefixes(part for row in rows for part in row.parts if type(part) is Name)

    @cached_property
    def _digest(self) -> str:
        content = json.dumps([self.what, [row.cells for row in (*self.facts, *self.rows)]], ensure_ascii=True)
        return digest(content, size=6)

    def _start(self, cursor: str | None) -> int:
        if not cursor:
            return 0
        found = _CURSOR.fullmatch(cursor)
        if found is None:
            raise ConfigError("that is no cursor: give one as an answer ended with, or none")
        start = int(found[1])
        if found[2] != self._digest or start > len(self.rows):
            raise ConfigError("the cursor is of another question, or the catalog has changed: ask again without it")
        return start


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Rows `first` to `last` (from 1; 0 where none) of `total`, as text and as JSON; `cursor` None: it is the last."""

    text: str
    structured: Json
    first: int
    last: int
    total: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class _Composer:
    answer: AnswerRows
    prefixes: dict[str, str]
    digest: str

    def page(self, start: int, budget: int) -> AnswerPage:
        text, values = self._head(budget)
        used = [self._ending_size(), self._ending_size()]
        used[0] += sum(token_count(line) + 1 for line in text)
        used[1] += token_count(_json(values))
        lines: list[str] = []
        cells: list[list[Cell]] = []
        for row in self.answer.rows[start:]:
            line, given = self._row_texts(row)
            size = token_count(line) + 1, token_count(_json(given)) + 2
            if any(spent + more > budget for spent, more in zip(used, size, strict=True)):
                if not lines:
                    line, given = _cut_row(line, given, budget - max(used))
                    lines.append(line)
                    cells.append(given)
                break
            lines.append(line)
            cells.append(given)
            used = [spent + more for spent, more in zip(used, size, strict=True)]
        return self._page((text, values), (lines, cells), start)

    def _head(self, budget: int) -> tuple[list[str], Json]:
        """The facts, in at most half of the budget: what has no room says so."""
        text: list[str] = []
        facts: list[list[Cell]] = []
        room = budget // 2
        for row in self.answer.facts:
            line, given = self._row_texts(row)
            size = max(token_count(line), token_count(_json(given))) + 2
            if size > room:
                line, given = _cut_row(line, given, room)
                size = room
            room -= size
            text.append(line)
            facts.append(given)
            if not room:
                break
        text += [f"note: {note}" for note in self.answer.notes]
        text += [f"{sign} = {prefix}" for sign, prefix in self.prefixes.items()]
        values: Json = {"facts": facts, "prefixes": self.prefixes, "notes": list(self.answer.notes)}
        return text, values

    def _row_texts(self, row: Row) -> tuple[str, list[Cell]]:
        line = "".join(shorten_name(part, self.prefixes) if type(part) is Name else part for part in row.parts)
        cells = [shorten_name(cell, self.prefixes) if type(cell) is Name else cell for cell in row.cells]
        return line, cells

    def _ending_size(self) -> int:
        """Tokens of the longest line that tells what is shown, and of the same as JSON."""
        most = 10**9
        values = {"what": self.answer.what, "cursor": self._cursor(most), "total": most, "first": most, "last": most}
        text = self._ending(most, most, self._cursor(most))
        return max(token_count(text), token_count(_json({**values, "rows": []}))) + 2

    def _cursor(self, start: int) -> str:
        return f"{start}-{self.digest}"

    def _ending(self, first: int, last: int, cursor: str | None) -> str:
        total = len(self.answer.rows)
        if cursor is not None:
            return f"shown {first}-{last} of {total} {self.answer.what}, cursor {cursor}"
        return f"shown {first}-{last} of {total} {self.answer.what}, the last" if total else f"0 {self.answer.what}"

    def _page(self, head: tuple[list[str], Json], rows: tuple[list[str], list[list[Cell]]], start: int) -> AnswerPage:
        text, values = head
        lines, cells = rows
        total = len(self.answer.rows)
        end = start + len(lines)
        first = start + 1 if lines else end
        cursor = self._cursor(end) if end < total else None
        ending = self._ending(first, end, cursor)
        structured = {
            **values,
            "what": self.answer.what,
            "total": total,
            "first": first,
            "last": end,
            "cursor": cursor,
            "rows": cells,
        }
        whole = "\n".join([*text[:1], ending, *text[1:], *lines])
        return AnswerPage(whole, structured, first, end, total, cursor)


def _json(value: object) -> str:
    """As the protocol writes it: without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut_row(line: str, cells: Sequence[Cell], room: int) -> tuple[str, list[Cell]]:
    """A row that has no room in any page, cut where everybody sees it."""
    each = max(8, room // (2 * max(1, len(cells))))
    return _cut(line, room), [_cut(cell, each) if isinstance(cell, str) else cell for cell in cells]


def _cut(text: str, room: int) -> str:
    """So much of the text as has room, and how much of it is left out."""
    if token_count(text) <= room:
        return text
    note = f"{_CUT}({len(text)} characters, cut)"
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if token_count(text[:middle] + note) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low] + note


# The statements behind an answer: numbered once, in the order in which its rows name them, and told after those.


class NumberedTexts:
    """Texts that rows of an answer point to: `s1` is a statement, `e1` an expression too long for its row."""

    def __init__(self) -> None:
        self._statements: dict[tuple[str, str, tuple[str, ...]], str] = {}
        self._expressions: dict[str, str] = {}
        self._last_seen: dict[str, int] = {}

    def statement(self, sql: str, producer: str, jobs: Iterable[str] = (), seen: int | None = None) -> str:
        """The number of a statement; `producer` is what kind of thing said so, `jobs` what ran it, `seen` when last."""
        key = sql, producer, tuple(jobs)
        number = self._statements.setdefault(key, f"s{len(self._statements) + 1}")
        if seen is not None:
            self._last_seen[number] = max(seen, self._last_seen.get(number, seen))
        return number

    def expression(self, text: str) -> str:
        """An expression as it stands in a row: itself in quotes, or the number that its text has."""
        if not text:
            return ""
        if len(text) <= _INLINE and "\n" not in text:
            return quoted_text(text)
        return self._expressions.setdefault(text, f"e{len(self._expressions) + 1}")

    def edge(self, ends: tuple[str, str], how: str, expression: str, numbers: str | None = None) -> Row:
        """A target and the source that has a part in it; `numbers` of the statements, None where there is but one."""
        target, source = map(Name, ends)
        texts = () if numbers is None else (numbers,)
        shown = self.expression(expression)
        text = " ".join(filter(None, (f" [{how}]", *texts, shown)))
        return Row((target, " <- ", source, text), ("edge", target, source, how, *texts, shown))

    @property
    def statement_count(self) -> int:
        return len(self._statements)

    def rows(self) -> Iterator[Row]:
        """A row a line of each text, after one with what a statement is of."""
        for text, number in self._expressions.items():
            for line in text_lines(text):
                yield Row((f"{number}| {line}",), ("text", number, line))
        for (sql, producer, jobs), number in self._statements.items():
            run_by = f", run by {', '.join(quoted_text(job) for job in jobs)}" if jobs else ""
            without = "" if sql else ", without a text"
            seen = minute_text(self._last_seen[number]) if number in self._last_seen else ""
            line = f"{number} is a {producer}{run_by}{f', last seen {seen}' if seen else ''}{without}"
            yield Row((line,), ("statement", number, producer, ", ".join(jobs), seen))
            for line in text_lines(sql) if sql else ():
                yield Row((f"{number}| {line}",), ("text", number, line))
