"""Bodies read statement by statement: through declarations, control flow and assignments, with semicolons or
without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import Separator, keywords
from ingestion.dialects.keywords import CONVERSATIONS, NO_BLOCKS
from ingestion.model.outcomes import Outcome
from ingestion.statements._chains import without_chains
from ingestion.statements.emptied_tables import is_straight
from ingestion.statements.routines.steps import (
    Held,
    RoutineStep,
    Texts,
    Variables,
    column_queries,
    constant,
    held_by,
    may_move_rows,
    routine_called_at,
    runs_elsewhere,
    with_parameters,
    with_whole_records,
    without_repetition,
)

_QUERY = frozenset({"select", "with"})
_VALUES = frozenset({"values"})

_FLOWS = keywords("insert update delete merge select with create drop alter truncate bulk copy")
_CONTROL_WORDS = keywords(
    "if while begin end else declare set exec execute print return raiserror throw commit rollback save open close"
    " fetch deallocate goto waitfor break continue use go grant revoke deny try catch backup restore dbcc kill"
    " checkpoint reconfigure shutdown"
)
_STARTS = _FLOWS | _CONTROL_WORDS
# After these words a verb goes on with the statement that has begun.
_CONTINUES_SELECT = keywords("union all except intersect as into from by")
_NO_START_AFTER = keywords(". , = < > + - / %")
_NO_FLOW_AFTER = keywords("on for after of grant revoke deny or instead not")
_WITH_OPTIONS = keywords(
    "( nowait log seterror recompile result ties grant check nocheck encryption schemabinding native_compilation"
    " differential init noinit norecovery recovery replace move stats file no_infomsgs tableresults override"
    " rollback no_wait"
)
"""What WITH may be followed by within a statement; a query of its own begins with a name."""
_BEFORE_SELECTED = keywords("select distinct as")
_ALTERED_PARTS = keywords("column constraint period")
_BEFORE_ITEMS = frozenset({("declare", "for"), ("create", "as"), ("alter", "as")})
"""What WITH stands behind in a cursor's query, and in that of a view."""
_CALLING = keywords("exec execute")
_FILLED_BY_CALL = keywords("out output")
_SETTING = keywords("declare set select")
_ADDING = frozenset("+-*/%&|^")
_CHANGING = keywords("insert update delete merge")
_DECIDING = keywords("if else while")
_HANDLING = keywords("try catch")
_DEEPEST_LOOP = 20
"""Blocks around a loop that is read: each loop within another is gone through once more."""
_LISTED_INTO = keywords("into ,")
_RENAMING = "sp_rename"
_CHARACTER = keywords("char nchar")
_PLAIN_CHARACTERS = {"9": "\t", "10": "\n", "13": "\r", "32": " ", "39": "'"}
"""What T-SQL's CHAR gives that texts are put together with: blanks, ends of lines, a quote."""
# IF @v = 'x' fills nothing.
_COMPARED_AFTER = keywords("if while where and or on when having not (")
_LONGEST_TEXT = 100_000
"""Characters of a text that constants make: one that is put together of itself again and again grows without end."""
_INTO = frozenset({"into"})
_RETURNING = frozenset({"returning"})
_FROM = frozenset({"from"})
_AS_STRUCT = re.compile(r"\bselect\s+as\s+struct\s", re.IGNORECASE)
_READS_QUERY = re.compile(r"\bselect\b", re.IGNORECASE)
_ALL_COLUMNS = re.compile(r"(?:with\b[\s\S]*?\)\s*)?select\s+(?:[\w\"]+\s*\.\s*)?\*\s", re.IGNORECASE)

# A text that runs a text is followed so far; what nests deeper is made by a program, with names that only it knows.
_DEEPEST_TEXT = 3
_STATEMENT_VERBS = keywords(
    "insert update delete merge with create drop alter truncate copy unload load replace rename upsert exchange"
)
_ENDS_STATEMENT = frozenset({";"})
_LIMIT = frozenset({"limit"})


# What declarations, assignments and SELECT … INTO make of a routine's variables.


def _query_between(code: Code, first: int, last: int, variables: Variables) -> str | None:
    """A query from `first` to `last`, in parentheses or not, or the one of a cursor that is named there."""
    while code.word(first) == "(" and code.closing(first) == last - 1:
        first, last = first + 1, last - 1
    if code.word(first) in _QUERY:
        return with_parameters(code, first, last, variables)
    alone = last == first + 1 or (code.word(first + 1) == "(" and code.closing(first + 1) == last - 1)  # c(3)
    named = code.name(first) if alone else ""
    return variables.query_of(named) if named else None


def _value_between(code: Code, first: int, last: int, variables: Variables) -> str:
    """What a routine returns: an expression, or a query."""
    return variables.items.complete_value(with_parameters(code, first, last, variables), code.dialect)


def _declare(code: Code, first: int, until: int, variables: Variables) -> None:
    """One declaration, from `first` to its semicolon: names with a type and a value, or a cursor with its query.

    Oracle's `TYPE r IS RECORD (a NUMBER, b DATE)` says by which names the columns of a row are called.
    """
    if code.word(first) == "pragma":
        return
    if code.word(first) == "type" and code.words(first + 2, 3) == ("is", "record", "("):
        fields = code.items(first + 5, code.closing(first + 4))
        variables.describe_rows(code.name(first + 1), [code.name(begin) for begin, _end in fields])
        return
    if "cursor" in code.words(first, min(5, until - first)):
        named = code.name(first + 1 if code.word(first) == "cursor" else first)
        start = code.find(first, _QUERY)
        behind = variables.query_of(code.name(until - 1))  # Snowflake's CURSOR FOR a result set
        given = next((index for index in range(first, start) if code.word(index) == "("), start)
        if start < until and given < start:  # a cursor with parameters, which are none of the routine's
            own = Variables()
            for begin, _end in code.items(given + 1, code.closing(given)):
                own.declare(code.name(begin))
            variables.record(named, with_parameters(code, start, until, own), replaces=True)
        elif start < until:
            variables.record(named, code.between(start, until), replaces=True)
        elif behind is not None:
            variables.record(named, behind, replaces=True)
        return
    if "rowtype" in code.words(first + 1, min(6, until - first)) or code.word(first + 1) == "record":
        variables.declare_row(code.name(first))
    variables.give_type(code.name(first), code.name(first + 1))
    value = next((index for index in range(first, until) if code.word(index) in ("=", "default")), until)
    for begin, _end in code.items(first, value):
        variables.declare(code.name(begin))
    if value < until:
        _assign(code, code.name(first), (value + 1, until), variables)


