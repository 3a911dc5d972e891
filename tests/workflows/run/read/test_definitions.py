"""Definitions as rows of a log: what an engine has recorded beside one is its own word, and no definition."""

from __future__ import annotations

from dataclasses import replace

from connectors.model_source import table_lineage
from ingestion.parsing.templates import REPORTED
from ingestion.statements.routines.definition import Definition, DefinitionKind
from workflows.run.read.definitions import definition_rows

TOTALS = ("shop", "mart", "totals")
KNOWN = Definition(DefinitionKind.VIEW, TOTALS, at=1.0, lineage=table_lineage(TOTALS, (("shop", "sales", "orders"),)))


def test_what_an_engine_recorded_is_an_observation_of_a_job_and_no_definition() -> None:
    (told,) = definition_rows([replace(KNOWN, recorded_by="index of totals")], "duckdb")
    (own,) = definition_rows([KNOWN], "duckdb")
    assert [row["fingerprint"].startswith(REPORTED) for row in (told, own)] == [True, False]
    assert [row["digest"] is None for row in (told, own)] == [False, True]
    assert (told["job"], own["job"]) == ("index of totals", None)
