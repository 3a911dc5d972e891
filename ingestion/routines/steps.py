"""What a routine's body comes to: statements in order, calls of other routines, and what could not be followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import DollarQuotes, Separator
from ingestion.lexing import STRING, WORD, tokens
from ingestion.lexing.cursor import Code
from ingestion.lexing.patterns import DOLLAR

_PREFIXES = frozenset({"n", "e", "r", "q", "nq"})
DYNAMIC = "dynamic_sql"
"""Why a step has no statement: the text that it runs is put together as it runs."""


@dataclass(frozen=True, slots=True)
class RoutineStep:
    """One thing that a body does: runs a statement (`text`), calls a routine (`calls`), or what `problem` says.

    In `text` the routine's variables are parameters (`:name`), or the query that they were filled from.
    """

    text: str = ""
    calls: tuple[str, ...] = ()
    problem: str = ""


def constant(code: Code, first: int, last: int) -> str | None:
    """The text that string literals from `first` to `last` make, joined by || or +; None where it is not constant."""
    pieces: list[str] = []
    for place in range(first, last):
        token = code.tokens[place]
        if token.kind in (STRING, DOLLAR):
            freely = code.dialect.q_quotes and code.word(place - 1) in ("q", "nq")
            pieces.append(token.text[2:-2] if freely else unquote(token.text, code.dialect))
        elif token.kind == WORD and token.text.lower() in _PREFIXES and place + 1 < last:
            continue
        elif token.text not in ("|", "+", "(", ")"):
            return None
    return "".join(pieces) if pieces else None


def unquote(text: str, dialect: Dialect) -> str:
    """A string literal's content."""
    if text.startswith("$"):
        tag = text[: text.index("$", 1) + 1]
        return text[len(tag) : -len(tag)]
    if dialect.triple_quotes and text[:3] in ('"""', "'''"):
        return text[3:-3]
    content = text[1:-1].replace(text[0] * 2, text[0])
    return content.replace(f"\\{text[0]}", text[0]).replace("\\\\", "\\") if dialect.backslash_escapes else content


def without_repetition(steps: Sequence[RoutineStep]) -> tuple[RoutineStep, ...]:
    """Steps that say the same twice in a row (both branches of an IF) once."""
    kept: list[RoutineStep] = []
    for step in steps:
        if not kept or kept[-1] != step:
            kept.append(step)
    return tuple(kept)


_HEAD = 40
_VERBS = frozenset({"call", "exec", "execute", "select", "perform"})
_NO_ROUTINES = frozenset({"sp_executesql", "sp_rename", "immediate"})


def called_routine(text: str, dialect: Dialect | str) -> tuple[str, ...]:
    """The name of the routine that a statement runs, folded as the dialect folds; empty where it runs none."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    code = Code(text, tuple(islice(tokens(text, rules), _HEAD)), rules)
    if rules.separator is Separator.GO and code.word(0) not in _VERBS:  # T-SQL runs what a batch begins with
        return _executed_name(code, 0)
    return routine_called_at(code, 0)


def routine_called_at(code: Code, place: int) -> tuple[str, ...]:
    """The routine that the statement starting at a token runs."""
    verb = code.word(place)
    if verb == "call":
        return code.dotted_name(place + 1)[0]
    if verb in ("exec", "execute"):
        return _executed_name(code, place + 1)
    if verb in ("select", "perform"):
        return _selected_name(code, place + 1)
    return ()


def _executed_name(code: Code, place: int) -> tuple[str, ...]:
    """T-SQL's EXEC [@status =] name; Snowflake's EXECUTE TASK name; Oracle's EXEC name."""
    if code.word(place) in ("task", "procedure"):
        place += 1
    if code.word(place).startswith("@") and code.word(place + 1) == "=":
        place += 2
    if code.word(place)[:1] in ("@", "("):
        return ()
    name, after = code.dotted_name(place)
    return () if not name or name[-1].lower() in _NO_ROUTINES or code.word(after) == "=" else name


def _selected_name(code: Code, place: int) -> tuple[str, ...]:
    """SELECT f(...) with nothing else: how PostgreSQL runs a function for what it does."""
    if code.dialect.dollar_quotes is not DollarQuotes.TAGGED:
        return ()
    if code.words(place, 2) == ("*", "from"):
        place += 2
    name, after = code.dotted_name(place)
    if not name or code.word(after) != "(":
        return ()
    closing = code.closing(after)
    return name if code.word(closing + 1) in ("", ";") and closing < len(code.tokens) else ()
