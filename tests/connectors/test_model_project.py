"""The names and the statements of a project's models."""

from __future__ import annotations

import pytest

from connectors.model_project import ModelProject, key_of_name, script_text, view_model


@pytest.mark.parametrize(
    ("written", "dialect", "key"),
    [
        ("mart.sales", "duckdb", ("", "mart", "sales")),
        ('"Mart".sales', "snowflake", ("", "Mart", "SALES")),
        ("`my-project.x`.y", "bigquery", ("", "my-project.x", "y")),
        ('a."b""c".d', "postgres", ("a", 'b"c', "d")),
    ],
)
def test_a_name_is_folded_as_its_dialect_does(written: str, dialect: str, key: tuple[str, str, str]) -> None:
    assert key_of_name(written, dialect) == key


@pytest.mark.parametrize("written", ["", "a b", "@x.y", "a..b"])
def test_what_is_no_name_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        key_of_name(written, "duckdb")


def test_what_is_added_later_follows_what_fills_a_model() -> None:
    model = view_model(("d", "s", "v"), "v.sql", ("SELECT a FROM t", "SELECT b FROM t"), "postgres", "incremental")
    assert model.text == 'CREATE VIEW "d"."s"."v" AS (SELECT a FROM t\n) UNION ALL (SELECT b FROM t\n)'
    script = script_text(model, ModelProject("p", "postgres", session="SET x = 1"))
    assert script.startswith('SET x = 1; CREATE VIEW "d"."s"."v" AS SELECT a')
    assert script.endswith(';\nINSERT INTO "d"."s"."v" SELECT b FROM t')
