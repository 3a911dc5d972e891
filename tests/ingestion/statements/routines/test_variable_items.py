"""Queries of a routine's variables, whose names mean nothing of the statement that reads the variables."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser

_SCHEMA = {"s": {"id": "int", "a": "int"}}


def _edges(text: str, dialect: str) -> set[str]:
    edges = LineageParser(text, dialect, _SCHEMA).edges
    return {f"{edge.source} > {edge.target}".lower() for edge in edges if edge.type is LineageType.DIRECT}


def _all_edges(text: str, dialect: str) -> set[str]:
    edges = LineageParser(text, dialect).edges
    marks = (">" if edge.type is LineageType.DIRECT else "?" for edge in edges)
    return {f"{edge.source} {mark} {edge.target}".lower() for edge, mark in zip(edges, marks, strict=True)}


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


@pytest.mark.parametrize(
    ("dialect", "statement", "read", "edges"),
    [
        ("oracle", "INSERT INTO (SELECT x FROM t) VALUES (m)", "M", {"r.id > t.x"}),
        ("oracle", "INSERT INTO (SELECT x FROM t) SELECT m FROM s", "M", {"r.id > t.x"}),
        ("oracle", "INSERT INTO t v (v.x) VALUES (m)", "M", {"r.id > t.x"}),
        ("oracle", "UPDATE (SELECT x FROM t WHERE z = m) SET x = m", "M", {"r.id > t.x", "r.id ? t.x", "t.z ? t.x"}),
        ("db2", "INSERT INTO (SELECT x FROM t) VALUES (m)", "M", {"r.id > t.x"}),
        ("db2", "DELETE FROM t FOR PORTION OF d FROM 1 TO 2 WHERE x = m", "M", {"r.id ? t.*", "t.x ? t.*"}),
        ("mysql", "UPDATE LOW_PRIORITY t SET x = m", "m", {"r.id > t.x"}),
        ("mysql", "INSERT LOW_PRIORITY INTO t (x) VALUES (m)", "m", {"r.id > t.x"}),
        ("postgres", "CREATE TABLE t AS VALUES (m)", "m", {"r.id > t.column1"}),
    ],
)
def test_a_statement_of_any_form_reads_a_variable(dialect: str, statement: str, read: str, edges: set[str]) -> None:
    body = f"DECLARE {read} INT; BEGIN SELECT MAX(id) INTO {read} FROM r; {statement}; END"
    texts = {
        "oracle": f"{body};",
        "db2": f"CREATE PROCEDURE p() LANGUAGE SQL BEGIN {body.replace('BEGIN', '')}",
        "mysql": f"CREATE PROCEDURE p() BEGIN {body.replace('BEGIN', '')}",
        "postgres": f"CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ {body} $$",
    }
    assert _all_edges(texts[dialect], dialect) == edges


@pytest.mark.parametrize(
    ("statement", "edges"),
    [
        ("FROM w |> WHERE z = m |> SELECT z, m AS x", {"w.z > t.z", "r.id > t.x", *(f"w.z ? t.{c}" for c in "zx")}),
        ("FROM w |> EXTEND m AS x |> SELECT w.z, x", {"w.z > t.z", "r.id > t.x"}),
        ("(FROM w |> WHERE z = m |> SELECT z)", {"w.z > t.z", "w.z ? t.z"}),
        ("FROM w |> AGGREGATE SUM(z) AS q |> WHERE q > m", {"w.z > t.q", "w.z ? t.q"}),
    ],
)
def test_a_query_that_begins_with_from_reads_a_variable(statement: str, edges: set[str]) -> None:
    text = f"DECLARE m INT64; SET m = (SELECT MAX(id) FROM r); CREATE TABLE t AS {statement}"
    filtered = {f"r.id ? {edge.split()[2]}" for edge in edges if "?" in edge}
    assert _all_edges(text, "bigquery") == edges | filtered


def test_rows_of_a_loop_change_a_join_in_parentheses() -> None:
    body = "UPDATE (SELECT t.x, w.y FROM t JOIN w ON t.i = w.i) SET x = r.id"
    text = f"BEGIN FOR r IN (SELECT id FROM q) LOOP {body}; END LOOP; END;"
    assert _edges(text, "oracle") == {"q.id > t.x"}


@pytest.mark.parametrize(
    "statement",
    ["DELETE TOP (@m) FROM t", "DELETE TOP (@m) t", "WITH c AS (SELECT x FROM t) DELETE TOP (@m) FROM c"],
)
def test_a_variable_that_says_how_many_rows_go_decides_which(statement: str) -> None:
    text = f"DECLARE @m INT; SELECT @m = MAX(id) FROM r; {statement}"
    assert _all_edges(text, "tsql") == {"r.id ? t.*"}


def test_what_xml_is_called_stands_before_the_items() -> None:
    statement = "WITH XMLNAMESPACES ('u' AS n), c AS (SELECT a FROM s) INSERT INTO t (x, y) SELECT a, @m FROM c"
    text = f"DECLARE @m INT; SELECT @m = MAX(id) FROM r; {statement}"
    assert _edges(text, "tsql") == {"s.a > t.x", "r.id > t.y"}


@pytest.mark.parametrize(
    "item", ["WITH v AS", "WITH RECURSIVE v AS MATERIALIZED", "WITH q AS (SELECT v.b FROM v), v AS"]
)
def test_a_query_in_with_that_is_called_as_a_variable_is_none(item: str) -> None:
    body = f"SELECT MAX(id) INTO v FROM r; INSERT INTO t (x) {item} (SELECT b FROM u) SELECT v.b FROM v"
    assert "u.b > t.x" in _edges(_plpgsql(body), "postgres")
