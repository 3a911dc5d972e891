"""SQLMesh's models in Python, by what is written, and never by running them."""

from __future__ import annotations

import pytest

from connectors.sqlmesh._python_models import python_models

MODULE = """
import sqlmesh
TABLE = "raw.orders"
raise SystemExit("nobody runs this")

@sqlmesh.model("mart.scores", kind=dict(name=ModelKindName.FULL), columns={"bean": "text"}, grains=["bean"])
def execute(context, **kwargs):
    context.fetchdf(f"SELECT * FROM {context.resolve_table(TABLE)}")
    return context.table("mart.sales")
"""


def test_a_model_tells_its_name_its_columns_and_what_it_asks_for() -> None:
    (model,) = python_models(MODULE)
    assert (model.name, model.kind, model.columns) == ("mart.scores", "FULL", {"bean": "text"})
    assert (model.reads, model.grains, model.reason) == (("mart.sales", "raw.orders"), ("bean",), "")


def test_what_it_declares_stands_in_place_of_what_it_asks_for() -> None:
    (model,) = python_models("@model('a.b', kind=FullKind(), depends_on={'x.y'})\ndef f(c):\n  c.table('z.z')")
    assert (model.reads, model.kind) == (("x.y",), "FULL")


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [("model(NAMES[0])", "name"), ("model('@a.b')", "name"), ("model('a.b', is_sql=True)", "SQL")],
)
def test_what_python_makes_is_templated(decorator: str, reason: str) -> None:
    (model,) = python_models(f"@{decorator}\ndef f(): ...")
    assert model.reason.startswith("templated: ")
    assert reason in model.reason


def test_another_module_has_no_model_and_no_python_is_refused() -> None:
    assert python_models("def model(): ...") == ()
    with pytest.raises(SyntaxError):
        python_models("def (")
