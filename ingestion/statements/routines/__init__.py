"""Stored procedures, functions and blocks taken apart into the statements that they run."""

from ingestion.statements.routines._registry import KnownRoutine, KnownRoutines, key_of, known_routines, routines_of
from ingestion.statements.routines.bodies import Routine, block_steps, routines_in, take_apart, template_in_schedule
from ingestion.statements.routines.steps import RoutineStep, called_routine

__all__ = [
    "KnownRoutine",
    "KnownRoutines",
    "Routine",
    "RoutineStep",
    "block_steps",
    "called_routine",
    "key_of",
    "known_routines",
    "routines_in",
    "routines_of",
    "take_apart",
    "template_in_schedule",
]