def _assign(code: Code, name: str, value: tuple[int, int], variables: Variables) -> None:
    """`name := value`, the tokens of a query, a cursor's name, or perhaps a constant text."""
    query = _query_between(code, *value, variables)
    if query is not None:
        variables.fill(name, query)
        variables.record(name, query)
        return
    variables.set_constant(name, constant(code, *value))
    _fill_expression(code, name, value, variables)


def _fill_expression(code: Code, name: str, value: tuple[int, int], variables: Variables) -> None:
    """A variable takes what is no query, and may be made of others that queries filled."""
    made_of = with_parameters(code, *value, variables)
    if made_of != code.between(*value) and _READS_QUERY.search(made_of):
        variables.fill(name, f"SELECT {made_of}")


def _select_into(code: Code, indices: tuple[int, int, int], variables: Variables) -> list[RoutineStep]:
    """`SELECT a, b INTO x, y FROM t`; `indices` are those of SELECT, of INTO and of the statement's end.

    What it changes of a trigger's row: `SELECT p.price INTO NEW.price FROM p`.
    """
    select, into, until = indices
    first = into + 2 if code.word(into + 1) == "strict" else into + 1
    rest = code.find(first, frozenset({"from", "where", ";"}))
    head = with_parameters(code, select, _without_bulk(code, into), variables)
    tail = with_parameters(code, rest, until, variables) if rest < until else ""
    return _fill_names(code, (first, min(rest, until)), f"{head} {tail}".strip(), variables)


def _without_bulk(code: Code, into: int) -> int:
    """Where what stands before an INTO ends: before Oracle's BULK COLLECT, where that is there."""
    return into - 2 if code.words(into - 2, 2) == ("bulk", "collect") else into


def _fill_names(code: Code, listed: tuple[int, int], query: str, variables: Variables) -> list[RoutineStep]:
    """Fills the variables `listed` with the columns of a query by position; one alone may be a record of it."""
    items = [(begin + (code.word(begin) == ":"), end) for begin, end in code.items(*listed)]
    names = [code.name(end - 1) for _begin, end in items]
    changed = {
        code.name(end - 1): code.tokens[end - 1].text for begin, end in items if _is_changed(code, begin, variables)
    }
    if (
        len(names) == 1
        and changed
        and (names[0] not in column_queries(query, names, code) or _gives_a_row(query, code))
    ):
        return [variables.change("", None, code.dialect)]
    fields = variables.fields_of(names[0]) if len(names) == 1 else ()
    for field_name, value in column_queries(query, fields, code).items() if fields else ():
        variables.fill_field(names[0], field_name, value)
    if len(names) == 1 and not changed and (variables.is_row(names[0]) or _gives_a_row(query, code)):
        variables.record(names[0], query)
        return []
    found = column_queries(query, names, code)
    for name in names:
        if name in changed:
            continue
        variables.forget_text(name)
        if name in found:
            variables.fill(name, found[name])
        elif len(names) == 1:
            variables.record(name, query)
        else:
            variables.declare(name)
    values = {name: variables.items.value_of(found[name]) for name in changed if name in found}
    return [variables.change(text, values.get(name), code.dialect) for name, text in changed.items()]


def _is_changed(code: Code, index: int, variables: Variables) -> bool:
    """Whether what is assigned to at `index` is a column of a trigger's row, or the row."""
    return index < len(code.tokens) and variables.is_changeable(code.name(index))


def _gives_a_row(query: str, code: Code) -> bool:
    """Whether a query gives all columns of what it reads: of one variable that takes them, the fields."""
    listed = column_queries(query, ("",), code)
    return any(_ALL_COLUMNS.match(expression) for expression in listed.values())


# T-SQL's bodies: statements need no semicolon, so each ends where the next one can begin.


def _transact_body(code: Code, variables: Variables) -> tuple[tuple[RoutineStep, ...], tuple[str, ...]]:
    """What a T-SQL body does, in order, and the expressions that it returns."""
    reader = TransactReader(code, variables=variables, unsure=_given_again(code))
    variables.jumps = "goto" in code.words(0, len(code))
    for first, last in transact_statements(code):
        reader.take(first, last)
    return without_repetition(reader.steps), tuple(reader.returned)


def transact_statements(code: Code) -> Iterator[tuple[int, int]]:
    """The stretches of tokens that are one statement or one piece of control flow each."""
    first = index = 0
    cases = 0
    state = _TsqlStatement()
    while index < len(code.tokens):
        word = code.word(index)
        if word == "(":
            state.see(word)
            index = code.closing(index) + 1
            continue
        cases += word == "case"
        ends_case = word == "end" and cases > 0
        cases -= ends_case
        may = _may_start(code, index, state.verb)
        starts = not cases and not ends_case and may and state.ends_before(word, code, index)
        if index > first and (word == ";" or starts):
            yield first, index
            first = index + (word == ";")
            state = _TsqlStatement()
        elif word == ";":
            first = index + 1
        if word != ";":
            state.see(word)
        index += 1
    if first < len(code.tokens):
        yield first, len(code.tokens)


