"""What the variables of a session stand for in the statements of a text: the queries, and the texts, that filled them.

MySQL's `SET @day = (SELECT max(d) FROM s); INSERT INTO t SELECT a, @day FROM u` writes what it has read of s; so do
Snowflake's `$day` and DuckDB's `getvariable('day')`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code, with_edits
from ingestion.dialects.definition import keywords
from ingestion.model.lineage import StatementKind
from ingestion.model.outcomes import Outcome
from ingestion.statements._splitting import StatementText
from ingestion.statements.classification import BLOCKS, classify
from ingestion.statements.routines.executed_texts import with_executed_texts
from ingestion.statements.routines.steps import column_queries
from ingestion.statements.script_variables import with_own_variables

_READING = frozenset(
    {
        StatementKind.CREATE_TABLE_AS,
        StatementKind.DELETE,
        StatementKind.INSERT,
        StatementKind.MERGE,
        StatementKind.SELECT,
        StatementKind.UPDATE,
    }
)
_MOVING_NAMES = frozenset(
    {StatementKind.ALTER_TABLE, StatementKind.CALL, StatementKind.DROP, StatementKind.RENAME, StatementKind.SWAP}
)
"""Behind these a query may mean other tables than it read; a routine may fill variables of its caller's session."""
_ENDING = keywords("reset unset discard")
_NAMING = keywords("identifier table")
_BEHIND_TARGETS = keywords("from where group order limit for ;")
_SIGNS = frozenset("(,=<>+-*/%!|&")
_KINDS = keywords("variable var")
"""Between SET and the name."""
_LONGEST_VALUE = 4_000
"""Characters of a query that is put in a variable's place: variables made of variables grow without end."""


def with_variables(statements: Sequence[StatementText], dialect: str) -> Iterator[StatementText]:
    """The statements of a text, each with what the variables in it stand for, as far as those before it tell."""
    own = with_own_variables(statements, dialect)
    return with_executed_texts(_with_queries(own, dialect_of(dialect)), dialect)


def _with_queries(statements: Iterable[StatementText], rules: Dialect) -> Iterator[StatementText]:
    script, mark = tuple(statements), rules.session_variables
    if not mark or len(script) == 1 or not any(mark in one.text.lower() for one in script):
        yield from script
        return
    values = _Values(rules)
    for one in script:
        text = values.read(one.text)
        yield one if text == one.text else replace(one, text=text)


@dataclass(slots=True)
class _Values:
    """What queries have given the variables, by their names: what stands for each, in parentheses."""

    rules: Dialect
    known: dict[str, str] = field(default_factory=dict)

    def read(self, text: str) -> str:
        """The statement with the variables that it reads replaced; those that it fills are known behind it."""
        found = classify(text, self.rules)
        if found.kind in _MOVING_NAMES or found.skip_reason in BLOCKS or found.skip_reason is Outcome.SESSION_STATE:
            self.known.clear()
            return text
        code = Code.of(text, self.rules)
        sets = code.word(0) == "set"
        if code.word(0) in _ENDING:
            self.known.clear()
        if not sets and found.kind not in _READING:
            return text
        targets = set(_targets(code))
        changed = {name for first, _last, name in self._variables(code) if first in targets}
        edits = [
            code.edit(first, last, self.known[name])
            for first, last, name in self._variables(code)
            if name in self.known and (name not in changed or sets) and first not in targets
        ]
        text = with_edits(text, edits) if edits else text
        self._fill(Code.of(text, self.rules) if edits else code, changed)
        return text

    def _variables(self, code: Code) -> Iterator[tuple[int, int, str]]:
        """The first and the last token of each variable, and its name."""
        mark = self.rules.session_variables
        for number in range(len(code)):
            word = code.word(number)
            if mark == "@" and word == mark and _is_marked(code, number):
                yield number, number + 1, code.without_quotes(number + 1).lower()
            elif mark == "$" and word[:1] == mark and code.word(number - 1) != ".":
                if code.word(number - 1) != "(" or code.word(number - 2) not in _NAMING:
                    yield number, number, word[1:]
            elif word == mark and code.word(number + 1) == "(" and code.is_string(number + 2):
                yield number, number + 3, code.without_quotes(number + 2).lower()

    def _fill(self, code: Code, changed: Iterable[str]) -> None:
        """Takes what a statement gives its variables."""
        given = dict(_given_by_set(code)) if code.word(0) == "set" else dict(_given_by_select(code))
        for name in (*changed, *given):
            self.known.pop(name, None)
        self.known |= {name: value for name, value in given.items() if value and len(value) <= _LONGEST_VALUE}


