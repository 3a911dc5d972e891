"""The relations that a token stream reads: what stands behind FROM, JOIN and USING, wherever a query may stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ingestion.dialects import Dialect
from ingestion.errors import Unparsable
from ingestion.model import TableName
from ingestion.parsing.sqlparse_tier.names import CommonTableAt, alias_at, common_tables, relation_at, table_name
from ingestion.parsing.sqlparse_tier.stream import TokenKind, TokenStream
from ingestion.parsing.sqlparse_tier.words import AFTER_RELATION, ENDS_FROM, METADATA_QUERIES, QUERY_STARTS, TABLE_HINTS

_BEFORE_RELATION = frozenset({"ONLY", "LATERAL"})
_BEFORE_BY = frozenset({"GROUP", "ORDER", "DISTRIBUTE", "SORT"})


class SourceAt(NamedTuple):
    """A relation that is read: `depth` counts the parentheses around it, `position` is where its name begins."""

    name: TableName
    alias: str
    depth: int
    position: int


@dataclass(slots=True)
class _Level:
    """One pair of parentheses: whether a query may stand in it, is in its FROM, and waits for a relation."""

    query: bool
    in_from: bool = False
    expecting: bool = False
    known: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class SourceScan:
    """What a statement reads; `derived` are the depths at which something else than a table stands in FROM."""

    tables: tuple[SourceAt, ...]
    derived: frozenset[int]


def find_sources(stream: TokenStream, dialect: Dialect, skip: range, *, merge: bool = False) -> SourceScan:
    """The relations read outside the positions of `skip`, which hold the target."""
    scan = _Scan(stream, dialect, common_tables(stream, dialect))
    position = 0
    while position < len(stream):
        position = skip.stop if position in skip else scan.step(position, merge=merge)
    unread = _unread(scan.common, scan.uses)
    tables = tuple(table for table in scan.found if not any(_within(table.position, item) for item in unread))
    return SourceScan(tables, frozenset(scan.derived))


def _within(position: int, item: CommonTableAt) -> bool:
    return item.opens < position < item.closes


def _unread(common: Mapping[str, list[CommonTableAt]], uses: list[tuple[str, int]]) -> list[CommonTableAt]:
    """The common tables that nothing reads but others of their kind."""
    unread = [item for items in common.values() for item in items]
    while True:
        read = {name for name, position in uses if not any(_within(position, item) for item in unread)}
        left = [item for item in unread if item.name not in read]
        if len(left) == len(unread):
            return unread
        unread = left


class _Scan:
    """One pass over the tokens, with a level for each open parenthesis."""

    def __init__(self, stream: TokenStream, dialect: Dialect, common: list[CommonTableAt]) -> None:
        self.stream = stream
        self.dialect = dialect
        self.common: dict[str, list[CommonTableAt]] = {}
        for item in common:
            self.common.setdefault(item.name, []).append(item)
        self.levels = [_Level(query=True)]
        self.found: list[SourceAt] = []
        self.derived: set[int] = set()
        self.uses: list[tuple[str, int]] = []
        self.joined = False

    def step(self, position: int, *, merge: bool) -> int:
        """Takes the token at a position; returns where to go on."""
        word = self.stream.word(position)
        level = self.levels[-1]
        if word == "(":
            self._open(position, level)
        elif word == ")":
            self._close(position)
        elif level.query and level.expecting:
            return self._relation(position, level)
        elif word == "," and level.in_from:
            level.expecting = True
        elif level.query and self.stream.word(position - 1) != ".":
            self._keyword(position, level, merge=merge)
        return position + 1

    def _open(self, position: int, level: _Level) -> None:
        following = self.stream.word(position + 1)
        shown = level.expecting and following in METADATA_QUERIES and self.dialect.described_relations
        shown = shown and self.stream.word(position + 2) not in (")", ".", ",")
        nested_join = level.expecting and following not in QUERY_STARTS and not shown
        self.levels.append(
            _Level(query=nested_join or following in QUERY_STARTS, in_from=nested_join, expecting=nested_join)
        )
        if level.expecting:
            self.derived.add(len(self.levels) - 2)
            level.expecting = False

    def _close(self, position: int) -> None:
        self.levels.pop()
        if self.levels[-1].in_from:
            alias, _ = alias_at(self.stream, position + 1, self.dialect)
            self.levels[-1].known.add(alias)

    def _keyword(self, position: int, level: _Level, *, merge: bool) -> None:
        word = self.stream.word(position)
        if word == "FROM":
            before = (self.stream.word(position - 2), self.stream.word(position - 1))
            if before not in (("IS", "DISTINCT"), ("NOT", "DISTINCT")):
                level.in_from = level.expecting = True
        elif word in ("JOIN", "APPLY", "STRAIGHT_JOIN"):
            level.in_from = level.expecting = True
        elif word == "USING" and merge and len(self.levels) == 1 and not self.joined:
            level.expecting = self.joined = True  # DuckDB has a second one, for the columns that it joins by
        elif word in ENDS_FROM or (word == "LATERAL" and self.stream.word(position + 1) == "VIEW"):
            if level.in_from and word in _BEFORE_BY and self._lacks_by(position + 1):
                raise Unparsable(f"{word} without BY")
            level.in_from = False
            if word == "LATERAL":
                self.derived.add(len(self.levels) - 1)
            if word == "SELECT":
                level.known = set()

    def _relation(self, position: int, level: _Level) -> int:
        word = self.stream.word(position)
        if word in _BEFORE_RELATION or (word == "TABLE" and self.stream.word(position + 1) == "("):
            return position + 1
        level.expecting = False
        named = relation_at(self.stream, position, self.dialect)
        if word in ENDS_FROM or named is None or self._is_call(named.end):
            self.derived.add(len(self.levels) - 1)  # a table function, a file, a variable: no table to name
            return position + 1 if named is None else named.end
        name = table_name(named.parts, self.dialect)
        alias, end = alias_at(self.stream, named.end, self.dialect)
        if alias and self._is_misspelt(end):
            raise Unparsable("BY behind what is no clause")
        field_of_another = len(name.parts) > 1 and name.parts[0] in level.known
        if self._is_common(name, position):
            self.uses.append((name.table, position))
            self.derived.add(len(self.levels) - 1)
        elif field_of_another:
            self.derived.add(len(self.levels) - 1)
        else:
            self.found.append(SourceAt(name, alias, len(self.levels) - 1, position))
        level.known.add(alias or name.table)
        return end

    def _is_misspelt(self, position: int) -> bool:
        """Whether the alias before a position, or the word at it, is a GROUP or ORDER gone wrong."""
        word, following = self.stream.word(position), self.stream.word(position + 1)
        return word == "BY" or (following == "BY" and word not in AFTER_RELATION)

    def _lacks_by(self, position: int) -> bool:
        is_word = position < len(self.stream) and self.stream.tokens[position].kind is TokenKind.WORD
        return is_word and self.stream.word(position) not in ("BY", "SIBLINGS")

    def _is_common(self, name: TableName, position: int) -> bool:
        if len(name.parts) != 1:
            return False
        return any(item.recursive or not _within(position, item) for item in self.common.get(name.table, ()))

    def _is_call(self, position: int) -> bool:
        """Whether the name before this position is a function's; T-SQL has table hints there too."""
        return self.stream.word(position) == "(" and self.stream.word(position + 1) not in TABLE_HINTS
