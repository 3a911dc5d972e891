"""A routine's or a trigger's body as steps. Control flow decides whether a statement runs, not what it reads."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import Separator, keywords
from ingestion.dialects.lexing import NAME, WORD
from ingestion.dialects.unfilled_templates import Template, template_in_code
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines._host_code import host_steps
from ingestion.statements.routines._reader import read_steps
from ingestion.statements.routines._signature import PROCEDURES, SCHEDULED, Header, is_sql, object_at, read_header
from ingestion.statements.routines._variable_items import with_items
from ingestion.statements.routines.definition import Definition
from ingestion.statements.routines.steps import TRIGGER_ROWS, RoutineStep, Variables, constant

_BODY = keywords("begin declare call insert update delete merge replace with set")
_AFTER_TABLE = keywords(
    "for referencing when begin declare as with after before instead follows precedes not from execute"
)
_NAMED_ROWS = re.compile(r"\breferencing\b", re.IGNORECASE)
_RETURNS_TRIGGER = re.compile(r"\breturns\s+trigger\b", re.IGNORECASE)
# PL/pgSQL declares these by itself, and refuses a name that may be a column's as well.
_PLPGSQL = "plpgsql"
_OWN_VARIABLES = ("found", "sqlerrm", "sqlstate")
_TRIGGER_VARIABLES = (
    "tg_argv",
    "tg_level",
    "tg_name",
    "tg_nargs",
    "tg_op",
    "tg_relid",
    "tg_relname",
    "tg_table_name",
    "tg_table_schema",
    "tg_when",
)
_AFTER_CONDITION = _BODY | keywords("( execute compound")
_BEGIN = frozenset({"begin"})
_PSEUDO_TABLES = ("inserted", "deleted")
_READ_AFTER = keywords("from join using , table")
_BEFORE_NAME = keywords("( only")
_TRANSITION_TABLES = ("new_table", "old_table")
"""Db2's and Teradata's NEW_TABLE AS n, which the standard writes in two words."""
_ALL_COLUMNS = re.compile(r"\b(new|old)\s*\.\s*\*", re.IGNORECASE)
_VALUES_OF_ROW = re.compile(r"\bvalues\s*\(\s*((?:new|old)\s*\.\s*\*)\s*\)\s*\Z", re.IGNORECASE)

_MEMBERS = keywords("procedure function")
_OPENS_BLOCK = keywords("begin case if loop")
_ENDS_HEAD = keywords("is as ;")

_RoutineKey = tuple[str, str, str]

_TRIGGER_MARK = "trigger"
_TRIGGER_HEAD = 60
"""Characters at the beginning of a definition among which a trigger's has the mark."""


