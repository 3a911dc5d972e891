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
        ("mysql", "SET @n = 1, @V := (SELECT max(d) + 1 FROM s)", "@`v`"),
        ("mysql", "SET @v = 1;\nSET @v = (SELECT COALESCE(max(x.d), 'x') FROM s AS x)", "@v"),
        ("mysql", "SELECT max(d) INTO @v FROM s", "@v"),
        ("mysql", "SELECT e, d FROM s LIMIT 1 INTO @u, @v", "@v"),
        ("mariadb", "SELECT @v := max(d) FROM s WHERE k = 1", "@v + 1"),
        ("singlestore", "SET @v = (SELECT `d` FROM s ORDER BY s.d DESC LIMIT 1)", "coalesce('x', @v)"),
        ("snowflake", "SET v = (SELECT max(d) FROM s)", "$v"),
        ("snowflake", "SET (u, V) = (SELECT max(e), max(d) FROM s)", "$v"),
        ("duckdb", "SET VARIABLE v = (SELECT max(d) FROM s)", "getvariable('v')"),
    ],
)
def test_a_variable_stands_for_the_query_that_filled_it(dialect: str, given: str, value: str) -> None:
    assert _sources(f"{given};\nINSERT INTO t (a, b) SELECT c, {value} FROM u;", dialect) == {"s.d"}


@pytest.mark.parametrize(
    ("dialect", "text", "names"),
    [
        (
            "mysql",
            "SET @v = (SELECT max(d) FROM s), @w = (SELECT max(e) FROM s); CREATE TABLE t AS SELECT @v, @w",
            "@v @w",
        ),
        ("snowflake", "SET v = (SELECT max(d) FROM s); INSERT INTO t SELECT DISTINCT $v FROM u", "$V"),
        ("mysql", "SET @v = (SELECT max(d) FROM s); INSERT INTO t SELECT @v AS x, @v y FROM u", "x y"),
    ],
)
def test_a_column_that_is_a_variable_has_the_variable_s_name(dialect: str, text: str, names: str) -> None:
    targets = {edge.target.column for edge in LineageParser(text, dialect=dialect).edges}
    assert targets == set(names.split())


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


_WATERMARK = {
    "mysql": ("SET @v = (SELECT max(d) FROM s)", "@v"),
    "snowflake": ("SET v = (SELECT max(d) FROM s)", "$v"),
    "duckdb": ("SET VARIABLE v = (SELECT max(d) FROM s)", "getvariable('v')"),
}


@pytest.mark.parametrize("dialect", list(_WATERMARK))
def test_the_query_of_a_variable_reads_no_name_of_the_statement_around_it(dialect: str) -> None:
    given, value = _WATERMARK[dialect]
    hidden = f"{given};\nINSERT INTO t (b) WITH s AS (SELECT d FROM q) SELECT {value} FROM s;"
    assert not {name for name in _sources(hidden, dialect) if name.startswith("q.")}
    known = f"CREATE TABLE u (id int, d int);\n{given};\nINSERT INTO t (b) SELECT {value} FROM u;"
    assert _sources(known, dialect) == {"s.d"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT max(d) FROM s JOIN r ON s.k = r.k",
        "SELECT max(d) FROM s, r",
        "SELECT max(d) FROM (SELECT d FROM s) x",
        "WITH x AS (SELECT d FROM s) SELECT d FROM x",
        "SELECT max(d) FROM s WHERE k IN (SELECT k FROM r)",
        "SELECT d FROM s UNION SELECT d FROM r",
        "SELECT max(d) m FROM s",
        "SELECT * FROM s",
        "SELECT date_trunc(day, d) FROM s",
        "SELECT d - interval 1 day FROM s",
        "SELECT cast(d AS date) FROM s",
        "SELECT d FROM s WHERE e = current_date",
        "SELECT r.d FROM s",
        "SELECT max(d) FROM f(1)",
        "SELECT d:e FROM s",
    ],
)
def test_a_query_in_which_not_every_name_is_sure_stands_for_nothing(query: str) -> None:
    statements = split(f"SET v = ({query});\nINSERT INTO t (b) SELECT $v", "snowflake")
    assert tuple(with_variables(statements, "snowflake"))[-1] == statements[-1]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("duckdb", "INSERT INTO t (b) SELECT x FROM read_csv(getvariable('v'))"),
        ("duckdb", "INSERT INTO t (b) SELECT x FROM u LIMIT getvariable('v')"),
        ("snowflake", "INSERT INTO t (b) SELECT x FROM u AT (TIMESTAMP => $v)"),
        ("snowflake", "INSERT INTO t (b) SELECT $v:field FROM u"),
        ("mysql", "INSERT INTO t (b) VALUES " + ", ".join(["(@v)"] * 1_000)),
    ],
)
def test_a_query_is_put_only_where_a_value_stands_and_in_few_places(dialect: str, text: str) -> None:
    statements = split(f"{_WATERMARK[dialect][0]};\n{text}", dialect)
    assert tuple(with_variables(statements, dialect))[-1] == statements[-1]


@pytest.mark.parametrize(
    ("dialect", "between"),
    [
        ("mysql", "CREATE TEMPORARY TABLE s AS SELECT d FROM q"),
        ("mysql", "LOAD DATA INFILE 'f' INTO TABLE r (a, @v)"),
        ("mysql", "GET DIAGNOSTICS @v = ROW_COUNT"),
        ("mysql", "SET @w = (@v := 3)"),
        ("duckdb", "CREATE OR REPLACE TABLE s AS SELECT d FROM q"),
        ("duckdb", "SET VARIABLE v TO 3"),
        ("duckdb", "SET search_path = 'other'"),
        ("duckdb", "ATTACH 'x.db' AS s"),
        ("snowflake", "UNDROP TABLE s"),
    ],
)
def test_a_variable_is_not_known_behind_what_may_give_it_or_its_table_another_meaning(
    dialect: str, between: str
) -> None:
    given, value = _WATERMARK[dialect]
    assert _sources(f"{given};\n{between};\nINSERT INTO t (b) SELECT {value} FROM u;", dialect) == set()


def test_an_alias_that_is_called_like_the_schema_of_the_table_is_not_taken_for_it() -> None:
    text = "SET v = (SELECT max(d) FROM raw.s);\nINSERT INTO t (b) SELECT $v FROM u raw"
    assert _sources(text, "snowflake") == set()


def test_a_value_that_grows_from_variable_to_variable_ends() -> None:
    doubled = "\n".join("SET @v = @v + @v;" for _ in range(60))
    statements = split(f"SET @v = (SELECT max(d) FROM s);\n{doubled}\nINSERT INTO t (b) SELECT @v", "mysql")
    assert max(len(one.text) for one in with_variables(statements, "mysql")) < 10_000
