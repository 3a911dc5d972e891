"""A routine's body as steps. Control flow decides whether a statement runs, not what it reads: it is looked through."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.routines.header import Header, object_at, read_header
from ingestion.routines.packages import read_package
from ingestion.routines.reader import read_steps
from ingestion.routines.steps import Code, Step, constant
from ingestion.routines.triggers import Trigger, read_trigger, steps_of_trigger
from ingestion.routines.variables import Variables


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its name as its definition has it, and what it does. `language` is "" where it is SQL.

    `path` is the search path that it sets for itself, `package` the package that it is part of, `table` the one that it
    is a trigger of, as it is written.
    """

    kind: str
    name: tuple[str, ...]
    steps: tuple[Step, ...]
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
    package, members = read_package(code, kind_at)
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


def block_steps(text: str, dialect: Dialect | str) -> tuple[Step, ...]:
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


def _steps(header: Header, dialect: Dialect) -> tuple[Step, ...]:
    variables = Variables()
    for parameter in header.parameters:
        variables.declare(parameter)
    return read_steps(header.body, dialect, variables, 0)
