"""Definitions that are in no log: those of the catalog, of a dbt project, of the live database where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from connectors.openmetadata.client import Platform
from connectors.openmetadata.definitions import stored_routines, stored_views
from connectors.source import FailedDefinition
from connectors.source_settings import LineageConfig
from ingestion.errors import Unparsable
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.statements import classify
from ingestion.statements.masking import QueryMasker
from ingestion.statements.routines import key_of, routines_of
from ingestion.statements.routines.bodies import trigger_runs
from ingestion.statements.routines.definition import (
    Definition,
    DefinitionKind,
    code_of,
    same_definition,
    view_statement,
)
from ingestion.statements.routines.inline_functions import function_as_view
from ingestion.statements.routines.steps import RoutineStep
from workflows.run.read.statements import STATEMENT_SCHEMA, Row, is_parsed, rows_of


def catalog_definitions(platform: Platform, service: str, wanted: LineageConfig) -> tuple[Definition, ...]:
    """The definitions that the catalog has, those of the steps that are wanted."""
    found: list[Definition] = []
    if wanted.process_view_lineage:
        found += stored_views(platform, service)
    if wanted.process_stored_procedure_lineage:
        found += stored_routines(platform, service)
    return tuple(
        found if wanted.incremental_lineage_processing else (replace(definition, done=False) for definition in found)
    )


def current_definitions(
    live: Iterable[Definition], stored: Sequence[Definition], dialect: str
) -> tuple[Definition, ...]:
    """The definitions of a live database; `done` where the catalog has the same and its lineage stands."""
    known = {(definition.kind is DefinitionKind.ROUTINE, definition.full_name): definition for definition in stored}
    current = tuple(live)
    runs = trigger_runs([definition for definition in current if _is_routine(definition)], dialect)
    ran: dict[tuple[str, str, str], list[RoutineStep]] = {}
    for run in runs:
        ran.setdefault(run.function, []).extend(run.steps)
    done = {}
    for one in current:
        steps = ran.get(one.full_name) if _is_routine(one) else None
        done[id(one)] = False
        with Isolation[str]().around(FailureStage.ROUTINES, one.text):  # what cannot be compared is read again
            done[id(one)] = _is_done(one, known.get((_is_routine(one), one.full_name)), dialect, steps)
    # A trigger's lineage is its function's, and is filed under that.
    functions = {one.full_name: done[id(one)] for one in current if _is_routine(one) and one.full_name in ran}
    triggers = {run.trigger: functions[run.function] for run in runs}
    return tuple(replace(one, done=triggers.get(one.full_name, done[id(one)])) for one in current)


def _is_routine(definition: Definition) -> bool:
    return definition.kind is DefinitionKind.ROUTINE


def _is_done(
    current: Definition, stored: Definition | None, dialect: str, ran: Sequence[RoutineStep] | None = None
) -> bool:
    if stored is None or not stored.done:
        return False
    if not _is_routine(current):
        return same_definition(view_statement(current, dialect), view_statement(stored, dialect), dialect)
    if ran is not None:
        return stored.text == _mask(ran, dialect)
    return stored.text in (current.text, _masked_code(current, dialect))


def _masked_code(definition: Definition, dialect: str) -> str | None:
    """What the catalog would keep of a routine's definition: its statements that bear lineage, masked."""
    routines = routines_of(definition, dialect)
    if not routines:
        return None
    return _mask([step for routine in routines for step in routine.steps], dialect)


def _is_kept(step: RoutineStep, dialect: str) -> bool:
    """Whether the catalog keeps the statement of a step, as all that are parsed."""
    return is_parsed(classify(step.text, dialect), step.text, dialect, straight=step.straight)


def _mask(steps: Iterable[RoutineStep], dialect: str) -> str | None:
    masker = QueryMasker(dialect)
    try:
        masked = [masker.mask(step.text) for step in steps if step.text and _is_kept(step, dialect)]
    except Unparsable:
        return None
    return code_of(tuple(dict.fromkeys(masked)))


def with_views(
    statements: DataFrame,
    definitions: Iterable[Definition],
    dialect: str,
    failures: Iterable[FailedDefinition] = (),
) -> DataFrame:
    """`statements` and those that define the views; the `failures` are dead, with their reason."""
    rows = definition_rows(definitions, dialect) + [_dead_row(failure, dialect) for failure in failures]
    if not rows:
        return statements
    names = STATEMENT_SCHEMA.fieldNames()
    values = [tuple(row.get(name) for name in names) for row in rows]
    return statements.unionByName(statements.sparkSession.createDataFrame(values, STATEMENT_SCHEMA))


def definition_rows(definitions: Iterable[Definition], dialect: str) -> list[Row]:
    """The statements that define views, and functions that give rows."""
    rows: list[Row] = []
    for definition in definitions:
        isolation = Isolation[str]()
        with isolation.around(FailureStage.ANALYSIS, definition.text):
            rows += _view_rows(definition, dialect)
        for failure in isolation.failures.values():
            (row,) = rows_of([_record(definition, "", dialect)], dialect)
            rows.append({**row, "digest": None, "skipped": None, "dead": failure.reason})
    return rows


def _dead_row(failure: FailedDefinition, dialect: str) -> Row:
    record = {**_record(failure.definition, "", dialect), "source_id": failure.source_id}
    (row,) = rows_of([record], dialect)
    return {**row, "digest": None, "skipped": None, "dead": failure.reason}


def _view_rows(definition: Definition, dialect: str) -> list[Row]:
    """The rows of a view, or of a function that gives rows."""
    text = view_statement(definition, dialect)
    if definition.own or (_is_routine(definition) and function_as_view(text, dialect) is None):
        return []
    _database, schema = definition.home or definition.full_name[:2]
    rows = rows_of([_record(definition, text, dialect)], dialect)
    if definition.recorded_by:
        return rows
    # A definition is no run: it is not counted as one.
    return [
        {**row, "digest": None, "already_published": definition.done, "path": [schema] if schema else None}
        for row in rows
    ]


def _record(definition: Definition, text: str, dialect: str) -> Row:
    """A definition as the record of a log."""
    database, schema = definition.home or definition.full_name[:2]
    return {
        "source_id": f"definition of {key_of(definition.full_name)}:1",
        "text": text,
        "start_time": definition.at,
        "end_time": None,
        "duration": None,
        "user": None,
        "session": None,
        "database": database,
        "schema": schema,
        "dialect": dialect,
        "status": None,
        "problem": None if text or definition.lineage is not None else "no definition",
        "symbolic": None if definition.recorded_by else definition.lineage,
        "edges": definition.lineage if definition.recorded_by else None,
        "job": definition.recorded_by or None,
    }
