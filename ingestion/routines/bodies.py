"""A routine's body as steps. Control flow decides whether a statement runs, not what it reads: it is looked through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import keywords
from ingestion.lexing.cursor import Code
from ingestion.routines.body_reader import read_steps
from ingestion.routines.signature import Header, object_at, read_header
from ingestion.routines.steps import RoutineStep, constant
from ingestion.routines.triggers import Trigger, read_trigger, steps_of_trigger
from ingestion.routines.variables import Variables

_MEMBERS = keywords("procedure function")
_OPENS = keywords("begin case if loop")
_ENDS_HEAD = keywords("is as ;")


def _read_package(code: Code, at: int) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """A package's name, and (name, definition) of each of its members; `at` is the token PACKAGE.

    A package's head, which only declares, has none.
    """
    if code.word(at + 1) != "body":
        return (), ()
    name, place = code.dotted_name(at + 2)
    return name, tuple(_members(code, place + 1))


def _members(code: Code, place: int) -> Iterator[tuple[str, str]]:
    while place < len(code.tokens):
        word = code.word(place)
        if word in _MEMBERS:
            begin, name = place, code.name(place + 1)
            place = code.find(place, _ENDS_HEAD)
            if code.word(place) != ";":
                place = _end_of_body(code, place + 1)
                yield name, f"CREATE {code.between(begin, min(place + 1, len(code.tokens)))}"
        elif word == "begin":  # what the package does when it is loaded
            return
        place += 1


def _end_of_body(code: Code, place: int) -> int:
    """The semicolon that ends a member: its declarations may hold members too."""
    if code.word(place) in ("language", "external", "mle"):
        return code.find(place, frozenset({";"}))
    depth = 0
    while place < len(code.tokens):
        word = code.word(place)
        if not depth and word in _MEMBERS:
            head = code.find(place, _ENDS_HEAD)
            place = head if code.word(head) == ";" else _end_of_body(code, head + 1)
        elif word == "end":
            depth -= 1
            if code.word(place + 1) in _OPENS:  # END IF, END LOOP
                place += 1
            if depth <= 0:
                return code.find(place + 1, frozenset({";"}))
        elif word in _OPENS:
            depth += 1
        place += 1
    return place


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its name as its definition has it, and what it does. `language` is "" where it is SQL.

    `path` is the search path that it sets for itself, `package` the package that it is part of, `table` the one that it
    is a trigger of, as it is written.
    """

    kind: str
    name: tuple[str, ...]
    steps: tuple[RoutineStep, ...]
    language: str = ""
    path: tuple[str, ...] = ()
    package: str = ""
    table: str = ""


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
        return _trigger(read_trigger(code, kind_at), rules)
    header = read_header(text, rules)
    if header is None:
        return None
    if not header.readable or header.returns_trigger:  # for whose rows, only a trigger says
        return Routine(header.kind, header.name, (), header.language, header.path)
    return Routine(header.kind, header.name, _steps(header, rules), "", header.path)


def block_steps(text: str, dialect: Dialect | str) -> tuple[RoutineStep, ...]:
    """What an anonymous block, a DO or a script with control flow does; also a body alone, without its head."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code.of(text, rules)
    if code.word(0) == "do":
        texts = (constant(code, place, place + 1) for place in range(1, len(code.tokens)))
        text = next((body for body in texts if body is not None), text)
    return read_steps(text, rules, Variables(), 0)


def _trigger(trigger: Trigger | None, dialect: Dialect) -> Routine | None:
    if trigger is None:
        return None
    return Routine("trigger", trigger.name, steps_of_trigger(trigger, dialect), table=trigger.table)


def _steps(header: Header, dialect: Dialect) -> tuple[RoutineStep, ...]:
    variables = Variables()
    for parameter in header.parameters:
        variables.declare(parameter)
    return read_steps(header.body, dialect, variables, 0)