def _may_start(code: Code, index: int, verb: str) -> bool:
    word, before = code.word(index), code.word(index - 1)
    if verb == "set" and before == "on":  # SET NOCOUNT ON
        return word in _STARTS
    if word not in _STARTS or before in _NO_START_AFTER or code.word(index + 1) == ".":
        return False
    if word == "copy" and not _copies_into(code, index, verb):
        return False
    if (verb == before == "bulk" and word == "insert") or code.stands(index, "merge", "join"):  # LEFT MERGE JOIN
        return False
    if word == "update" and code.word(index + 1) == "(":  # IF UPDATE(a): whether the trigger's statement sets a
        return False
    if (word == "if" and _asks_for_a_name(code, index)) or (verb == "alter" and code.word(index + 1) in _ALTERED_PARTS):
        return False
    return word not in _FLOWS or before not in _NO_FLOW_AFTER


def _copies_into(code: Code, index: int, verb: str) -> bool:
    """Whether a COPY is COPY INTO t: it is the one verb that T-SQL does not reserve, FROM copy reads a table."""
    selected = verb == "select" and code.word(index - 1) in _BEFORE_SELECTED  # SELECT copy INTO t FROM s
    return code.word(index + 1) == "into" and not selected


def _asks_for_a_name(code: Code, index: int) -> bool:
    """Whether an IF is that of DROP TABLE IF EXISTS t, and not the control flow's IF EXISTS (SELECT …)."""
    after = index + 1 + (code.word(index + 1) == "not")
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
        elif word == "with" and (self.verb, self.before) in _BEFORE_ITEMS:
            self.verb, self.main = "with", False
        elif word in _VALUES and self.verb == "insert" and self.before != ".":  # its rows are there: no EXEC gives them
            self.verb = "select"
        self.before = word

    def ends_before(self, word: str, code: Code, index: int) -> bool:
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
            return code.word(index + 1) not in _WITH_OPTIONS and self.before != "as"
        if word == "rollback" and self.before == "with":  # ALTER DATABASE d SET … WITH ROLLBACK IMMEDIATE
            return False
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


def _given_again(code: Code) -> frozenset[str]:
    """The variables that something is given more than once, where a GOTO leads back: which of it one has is not known.

    `SET @s = 'a' again: EXEC (@s) SET @s = 'b' GOTO again` runs both.
    """
    labels = {code.word(index): index for index in reversed(range(len(code))) if code.word(index + 1) == ":"}
    jumps = (index for index in range(len(code)) if code.word(index) == "goto")
    if not any(labels.get(code.word(index + 1), index) < index for index in jumps):
        return frozenset()
    named = (code.word(index) for index in range(len(code)) if "=" in code.words(index + 1, 2))
    return frozenset(name for name, count in Counter(named).items() if count > 1 and name.startswith("@"))


def _first_selected(code: Code, select: int) -> int:
    """Where the list of a SELECT begins: behind DISTINCT and TOP (n) PERCENT WITH TIES."""
    index = select + 1
    index += code.word(index) in ("distinct", "all")
    if code.word(index) == "top":
        index = (code.closing(index + 1) if code.word(index + 1) == "(" else index + 1) + 1
        index += code.word(index) == "percent"
        index += 2 * (code.words(index, 2) == ("with", "ties"))
    return index


@dataclass(slots=True)
class _Branches:
    """The branches, loops and handlers of errors around what is read: behind one a text is known if it is the same."""

    variables: Variables
    before: list[Texts | None] = field(default_factory=list)  # of each block; None of one that runs in any case
    awaited: bool = False  # IF, ELSE and WHILE wait for the statement that they decide on
    until: Texts | None = None  # before the one statement that they have decided on
    in_no_order: bool = False  # a loop has begun whose end is not known: what is filled behind may have been before

    def enter(self, code: Code, first: int, last: int) -> None:
        """Goes to the statement, or the piece of control flow, from `first` to `last`."""
        self.leave()
        word, behind = code.word(first), code.word(first + 1)
        if word in _DECIDING:
            self.awaited = True
            if word == "while":
                self._forget(code, last)
        elif word == "begin" and behind not in NO_BLOCKS:
            decided = self.awaited or behind in _HANDLING
            self.before.append(self.variables.known_texts() if decided else None)
            self.awaited = False
        elif word == "end" and behind not in CONVERSATIONS and self.before:
            self._join(self.before.pop())
        elif self.awaited:
            self.awaited, self.until = False, self.variables.known_texts()

    def leave(self) -> None:
        """Goes behind what was read."""
        before, self.until = self.until, None
        self._join(before)

    def _join(self, before: Texts | None) -> None:
        if before is not None:
            self.variables.join_texts(before)

    def _forget(self, code: Code, first: int) -> None:
        """A loop begins: what its statements fill may have been filled by them before."""
        end = _end_of_loop(code, first) if len(self.before) < _DEEPEST_LOOP else None
        if end is None:
            self.in_no_order = True
            self.variables.forget_texts()
            return
        for index in range(first, end):
            name, before, behind = code.word(index), code.word(index - 1), code.word(index + 1)
            filled = behind in _FILLED_BY_CALL | {"="} or (behind in _ADDING and code.word(index + 2) == "=")
            if name.startswith("@") and (filled or before in _LISTED_INTO) and before not in _COMPARED_AFTER:
                self.variables.forget_text(name)


def _end_of_loop(code: Code, first: int) -> int | None:
    """Where a loop's body ends, which begins at `first`; None where it is neither a plain block nor one statement.

    The IF, the TRY with its CATCH or the loop that it is then may go on behind its first END. One statement alone is
    like one that an IF decides on: what it has filled is what it fills.
    """
    word, behind = code.word(first), code.word(first + 1)
    if word in _DECIDING or behind in _HANDLING or not word:
        return None
    if word != "begin" or behind in NO_BLOCKS:
        return first
    depth = cases = 0
    for index in range(first, len(code)):
        word = code.word(index)
        cases += word == "case"
        if word == "end" and cases:
            cases -= 1
        elif code.word(index + 1) not in (NO_BLOCKS if word == "begin" else CONVERSATIONS):
            depth += (word == "begin") - (word == "end")
        if not depth:
            return index
    return None


def most_of_texts(written: int) -> int:
    """Characters that are read of the texts of variables in a text of so many: 5,000 times one of 50 KB are 250 MB."""
    return min(10_000 + 10 * written, 1_000_000)