def _is_marked(code: Code, number: int) -> bool:
    """Whether the @ at a token marks a variable: not that of @@setting, nor of user@host."""
    touches = number > 0 and code.end_of(number - 1) == code.start_of(number) and code.word(number - 1) not in _SIGNS
    return not touches and code.is_name(number + 1) and code.end_of(number) == code.start_of(number + 1)


def _targets(code: Code) -> Iterator[int]:
    """The first tokens of the variables that a statement fills: SET @a = 1, SELECT 1 INTO @a, @a := 1."""
    if code.word(0) == "set":
        yield from (first for first, _last in code.items(1, len(code)))
    into = code.find(0, frozenset({"into"}))
    if code.word(into + 1) == "@":
        yield from (first for first, _last in code.items(into + 1, code.find(into, _BEHIND_TARGETS)))
    yield from (n for n in range(len(code)) if code.word(n) == "@" and code.words(n + 2, 2) == (":", "="))


def _given_by_set(code: Code) -> Iterator[tuple[str, str]]:
    """What SET gives each variable; "" where no query is in it. `SET (a, b) = (SELECT x, y FROM s)` by position."""
    last = len(code) - (code.word(len(code) - 1) == ";")
    first = 1 + (code.word(1) in _KINDS and code.word(2) != "=")
    if code.word(first) == "(":
        closing = code.closing(first)
        names = [code.without_quotes(begin).lower() for begin, _end in code.items(first + 1, closing)]
        value = closing + 2
        found = column_queries(code.between(value + 1, last - 1), names, code) if code.word(value) == "(" else {}
        yield from ((name, f"({found[name]})" if name in found else "") for name in names)
        return
    for begin, end in code.items(first, last):
        name = begin + (code.word(begin) == "@")
        equals = name + 1 + (code.word(name + 1) == ":")
        if code.word(equals) == "=":
            yield code.without_quotes(name).lower(), _value(code, equals + 1, end)


def _value(code: Code, first: int, last: int) -> str:
    if not any(code.word(number) == "select" for number in range(first, last)):
        return ""
    alone = code.word(first) == "(" and code.closing(first) == last - 1
    return code.between(first, last) if alone else f"({code.between(first, last)})"


def _given_by_select(code: Code) -> Iterator[tuple[str, str]]:
    """What `SELECT a, b INTO @x, @y FROM t` and `SELECT @x := a, @y := b FROM t` give their variables."""
    if code.word(0) != "select":
        return
    last = len(code) - (code.word(len(code) - 1) == ";")
    into, start = code.find(0, frozenset({"into"}), last), code.find(0, _BEHIND_TARGETS, last)
    if code.word(into + 1) == "@":
        until = code.find(into, _BEHIND_TARGETS, last)
        names = [code.without_quotes(begin + 1).lower() for begin, _end in code.items(into + 1, until)]
        query = f"{code.between(0, into)} {code.between(until, last)}"
    else:
        items = list(code.items(1, start))
        if not all(code.word(begin) == "@" and code.words(begin + 2, 2) == (":", "=") for begin, _end in items):
            return
        names = [code.without_quotes(begin + 1).lower() for begin, _end in items]
        values = ", ".join(code.between(begin + 4, end) for begin, end in items)
        query = f"SELECT {values} {code.between(start, last)}" if "@" not in values else ""
    yield from ((name, f"({query})") for name, query in column_queries(query, names, code).items())
