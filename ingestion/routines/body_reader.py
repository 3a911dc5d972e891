"""Bodies whose statements end with semicolons: a walk through declarations, control flow and statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingestion.dialects import Dialect
from ingestion.dialects.definition import Separator, keywords
from ingestion.lexing.cursor import Code
from ingestion.routines.assignments import assign, declare, fill_names, query_between, select_into
from ingestion.routines.steps import DYNAMIC, RoutineStep, constant, routine_called_at, without_repetition
from ingestion.routines.tsql_reader import transact_body
from ingestion.routines.variables import Variables, with_parameters

_DEPTH = 3
_VERBS = keywords(
    "insert update delete merge with create drop alter truncate copy unload load replace rename upsert exchange"
)
_ENDS_STATEMENT = frozenset({";"})


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
    code = Code.of(text, dialect)
    if dialect.separator is Separator.GO:
        return transact_body(code, variables)
    reader = _Reader(code, variables, depth)
    reader.read()
    return without_repetition(reader.steps), tuple(reader.returned)


@dataclass(slots=True)
class _Reader:
    """Goes through a body once; `place` is always where a statement or a piece of control flow begins."""

    code: Code
    variables: Variables
    depth: int
    steps: list[RoutineStep] = field(default_factory=list)
    place: int = 0
    declaring: bool = False
    returned: list[str] = field(default_factory=list)

    def read(self) -> None:
        # Oracle's body begins with its declarations, right after IS or AS.
        first = self.code.word(0)
        self.declaring = self.code.dialect.declarations_after_is and first not in _VERBS | {"begin", "declare"}
        while self.place < len(self.code.tokens):
            before = self.place
            self._next()
            if self.place <= before:
                self.place = before + 1

    def _next(self) -> None:
        word = self.code.word(self.place)
        if self.declaring and word not in ("begin", "procedure", "function"):
            self._declaration(self.place)
            return
        if self.declaring and word != "begin":  # a routine inside: its declarations, then its body
            self.place = self.code.find(self.place, frozenset({"is", "as", ";"})) + 1
            return
        control = _CONTROL.get(word)
        if control is not None:
            control(self)
        elif word in _VERBS:
            self._statement(self.place)
        elif self.code.word(self.place + 1) == ":" and self.code.word(self.place + 2) == "=":
            self._assign(self.place, self.place + 3)
        elif self.code.word(self.place + 1) == ":":  # a label
            self.place += 2
        else:
            self._plain_call()

    def _end(self, first: int) -> int:
        return self.code.find(first, _ENDS_STATEMENT)

    def _skip(self) -> None:
        self.place = self._end(self.place) + 1

    def _word(self) -> None:
        self.place += 1

    def _label(self) -> None:
        """<<name>>, before what it names."""
        self.place = min(self.place + 5, self.code.find(self.place, frozenset({";"})))

    def _begin(self) -> None:
        self.declaring = False
        self.place += 1
        while self.code.word(self.place) in ("transaction", "atomic", "not", "tran", "work"):
            self.place += 1

    def _condition(self) -> None:
        """IF, WHILE, WHEN and their kin: to the word behind which statements begin."""
        until = self.code.find(self.place + 1, frozenset({"then", "do", "loop", ";"}))
        self.place = until + 1

    def _section(self) -> None:
        """A timing point of Oracle's compound trigger, AFTER EACH ROW IS, up to its body."""
        self.place = self.code.find(self.place + 1, frozenset({"is", ";"})) + 1

    def _until(self) -> None:
        self.place = self.code.find(self.place + 1, frozenset({"end", ";"}))

    def _for(self) -> None:
        """A loop over rows makes a record of its variable, one over numbers a plain variable."""
        name, start = self.code.name(self.place + 1), self.place + 2
        until = self.code.find(start, frozenset({"loop", "do", ";"}))
        inside = self.code.find(start, frozenset({"in"}), until)
        if inside < until:
            query = query_between(self.code, inside + 1, until, self.variables)
            if query is not None:
                self.variables.record(name, query, replaces=True)
            else:
                self.variables.declare(name)
        self.place = until + 1

    def _forall(self) -> None:
        """Oracle's FORALL i IN ... runs one statement."""
        self.place = self.code.find(self.place + 1, _VERBS | {";"})

    def _declare(self) -> None:
        self.place += 1
        if self.code.dialect.declare_section:
            self.declaring = True
            return
        if "handler" in self.code.words(self.place, 3):
            self.place = self.code.find(self.place, frozenset({"begin", "set", ";"}) | _VERBS)
            return
        self._declaration(self.place)

    def _declaration(self, first: int) -> None:
        """One declaration, up to its semicolon: names with a type and a value, or a cursor with its query."""
        until = self._end(first)
        self.place = until + 1
        declare(self.code, first, until, self.variables)

    def _set(self) -> None:
        """SET x = value, in the dialects whose variables are set so; anything else that is SET is no variable."""
        name = self.place + 1 + (self.code.word(self.place + 1) == "@")
        if self.code.word(name + 1) == "=" or self.code.words(name + 1, 2) == (":", "="):
            value = name + 2 if self.code.word(name + 1) == "=" else name + 3
            self._assign(name, value)
        else:
            self._skip()

    def _let(self) -> None:
        """Snowflake's LET name [type] := value, or LET name CURSOR FOR query."""
        self._declaration(self.place + 1)

    def _assign(self, name_at: int, first: int) -> None:
        until = self._end(first)
        assign(self.code, self.code.name(name_at), (first, until), self.variables)
        self.place = until + 1

    def _select(self) -> None:
        """SELECT ... INTO fills variables; one that calls a function alone runs it; others give rows to nobody."""
        until = self._end(self.place)
        called = routine_called_at(self.code, self.place)
        into = self.code.find(self.place, frozenset({"into", ";"}))
        if called:
            self.steps.append(RoutineStep(calls=called))
        elif into < until and self.code.word(into) == "into":
            select_into(self.code, (self.place, into, until), self.variables)
        self.place = until + 1

    def _fetch(self) -> None:
        """FETCH cursor INTO names: the cursor's columns by position, or its record."""
        until = self._end(self.place)
        into = self.code.find(self.place, frozenset({"into", ";"}))
        query = self.variables.query_of(self.code.name(into - 1))
        if query is not None and into < until:
            fill_names(self.code, (into + 1, until), query, self.variables)
        self.place = until + 1

    def _open(self) -> None:
        """OPEN cursor FOR query."""
        until = self._end(self.place)
        start = self.code.find(self.place, frozenset({"select", "with", ";"}))
        if start < until:
            self.variables.record(self.code.name(self.place + 1), self.code.between(start, until))
        self.place = until + 1

    def _execute(self) -> None:
        """A text that is run: the statement in it where the text is constant."""
        until = self._end(self.place)
        called = () if self.code.word(self.place + 1) == "immediate" else routine_called_at(self.code, self.place)
        first = self.place + 1 + (self.code.word(self.place + 1) == "immediate")
        last = self.code.find(first, frozenset({"using", "into", ";"}))
        text = constant(self.code, first, min(last, until))
        if text is None and last - first <= 2:
            named = self.code.name(last - 1)
            text = self.variables.text_of(named)
            called = () if named.casefold() in self.variables.declared else called
        if text is not None and self.depth < _DEPTH:
            self.steps += read_steps(text, self.code.dialect, self.variables, self.depth + 1)
        elif called and not self.code.dialect.execute_runs_text:
            self.steps.append(RoutineStep(calls=called))
        else:
            self.steps.append(RoutineStep(problem=DYNAMIC))
        self.place = until + 1

    def _prepare(self) -> None:
        """MySQL's PREPARE name FROM a text or a variable, which EXECUTE name runs."""
        until = self._end(self.place)
        source = self.code.find(self.place, frozenset({"from"}), until) + 1
        text = constant(self.code, source, until)
        if text is None:
            text = self.variables.text_of(self.code.name(until - 1))
        self.variables.set_constant(self.code.name(self.place + 1), text)
        self.place = until + 1

    def _call(self) -> None:
        called = routine_called_at(self.code, self.place)
        if called:
            self.steps.append(RoutineStep(calls=called))
        self._skip()

    def _plain_call(self) -> None:
        """PL/SQL's `name(...);`: a call without a verb."""
        name, after = self.code.dotted_name(self.place)
        if name and self.code.dialect.bare_calls and self.code.word(after) in ("(", ";"):
            self.steps.append(RoutineStep(calls=name))
        self._skip()

    def _return(self) -> None:
        if self.code.words(self.place, 2) == ("return", "query"):
            self.place += 2
            return
        until = self._end(self.place)
        if until > self.place + 1:
            self.returned.append(with_parameters(self.code, self.place + 1, until, self.variables))
        self.place = until + 1

    def _statement(self, first: int) -> None:
        until = self._end(first)
        self.steps.append(RoutineStep(with_parameters(self.code, first, until, self.variables)))
        self.place = until + 1


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