def _steps_of_text(code: Code) -> tuple[RoutineStep, ...]:
    """What a text does that is run.

    Its USE holds to its end alone, and there its temporary tables are gone: one of their names is another outside.
    """
    made = frozenset(_temporary_tables(code))
    known = {name: f"[{name} of a text]" for name in made}
    uses = any(code.word(first) == "use" for first, _last in transact_statements(code))
    hidden = bool(made) and any(_names_within(code, index, made) for index in range(len(code)))
    edits = [code.edit(index, index, known[code.name(index)]) for index in range(len(code)) if code.name(index) in made]
    code = Code.of(with_edits(code.text, edits), code.dialect) if edits else code
    steps = _transact_body(code, Variables())[0]
    moves = any(step.text or may_move_rows(step.calls or ("",), code.dialect) for step in steps)
    if moves and (uses or hidden):
        return (RoutineStep(problem=Outcome.DYNAMIC_SQL),)
    return (*steps, *(RoutineStep(f"DROP TABLE {known[name]}") for name in sorted(made)))


def _temporary_tables(code: Code) -> Iterator[str]:
    """The temporary tables that a text makes; not those of all sessions, `##x`, which outlive it."""
    for first, last in transact_statements(code):
        into = code.find(first, _CHANGING | _INTO, last)
        made = first + 2 if code.words(first, 2) == ("create", "table") else last
        if code.word(first) in _QUERY and code.word(into) == "into":
            made = into + 1
        if made < last and code.name(made).startswith("#") and not code.name(made).startswith("##"):
            yield code.name(made)


def _names_within(code: Code, index: int, names: Collection[str]) -> bool:
    """Whether a text within the text has one of these names, and is not what OBJECT_ID asks for."""
    if not code.is_string(index) or "object_id" in code.words(index - 3, 3):
        return False
    text = code.without_quotes(index).lower()
    return any(name.lower() in text for name in names)


class RunText(NamedTuple):
    """A text that is run, and the tokens from `first` to before `last` that give it."""

    first: int
    last: int
    text: str

    @property
    def literal(self) -> str:
        """The text as it is written."""
        doubled = self.text.replace("'", "''")
        return f"N'{doubled}'"


