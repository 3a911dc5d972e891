"""Projects of models as sources: definitions, failures, tables of which no column is known."""

from __future__ import annotations

import pytest

from connectors.model_project import ModelProject, ProjectFailure, ProjectModel, view_model
from connectors.model_source import failure_code, open_models
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import Column, StatementLineage
from ingestion.model.namespaces import RelationKey


def test_an_open_project_has_its_models_its_failures_and_its_columns() -> None:
    model = view_model(("d", "s", "v"), "v.sql", ("SELECT a FROM t", "SELECT b FROM t"), "postgres", "incremental")
    python = ProjectModel(("d", "s", "p"), "p.py:3", "", (("d", "s", "v"),))
    lost = ProjectFailure("x/w.sql", "templated: {{ x }}")
    source = open_models(ModelProject("p", "postgres", (model, python), {("d", "s", "t"): (Column("a"),)}, (lost,)))
    first, second = source.views()
    assert first.text == model.text
    assert second.lineage is not None
    lineage = loads(second.lineage)
    assert isinstance(lineage, StatementLineage)
    assert ([name.parts for name in lineage.sources], [name.parts for name in lineage.targets]) == (
        [("d", "s", "v")],
        [("d", "s", "p")],
    )
    (failure,) = source.failures()
    assert (failure.source_id, failure.reason, failure.definition.full_name) == (
        "x/w.sql:1",
        "templated",
        ("", "", "w"),
    )
    assert source.columns() == {RelationKey(("d", "s", "t")): (Column("a"),)}
    assert source.database == "d"


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("templated: {{ x }}", "templated"),
        ("defined_twice: another model is called so", "defined_twice"),
        ("malformed_record: it has no query", "malformed_record"),
        ("not valid Python", "unparsable"),
        ("ambiguous: no end of a failure", "unparsable"),
    ],
)
def test_a_model_without_a_statement_ends_as_its_reason_begins(reason: str, code: str) -> None:
    assert failure_code(reason) == code
