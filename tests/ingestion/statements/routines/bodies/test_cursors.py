"""Cursors, records and collections: what they are filled from is what the statements behind them write."""

from __future__ import annotations

import pytest

from ingestion.model.outcomes import Outcome
from ingestion.parser import LineageParser
from ingestion.statements import split
from ingestion.statements.routines.bodies import block_steps


def pairs(text: str, dialect: str) -> set[tuple[str, str]]:
    """("table.column", "table.column") of every pair whose value flows, in lower case."""
    return {(str(a).lower(), str(b).lower()) for a, b in LineageParser(text, dialect).column_lineage}


BOTH = {("src.a", "tgt.x"), ("src.b", "tgt.y")}
SNOWFLAKE = "DECLARE {}; BEGIN {} INSERT INTO tgt (x, y) VALUES ({}); {} END;"
ORACLE = "CREATE PROCEDURE p IS {} BEGIN {} END;"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("snowflake", SNOWFLAKE.format("rs RESULTSET", "rs := (SELECT a, b FROM src); LET c CURSOR FOR rs; FOR r IN c"
                                       " DO", ":r.a, r.b", "END FOR;")),
        ("snowflake", SNOWFLAKE.format("rs RESULTSET DEFAULT (SELECT a, b FROM src); c CURSOR FOR rs; v INT; w INT",
                                       "OPEN c; FETCH c INTO v, w;", ":v, :w", "")),
        ("snowflake", SNOWFLAKE.format("v INT; c CURSOR FOR SELECT a, b FROM src", "FOR r IN c DO v := r.a;"
                                       " LET w INT := r.b;", ":v, :w", "END FOR;")),
        ("snowflake", "DECLARE rs RESULTSET; BEGIN rs := (SELECT a, b FROM src); INSERT INTO tgt (x, y)"
                      " SELECT a, b FROM TABLE(rs); END;"),
        ("oracle", ORACLE.format("TYPE t IS TABLE OF src.a%TYPE; q t; r t;", "SELECT a, b BULK COLLECT INTO q, r FROM"
                                 " src; FORALL i IN 1 .. q.COUNT INSERT INTO tgt (x, y) VALUES (q(i), r(i));")),
        ("oracle", ORACLE.format("CURSOR c IS SELECT a, b FROM src; TYPE t IS TABLE OF c%ROWTYPE; l t;",
                                 "OPEN c; LOOP FETCH c BULK COLLECT INTO l LIMIT 100; FORALL i IN INDICES OF l"
                                 " INSERT INTO tgt (x, y) VALUES (l(i).a, l(i).b); END LOOP;")),
        ("oracle", ORACLE.format("r src%ROWTYPE;", "SELECT * INTO r FROM src; INSERT INTO tgt (x, y)"
                                 " VALUES (r.a, r.b);")),
        ("oracle", ORACLE.format("CURSOR c (k NUMBER) IS SELECT a, b FROM src WHERE k = 1; n tgt%ROWTYPE;",
                                 "FOR r IN c(3) LOOP n.x := r.a; n.y := r.b; INSERT INTO tgt VALUES n; END LOOP;")),
        ("oracle", ORACLE.format("CURSOR c IS SELECT a AS x, b AS y FROM src; r c%ROWTYPE;",
                                 "OPEN c; FETCH c INTO r; INSERT INTO tgt VALUES r;")),
        ("postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN FOR r IN"
                     " SELECT a AS x, b AS y FROM src LOOP INSERT INTO tgt SELECT r.*; END LOOP; END $$"),
        ("postgres", "DO $$ DECLARE c CURSOR FOR SELECT a AS x, b AS y FROM src; r record; BEGIN OPEN c;"
                     " FETCH c INTO r; INSERT INTO tgt VALUES (r.*); END $$"),
        ("db2", "CREATE PROCEDURE p () LANGUAGE SQL BEGIN FOR r AS c CURSOR FOR SELECT a, b FROM src DO"
                " INSERT INTO tgt (x, y) VALUES (r.a, r.b); END FOR; END"),
        ("bigquery", "FOR r IN (SELECT a, b FROM src) DO INSERT INTO tgt (x, y) VALUES (r.a, r.b); END FOR;"),
        ("tsql", "DECLARE @v INT, @w INT\nDECLARE c CURSOR FOR SELECT a, b FROM src\nOPEN c\n"
                 "FETCH NEXT FROM c INTO @v, @w\nWHILE @@FETCH_STATUS = 0\nBEGIN\n"
                 "  INSERT INTO tgt (x, y) VALUES (@v, @w)\n  FETCH NEXT FROM c INTO @v, @w\nEND\nCLOSE c"),
        ("tsql", "DECLARE @v INT, @w INT; DECLARE @c CURSOR; SET @c = CURSOR FOR SELECT a, b FROM src; OPEN @c;"
                 " FETCH @c INTO @v, @w; INSERT INTO tgt (x, y) VALUES (@v, @w);"),
        ("tsql", "DECLARE @v INT, @w INT; SELECT @v = a, @w = b FROM src; INSERT INTO tgt (x, y) VALUES (@v, @w)"),
        ("tsql", "DECLARE @v INT, @w INT = (SELECT MAX(b) FROM src)\nSELECT TOP 1 @v = a FROM src\n"
                 "INSERT INTO tgt (x) SELECT @v\nUPDATE tgt SET y = @w"),
        ("tsql", "DECLARE @v INT, @w INT;\nSET @v = (SELECT a FROM src);\nSET @w = ( SELECT b FROM src);\n"
                 "MERGE tgt USING s ON s.k = tgt.k WHEN MATCHED THEN UPDATE SET x = @v, y = @w;"),
    ],
)  # fmt: skip
def test_what_a_row_was_filled_from_reaches_what_is_written_with_it(dialect: str, text: str) -> None:
    assert pairs(text, dialect) == BOTH


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("oracle", "DECLARE CURSOR c IS SELECT a FROM src WHERE k > 1 FOR UPDATE OF b; BEGIN FOR r IN c LOOP"
                   " UPDATE src SET b = r.a WHERE CURRENT OF c; END LOOP; END;"),
        ("tsql", "DECLARE @v INT\nDECLARE c CURSOR FOR SELECT a FROM src WHERE k > 1\nFETCH c INTO @v\n"
                 "UPDATE src SET b = @v WHERE CURRENT OF c"),
    ],
)  # fmt: skip
def test_the_row_that_a_cursor_is_at_is_one_that_its_conditions_let_through(dialect: str, text: str) -> None:
    edges = {
        (str(e.source).lower(), str(e.target).lower(), e.subtype.value) for e in LineageParser(text, dialect).edges
    }
    assert edges == {("src.a", "src.b", "IDENTITY"), ("src.k", "src.b", "FILTER")}


