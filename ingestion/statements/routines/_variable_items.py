"""The queries that a routine's variables stand for, as items of WITH before the statement that reads the variables.

In the variable's own place its names could be others': of `WITH s AS (SELECT * FROM u) INSERT INTO t SELECT @m FROM s`
an @m that was filled from the table s would read u, and a column of it that is not known be one of the query around.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords

_ITEM = "headwater_variable_"
"""How the items are called, as nothing else is."""
_NAMED = re.compile(rf"\b{_ITEM}([0-9]+)\b")
_TAKES_WITH = keywords("( del delete ins insert merge sel select table upd update values with")
_QUERY = keywords("from sel select table with")
_QUERY_AFTER = keywords("as (")
_BEFORE_ITEM = keywords("with recursive ,")
_READING = keywords("as from join using")
_VALUES = re.compile(rf"\(SELECT [^()]*? FROM {_ITEM}[0-9]+[^()]*\)")
_VALUE = re.compile(rf"\(SELECT \* FROM {_ITEM}([0-9]+)\)")
_NOTHING = "SELECT NULL"


def with_items(code: Code, items: str, last: int = 0) -> str | None:
    """A statement with items before those of its own WITH; of `CREATE TABLE t AS SELECT …` they go to the query.

    None where it has no place for them that the token at `last` sees.
    """
    first = _find_query(code, last)
    if first == len(code):
        return None
    before, after = "WITH ", " "
    if code.word(first) == "with":
        first += 1 + (code.word(first + 1) == "recursive")
        before, after = "", ", "
        if code.stands(first, "xmlnamespaces", "("):  # T-SQL has them before all items
            first = code.closing(first + 1) + 1
            before, after = ", ", " "
    at = code.start_of(first)
    return f"{code.text[:at]}{before}{items}{after}{code.text[at:]}"


def _find_query(code: Code, last: int) -> int:
    """Where a statement takes WITH; behind its end where it does not."""
    first = next((index for index in range(len(code)) if code.word(index) != ";"), len(code))
    if code.word(first) in _TAKES_WITH:
        return first
    outside = frozenset(code.outside(first))
    for index in range(first + 1, len(code)):
        of_whole = index in outside and code.word(index) == "select"  # MySQL's REPLACE INTO t SELECT …
        if not of_whole and (code.word(index) not in _QUERY or code.word(index - 1) not in _QUERY_AFTER):
            continue
        if _VALUES.match(code.text, code.start_of(index - 1)) is not None:
            continue
        while code.word(index - 1) == "(" and code.word(index - 2) in _QUERY_AFTER:  # AS (SELECT …) UNION (SELECT …)
            index -= 1
        return index if code.word(index - 1) != "(" or code.closing(index - 1) > last else len(code)
    return len(code)


@dataclass(slots=True)
class VariableItems:
    """The queries of a body's variables, each of which may read those before it, and their numbers."""

    queries: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def name_of(self, query: str) -> str:
        """The relation that holds the rows of a query."""
        number = self.numbers.setdefault(query, len(self.queries))
        if number == len(self.queries):
            self.queries.append(query)
        return f"{_ITEM}{number}"

    def value_of(self, query: str) -> str:
        """The value that a query gives."""
        return f"(SELECT * FROM {self.name_of(query)})"

    def reads(self, query: str, read: str) -> bool:
        """Whether a query reads the value of another one."""
        return read in self.numbers and self.value_of(read) in query

    def length_of(self, query: str) -> int:
        """Characters of a query with those of all that it reads."""
        return len(query) + sum(self.length_of(self.queries[number]) for number in _numbers(query))

    def complete(self, text: str, dialect: Dialect) -> str:
        """A statement with the queries of the items that it reads.

        One that has no place for them has none for a relation of its own either, but for what is not understood.
        """
        if _ITEM not in text or not self.queries:
            return text
        code, needed = Code.of(text, dialect), sorted(self._items_of(text))
        if not self._are_hidden(code, needed):
            last = max((index for index in range(len(code)) if code.word(index).startswith(_ITEM)), default=0)
            complete = with_items(code, self._written_items(needed), last)
            if complete is not None:
                return complete
            if not _reads_relations(Code.of(_VALUES.sub("", text), dialect)):
                return self._without_items(text)
        return _NAMED.sub(f"({_NOTHING})", text)

    def complete_value(self, text: str, dialect: Dialect) -> str:
        """The same of an expression, or of a query; of a query's value alone, the query."""
        alone = _VALUE.fullmatch(text)
        if alone is not None and self.queries:
            return self.complete(self.queries[int(alone[1])], dialect)
        if _ITEM not in text or not self.queries or Code.of(text, dialect, 1).word(0) in _QUERY:
            return self.complete(text, dialect)
        return f"(WITH {self._written_items(sorted(self._items_of(text)))} SELECT {text})"

    def _items_of(self, text: str) -> set[int]:
        """The items that a text reads, and those that these read."""
        found, waiting = set[int](), [text]
        while waiting:
            new = {number for number in _numbers(waiting.pop()) if number < len(self.queries)} - found
            found |= new
            waiting += (self.queries[number] for number in new)
        return found

    def _written_items(self, numbers: Iterable[int]) -> str:
        return ", ".join(f"{_ITEM}{number} AS ({self.queries[number]})" for number in numbers)

    def _are_hidden(self, code: Code, numbers: Iterable[int]) -> bool:
        """Whether an item of the statement's own may stand for a table of a query: of WITH RECURSIVE each sees all."""
        if not any(code.word(index) == "recursive" for index in range(len(code))):
            return False
        own = {code.name(index) for index in range(1, len(code)) if _is_item(code, index)}
        inner = (Code.of(self.queries[number], code.dialect) for number in numbers)
        return any(one.name(index) in own for one in inner for index in range(len(one)) if one.word(index + 1) != "(")

    def _without_items(self, text: str) -> str:
        """The text with the queries themselves: in the place of a value, or of a relation."""

        def query_of(named: re.Match[str]) -> str:
            return f"({self._without_items(self.queries[int(named[1])])})"

        return _NAMED.sub(query_of, _VALUE.sub(query_of, text))


def _reads_relations(code: Code) -> bool:
    made = (code.word(index) in _READING and not code.stands(index, "as", "values") for index in range(len(code)))
    return any(made)


def _numbers(text: str) -> Iterator[int]:
    return (int(number) for number in _NAMED.findall(text))


def _is_item(code: Code, index: int) -> bool:
    """Whether a name may be that of an item of WITH: `s AS (…)`, `s (a, b) AS MATERIALIZED (…)`."""
    behind = code.after(index + 1) if code.word(index + 1) == "(" else index + 1
    return code.word(index - 1) in _BEFORE_ITEM and bool(code.name(index)) and code.word(behind) == "as"