# Triggers and rules: what runs when a table is written. NEW and OLD, inserted and deleted are rows of that table.


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of `table` for which a trigger or rule runs, `before` they are written: it may change them then.

    `condition` says which, of one row that is called NEW: `WHEN (NEW.a > OLD.a)` has both rows under that name.
    `tables`: the names, as they are written, that REFERENCING NEW TABLE AS n gives all of them, under which the body
    reads them; `of_others`: those that the function's triggers of other tables give their rows.
    """

    table: str
    condition: str = ""
    before: bool = False
    tables: tuple[str, ...] = ()
    of_others: tuple[str, ...] = ()

    @property
    def relation(self) -> str:
        """What stands behind FROM for them."""
        return f"(SELECT * FROM {self.table} NEW WHERE {self.condition})" if self.condition else self.table


@dataclass(frozen=True, slots=True)
class _Trigger:
    """What `of` some rows of a table runs, whose name has these `parts`: a `body`, or the function that it `runs`.

    `rows` are its names for the new and the old row.
    """

    name: tuple[str, ...]
    of: WrittenRows
    parts: tuple[str, ...]
    body: str = ""
    runs: tuple[str, ...] = ()
    rows: tuple[str, ...] = TRIGGER_ROWS


def _read_trigger(code: Code, at: int) -> _Trigger | None:
    """The trigger that a definition makes; `at` is the token TRIGGER."""
    index = at + 1
    if code.words(index, 3) == ("if", "not", "exists"):
        index += 3
    name, index = code.dotted_name(index)
    on = code.find(index, frozenset({"on"})) + 1
    parts, after = code.dotted_name(on)
    if not name or not parts:
        return None
    table = code.between(on, after)
    # Oracle's ON NESTED TABLE c OF v: its rows are no table's.
    rows, tables = ((), ()) if code.words(on, 2) == ("nested", "table") else _row_names(code, after)
    # Oracle's compound trigger tells in its sections when they run.
    before = "before" in code.words(index, on - index) or code.word(index) == "for"
    of = WrittenRows(table, before=before, tables=tables)
    for index in range(after, len(code.tokens)):
        word = code.word(index)
        if word == "when":
            closing = code.closing(index + 1) + 1 if code.word(index + 1) == "(" else 0
            ends = code.word(closing) in _AFTER_CONDITION  # else SQLite's WHEN (NEW.a) > 1 BEGIN
            end = closing if ends else code.find(index, _BEGIN)
            of = replace(of, condition=_condition(code, index + 1, end, rows))
        if word == "execute" and code.word(index + 1) in ("function", "procedure"):
            runs, _end = code.dotted_name(index + 2)
            return _Trigger((*parts[:-1], f"{parts[-1]}.{name[-1]}"), of, parts, runs=runs)
        if code.dialect.separator is Separator.GO:
            if word == "as" and code.word(index - 1) != "execute":
                return _Trigger(name, of, parts, code.text[code.start_of(index + 1) :])
        elif word in _BODY and code.word(index - 1) not in ("or", "after", "before", "of", "instead"):
            # Teradata's BEGIN ATOMIC (INSERT …; UPDATE …;) END
            inner = index + 3 if code.stands(index, "begin", "atomic", "(") else None
            body = code.text[code.start_of(index) :] if inner is None else code.between(inner, code.closing(inner - 1))
            return _Trigger(name, of, parts, body, rows=rows)
    return None


def _condition(code: Code, first: int, last: int, rows: tuple[str, ...]) -> str:
    """The condition between two tokens, of one row NEW; "" where it is told otherwise than by columns of its rows."""
    texts: list[str] = []
    written = code.start_of(first)
    names = {name.casefold() for name in rows}
    for index in range(first, last):
        if code.name(index).casefold() not in names or code.word(index - 1) == ".":
            continue
        if code.word(index + 1) != "." or code.word(index + 2) == "*":
            return ""
        texts += [code.text[written : code.start_of(index)], "NEW"]
        written = code.end_of(index)
    return "".join((*texts, code.text[written : code.end_of(last - 1)])) if last > first else ""


def _read_rule(code: Code) -> Routine | None:
    """PostgreSQL's rule: `CREATE RULE r AS ON INSERT TO t WHERE … DO ALSO (INSERT …; DELETE …)`; None of another text.

    One ON SELECT makes a view of its table.
    """
    at = 3 if code.word(1) == "or" and code.word(2) == "replace" else 1
    if code.word(at) != "rule":
        return None
    name, index = code.dotted_name(at + 1)
    on = code.word(index + 2)
    parts, after = code.dotted_name(index + 4)
    if not name or not parts or code.words(index, 2) != ("as", "on") or code.word(index + 3) != "to":
        return None
    do = code.find(after, frozenset({"do"}))
    first, last = do + 1 + (code.word(do + 1) in ("also", "instead")), len(code.tokens)
    while last > first and code.word(last - 1) == ";":
        last -= 1
    if code.word(first) == "(" and code.closing(first) == last - 1:
        first, last = first + 1, last - 1
    of, body = WrittenRows(code.between(index + 4, after)), code.between(first, last) if last > first else ""
    if code.word(after) == "where":
        of = replace(of, condition=_condition(code, after + 1, do, TRIGGER_ROWS))
    if on == "select":
        steps: tuple[RoutineStep, ...] = (RoutineStep(f"CREATE OR REPLACE VIEW {of.table} AS {body}"),)
    else:
        steps = () if code.word(first) in ("nothing", "notify") else _bind(body, code.dialect, of, TRIGGER_ROWS)
    return Routine("rule", (*parts[:-1], f"{parts[-1]}.{name[-1]}"), steps, of=of)


def _steps_of_trigger(trigger: _Trigger, dialect: Dialect) -> tuple[RoutineStep, ...]:
    """What a trigger does in its own body, or the function that it runs."""
    if trigger.runs:
        return (RoutineStep(calls=trigger.runs),)
    if dialect.separator is Separator.GO:
        steps = read_steps(trigger.body, dialect, Variables())
        return tuple(_with_all_rows(steps, dialect, replace(trigger.of, tables=_PSEUDO_TABLES)))
    return _bind(trigger.body, dialect, trigger.of, trigger.rows)


def function_steps(text: str, dialect: Dialect, of: WrittenRows) -> tuple[RoutineStep, ...]:
    """What a trigger's function, which `text` defines, does for the rows of one table."""
    header = read_header(text, dialect)
    if header is None or not header.readable:
        return ()
    return _bind(header.body, dialect, of, TRIGGER_ROWS, (*_declared_names(header), *_TRIGGER_VARIABLES))