def test_a_variable_is_made_of_what_its_value_is_made_of() -> None:
    text = "DO $$ DECLARE v int; BEGIN FOR r IN SELECT a, b FROM src LOOP v := r.a + 1; {} END LOOP; END $$"
    assert pairs(text.format("INSERT INTO t (x) VALUES (v);"), "postgres") == {("src.a", "t.x")}
    twice = pairs(text.format("v := r.b; INSERT INTO t (x) VALUES (v);"), "postgres")
    assert twice == set(), "of a variable that is filled twice nothing says which value it has"
    itself = pairs(text.format("v := upper(v); INSERT INTO t (x) VALUES (v);"), "postgres")
    assert itself == {("src.a", "t.x")}
    fetched = (
        "CREATE PROCEDURE p AS DECLARE c CURSOR FOR SELECT a, b FROM src FETCH c INTO @v, @w"
        " SET @w = @v * 2 INSERT INTO t (x, y) VALUES (@v, @w)"
    )
    assert pairs(fetched, "tsql") == {("src.a", "t.x")}


@pytest.mark.parametrize("fill", ["FETCH c INTO @at", "SET @at = '2026-01-01'", "SELECT @at = MAX(at) FROM cutoff"])
def test_the_time_of_a_temporal_table_may_be_a_variable(fill: str) -> None:
    read = "INSERT INTO t (x) SELECT s.a FROM src FOR SYSTEM_TIME AS OF @at AS s"
    text = f"CREATE PROCEDURE p AS BEGIN DECLARE @at datetime2; {fill}; {read} END"
    assert pairs(text, "tsql") == {("src.a", "t.x")}


def test_a_record_that_is_written_as_a_whole_by_an_update_is_told() -> None:
    steps = block_steps("DECLARE r src%ROWTYPE; BEGIN SELECT * INTO r FROM src; UPDATE t SET ROW = r; END;", "oracle")
    assert [step.problem for step in steps] == [Outcome.WHOLE_ROWS]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("DECLARE @n INT\nSELECT @n = COUNT(*) FROM s\nPRINT @n", 3),
        ("DECLARE @n INT; SET @n = 1; INSERT INTO t SELECT a FROM s WHERE k = @n", 3),
        ("SELECT @n = COUNT(*) FROM s; INSERT INTO t VALUES (@n)", 2),
    ],
)
def test_a_batch_stays_apart_where_no_query_fills_what_is_written(text: str, count: int) -> None:
    assert len([*split(text, "tsql")]) == count


def test_a_batch_is_whole_from_its_declarations_on_where_a_cursor_is_fetched() -> None:
    fetches = "DECLARE @v INT\nDECLARE c CURSOR FOR SELECT a FROM s\nFETCH c INTO @v\nINSERT INTO t VALUES (@v)"
    assert [one.text for one in split(f"TRUNCATE TABLE t\n{fetches}\nGO\nDELETE FROM u", "tsql")] == [
        "TRUNCATE TABLE t",
        fetches,
        "DELETE FROM u",
    ]
    assert len(split(f"{fetches}\nUSE other\nDELETE FROM u", "tsql")) > 2, "behind a USE names mean others"
