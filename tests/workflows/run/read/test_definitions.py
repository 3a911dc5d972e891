"""Definitions as rows of a log: what an engine has recorded beside one is its own word, and no definition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.model_source import table_lineage
from ingestion.parsing.templates import REPORTED
from ingestion.statements.masking import QueryMasker
from ingestion.statements.routines import routines_of
from ingestion.statements.routines.definition import Definition, DefinitionKind, code_of
from workflows.run.read.definitions import current_definitions, definition_rows
from workflows.run.read.statements import TaskState, step_row

TOTALS = ("shop", "mart", "totals")
KNOWN = Definition(DefinitionKind.VIEW, TOTALS, at=1.0, lineage=table_lineage(TOTALS, (("shop", "sales", "orders"),)))


def test_what_an_engine_recorded_is_an_observation_of_a_job_and_no_definition() -> None:
    (told,) = definition_rows([replace(KNOWN, recorded_by="index of totals")], "duckdb")
    (own,) = definition_rows([KNOWN], "duckdb")
    assert [row["fingerprint"].startswith(REPORTED) for row in (told, own)] == [True, False]
    assert [row["digest"] is None for row in (told, own)] == [False, True]
    assert (told["job"], own["job"]) == ("index of totals", None)


@pytest.mark.parametrize("body", ["DELETE FROM totals", "TRUNCATE TABLE mart.totals", "SELECT 1"])
def test_a_routine_stands_as_long_as_what_is_parsed_of_it_is_what_the_catalog_keeps(body: str) -> None:
    """Which statements are parsed, and which are compared with those that were kept, is one rule."""
    text = f"CREATE PROCEDURE mart.load() LANGUAGE sql AS $$ {body}; INSERT INTO totals SELECT a FROM orders $$"
    live = Definition(DefinitionKind.ROUTINE, ("shop", "mart", "load"), text)
    steps = [step for routine in routines_of(live, "postgres") for step in routine.steps]
    masker, state = QueryMasker("postgres"), TaskState("postgres")
    parsed = tuple(masker.mask(step.text) for step in steps if step_row(step, "postgres", state).fingerprint)
    assert len(parsed) == 1 + (body == "DELETE FROM totals")
    stored = replace(live, text=code_of(parsed), done=True)
    assert [one.done for one in current_definitions([live], [stored], "postgres")] == [True]
