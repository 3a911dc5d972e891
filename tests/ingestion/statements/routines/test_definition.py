"""Definitions as statements, and when two of them are the same."""

from __future__ import annotations

import pytest

from ingestion.statements.routines.definition import (
    Definition,
    DefinitionKind,
    defines,
    same_definition,
    view_statement,
)


def view(text: str, kind: DefinitionKind = DefinitionKind.VIEW) -> Definition:
    return Definition(kind, ("db", "mart", "Big One"), text)


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("postgres", 'CREATE VIEW "db"."mart"."Big One" AS SELECT 1'),
        ("mysql", "CREATE VIEW `mart`.`Big One` AS SELECT 1"),
        ("tsql", "CREATE VIEW [db].[mart].[Big One] AS SELECT 1"),
    ],
)
def test_a_bare_query_becomes_a_view_of_its_full_name(dialect: str, statement: str) -> None:
    assert view_statement(view(" SELECT 1 ;\n"), dialect) == statement


@pytest.mark.parametrize(
    "query", ["with q as (select 1) select * from q", "(select 1)", "values (1)", "/* x */ select 1"]
)
def test_whatever_begins_a_query_is_one(query: str) -> None:
    assert view_statement(view(query), "postgres").startswith("CREATE VIEW")


def test_a_whole_statement_stays_as_it_is() -> None:
    assert view_statement(view("create or replace view v as select 1"), "snowflake").startswith("create or replace")
    assert defines("create view v as select 1", "postgres")
    assert not defines("select 1", "postgres")


def test_a_materialized_view_is_one() -> None:
    assert view_statement(view("select 1", DefinitionKind.MATERIALIZED_VIEW), "postgres").startswith(
        "CREATE MATERIALIZED VIEW"
    )


def test_definitions_are_the_same_whatever_their_layout_and_literals() -> None:
    one = "create view v as\n  select a /* why */ from t where b = 'x'"
    assert same_definition(one, "create view v as select a from t where b = ?", "postgres")
    assert not same_definition(one, "create view v as select b from t where b = ?", "postgres")
    assert not same_definition("select 'never ends", "select 1", "postgres")


def test_a_definition_shows_its_name_and_not_its_text() -> None:
    assert repr(view("select 'secret'")) == "Definition(view db.mart.Big One)"
