"""The statements behind an answer: numbered once, in the order in which its rows name them, and told after those."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workflows.answers.paging.pages import Row
from workflows.answers.paging.writing import quoted_text, text_lines

_INLINE = 160
"""Characters of an expression that stand in its row; of a longer one the text follows after the rows."""


class NumberedTexts:
    """Texts that rows of an answer point to: `s1` is a statement, `e1` an expression too long for its row."""

    def __init__(self) -> None:
        self._statements: dict[tuple[str, str, tuple[str, ...]], str] = {}
        self._expressions: dict[str, str] = {}

    def statement(self, sql: str, producer: str, jobs: Iterable[str] = ()) -> str:
        """The number of a statement; `producer` is what kind of thing said so, `jobs` what ran it."""
        key = sql, producer, tuple(jobs)
        return self._statements.setdefault(key, f"s{len(self._statements) + 1}")

    def expression(self, text: str) -> str:
        """An expression as it stands in a row: itself in quotes, or the number that its text has."""
        if not text:
            return ""
        if len(text) <= _INLINE and "\n" not in text:
            return quoted_text(text)
        return self._expressions.setdefault(text, f"e{len(self._expressions) + 1}")

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
            yield Row((f"{number} is a {producer}{run_by}{without}",), ("statement", number, producer, ", ".join(jobs)))
            for line in text_lines(sql) if sql else ():
                yield Row((f"{number}| {line}",), ("text", number, line))
