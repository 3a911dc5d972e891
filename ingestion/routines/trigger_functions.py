"""The functions that a database's triggers run, over the rows of the tables that the triggers are on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.dialects import dialect_of
from ingestion.routines.bodies import take_apart
from ingestion.routines.definition import Definition
from ingestion.routines.steps import RoutineStep
from ingestion.routines.triggers import function_steps

_RoutinePlace = tuple[str, str, str]

_MARK = "trigger"
_HEAD = 60
"""Characters at the beginning of a definition among which a trigger's has the mark."""


@dataclass(frozen=True, slots=True)
class TriggerRun:
    """A trigger that is defined, the function that it runs, and what that does for the trigger's table."""

    trigger: _RoutinePlace
    function: _RoutinePlace
    steps: tuple[RoutineStep, ...]


def trigger_runs(definitions: Sequence[Definition], dialect: str) -> tuple[TriggerRun, ...]:
    """Of those definitions that are triggers, each whose function is among them, both named in full."""
    functions = {definition.place: definition for definition in definitions}
    found: list[TriggerRun] = []
    for definition in definitions:
        routine = take_apart(definition.text, dialect) if _MARK in definition.text[:_HEAD].lower() else None
        if routine is None or not routine.table or not routine.steps:
            continue
        schema, name = ("", *routine.steps[0].calls)[-2:]
        function = functions.get((definition.place[0], schema, name))
        if function is not None:
            steps = function_steps(function.text, dialect_of(dialect), routine.table)
            found.append(TriggerRun(definition.place, function.place, steps))
    return tuple(found)
