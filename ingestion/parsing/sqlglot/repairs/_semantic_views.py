"""Snowflake's CREATE SEMANTIC VIEW, whose columns are those of its tables: as a view with a query for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.dialects.cursor import DEEPEST_DEFINITION, LONGEST_EXPANSION, Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.errors import FinalRefusal

_COLUMN_LISTS = keywords("facts dimensions metrics")
_SECTIONS = _COLUMN_LISTS | {"tables"}
_ACCESS = keywords("private public")
_BEHIND_EXPRESSION = keywords("with comment labels unique")

_Name = tuple[str, str]
"""A column by its table, "" where it has none, and its name."""
_Span = tuple[int, int]


@dataclass(slots=True)
class _SemanticView:
    """The sources of the tables by their aliases, what columns are made of, and which of them can be asked for."""

    code: Code
    sources: dict[str, str] = field(default_factory=dict)
    columns: dict[_Name, _Span] = field(default_factory=dict)
    shown: dict[_Name, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    written: int = 0

    def add_table(self, begin: int) -> None:
        """`t`, `a AS t`: the source, and the name that columns have before them."""
        code = self.code
        parts, end = code.dotted_name(begin)
        if code.word(end) == "as":
            begin, end = end + 1, code.dotted_name(end + 1)[1]
        last = code.after(end) if code.word(end) == "(" else end  # IDENTIFIER('t')
        if parts:
            self.sources[parts[-1]] = code.between(begin, last)

    def add_column(self, begin: int, until: int) -> None:
        """`t.a AS expression`, with what is said of it behind."""
        code = self.code
        first = begin + (code.word(begin) in _ACCESS)
        parts, end = code.dotted_name(first)
        start = code.find(end, frozenset({"as"}), until) + 1
        if not parts or start > until:
            return
        name = (parts[-2] if len(parts) > 1 else "", parts[-1])
        last = next((n for n in code.outside(start, until) if code.word(n) in _BEHIND_EXPRESSION and n > start), until)
        self.columns[name] = start, last
        if code.word(begin) != "private":
            self.shown[name] = code.between(end - 1, end)

    def value_of(self, name: _Name, path: tuple[_Name, ...] = ()) -> str:
        """The query of a column: its expression over the rows of its table. Raises FinalRefusal."""
        code, (table, _), path = self.code, name, (*path, name)
        first, last = self.columns[name]
        start = code.start_of(first)
        edits = [
            (code.start_of(index) - start, code.end_of(end) - start, text)
            for index, end, text in self._references(first, last, path)
        ]
        value = f"(SELECT {with_edits(code.between(first, last), edits)}{self._rows(table)})"
        self._count(value)
        return value

    def _count(self, written: str) -> None:
        self.written += len(written)
        if self.written > LONGEST_EXPANSION:
            raise FinalRefusal("the columns of the semantic view come to too long a text")

    def _references(self, first: int, last: int, path: tuple[_Name, ...]) -> Iterator[tuple[int, int, str]]:
        """Where an expression names a column that the view defines, or one of another table."""
        code, own = self.code, path[-1][0]
        for index in range(first, last):
            if not code.is_name(index) or code.word(index - 1) == "." or code.word(index + 1) == "(":
                continue
            qualified = code.word(index + 1) == "." and index + 2 < last
            table, end = (code.name(index), index + 2) if qualified else (own, index)
            name = (table, code.name(end))
            if name in self.columns and name not in path:
                if len(path) == DEEPEST_DEFINITION:
                    raise FinalRefusal("columns of the semantic view are made of too many others")
                yield index, end, self.value_of(name, path)
            elif qualified and table != own and table in self.sources:
                yield index, end, f"(SELECT {code.between(index, end + 1)}{self._rows(table)})"

    def _rows(self, table: str) -> str:
        source = self.sources.get(table)
        if source is None:
            return ""
        self.read.add(table)
        self._count(source)
        return f' FROM {source} AS "{table}"'


def semantic_view(code: Code) -> Iterator[Edit]:
    """CREATE SEMANTIC VIEW v TABLES (…) DIMENSIONS (t.a AS expression): CREATE VIEW v AS SELECT (…) AS a."""
    kind = next((n for n in range(1, 4) if code.stands(n, "semantic", "view")), None)
    if code.word(0) != "create" or kind is None:
        return
    _name, end = code.dotted_name(kind + 2 + 3 * code.stands(kind + 2, "if", "not", "exists"))
    end = code.after(end) if code.word(end) == "(" and code.word(end - 1) == "identifier" else end
    view = _SemanticView(code)
    for number in code.outside(end):
        if code.word(number) not in _SECTIONS or code.word(number + 1) != "(":
            continue
        for begin, until in code.items(number + 2, code.closing(number + 1)):
            if code.word(number) == "tables":
                view.add_table(begin)
            else:
                view.add_column(begin, until)
    if not view.sources or not view.shown:
        return
    items = ", ".join(f"{view.value_of(name)} AS {written}" for name, written in view.shown.items())
    unread = (source for alias, source in view.sources.items() if alias not in view.read)
    others = " AND ".join(f"EXISTS (SELECT 1 FROM {source})" for source in unread)
    yield code.edit(kind, kind + 1, "VIEW")
    yield code.edit(end, len(code) - 1, f"AS SELECT {items}{' WHERE ' if others else ''}{others}")
