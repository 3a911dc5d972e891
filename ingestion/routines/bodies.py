"""A routine's body as steps. Control flow decides whether a statement runs, not what it reads: it is looked through."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects import Dialect, dialect_of
from ingestion.routines.header import Header, read_header
from ingestion.routines.reader import read_steps
from ingestion.routines.steps import Code, Step, constant
from ingestion.routines.variables import Variables


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its name as its definition has it, and what it does. `language` is "" where it is SQL.

    `path` is the search path that it sets for itself.
    """

    kind: str
    name: tuple[str, ...]
    steps: tuple[Step, ...]
    language: str = ""
    path: tuple[str, ...] = ()


def take_apart(text: str, dialect: Dialect | str) -> Routine | None:
    """The routine that `text` defines; None where it defines none. One in another language has no steps."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    header = read_header(text, rules)
    if header is None:
        return None
    if not header.readable:
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


def _steps(header: Header, dialect: Dialect) -> tuple[Step, ...]:
    variables = Variables()
    for parameter in header.parameters:
        variables.declare(parameter)
    return read_steps(header.body, dialect, variables, 0)