@dataclass(slots=True)
class TransactReader:
    """Takes statement by statement what a T-SQL body or script does."""

    code: Code
    steps: list[RoutineStep] = field(default_factory=list)
    variables: Variables = field(default_factory=Variables)
    tables: dict[str, str] = field(default_factory=dict)
    own: dict[str, Held] = field(default_factory=dict)
    returned: list[str] = field(default_factory=list)
    unsure: frozenset[str] = frozenset()  # variables of which no text is known
    room: int = -1  # characters of texts that may still be run; -1 before the first
    branches: _Branches = field(init=False)

    def __post_init__(self) -> None:
        self.branches = _Branches(self.variables)

    def take(self, first: int, last: int) -> None:
        """One statement, from token to token."""
        self.fill(first, last)
        verb = self.code.word(first)
        if verb in _CALLING:
            self._execute(first, last)
        elif verb == "return" and last > first + 1:
            self.returned.append(_value_between(self.code, first + 1, last, self.variables))
        elif verb in _FLOWS and (verb != "select" or self.code.find(first, _INTO, last) < last):
            self._statement(first, last)

    def fill(self, first: int, last: int) -> None:
        """What one statement gives variables."""
        self.branches.enter(self.code, first, last)
        verb = self.code.word(first)
        if verb == "set" and not self.code.word(first + 1).startswith("@"):
            return  # an option of the session
        for name in self._filled_otherwise(first, last):
            self._set_text(name, None)
        if verb in ("declare", "set"):
            self._declare(first, last)
        elif verb == "fetch":
            self._fetch(first, last)
        elif verb == "select" and self._assigns(first, last):
            self._assigned_by_select(first, last)

    def _statement(self, first: int, last: int) -> None:
        """A statement of the routine's, its variables as parameters; an INSERT of what a text gives, with the text."""
        run = self.run_text(first, last)
        if run is None and self._execution(first, last) < last:  # arguments are no columns
            text = self.code.between(first, last)
        elif run is None:
            text = with_parameters(self.code, first, last, self.variables)
            text = self.variables.items.complete(text, self.code.dialect)
        else:
            text = f"{self.code.between(first, run.first)} {run.literal} {self.code.between(run.last, last)}"
        self.steps.append(RoutineStep(self._with_tables(text) if self.tables else text))

    def _with_tables(self, text: str) -> str:
        """A statement with temporary tables for table variables, of names that no temporary table has.

        No string or comment names one, and what stands in brackets is what a column is told by.
        """
        code = Code.of(text, self.code.dialect)
        return with_edits(text, list(self._table_edits(code)))

    def _table_edits(self, code: Code) -> Iterator[Edit]:
        for index in range(len(code)):
            table = self.tables.get(code.word(index))
            if table is not None:
                yield code.edit(index, index, table)

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
                table = self.tables[name.lower()] = f"[#{name}]"
                self.steps.append(RoutineStep(f"CREATE TABLE {table} {self.code.between(after + 1, end)}"))
                continue
            self.variables.declare(name)
            if self.code.word(first) == "declare":
                self.own[name.casefold()] = held_by(self.code, after)
            value = next((p for p in range(begin, end) if self.code.word(p) == "="), end)
            if self.code.word(value - 1) in _ADDING and value < end:
                self._set_text(name, self._added_text(begin, end))
            elif value < end:
                self._takes(name, value + 1, end)
            elif self.variables.text_of(name) is not None:
                self._set_text(name, None)

    def _takes(self, name: str, first: int, last: int) -> None:
        is_query = self.code.word(first) == "(" and self.code.closing(first) == last - 1
        if is_query and self.code.word(first + 1) == "select":  # and not (SELECT …) + 1
            self._set_text(name, None)
            self.variables.fill(name, with_parameters(self.code, first + 1, last - 1, self.variables))
        else:
            self._set_text(name, self._text(first, last))
            _fill_expression(self.code, name, (first, last), self.variables)

    def _set_text(self, name: str, text: str | None) -> None:
        """A variable takes a text. One that the body has not declared is a parameter, which whoever calls it fills."""
        held = self.own.get(name.casefold())
        is_unsure = self.branches.in_no_order or name.casefold() in self.unsure
        kept = None if held is None or text is None or is_unsure else held.keep(text)
        self.variables.set_constant(name, kept, replaces=True)

    def _filled_otherwise(self, first: int, last: int) -> Iterator[str]:
        """The variables that a statement gives what is no constant, or adds something to.

        SET @v += x, SELECT @v += x, UPDATE t SET @v = a, WITH c AS (…) SELECT @v = a, EXEC @v = f, EXEC p @v OUTPUT.
        """
        verb = self.code.word(first)
        for index in range(first + 1, last):
            name, behind = self.code.word(index), self.code.word(index + 1)
            if not name.startswith("@"):
                continue
            if verb in _CALLING:
                filled = behind in _FILLED_BY_CALL or (behind == "=" and index == first + 1)
            elif behind == "=":
                filled = verb not in _SETTING and self.code.word(index - 1) not in _COMPARED_AFTER
            else:
                adds = behind in _ADDING and self.code.word(index + 2) == "="
                filled = adds and verb not in _SETTING
            if filled:
                yield name

    def _assigns(self, first: int, last: int) -> bool:
        name = _first_selected(self.code, first)
        equals = name + 1 + (self.code.word(name + 1) in _ADDING)
        is_assigned = self.code.word(name).startswith("@") and self.code.word(equals) == "="
        return is_assigned and self.code.find(first, _INTO, last) >= last

    def _added_text(self, first: int, last: int) -> str | None:
        """The text that `@v += 'x'` makes."""
        before, text = self.variables.part_of(self.code.word(first)), self._text(first + 3, last)
        is_longer = self.code.words(first + 1, 2) == ("+", "=") and before is not None and text is not None
        return f"{before}{text}" if is_longer else None

    def _assigned_by_select(self, first: int, last: int) -> None:
        """SELECT @a = x, @b = y FROM t."""
        until = self.code.find(first, frozenset({"from"}), last)
        rest = with_parameters(self.code, until, last, self.variables) if until < last else ""
        for begin, end in self.code.items(_first_selected(self.code, first), until):
            name = self.code.tokens[begin].text
            assigned = self.code.word(begin + 1) == "="
            text = self._text(begin + 2, end) if assigned else self._added_text(begin, end)
            self._set_text(name, None if rest else text)
            if not assigned or not rest:
                continue
            self.variables.fill(name, f"SELECT {self.code.between(begin + 2, end)} {rest}")

    def _fetch(self, first: int, last: int) -> None:
        into = self.code.find(first, _INTO, last)
        query = self.variables.query_of(self.code.tokens[into - 1].text) if into < last else None
        names = [self.code.tokens[begin].text for begin, _end in self.code.items(into + 1, last)]
        for name in names:
            self._set_text(name, None)
        if query is None:
            return
        for name, value in column_queries(query, names, self.code).items():
            self.variables.fill(name, value)

    def _execute(self, first: int, last: int) -> None:
        called = routine_called_at(self.code, first)
        if called:
            self.steps.append(RoutineStep(calls=called))
            return
        if _RENAMING in {part.lower() for part in self.code.dotted_name(first + 1)[0]}:
            self._statement(first, last)
            return
        text = self._bounded_text(*self._text_range(first, last))
        if text is None or runs_elsewhere(self.code, first, last):
            self.steps.append(RoutineStep(problem=Outcome.DYNAMIC_SQL))
        else:
            self.steps += _steps_of_text(Code.of(text, self.code.dialect))

    def _text_range(self, first: int, last: int) -> tuple[int, int]:
        """The tokens of the text that an EXEC, or an INSERT of one's rows, from `first` to `last` runs."""
        first = self._execution(first, last)
        start = first + 1 + 2 * (self.code.word(first + 2) == "=")  # EXEC @result = sp_executesql @text
        start = self.code.dotted_name(start)[1] if not self.code.word(start).startswith(("@", "(")) else start
        while self.code.word(start) == "(":
            start += 1
        start += 2 * (self.code.word(start + 1) == "=")  # sp_executesql @stmt = @text
        stop = start
        while stop < last and self.code.word(stop) not in (",", ")"):
            stop = self.code.after(stop)
        return start, min(stop, last)

    def run_text(self, first: int, last: int) -> RunText | None:
        """The text that the statement which comes next runs, where it is made of variables and known.

        The rows of a text are those of its one query.
        """
        run = self._execution(first, last)
        if run == last:
            return None
        inserts = run > first
        if inserts and (routine_called_at(self.code, run) or runs_elsewhere(self.code, run, last)):
            return None
        self.branches.leave()
        start, stop = self._text_range(first, last)
        text = self._bounded_text(start, stop) if self._has_variables(start, stop) else None
        return None if text is None else RunText(start, stop, text)

    def _has_variables(self, first: int, last: int) -> bool:
        return any(self.code.word(index).startswith("@") for index in range(first, last))

    def _execution(self, first: int, last: int) -> int:
        """Where the EXEC of a statement is that is one, or an INSERT of what it gives; `last` of any other."""
        run = first
        if self.code.word(first) == "insert":
            run = self.code.find(first, _CALLING | _QUERY | _VALUES, last)
        return run if self.code.word(run) in _CALLING else last

    def _bounded_text(self, first: int, last: int) -> str | None:
        """The text that is run; None where it is not known, or where so much was run that no more is taken."""
        text = self._text(first, last, runs=True)
        if text is None or not self._has_variables(first, last):
            return text
        if self.room < 0:
            self.room = most_of_texts(len(self.code.text))
        if len(text) > self.room:
            return None
        self.room -= len(text)
        return text

    def _text(self, first: int, last: int, *, runs: bool = False) -> str | None:
        """What constant texts, and variables that have one, make joined by +; None where a part of it is not known.

        `runs`: it is run as it is, and so nothing where it is empty.
        """
        texts: list[str] = []
        text_of = self.variables.text_of if runs and last == first + 1 else self.variables.part_of
        index = first
        while index < last:
            word = self.code.word(index)
            part = text_of(word) if word.startswith("@") else constant(self.code, index, index + 1)
            if word in _CHARACTER and self.code.is_number(index + 2) and self.code.closing(index + 1) == index + 3:
                part, index = _PLAIN_CHARACTERS.get(self.code.tokens[index + 2].text), index + 3
            marks_text = word == "n" and self.code.is_string(index + 1)  # N'text'
            if part is not None:
                texts.append(part)
            elif word not in ("+", "(", ")") and not marks_text:
                return None
            index += 1
        known = bool(texts) and sum(map(len, texts)) <= _LONGEST_TEXT
        return "".join(texts) if known else None


