"""T-SQL's bodies: statements need no semicolon, so each ends where the next one can begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.dialects.definition import keywords
from ingestion.lexing import WORD
from ingestion.lexing.cursor import Code
from ingestion.routines.steps import DYNAMIC, RoutineStep, constant, routine_called_at, without_repetition
from ingestion.routines.variables import Variables, column_queries, with_parameters

_FLOWS = keywords("insert update delete merge select with create drop alter truncate bulk copy")
_CONTROL = keywords(
    "if while begin end else declare set exec execute print return raiserror throw commit rollback save open close"
    " fetch deallocate goto waitfor break continue use go grant revoke deny try catch backup restore dbcc kill"
    " checkpoint reconfigure shutdown"
)
_STARTS = _FLOWS | _CONTROL
# After these words a verb goes on with the statement that has begun.
_CONTINUES_SELECT = keywords("union all except intersect as ( into from by")
_NO_START_AFTER = keywords(". , = <")
_NO_FLOW_AFTER = keywords("on for after of grant revoke deny or instead not")
_OPTIONS = keywords(
    "( nowait log seterror recompile result ties grant check nocheck encryption schemabinding native_compilation"
    " differential init noinit norecovery recovery replace move stats file no_infomsgs tableresults override"
)
"""What WITH may be followed by within a statement; a query of its own begins with a name."""
_ALTERED_PARTS = keywords("column constraint period")
_INTO = frozenset({"into"})
_TABLE_VARIABLE = re.compile(r"@([\w@#$]+)")


def transact_body(code: Code, variables: Variables) -> tuple[tuple[RoutineStep, ...], tuple[str, ...]]:
    """What a T-SQL body does, in order, and the expressions that it returns."""
    reader = _TransactReader(code, variables=variables)
    for first, last in _statements(code):
        reader.take(first, last)
    return without_repetition(reader.steps), tuple(reader.returned)


def _statements(code: Code) -> Iterator[tuple[int, int]]:
    """The stretches of tokens that are one statement or one piece of control flow each."""
    first = place = 0
    cases = 0
    state = _TsqlStatement()
    while place < len(code.tokens):
        word = code.word(place)
        if word == "(":
            state.see(word)
            place = code.closing(place) + 1
            continue
        cases += word == "case"
        ends_case = word == "end" and cases > 0
        cases -= ends_case
        may = _may_start(code, place, state.verb)
        starts = not cases and not ends_case and may and state.ends_before(word, code, place)
        if place > first and (word == ";" or starts):
            yield first, place
            first = place + (word == ";")
            state = _TsqlStatement()
        elif word == ";":
            first = place + 1
        if word != ";":
            state.see(word)
        place += 1
    if first < len(code.tokens):
        yield first, len(code.tokens)


def _may_start(code: Code, place: int, verb: str) -> bool:
    word, before = code.word(place), code.word(place - 1)
    if verb == "set" and before == "on":  # SET NOCOUNT ON
        return word in _STARTS
    if word not in _STARTS or before in _NO_START_AFTER or code.word(place + 1) == ".":
        return False
    if (word == "if" and _asks_for_a_name(code, place)) or (verb == "alter" and code.word(place + 1) in _ALTERED_PARTS):
        return False
    return word not in _FLOWS or before not in _NO_FLOW_AFTER


def _asks_for_a_name(code: Code, place: int) -> bool:
    """Whether an IF is that of DROP TABLE IF EXISTS t, and not the control flow's IF EXISTS (SELECT …)."""
    after = place + 1 + (code.word(place + 1) == "not")
    return code.word(after) == "exists" and code.word(after + 1) != "("


@dataclass(slots=True)
class _TsqlStatement:
    """The statement that is being read: which verbs still belong to it."""

    verb: str = ""
    main: bool = False
    before: str = ""

    def see(self, word: str) -> None:
        if not self.verb and word:
            self.verb = word
            self.main = word != "with"
        elif word == "with" and self.verb == "declare" and self.before == "for":  # a cursor's query
            self.verb, self.main = "with", False
        self.before = word

    def ends_before(self, word: str, code: Code, place: int) -> bool:
        """Whether `word` is the next statement's first."""
        if not self.verb or self.verb in ("begin", "else", "end"):
            return bool(self.verb)
        if self.verb == "merge":
            return False  # ends with its semicolon
        if word == "select":
            return self._select_begins()
        if word == "set":
            return self.verb not in ("update", "with", "alter")
        if self.verb == "with" and not self.main and word in _FLOWS:
            self.main, self.verb = True, word
            return False
        if word in ("exec", "execute") and self.verb == "insert" and not self.main_query:
            self.verb = "select"
            return False
        if word == "begin" and self.verb == "create":
            return True
        if word == "with":
            return code.word(place + 1) not in _OPTIONS and self.before != "as"
        return not (self.verb == "declare" and word in ("select", "with"))

    @property
    def main_query(self) -> bool:
        return self.verb == "select"

    def _select_begins(self) -> bool:
        if self.verb == "insert" or (self.verb == "with" and not self.main):
            self.verb, self.main = "select", True
            return False
        if self.verb == "declare":
            return self.before != "for"
        return self.before not in _CONTINUES_SELECT


