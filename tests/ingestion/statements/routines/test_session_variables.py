"""Variables of a session that queries fill, in the statements of a text behind those that fill them."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser
from ingestion.statements import split
from ingestion.statements.routines.session_variables import with_variables


def _sources(text: str, dialect: str) -> set[str]:
    """What column b of t is made of."""
    edges = LineageParser(text, dialect=dialect).edges
    return {
        str(edge.source).lower()
        for edge in edges
        if edge.type is LineageType.DIRECT and str(edge.target).lower() == "t.b"
    }


@pytest.mark.parametrize(
    ("dialect", "given", "value"),
    [
        ("mysql", "SET @v = (SELECT max(d) FROM s)", "@v"),
        ("mysql", "SET @n = 1, @V := (SELECT max(d) FROM s) + 1", "@`v`"),
        ("mysql", "SET @v = 1;\nSET @v = COALESCE((SELECT max(d) FROM s), 'x')", "@v"),
        ("mysql", "SELECT max(d) INTO @v FROM s", "@v"),
        ("mysql", "SELECT e, d FROM s LIMIT 1 INTO @u, @v", "@v"),
        ("mariadb", "SELECT @v := max(d) FROM s WHERE k = 1", "@v + 1"),
        ("singlestore", "SET @u = (SELECT max(d) FROM s);\nSET @v = @u + 1", "@v"),
        ("snowflake", "SET v = (SELECT max(d) FROM s)", "$v"),
        ("snowflake", "SET (u, V) = (SELECT max(e), max(d) FROM s)", "$v"),
        ("duckdb", "SET VARIABLE v = (SELECT max(d) FROM s)", "getvariable('v')"),
    ],
)
def test_a_variable_stands_for_the_query_that_filled_it(dialect: str, given: str, value: str) -> None:
    assert _sources(f"{given};\nINSERT INTO t (a, b) SELECT c, {value} FROM u;", dialect) == {"s.d"}


@pytest.mark.parametrize(
    ("dialect", "between"),
    [
        ("mysql", "SET @v = 3"),
        ("mysql", "SELECT 1 INTO @v"),
        ("mysql", "CALL fill()"),
        ("mysql", "USE other"),
        ("mysql", "RENAME TABLE s TO o"),
        ("mysql", "DROP TABLE s"),
        ("mysql", "SELECT @v := @v + 1 FROM u"),
    ],
)
def test_a_variable_is_not_known_behind_what_may_have_changed_it(dialect: str, between: str) -> None:
    text = f"SET @v = (SELECT max(d) FROM s);\n{between};\nINSERT INTO t (a, b) SELECT c, @v FROM u;"
    assert _sources(text, dialect) == set()


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "INSERT INTO t (b) SELECT @v := @v + 1 FROM u"),
        ("mysql", "INSERT INTO t (b) SELECT @@v FROM u WHERE a = 'x@v'"),
        ("mysql", "LOAD DATA INFILE 'f' INTO TABLE t (@v) SET b = @v"),
        ("mysql", "CREATE DEFINER=root@v PROCEDURE p() INSERT INTO t (b) SELECT @v FROM u"),
        ("snowflake", "INSERT INTO t (b) SELECT b FROM IDENTIFIER($v)"),
        ("duckdb", "INSERT INTO t (b) SELECT getvariable('w') FROM u"),
    ],
)
def test_what_only_looks_like_the_variable_stays(dialect: str, text: str) -> None:
    given = {"mysql": "SET @v", "snowflake": "SET v", "duckdb": "SET VARIABLE v"}[dialect]
    statements = split(f"{given} = (SELECT max(d) FROM s);\n{text}", dialect)
    assert tuple(with_variables(statements, dialect))[-1] == statements[-1]


def test_a_value_that_grows_from_variable_to_variable_ends() -> None:
    doubled = "\n".join("SET @v = @v + @v;" for _ in range(60))
    statements = split(f"SET @v = (SELECT max(d) FROM s);\n{doubled}\nINSERT INTO t (b) SELECT @v", "mysql")
    assert max(len(one.text) for one in with_variables(statements, "mysql")) < 10_000