def calling_triggers(texts: Iterable[str], dialect: Dialect) -> Iterator[tuple[str, WrittenRows]]:
    """Of those texts that define a trigger which names all its rows: the function that it runs, and the rows."""
    for text in texts:
        if _NAMED_ROWS.search(text) is None:
            continue
        for routine in routines_in(text, dialect):
            if routine.of is not None and routine.of.tables:
                yield from ((step.calls[-1], routine.of) for step in routine.steps[:1] if step.calls)


def steps_of_call(
    called: tuple[str, ...], text: str, dialect: Dialect, of: WrittenRows
) -> tuple[RoutineStep, ...] | None:
    """What a function that a trigger calls does for its rows; None where `text` does not define that function."""
    header = read_header(text, dialect) if _RETURNS_TRIGGER.search(text) else None
    if header is None or not header.readable or header.name[-1] != called[-1]:
        return None
    return function_steps(text, dialect, of)


def _row_names(code: Code, index: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What REFERENCING calls a row, NEW [ROW] [AS] n, and what it calls all of them, NEW TABLE [AS] n."""
    names, tables = list(TRIGGER_ROWS), list[str]()
    while index < len(code.tokens) and code.word(index) not in _BODY | {"for", "when"}:
        if code.word(index) in (*TRIGGER_ROWS, *_TRANSITION_TABLES):
            of_tables = code.word(index) in _TRANSITION_TABLES or code.word(index + 1) == "table"
            named = index + 1
            while code.word(named) in ("row", "table", "as"):
                named += 1
            if code.tokens[named : named + 1] and code.tokens[named].kind in (WORD, NAME):
                if of_tables:
                    tables.append(code.tokens[named].text)
                else:
                    names.append(code.name(named))
                index = named
        index += 1
    return tuple(names), tuple(tables)


def _variables(of: WrittenRows, rows: tuple[str, ...]) -> Variables:
    variables = Variables(table=of.table, changeable=frozenset(map(str.casefold, rows)) if of.before else frozenset())
    for row in rows:
        variables.record(row, f"SELECT * FROM {of.relation}", replaces=True)
    return variables


def _bind(
    body: str, dialect: Dialect, of: WrittenRows, rows: tuple[str, ...], parameters: tuple[str, ...] = ()
) -> tuple[RoutineStep, ...]:
    tables = _by_name(of.tables, dialect)
    variables = _variables(of, tuple(row for row in rows if row not in tables))
    for parameter in parameters:
        variables.declare(parameter)
    steps = (_with_whole_rows(step, dialect, of.relation) for step in read_steps(body, dialect, variables))
    return tuple(_with_all_rows(steps, dialect, of))


def _with_whole_rows(step: RoutineStep, dialect: Dialect, table: str) -> RoutineStep:
    """NEW.* is all columns of the table, where no other relation is read beside it."""
    starred = _ALL_COLUMNS.search(step.text)
    if starred is None:
        return step
    row = f"{table} {starred[1]}"
    listed = _VALUES_OF_ROW.search(step.text)
    if listed is not None:
        return RoutineStep(f"{step.text[: listed.start()]}SELECT {listed[1]} FROM {row}")
    code = Code.of(step.text, dialect)
    rows = {match[1].lower() for match in _ALL_COLUMNS.finditer(step.text)}
    if len(rows) > 1 or code.find(0, frozenset({"from", "union"})) < len(code.tokens):
        return RoutineStep(problem=Outcome.WHOLE_ROWS)
    return RoutineStep(f"{step.text} FROM {row}")


_Function = TypeVar("_Function", bound=Hashable)


def rows_of_triggers(called: Iterable[tuple[_Function, WrittenRows]]) -> dict[_Function, tuple[WrittenRows, ...]]:
    """The rows for which the triggers of each function run it, by whatever the function is known."""
    found: dict[_Function, list[WrittenRows]] = {}
    for function, of in called:
        found.setdefault(function, []).append(of)
    return {function: tuple(rows) for function, rows in found.items()}


def with_names_of_all(of: WrittenRows, others: Iterable[WrittenRows], dialect: Dialect) -> WrittenRows:
    """The rows of a trigger under all names that the triggers of its function give.

    A function of three triggers reads OLD TABLE in the branch of DELETE, which the one of INSERT has no name for.
    """
    table = Code.of(of.table, dialect).dotted_name(0)
    same, foreign = dict.fromkeys(of.tables), dict[str, None]()
    for other in others:
        is_same = Code.of(other.table, dialect).dotted_name(0) == table
        (same if is_same else foreign).update(dict.fromkeys(other.tables))
    return replace(of, tables=tuple(same), of_others=tuple(name for name in foreign if name not in same))


def _with_all_rows(steps: Iterable[RoutineStep], dialect: Dialect, of: WrittenRows) -> Iterator[RoutineStep]:
    """Steps with T-SQL's inserted and deleted, and what REFERENCING calls them elsewhere, as rows of the table.

    They are items of a WITH: an item of the statement's own goes before them, and `EXTRACT(EPOCH FROM n)` reads none.
    What reads the rows of another table's trigger does not run for these.
    """
    tables, foreign = _by_name(of.tables, dialect), _by_name(of.of_others, dialect)
    table = Code.of(of.table, dialect)
    if len(table) == 1:  # `FROM n` is the table then, and an item that reads its own name would be none
        tables.pop(table.name(0), None)
    if not (tables or foreign):
        yield from steps
        return
    for step in steps:
        code = Code.of(step.text, dialect)
        if any(_is_read(code, index) for index in range(len(code)) if code.name(index) in foreign):
            continue
        bare = {code.name(n) for n in range(len(code)) if "." not in (code.word(n - 1), code.word(n + 1))}
        items = [f"{text} AS (SELECT * FROM {of.table})" for name, text in tables.items() if name in bare]
        text = with_items(code, ", ".join(items)) if items else None
        yield step if text is None else replace(step, text=text)


def _by_name(written: Iterable[str], dialect: Dialect) -> dict[str, str]:
    """Names as they are written by what they fold to."""
    return {Code.of(text, dialect).name(0): text for text in written}


def _is_read(code: Code, index: int) -> bool:
    """Whether a relation may be named at an index."""
    before = index - 1
    while code.word(before) in _BEFORE_NAME:
        before -= 1
    return code.word(before) in _READ_AFTER and code.word(index + 1) not in (".", "(")


# A routine's body as steps. Control flow decides whether a statement runs, not what it reads: it is looked through.


def _read_package(code: Code, at: int) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """A package's name, and (name, definition) of each of its members; `at` is the token PACKAGE.

    A package's head, which only declares, has none.
    """
    if code.word(at + 1) != "body":
        return (), ()
    name, index = code.dotted_name(at + 2)
    return name, tuple(_members(code, index + 1))


def _members(code: Code, index: int) -> Iterator[tuple[str, str]]:
    while index < len(code.tokens):
        word = code.word(index)
        if word in _MEMBERS:
            begin, name = index, code.name(index + 1)
            index = code.find(index, _ENDS_HEAD)
            if code.word(index) != ";":
                index = _end_of_body(code, index + 1)
                yield name, f"CREATE {code.between(begin, min(index + 1, len(code.tokens)))}"
        elif word == "begin":  # what the package does when it is loaded
            return
        index += 1


def _end_of_body(code: Code, index: int) -> int:
    """The semicolon that ends a member: its declarations may hold members too."""
    if code.word(index) in ("language", "external", "mle"):
        return code.find(index, frozenset({";"}))
    depth = 0
    while index < len(code.tokens):
        word = code.word(index)
        if not depth and word in _MEMBERS:
            head = code.find(index, _ENDS_HEAD)
            index = head if code.word(head) == ";" else _end_of_body(code, head + 1)
        elif word == "end":
            depth -= 1
            if code.word(index + 1) in _OPENS_BLOCK:  # END IF, END LOOP
                index += 1
            if depth <= 0:
                return code.find(index + 1, frozenset({";"}))
        elif word in _OPENS_BLOCK:
            depth += 1
        index += 1
    return index


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its name as its definition has it, and what it does. `language` is "" where it is SQL.

    `path` is the search path that it sets for itself, `package` the package that it is part of, `of` the rows that it
    is a trigger or a rule of.
    """

    kind: str
    name: tuple[str, ...]
    steps: tuple[RoutineStep, ...]
    language: str = ""
    path: tuple[str, ...] = ()
    package: str = ""
    of: WrittenRows | None = None


def routines_in(text: str, dialect: Dialect | str) -> tuple[Routine, ...]:
    """The routines that `text` defines: those of a package body, or the one that it is."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code.of(text, rules)
    kind_at = object_at(code)
    if kind_at is None or code.word(kind_at) != "package":
        routine = take_apart(text, rules)
        return () if routine is None else (routine,)
    package, members = _read_package(code, kind_at)
    if not package:  # a client was to put a name there
        return ()
    found: dict[str, Routine] = {}
    for name, definition in members:
        routine = take_apart(definition, rules)
        if routine is None:
            continue
        known = found.get(name)  # overloads: a call is not told from another by its arguments
        steps = (*known.steps, *routine.steps) if known is not None else routine.steps
        full = (*package[:-1], f"{package[-1]}.{name}")
        found[name] = replace(routine, name=full, package=package[-1], steps=steps)
    return tuple(found.values())


def take_apart(text: str, dialect: Dialect | str) -> Routine | None:
    """The routine that `text` defines; None where it defines none. One in another language has no steps."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code.of(text, rules)
    kind_at = object_at(code)
    if kind_at is not None and code.word(kind_at) == "trigger":
        return _trigger(_read_trigger(code, kind_at), rules)
    if (rule := _read_rule(code)) is not None:
        return rule
    header = read_header(text, rules)
    if header is None:
        return None
    if not header.readable:
        return Routine(header.kind, header.name, _steps_of_program(header, rules), header.language, header.path)
    if header.returns_trigger:  # for whose rows, only a trigger says
        return Routine(header.kind, header.name, (), header.language, header.path)
    return Routine(header.kind, header.name, _steps(header, rules), "", header.path)


def block_steps(text: str, dialect: Dialect | str) -> tuple[RoutineStep, ...]:
    """What an anonymous block, a DO or a script with control flow does; also a body alone, without its head."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code.of(text, rules)
    if code.word(0) == "with":
        routine = take_apart(_named_procedure(code), rules)
        return () if routine is None else routine.steps
    if code.word(0) != "do":
        return read_steps(text, rules, Variables(), 0)
    named = [index for index in range(1, len(code.tokens)) if code.word(index - 1) == "language"]
    language = "".join(code.name(index) or constant(code, index, index + 1) or "" for index in named[:1]).lower()
    bodies = (constant(code, index, index + 1) for index in range(1, len(code.tokens)) if index not in named)
    body = next((body for body in bodies if body is not None), text)
    if not is_sql(language):
        return host_steps(body, language, rules)
    return read_steps(body, rules, Variables(declared=set(_OWN_VARIABLES)), 0)


def template_in_schedule(text: str, dialect: Dialect) -> Template | None:
    """The first template in the head of what runs by itself: `CREATE TASK t WAREHOUSE = <WAREHOUSE> AS INSERT …`.

    No engine has made it, so nothing runs its body. The templates of a body are found in its statements.
    """
    found = template_in_code(text, dialect)
    header = read_header(text, dialect) if found is not None else None
    if header is None or header.kind not in SCHEDULED:
        return None
    head, body, _end = text.rpartition(header.body)
    return template_in_code(head if body else text, dialect)


def _named_procedure(code: Code) -> str:
    """Snowflake's WITH p AS PROCEDURE () … CALL p() as the definition that it holds."""
    _name, after = code.dotted_name(1)
    return f"CREATE PROCEDURE {code.between(1, after)} {code.between(after + 2, len(code.tokens))}"


def _trigger(trigger: _Trigger | None, dialect: Dialect) -> Routine | None:
    if trigger is None:
        return None
    steps = _steps_of_trigger(trigger, dialect)
    return Routine("trigger", trigger.name, steps, of=trigger.of)


def _steps_of_program(header: Header, dialect: Dialect) -> tuple[RoutineStep, ...]:
    """What a routine in another language runs.

    A function gives a value, which is made of its arguments where it runs no text: nothing is lost then.
    """
    steps = host_steps(header.body, header.language, dialect)
    if header.kind not in PROCEDURES:
        return tuple(step for step in steps if step.problem != Outcome.OTHER_LANGUAGE)
    return steps


def _steps(header: Header, dialect: Dialect) -> tuple[RoutineStep, ...]:
    variables = Variables()
    for name in _declared_names(header):
        variables.declare(name)
    return read_steps(header.body, dialect, variables, 0)


def _declared_names(header: Header) -> tuple[str, ...]:
    """The variables that a routine has before it declares any."""
    return (*header.parameters, *(_OWN_VARIABLES if header.language == _PLPGSQL else ()))


# The functions that a database's triggers run, over the rows of the tables that the triggers are on.


@dataclass(frozen=True, slots=True)
class TriggerRun:
    """A trigger that is defined, the function that it runs, and what that does for the trigger's table."""

    trigger: _RoutineKey
    function: _RoutineKey
    steps: tuple[RoutineStep, ...]


def trigger_runs(definitions: Sequence[Definition], dialect: str) -> tuple[TriggerRun, ...]:
    """Of those definitions that are triggers, each whose function is among them, both named in full."""
    functions = {definition.full_name: definition for definition in definitions}
    called: list[tuple[_RoutineKey, Definition, WrittenRows]] = []
    for definition in definitions:
        if _TRIGGER_MARK not in definition.text[:_TRIGGER_HEAD].lower():
            continue
        routine = take_apart(definition.text, dialect)
        if routine is None or routine.of is None or not routine.steps or not routine.steps[0].calls:
            continue
        schema, name = ("", *routine.steps[0].calls)[-2:]
        function = functions.get((definition.full_name[0], schema, name))
        if function is not None:
            called.append((definition.full_name, function, routine.of))
    of_function = rows_of_triggers((function.full_name, of) for _trigger_name, function, of in called)
    rules, found = dialect_of(dialect), list[TriggerRun]()
    for trigger, function, of in called:
        steps = function_steps(function.text, rules, with_names_of_all(of, of_function[function.full_name], rules))
        found.append(TriggerRun(trigger, function.full_name, steps))
    return tuple(found)