def _first_selected(code: Code, select: int) -> int:
    """Where the list of a SELECT begins: behind DISTINCT and TOP (n) PERCENT WITH TIES."""
    place = select + 1
    place += code.word(place) in ("distinct", "all")
    if code.word(place) == "top":
        place = (code.closing(place + 1) if code.word(place + 1) == "(" else place + 1) + 1
        place += code.word(place) == "percent"
        place += 2 * (code.words(place, 2) == ("with", "ties"))
    return place


@dataclass(slots=True)
class _TransactReader:
    code: Code
    steps: list[RoutineStep] = field(default_factory=list)
    variables: Variables = field(default_factory=Variables)
    tables: set[str] = field(default_factory=set)
    returned: list[str] = field(default_factory=list)

    def take(self, first: int, last: int) -> None:
        """One statement, from token to token."""
        verb = self.code.word(first)
        if verb == "set" and not self.code.word(first + 1).startswith("@"):
            return  # an option of the session
        if verb in ("declare", "set"):
            self._declare(first, last)
        elif verb in ("exec", "execute"):
            self._execute(first, last)
        elif verb == "fetch":
            self._fetch(first, last)
        elif verb == "return" and last > first + 1:
            self.returned.append(with_parameters(self.code, first + 1, last, self.variables))
        elif verb == "select" and self._assigns(first, last):
            self._assigned_by_select(first, last)
        elif verb in _FLOWS and (verb != "select" or self.code.find(first, _INTO, last) < last):
            self._statement(first, last)

    def _statement(self, first: int, last: int) -> None:
        text = with_parameters(self.code, first, last, self.variables)
        self.steps.append(RoutineStep(_TABLE_VARIABLE.sub(self._table, text) if self.tables else text))

    def _table(self, match: re.Match[str]) -> str:
        """A table variable is a temporary table."""
        return f"#{match[1]}" if match[1].casefold() in self.tables else match[0]

    def _declare(self, first: int, last: int) -> None:
        cursor = self.code.find(first, frozenset({"for"}), last)
        if "cursor" in self.code.words(first + 2, 6) and cursor < last:
            query = with_parameters(self.code, cursor + 1, last, self.variables)
            self.variables.record(self.code.tokens[first + 1].text, query, replaces=True)
            return
        for begin, end in self.code.items(first + 1, last):
            name = self.code.tokens[begin].text
            after = begin + 1 + (self.code.word(begin + 1) == "as")
            if self.code.word(after) == "table":
                self.tables.add(name[1:].casefold())
                self.steps.append(RoutineStep(f"CREATE TABLE #{name[1:]} {self.code.between(after + 1, end)}"))
                continue
            self.variables.declare(name)
            value = next((p for p in range(begin, end) if self.code.word(p) == "="), end)
            if value < end:
                self._takes(name, value + 1, end)

    def _takes(self, name: str, first: int, last: int) -> None:
        if self.code.word(first) == "(" and self.code.word(first + 1) == "select":
            self.variables.fill(name, with_parameters(self.code, first + 1, last - 1, self.variables))
        else:
            self.variables.set_constant(name, constant(self.code, first, last))

    def _assigns(self, first: int, last: int) -> bool:
        return (
            self.code.word(_first_selected(self.code, first)).startswith("@")
            and self.code.word(_first_selected(self.code, first) + 1) == "="
            and self.code.find(first, _INTO, last) >= last
        )

    def _assigned_by_select(self, first: int, last: int) -> None:
        """SELECT @a = x, @b = y FROM t."""
        until = self.code.find(first, frozenset({"from"}), last)
        rest = with_parameters(self.code, until, last, self.variables) if until < last else ""
        for begin, end in self.code.items(_first_selected(self.code, first), until):
            name = self.code.tokens[begin].text
            if self.code.word(begin + 1) != "=" or not rest:
                self.variables.declare(name)
                continue
            self.variables.fill(name, f"SELECT {self.code.between(begin + 2, end)} {rest}")

    def _fetch(self, first: int, last: int) -> None:
        into = self.code.find(first, _INTO, last)
        query = self.variables.query_of(self.code.tokens[into - 1].text) if into < last else None
        if query is None:
            return
        names = [self.code.tokens[begin].text for begin, _end in self.code.items(into + 1, last)]
        for name, value in column_queries(query, names, self.code).items():
            self.variables.fill(name, value)

    def _execute(self, first: int, last: int) -> None:
        called = routine_called_at(self.code, first)
        if called:
            self.steps.append(RoutineStep(calls=called))
            return
        tokens = [
            place for place in range(first + 1, last) if self.code.tokens[place].kind != WORD or place > first + 1
        ]
        start = next((place for place in tokens if self.code.word(place) not in ("(",)), last)
        stop = next((place for place in range(start, last) if self.code.word(place) in (",", ")")), last)
        text = constant(self.code, start, stop)
        if text is None:
            text = self._text_of_variable(first, last)
        if text is None:
            self.steps.append(RoutineStep(problem=DYNAMIC))
        else:
            self.steps += transact_body(Code.of(text, self.code.dialect), Variables())[0]

    def _text_of_variable(self, first: int, last: int) -> str | None:
        named = [self.code.tokens[p].text for p in range(first, last) if self.code.word(p).startswith("@")]
        return self.variables.text_of(named[0]) if len(named) == 1 or (named and last - first < 8) else None