# Bodies whose statements end with semicolons: a walk through declarations, control flow and statements.


def read_steps(text: str, dialect: Dialect, variables: Variables, depth: int = 0) -> tuple[RoutineStep, ...]:
    """The steps of a body in its dialect; `depth` counts the texts that ran texts on the way to it."""
    return read_body(text, dialect, variables, depth)[0]


def read_body(
    text: str, dialect: Dialect, variables: Variables, depth: int = 0
) -> tuple[tuple[RoutineStep, ...], tuple[str, ...]]:
    """The steps of a body, and the expressions that it returns.

    `depth` counts the texts that ran texts on the way to it. `BEGIN INSERT INTO t SELECT a FROM s; RETURN 1; END` has
    one step, the INSERT, and returns "1".
    """
    code = Code.of(without_chains(text, dialect), dialect)
    if dialect.separator is Separator.GO:
        steps, returned = _transact_body(code, variables)
    else:
        reader = _Reader(code, variables, depth)
        reader.read()
        steps, returned = without_repetition(reader.steps), tuple(reader.returned)
    straight = depth == 0 and is_straight(text)
    return (tuple(replace(step, straight=True) for step in steps) if straight else steps), returned


@dataclass(slots=True)
class _Reader:
    """Goes through a body once; `index` is always where a statement or a piece of control flow begins."""

    code: Code
    variables: Variables
    depth: int
    steps: list[RoutineStep] = field(default_factory=list)
    index: int = 0
    declaring: bool = False
    returned: list[str] = field(default_factory=list)

    def read(self) -> None:
        # Oracle's body begins with its declarations, right after IS or AS.
        first = self.code.word(0)
        begins = first in _STATEMENT_VERBS or first in ("begin", "declare", "<")
        self.declaring = self.code.dialect.declarations_after_is and not begins
        while self.index < len(self.code.tokens):
            before = self.index
            self._next()
            if self.index <= before:
                self.index = before + 1

    def _next(self) -> None:
        """Reads what begins here: control flow, a statement, an assignment, a label, or a call without a verb."""
        word = self.code.word(self.index)
        if self.declaring and word not in ("begin", "procedure", "function"):
            self._declaration(self.index)
            return
        if self.declaring and word != "begin":  # a routine inside: its declarations, then its body
            self.index = self.code.find(self.index, frozenset({"is", "as", ";"})) + 1
            return
        control = _CONTROL.get(word)
        row = self.index + (word == ":")  # Oracle's :NEW
        if _is_changed(self.code, row, self.variables):
            self._change_row(row, self._end(row))
            self._skip()
        elif control is not None:
            control(self)
        elif word in _STATEMENT_VERBS:
            self._statement(self.index)
        elif self.code.word(self.index + 1) == ":" and self.code.word(self.index + 2) == "=":
            self._assign(self.index, self.index + 3)
        elif self.code.words(self.index + 3, 2) == (":", "=") and self.code.word(self.index + 1) == ".":
            self._assign_field(self.index)
        elif self.code.word(self.index + 1) == ":":  # a label
            self.index += 2
        else:
            self._plain_call()

    def _end(self, first: int) -> int:
        return self.code.find(first, _ENDS_STATEMENT)

    def _skip(self) -> None:
        self.index = self._end(self.index) + 1

    def _word(self) -> None:
        self.index += 1

    def _label(self) -> None:
        """<<name>>, before what it names: variables of a block may be called by it."""
        self.variables.name_block(self.code.name(self.index + 2))
        self.index = min(self.index + 5, self.code.find(self.index, frozenset({";"})))

    def _begin(self) -> None:
        """BEGIN, of a block or of a transaction: what stands behind it begins a statement."""
        self.declaring = False
        self.index += 1
        while self.code.word(self.index) in ("transaction", "atomic", "not", "tran", "work"):
            self.index += 1

    def _condition(self) -> None:
        """IF, WHILE, WHEN and their kin: to the word behind which statements begin."""
        until = self.code.find(self.index + 1, frozenset({"then", "do", "loop", ";"}))
        self.index = until + 1

    def _section(self) -> None:
        """A timing point of Oracle's compound trigger, AFTER EACH ROW IS, up to its body."""
        self.index = self.code.find(self.index + 1, frozenset({"is", ";"})) + 1

    def _until(self) -> None:
        """REPEAT … UNTIL condition END REPEAT."""
        self.index = self.code.find(self.index + 1, frozenset({"end", ";"}))

    def _for(self) -> None:
        """A loop over rows makes a record of its variable, one over numbers a plain variable."""
        name, start = self.code.name(self.index + 1), self.index + 2
        until = self.code.find(start, frozenset({"loop", "do", ";"}))
        if self.code.word(self.index + 1) in _QUERY:  # Databricks: FOR SELECT a FROM t DO …: its columns are variables
            self._fill_columns(self.index + 1, until)
            self.index = until + 1
            return
        inside = self.code.find(start, frozenset({"in", "as"}), until)
        if "cursor" in self.code.words(inside + 1, 4):  # FOR r AS c CURSOR WITH HOLD FOR SELECT …
            inside = self.code.find(inside, frozenset({"for"}), until)
        if inside < until:
            in_array = self.code.word(inside + 1) == "array"  # PostgreSQL: FOREACH x IN ARRAY (SELECT …) LOOP
            query = None if in_array else _query_between(self.code, inside + 1, until, self.variables)
            if query is not None:
                self.variables.record(name, query, replaces=True)
            elif in_array:
                elements = with_parameters(self.code, inside + 2, until, self.variables)
                self.variables.declare(name)
                if _READS_QUERY.search(elements):
                    self.variables.fill(name, f"SELECT {elements}")
            else:
                self.variables.declare(name)
        self.index = until + 1

    def _fill_columns(self, first: int, until: int) -> None:
        """Fills variables called as the columns of the query between two tokens."""
        query = with_parameters(self.code, first, until, self.variables)
        select = first + 1 if self.code.word(first) == "select" else until
        listed = self.code.items(select, self.code.find(select, _FROM, until))
        names = [self.code.name(end - 1) for _begin, end in listed]
        for name, value in column_queries(query, names, self.code).items():
            if name:
                self.variables.fill(name, value)

    def _forall(self) -> None:
        """Oracle's FORALL i IN ... runs one statement."""
        self.index = self.code.find(self.index + 1, _STATEMENT_VERBS | {";"})

    def _declare(self) -> None:
        self.index += 1
        if self.code.dialect.declare_section:
            self.declaring = True
            return
        if "handler" in self.code.words(self.index, 3):
            self.index = self.code.find(self.index, frozenset({"begin", "set", ";"}) | _STATEMENT_VERBS)
            return
        self._declaration(self.index)

    def _declaration(self, first: int) -> None:
        """One declaration, up to its semicolon: names with a type and a value, or a cursor with its query."""
        until = self._end(first)
        self.index = until + 1
        _declare(self.code, first, until, self.variables)

    def _set(self) -> None:
        """SET x = value, in the dialects whose variables are set so; anything else that is SET is no variable."""
        name = self.index + 1 + (self.code.word(self.index + 1) == "@")
        if _is_changed(self.code, name + (self.code.word(name) == "("), self.variables):
            self._set_row(name)
        elif self.code.word(name) == "(" and self.code.word(self.code.closing(name) + 1) == "=":
            self._set_several(name)
        elif self.code.word(name + 1) == "=" or self.code.words(name + 1, 2) == (":", "="):
            value = name + 2 if self.code.word(name + 1) == "=" else name + 3
            until = self._end(value)
            mark = "@" * (self.code.word(name - 1) == "@")  # MySQL's @x is no variable x
            _assign(self.code, f"{mark}{self.code.name(name)}", (value, until), self.variables)
            self.index = until + 1
        else:
            self._skip()

    def _set_several(self, first: int) -> None:
        """`SET (x, y) = (SELECT AS STRUCT a, b FROM t)`: the columns of a query by position."""
        closing, until = self.code.closing(first), self._end(first)
        query = _query_between(self.code, closing + 2, until, self.variables)
        if query is not None:
            plain = _AS_STRUCT.sub("SELECT ", query, count=1)
            self.steps += _fill_names(self.code, (first + 1, closing), plain, self.variables)
        self.index = until + 1

    def _set_row(self, first: int) -> None:
        """`SET NEW.a = 1, NEW.b = NEW.c`, and Db2's `SET (n.a, n.b) = (…)`."""
        until = self._end(first)
        if self.code.word(first) == "(":
            closing = self.code.closing(first)
            columns = [self.code.tokens[end - 1].text for _begin, end in self.code.items(first + 1, closing)]
            value = with_parameters(self.code, closing + 2, until, self.variables)
            self.steps.append(self.variables.change(f"({', '.join(columns)})", value, self.code.dialect))
        else:
            for begin, end in self.code.items(first, until):
                if _is_changed(self.code, begin, self.variables):
                    self._change_row(begin, end)
        self.index = until + 1

    def _change_row(self, first: int, until: int) -> None:
        """`NEW.total := NEW.price * NEW.qty`; of `NEW := r` it is not known which column gets what."""
        equals = self.code.find(first, frozenset({"="}), until)
        if self.code.word(first + 1) != "." or equals >= until:
            if equals < until:
                self.steps.append(self.variables.change("", None, self.code.dialect))
            return
        value = with_parameters(self.code, equals + 1, until, self.variables)
        self.steps.append(self.variables.change(self.code.tokens[first + 2].text, value, self.code.dialect))
        self.variables.fill_field(self.code.name(first), self.code.name(first + 2), f"SELECT {value}")

    def _let(self) -> None:
        """Snowflake's LET name [type] := value, or LET name CURSOR FOR query."""
        self._declaration(self.index + 1)

    def _assign(self, name_at: int, first: int) -> None:
        until = self._end(first)
        _assign(self.code, self.code.name(name_at), (first, until), self.variables)
        self.index = until + 1

    def _assign_field(self, first: int) -> None:
        """`record.field := value`."""
        until = self._end(first)
        value = with_parameters(self.code, first + 5, until, self.variables)
        self.variables.fill_field(self.code.name(first), self.code.name(first + 2), f"SELECT {value}")
        self.index = until + 1

    def _select(self) -> None:
        """SELECT ... INTO fills variables; one that calls a function alone runs it; others give rows to nobody."""
        until = self._end(self.index)
        called = routine_called_at(self.code, self.index)
        into = self.code.find(self.index, frozenset({"into", ";"}))
        if called:
            self.steps.append(RoutineStep(calls=called))
        elif into < until and self.code.word(into) == "into":
            self.steps += _select_into(self.code, (self.index, into, until), self.variables)
        self.index = until + 1

    def _fetch(self) -> None:
        """FETCH cursor INTO names: the cursor's columns by position, or its record."""
        until = self._end(self.index)
        into = self.code.find(self.index, frozenset({"into", ";"}))
        query = self.variables.query_of(self.code.name(_without_bulk(self.code, into) - 1))
        if query is not None and into < until:
            listed = into + 1, self.code.find(into, _LIMIT, until)
            self.steps += _fill_names(self.code, listed, query, self.variables)
        self.index = until + 1

    def _open(self) -> None:
        """OPEN cursor FOR query."""
        until = self._end(self.index)
        start = self.code.find(self.index, frozenset({"select", "with", ";"}))
        if start < until:
            self.variables.record(self.code.name(self.index + 1), self.code.between(start, until))
        self.index = until + 1

    def _execute(self) -> None:
        """A text that is run: the statement in it where the text is constant."""
        until = self._end(self.index)
        called = () if self.code.word(self.index + 1) == "immediate" else routine_called_at(self.code, self.index)
        first = self.index + 1 + (self.code.word(self.index + 1) == "immediate")
        last = self.code.find(first, frozenset({"using", "into", ";"}))
        text = constant(self.code, first, min(last, until))
        if text is None and last - first <= 2:
            named = f"{'@' * (self.code.word(last - 2) == '@')}{self.code.name(last - 1)}"
            text = self.variables.text_of(named)
            called = () if named.casefold() in self.variables.declared else called
        if text is not None and self.depth < _DEEPEST_TEXT:
            self.steps += read_steps(text, self.code.dialect, self.variables, self.depth + 1)
        elif called and not self.code.dialect.execute_runs_text:
            self.steps.append(RoutineStep(calls=called))
        else:
            self.steps.append(RoutineStep(problem=Outcome.DYNAMIC_SQL))
        self.index = until + 1

    def _prepare(self) -> None:
        """MySQL's PREPARE name FROM a text or a variable, which EXECUTE name runs."""
        until = self._end(self.index)
        source = self.code.find(self.index, frozenset({"from"}), until) + 1
        text = constant(self.code, source, until)
        if text is None:
            mark = "@" * (self.code.word(until - 2) == "@")
            text = self.variables.text_of(f"{mark}{self.code.name(until - 1)}")
        self.variables.set_constant(self.code.name(self.index + 1), text)
        self.index = until + 1

    def _call(self) -> None:
        """CALL p(…), EXEC p; CALL ADMIN_CMD('LOAD …') is the command in it."""
        called = routine_called_at(self.code, self.index)
        if called and called[-1].lower() == self.code.dialect.command_procedure:
            opening = self.code.dotted_name(self.index + 1)[1]
            text = constant(self.code, opening + 1, self.code.closing(opening))
            self.steps.append(RoutineStep(problem=Outcome.DYNAMIC_SQL) if text is None else RoutineStep(text))
        elif called:
            self.steps.append(RoutineStep(calls=called))
        self._skip()

    def _plain_call(self) -> None:
        """PL/SQL's `name(...);`: a call without a verb."""
        name, after = self.code.dotted_name(self.index)
        if name and self.code.dialect.bare_calls and self.code.word(after) in ("(", ";"):
            self.steps.append(RoutineStep(calls=name))
        self._skip()

    def _return(self) -> None:
        """RETURN expression, and PL/pgSQL's RETURN QUERY SELECT …; what else stands behind that is like a statement."""
        until = self._end(self.index)
        if self.code.words(self.index, 2) == ("return", "query"):
            words = self.code.words(self.index + 2, until - self.index - 2)
            if words[:1] not in (("select",), ("with",)) or not _CHANGING.isdisjoint(words):
                self.returned.append("")  # rows that no query here gives: EXECUTE text, TABLE t, INSERT … RETURNING
                self.index += 2
                return
            called = routine_called_at(self.code, self.index + 2)
            self.steps += [RoutineStep(calls=called)] if called else []
            self.index += 1
        if until > self.index + 1:
            self.returned.append(_value_between(self.code, self.index + 1, until, self.variables))
        self.index = until + 1

    def _statement(self, first: int) -> None:
        until = self._end(first)
        row = self.code.find(first, frozenset({"set"}), until) + 1
        returning = self.code.find(first, _RETURNING, until)
        into = self.code.find(returning, _INTO, until)
        last = returning if into < until else until
        if self.code.words(row, 2) == ("row", "=") and self.variables.query_of(self.code.name(row + 2)) is not None:
            self.steps.append(RoutineStep(problem=Outcome.WHOLE_ROWS))  # which column is which, no text tells
        else:
            text = with_whole_records(with_parameters(self.code, first, last, self.variables), self.variables)
            self.steps.append(RoutineStep(self.variables.items.complete(text, self.code.dialect)))
        # What RETURNING gives a variable is told of no column: a loop, a call or an assignment may fill that anew.
        for _begin, end in self.code.items(into + 1, until) if into < until else ():
            self.variables.forget_text(self.code.name(end - 1))
        self.index = until + 1


_CONTROL: Mapping[str, Callable[[_Reader], None]] = {
    "begin": _Reader._begin,
    "declare": _Reader._declare,
    "set": _Reader._set,
    "let": _Reader._let,
    "for": _Reader._for,
    "foreach": _Reader._for,
    "forall": _Reader._forall,
    "until": _Reader._until,
    "select": _Reader._select,
    "perform": _Reader._select,
    "fetch": _Reader._fetch,
    "open": _Reader._open,
    "execute": _Reader._execute,
    "prepare": _Reader._prepare,
    **dict.fromkeys(("before", "after", "instead"), _Reader._section),
    "<": _Reader._label,
    "call": _Reader._call,
    "exec": _Reader._call,
    "return": _Reader._return,
    **dict.fromkeys(("if", "elseif", "elsif", "while", "when", "case"), _Reader._condition),
    **dict.fromkeys(("else", "loop", "repeat", "exception", "then", "do", ";", ">"), _Reader._word),
    **dict.fromkeys(
        ("end", "close", "raise", "null", "commit", "rollback", "exit", "continue", "leave", "iterate", "get", "goto"),
        _Reader._skip,
    ),
}
