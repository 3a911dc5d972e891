"""Queries of a routine's variables, whose names mean nothing of the statement that reads the variables."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser

_SCHEMA = {"s": {"id": "int", "a": "int"}}


def _edges(text: str, dialect: str) -> set[str]:
    edges = LineageParser(text, dialect, _SCHEMA).edges
    return {f"{edge.source} > {edge.target}".lower() for edge in edges if edge.type is LineageType.DIRECT}


def _plpgsql(body: str) -> str:
    return f"CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ DECLARE v int; w int; BEGIN {body}; END $$"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "tsql",
            "DECLARE @v int = (SELECT MAX(id) FROM r); WITH r AS (SELECT * FROM u) INSERT INTO t (x) SELECT @v FROM r",
        ),
        (
            "tsql",
            "CREATE PROCEDURE p AS BEGIN DECLARE @v int; SELECT @v = MAX(id) FROM r;"
            " WITH q AS (SELECT 1 AS n), R AS (SELECT * FROM u) INSERT INTO t (x) SELECT @v FROM R END",
        ),
        ("oracle", "DECLARE v INT; BEGIN SELECT MAX(id) INTO v FROM r; INSERT INTO t (x) SELECT v FROM s; END;"),
        (
            "oracle",
            "DECLARE v INT; BEGIN SELECT MAX(id) INTO v FROM r;"
            " INSERT INTO t (x) WITH r AS (SELECT * FROM u) SELECT v FROM r; END;",
        ),
        ("bigquery", "DECLARE v INT64; SET v = (SELECT MAX(id) FROM r); INSERT INTO t (x) SELECT v FROM s"),
        (
            "postgres",
            _plpgsql(
                "v := (SELECT max(id) FROM r); WITH r AS (DELETE FROM u RETURNING *) INSERT INTO t (x) SELECT v FROM r"
            ),
        ),
        (
            "postgres",
            _plpgsql(
                "SELECT max(id) INTO v FROM r; WITH RECURSIVE z AS (SELECT a FROM s) INSERT INTO t (x) SELECT v FROM z"
            ),
        ),
        ("postgres", _plpgsql("FOR v IN SELECT id FROM r LOOP INSERT INTO t (x) SELECT v FROM s; END LOOP")),
        ("mysql", "CREATE PROCEDURE p() BEGIN SELECT MAX(id) INTO v FROM r; REPLACE INTO t (x) SELECT v FROM s; END"),
        ("mysql", "BEGIN DECLARE v INT; SELECT MAX(id) INTO v FROM r; REPLACE INTO t (x) VALUES (v); END"),
    ],
)
def test_the_query_of_a_variable_means_what_it_meant_where_it_ran(dialect: str, text: str) -> None:
    assert _edges(text, dialect) == {"r.id > t.x"}


def test_an_item_that_all_items_of_a_recursive_with_see_makes_a_variable_unknown() -> None:
    body = "SELECT max(id) INTO v FROM r; WITH RECURSIVE r AS (SELECT * FROM s) INSERT INTO t (x, y) SELECT v, a FROM r"
    assert _edges(_plpgsql(body), "postgres") == {"s.a > t.y"}


def test_a_variable_that_is_made_of_another_is_made_of_its_query() -> None:
    body = "v := (SELECT id FROM r); w := (SELECT max(a) FROM s WHERE id > v) + v; v := v + w"
    assert _edges(_plpgsql(f"{body}; INSERT INTO t (x) SELECT v FROM s"), "postgres") == {"r.id > t.x", "s.a > t.x"}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t AS (SELECT v AS x FROM a) UNION ALL (SELECT v FROM b)",
        "INSERT INTO t (k, x) VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET x = v",
        "MERGE INTO t USING s ON t.k = s.id WHEN MATCHED THEN UPDATE SET x = v",
        "UPDATE t SET x = v FROM s WHERE t.k = s.id",
        "WITH c AS (SELECT a FROM s) UPDATE t SET x = v FROM c WHERE t.k = c.a",
    ],
)
def test_each_part_of_a_statement_reads_it(statement: str) -> None:
    assert _edges(_plpgsql(f"SELECT max(id) INTO v FROM r; {statement}"), "postgres") == {"r.id > t.x"}


def test_a_function_gives_what_its_variable_was_filled_from() -> None:
    function = (
        "CREATE FUNCTION f(p int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE v int; BEGIN"
        " SELECT max(x) INTO v FROM m WHERE k = p; RETURN v + p; END $$"
    )
    text = f"{function}; INSERT INTO t (x) SELECT f(s.a) FROM s"
    assert _edges(text, "postgres") >= {"s.a > t.x"}
    assert "m.x > f.result" in _edges(text, "postgres")


def test_columns_that_are_variables_have_their_names() -> None:
    body = "SELECT max(id), min(id) INTO v, w FROM r; CREATE TABLE t AS SELECT v, w, s.a FROM s"
    assert _edges(_plpgsql(body), "postgres") == {"r.id > t.v", "r.id > t.w", "s.a > t.a"}
    text = "DECLARE @m int = (SELECT MAX(id) FROM r), @n int = (SELECT k FROM r); INSERT INTO t SELECT @m, @n FROM s"
    assert _edges(text, "tsql") == {"r.id > t.@m", "r.k > t.@n"}


def test_what_a_procedure_is_given_is_no_column_of_the_rows_that_it_gives() -> None:
    text = "CREATE PROCEDURE p AS BEGIN DECLARE @v int; SELECT @v = MAX(id) FROM r; INSERT t (x) EXEC other @v; END"
    assert _edges(text, "tsql") == set()
