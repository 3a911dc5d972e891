"""Triggers: what runs when a table is written. NEW and OLD, inserted and deleted are rows of that table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.dialects import Dialect
from ingestion.dialects.definition import Separator, keywords
from ingestion.lexing import NAME, WORD
from ingestion.lexing.cursor import Code
from ingestion.routines.body_reader import read_steps
from ingestion.routines.signature import read_header
from ingestion.routines.steps import RoutineStep
from ingestion.routines.variables import Variables

WHOLE_ROWS = "whole_rows"
"""Why a step has no statement: it writes all columns of a trigger's row beside other relations, by position."""

_ROWS = ("new", "old")
_BODY = keywords("begin declare call insert update delete merge replace with set")
_AFTER_TABLE = keywords(
    "for referencing when begin declare as with after before instead follows precedes not from execute"
)
_PSEUDO_TABLES = keywords("inserted deleted")
_READS = keywords("from join ,")
_NO_ALIAS = keywords(
    "on where group order union except intersect inner left right full cross join having set when output values for"
    " select insert update delete merge end begin if while return"
)
_ALL_COLUMNS = re.compile(r"\b(new|old)\s*\.\s*\*", re.IGNORECASE)
_VALUES_OF_ROW = re.compile(r"\bvalues\s*\(\s*((?:new|old)\s*\.\s*\*)\s*\)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Trigger:
    """`table` as it is written, with its `parts`; either a `body` or the function that it `runs`.

    `rows` are its names for the new and the old row.
    """

    name: tuple[str, ...]
    table: str
    parts: tuple[str, ...]
    body: str = ""
    runs: tuple[str, ...] = ()
    rows: tuple[str, ...] = _ROWS


def read_trigger(code: Code, at: int) -> Trigger | None:
    """The trigger that a definition makes; `at` is the token TRIGGER."""
    place = at + 1
    if code.words(place, 3) == ("if", "not", "exists"):
        place += 3
    name, place = code.dotted_name(place)
    on = code.find(place, frozenset({"on"})) + 1
    parts, after = code.dotted_name(on)
    if not name or not parts:
        return None
    table = code.between(on, after)
    rows = _row_names(code, after)
    for place in range(after, len(code.tokens)):
        word = code.word(place)
        if word == "execute" and code.word(place + 1) in ("function", "procedure"):
            runs, _end = code.dotted_name(place + 2)
            return Trigger((*parts[:-1], f"{parts[-1]}.{name[-1]}"), table, parts, runs=runs)
        if code.dialect.separator is Separator.GO:
            if word == "as" and code.word(place - 1) != "execute":
                return Trigger(name, table, parts, code.text[code.start_of(place + 1) :])
        elif word in _BODY and code.word(place - 1) not in ("or", "after", "before", "of", "instead"):
            return Trigger(name, table, parts, code.text[code.start_of(place) :], rows=rows)
    return None


def steps_of_trigger(trigger: Trigger, dialect: Dialect) -> tuple[RoutineStep, ...]:
    """What a trigger does in its own body, or the function that it runs."""
    if trigger.runs:
        return (RoutineStep(calls=trigger.runs),)
    if dialect.separator is Separator.GO:
        return read_steps(_with_table(Code.of(trigger.body, dialect), trigger.table), dialect, Variables())
    return _bind(trigger.body, dialect, _variables(trigger.table, trigger.rows), trigger.table)


def function_steps(text: str, dialect: Dialect, table: str) -> tuple[RoutineStep, ...]:
    """What a trigger's function, which `text` defines, does for the rows of one table."""
    header = read_header(text, dialect)
    if header is None or not header.readable:
        return ()
    variables = _variables(table, _ROWS)
    for parameter in header.parameters:
        variables.declare(parameter)
    return _bind(header.body, dialect, variables, table)


def _row_names(code: Code, place: int) -> tuple[str, ...]:
    """What REFERENCING calls the rows: NEW [ROW] [AS] n."""
    names = list(_ROWS)
    while place < len(code.tokens) and code.word(place) not in _BODY | {"for", "when"}:
        word = code.word(place)
        if word in _ROWS:
            named = place + 1
            while code.word(named) in ("row", "table", "as"):
                named += 1
            if code.tokens[named : named + 1] and code.tokens[named].kind in (WORD, NAME):
                names.append(code.name(named))
                place = named
        place += 1
    return tuple(names)


def _variables(table: str, rows: tuple[str, ...]) -> Variables:
    variables = Variables()
    for row in rows:
        variables.record(row, f"SELECT * FROM {table}", replaces=True)
    return variables


def _bind(body: str, dialect: Dialect, variables: Variables, table: str) -> tuple[RoutineStep, ...]:
    return tuple(_with_whole_rows(step, dialect, table) for step in read_steps(body, dialect, variables))


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
        return RoutineStep(problem=WHOLE_ROWS)
    return RoutineStep(f"{step.text} FROM {row}")


def _with_table(code: Code, table: str) -> str:
    """T-SQL's inserted and deleted as the table itself."""
    pieces: list[str] = []
    written = 0
    for place, token in enumerate(code.tokens):
        if code.word(place) not in _PSEUDO_TABLES or code.word(place - 1) not in _READS or code.word(place + 1) == ".":
            continue
        following = place + 1
        named = following < len(code.tokens) and code.tokens[following].kind in (WORD, NAME)
        aliased = named and code.word(following) not in _NO_ALIAS
        pieces += [code.text[written : token.start], table if aliased else f"{table} AS {token.text}"]
        written = code.end_of(place)
    return "".join((*pieces, code.text[written:]))
