"""USE within a text: what names mean after it, in LineageParser and in lineage_graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingestion import LineageParser, lineage_graph
from ingestion.scripts.statements import TextParts


def edges(parser: LineageParser) -> list[str]:
    return [f"{one.source} -> {one.target}{'' if one.certain else ' ?'}" for one in parser.edges]


# What stood behind `t` where it was made, where the session then is, and by its whole name.
MADE_AND_READ = {
    "snowflake": (
        "USE SCHEMA prod.core; CREATE TABLE t (a int); USE SCHEMA mart; "
        "CREATE TABLE x AS SELECT * FROM t; CREATE TABLE y AS SELECT * FROM prod.core.t",
        ["prod.mart.t.* -> prod.mart.x.*", "prod.core.t.A -> prod.mart.y.A"],
    ),
    "tsql": (
        "USE [Sales]\nGO\nCREATE TABLE t (a int)\nGO\nUSE Mart\nGO\nSELECT * INTO #w FROM t\nGO\n"
        "SELECT * INTO y FROM Sales.dbo.t\nGO\nSELECT b INTO z FROM #w",
        ["Mart.dbo.t.* -> #w.*", "Sales.dbo.t.a -> Mart.dbo.y.a", "#w.b -> Mart.dbo.z.b"],
    ),
    "mysql": (
        "USE `shop`;\nCREATE TABLE t (a int);\nUSE mart;\nCREATE TABLE x AS SELECT * FROM t;\n"
        "CREATE TABLE y AS SELECT * FROM shop.t;",
        ["mart.t.* -> mart.x.*", "shop.t.a -> mart.y.a"],
    ),
    "postgres": (
        "SET search_path TO web; CREATE TABLE t (a int); CREATE TABLE y AS SELECT * FROM t; RESET search_path; "
        "CREATE TABLE x AS SELECT * FROM t; CREATE TABLE z AS SELECT * FROM web.t",
        ["web.t.a -> web.y.a", "t.* -> x.*", "web.t.a -> z.a"],
    ),
    "databricks": (
        "USE CATALOG lake; USE SCHEMA raw; CREATE TABLE t (a int); USE mart; CREATE TABLE x AS SELECT * FROM t; "
        "CREATE TABLE y AS SELECT * FROM raw.t; CREATE TABLE z AS SELECT * FROM lake.raw.t",
        ["lake.mart.t.* -> lake.mart.x.*", "lake.raw.t.a -> lake.mart.y.a", "lake.raw.t.a -> lake.mart.z.a"],
    ),
    "hive": (
        "USE raw; CREATE TABLE t (a int); USE mart; CREATE TABLE x AS SELECT * FROM t; "
        "INSERT INTO y SELECT a FROM raw.t",
        ["mart.t.* -> mart.x.*", "raw.t.a -> mart.y.a ?"],
    ),
    "teradata": (
        "DATABASE raw; CREATE TABLE t (a int); DATABASE mart; CREATE TABLE x AS (SELECT * FROM t) WITH DATA; "
        "CREATE TABLE y AS (SELECT * FROM raw.t) WITH DATA",
        ["mart.t.* -> mart.x.*", "raw.t.a -> mart.y.a"],
    ),
    "oracle": (
        "ALTER SESSION SET CURRENT_SCHEMA = hr; CREATE TABLE t (a int); ALTER SESSION SET CURRENT_SCHEMA = mart; "
        "CREATE TABLE x AS SELECT * FROM t; CREATE TABLE y AS SELECT * FROM hr.t",
        ["mart.t.* -> mart.x.*", "hr.t.A -> mart.y.A"],
    ),
    "bigquery": (
        "SET @@dataset_id = 'raw'; CREATE TABLE t (a int64); SET @@dataset_id = 'mart'; "
        "CREATE TABLE x AS SELECT * FROM t; CREATE TABLE y AS SELECT * FROM raw.t",
        ["mart.t.* -> mart.x.*", "raw.t.a -> mart.y.a"],
    ),
    "duckdb": (
        "USE lake.raw; CREATE TABLE t (a int); USE lake.mart; CREATE TABLE x AS SELECT * FROM t; "
        "SET schema = 'raw'; CREATE TABLE y AS SELECT * FROM t",
        ["lake.mart.t.* -> lake.mart.x.*", "lake.raw.t.a -> lake.raw.y.a"],
    ),
}


@pytest.mark.parametrize("dialect", sorted(MADE_AND_READ))
def test_a_name_means_what_its_session_has(dialect: str) -> None:
    script, expected = MADE_AND_READ[dialect]
    assert edges(LineageParser(script, dialect)) == expected


def test_tables_have_their_whole_names_and_the_one_row_of_the_system_is_none_of_them() -> None:
    parser = LineageParser(
        "ALTER SESSION SET CURRENT_SCHEMA = hr; CREATE TABLE t AS SELECT 1 AS a FROM dual; "
        "INSERT INTO u (a) SELECT a FROM t; INSERT INTO mart.v (a) SELECT a FROM HR.u",
        "oracle",
    )
    assert [str(name) for name in parser.source_tables] == []
    assert [str(name) for name in parser.intermediate_tables] == ["hr.t", "hr.u"]
    assert [str(name) for name in parser.target_tables] == ["mart.v"]
    assert parser.to_networkx().nodes["hr.u.A"]["table"] == "hr.u"


def test_what_is_renamed_in_a_session_stays_in_its_schema() -> None:
    script = "USE shop; CREATE TABLE n AS SELECT a FROM s; ALTER TABLE n RENAME TO t; INSERT INTO u (a) SELECT a FROM t"
    assert edges(LineageParser(script, "mysql")) == ["shop.s.a -> shop.t.a", "shop.t.a -> shop.u.a"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("core.t", "prod.core.t.K -> prod.core.x.K"),
        ("prod.core.t", "prod.core.t.K -> prod.core.x.K"),
        ("t", "prod.core.t.K -> prod.core.x.K"),
        ("mart.t", "prod.core.t.* -> prod.core.x.*"),
        ("dev.core.t", "prod.core.t.* -> prod.core.x.*"),
    ],
)
def test_a_given_table_is_found_by_what_is_known_of_both_names(schema: str, expected: str) -> None:
    script = "USE SCHEMA prod.core; CREATE TABLE x AS SELECT * FROM t"
    assert edges(LineageParser(script, "snowflake", {schema: {"K": "int"}})) == [expected]


def test_of_two_given_tables_of_one_name_the_session_tells_which() -> None:
    schema = {"raw.t": {"a": "int"}, "mart.t": {"b": "int"}}
    assert edges(LineageParser("USE mart; CREATE TABLE x AS SELECT * FROM t", "hive", schema)) == [
        "mart.t.b -> mart.x.b"
    ]
    assert edges(LineageParser("CREATE TABLE x AS SELECT * FROM t", "hive", schema)) == ["t.* -> x.*"]


@pytest.mark.parametrize(
    ("script", "schema", "expected"),
    [
        ("SELECT a FROM t", {}, "web.t.a -> web.x.a ?"),
        ("SELECT a FROM t", {"shop.t": {"a": "int"}}, "shop.t.a -> web.x.a"),
        ("SELECT a FROM shop.t", {}, "shop.t.a -> web.x.a"),
        ("SELECT a FROM (SELECT t.a FROM shop.t) AS q", {}, "shop.t.a -> web.x.a"),
    ],
)
def test_of_several_schemas_the_first_that_is_known_to_have_a_table_is_meant(
    script: str, schema: dict[str, dict[str, str]], expected: str
) -> None:
    text = f"SET search_path TO web, shop; CREATE TABLE x AS {script}"
    assert edges(LineageParser(text, "postgres", schema)) == [expected]


def test_what_the_text_makes_or_names_elsewhere_is_known_to_be_there() -> None:
    made = "CREATE TABLE shop.t (a int); SET search_path TO web, shop; CREATE TABLE x AS SELECT * FROM t"
    assert edges(LineageParser(made, "postgres")) == ["shop.t.a -> web.x.a"]
    filled = "INSERT INTO web.t (a) SELECT b FROM s; SET search_path TO web, shop; CREATE TABLE x AS SELECT a FROM t"
    assert edges(LineageParser(filled, "postgres")) == ["s.b -> web.t.a", "web.t.a -> web.x.a"]


@pytest.mark.parametrize(
    ("dialect", "use"),
    [
        ("snowflake", "USE SCHEMA {{ target }}"),
        ("snowflake", "USE DATABASE IDENTIFIER($target)"),
        ("tsql", "USE [$(DatabaseName)]\nGO\n"),
        ("hive", "USE ${db}"),
        ("postgres", "SET search_path TO :target"),
    ],
)
def test_after_a_name_that_is_not_known_names_are_as_they_are_written(dialect: str, use: str) -> None:
    parser = LineageParser(f"{use}; INSERT INTO x (b) SELECT b FROM t; INSERT INTO y (b) SELECT b FROM x", dialect)
    assert [edge.lower() for edge in edges(parser)] == ["t.b -> x.b", "x.b -> y.b"]
    assert parser.failures == ()
    doubted = f"CREATE TABLE t (a int); {use}; INSERT INTO x (b) SELECT b FROM t; INSERT INTO y (b) SELECT b FROM x"
    assert [edge.lower() for edge in edges(LineageParser(doubted, dialect))] == ["t.b -> x.b ?", "x.b -> y.b"]
    star = LineageParser(f"CREATE TABLE t (a int); {use}; CREATE VIEW x AS SELECT * FROM t", dialect)
    assert edges(star) == ["t.* -> x.* ?"]


def test_a_use_that_may_not_be_reached_leaves_names_as_they_are_written() -> None:
    script = (
        "USE shop; CREATE TABLE s AS SELECT a FROM r; BEGIN IF (x) THEN USE mart; INSERT INTO t (a) SELECT a FROM s; "
        "END IF; END; INSERT INTO u (a) SELECT a FROM s; USE shop; INSERT INTO v (a) SELECT a FROM s"
    )
    assert edges(LineageParser(script, "snowflake")) == [
        "shop.PUBLIC.r.A -> shop.PUBLIC.s.A",
        "s.A -> t.A",
        "s.A -> u.A",
        "shop.PUBLIC.s.A -> shop.PUBLIC.v.A",
    ]


def test_a_use_in_the_body_of_a_routine_is_its_callers_matter() -> None:
    script = (
        "USE shop; CREATE PROCEDURE p () LANGUAGE SQL AS $$ BEGIN USE mart; INSERT INTO t (a) SELECT a FROM s; END $$; "
        "INSERT INTO v (a) SELECT a FROM s"
    )
    found = edges(LineageParser(script, "snowflake"))
    assert found == ["s.A -> t.A", "shop.PUBLIC.s.A -> shop.PUBLIC.v.A"]


def test_each_part_of_a_text_begins_with_a_session_of_its_own() -> None:
    text = "USE shop;\nCREATE TABLE t (a int);\nCREATE TABLE x AS SELECT * FROM t;\n"
    parser = LineageParser(text, "mysql", parts=TextParts((1, 3)))
    assert edges(parser) == ["t.* -> x.*"]
    assert edges(LineageParser(text, "mysql", parts=TextParts((1, 3), given=True))) == ["shop.t.a -> x.a"]
    other = "USE shop;\nCREATE TABLE t (a int);\nUSE mart; CREATE TABLE x AS SELECT * FROM t;\n"
    assert edges(LineageParser(other, "mysql", parts=TextParts((1, 3), given=True))) == ["mart.t.* -> mart.x.*"]
    (found,) = LineageParser.of_each(["CREATE TABLE x AS SELECT * FROM t"], "mysql")
    assert isinstance(found, LineageParser)
    assert edges(found) == ["t.* -> x.*"]


def graph_edges(texts: list[str], dialect: str) -> set[str]:
    return {
        f"{column['from'][0]} -> {column['to']}{'' if column['certain'] else ' ?'}"
        for edge in lineage_graph(texts, dialect).document["edges"]
        for one in edge["contributions"]
        for column in one["columns"]
    }


def test_a_graph_joins_texts_each_with_a_session_of_its_own() -> None:
    made = "USE shop; CREATE TABLE t (a int); CREATE TABLE y AS SELECT * FROM t"
    assert graph_edges(
        [made, "CREATE TABLE x AS SELECT a FROM t", "CREATE TABLE z AS SELECT * FROM shop.t"], "mysql"
    ) == {
        "shop.t.a -> shop.y.a",
        "shop.t.a -> z.a",
        "t.a -> x.a",
    }


def test_a_graph_tells_what_is_not_certain_and_no_name_that_is_not_known() -> None:
    found = graph_edges(["SET search_path TO web, shop; CREATE TABLE x AS SELECT a FROM t"], "postgres")
    assert found == {"web.t.a -> web.x.a ?"}
    unread = ["USE {{ db }}; CREATE TABLE x AS SELECT a FROM t", "CREATE TABLE y AS SELECT a FROM t"]
    graph = lineage_graph(unread, "mysql")
    assert sorted(graph.tables) == ["t", "x", "y"]
    assert not any("databaseSchema" in card for card in graph.document["nodes"])
    assert graph_edges(unread, "mysql") == {"t.a -> x.a ?", "t.a -> y.a ?"}


def test_a_file_is_one_text_of_a_graph(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("USE shop; CREATE TABLE x AS SELECT a FROM t")
    (tmp_path / "b.sql").write_text("CREATE TABLE y AS SELECT a FROM t")
    assert sorted(lineage_graph(tmp_path, "mysql").tables) == ["shop.t", "shop.x", "t", "y"]


@pytest.mark.parametrize("tier_behind", ["", " OPTION (LABEL = x)"])
def test_a_table_variable_of_a_script_is_no_temporary_table_of_its_name(tier_behind: str) -> None:
    script = (
        "DECLARE @t TABLE (a int); SELECT a INTO #t FROM u; INSERT @t SELECT a FROM s;"
        f" INSERT x (a) SELECT a FROM @t{tier_behind}; INSERT y (a) SELECT a FROM #t{tier_behind};"
        " UPDATE w SET a = q.a FROM @t q JOIN w ON w.k = q.k; DELETE z OUTPUT deleted.a INTO @t"
    )
    found = edges(LineageParser(script, "tsql"))
    assert {"s.a -> #@t.a", "u.a -> #t.a", "#@t.a -> x.a", "#t.a -> y.a", "#@t.a -> w.a", "z.a -> #@t.a"} <= set(found)
    assert not {"s.a -> #t.a", "z.a -> #t.a", "u.a -> #@t.a", "#t.a -> x.a", "#@t.a -> y.a"} & set(found)


@pytest.mark.parametrize("tier_behind", ["", " OPTION (LABEL = x)"])
@pytest.mark.parametrize(
    "around", ["{}", "CREATE PROCEDURE p AS {}", "CREATE TRIGGER r ON w AFTER INSERT AS BEGIN {} END"]
)
@pytest.mark.parametrize("variable", ["[@t]", "[@T]", '"@t"'])
def test_a_column_is_told_by_the_table_variable_that_has_it(around: str, variable: str, tier_behind: str) -> None:
    script = around.format(
        "DECLARE @t TABLE (a int); INSERT @t SELECT a FROM s;"
        f" INSERT x (a) SELECT {variable}.a FROM u JOIN @t ON u.k = {variable}.a{tier_behind};"
        f" UPDATE y SET a = {variable}.a FROM y JOIN @t ON y.k = {variable}.a"
    )
    parser = LineageParser(script, "tsql")
    assert set(edges(parser)) == {"s.a -> #@t.a", "u.k -> x.a", "#@t.a -> x.a", "#@t.a -> y.a", "y.k -> y.a"}
    assert not parser.failures and not parser.problems


def test_a_function_reads_the_table_variable_that_it_returns() -> None:
    body = "INSERT @r (a) SELECT a FROM s INSERT @r (a) SELECT [@r].a + u.a FROM u JOIN @r ON [@r].a = u.a RETURN"
    parser = LineageParser(f"CREATE FUNCTION f() RETURNS @r TABLE (a int) AS BEGIN {body} END", "tsql")
    assert set(edges(parser)) == {"s.a -> #@r.a", "u.a -> #@r.a", "#@r.a -> #@r.a"}


@pytest.mark.parametrize("named", ["dbo.[@t]", "u AS [@t]"])
def test_a_name_in_brackets_that_begins_like_a_variable_is_a_name(named: str) -> None:
    (edge,) = edges(LineageParser(f"INSERT x (a) SELECT [@t].a FROM {named}", "tsql"))
    assert edge == f"{named.split()[0].replace('[', '').replace(']', '')}.a -> x.a"


MADE_ANEW = [
    ("tsql", "SELECT a INTO #t FROM s", "DROP TABLE #t; SELECT b AS a INTO #t FROM u", "#t"),
    (
        "tsql",
        "CREATE TABLE #t (a int); INSERT #t SELECT a FROM s",
        "DROP TABLE IF EXISTS #t; CREATE TABLE #t (a int); INSERT #t SELECT b FROM u",
        "#t",
    ),
    (
        "postgres",
        "CREATE TEMP TABLE t AS SELECT a FROM s",
        "DROP TABLE t; CREATE TEMP TABLE t AS SELECT b AS a FROM u",
        "t",
    ),
    (
        "bigquery",
        "CREATE TEMP TABLE t AS SELECT a FROM s",
        "CREATE OR REPLACE TEMP TABLE t AS SELECT b AS a FROM u",
        "t",
    ),
    ("spark", "CREATE TEMP VIEW t AS SELECT a FROM s", "CREATE OR REPLACE TEMP VIEW t AS SELECT b AS a FROM u", "t"),
]


@pytest.mark.parametrize(("dialect", "first", "again", "name"), MADE_ANEW)
def test_what_is_made_of_a_temporary_table_is_of_the_last_that_had_its_name(
    dialect: str, first: str, again: str, name: str
) -> None:
    parser = LineageParser(
        f"{first}; INSERT INTO x (a) SELECT a FROM {name}; {again}; INSERT INTO y (a) SELECT a FROM {name}", dialect
    )
    assert edges(parser) == [
        f"s.a -> {name}.a",
        f"{name}.a -> x.a",
        f"u.b -> {name} (2).a",
        f"{name} (2).a -> y.a",
    ]
    assert [str(table) for table in parser.source_tables] == ["s", "u"]


def test_a_temporary_table_that_is_made_of_itself_has_what_it_had_before() -> None:
    parser = LineageParser(
        "CREATE TEMP VIEW t AS SELECT a FROM s; CREATE OR REPLACE TEMP VIEW t AS SELECT t.a, u.b FROM t JOIN u;"
        " INSERT INTO x (a, b) SELECT * FROM t",
        "spark",
    )
    assert edges(parser) == ["s.a -> t.a", "t.a -> t (2).a", "u.b -> t (2).b", "t (2).a -> x.a", "t (2).b -> x.b"]


def test_a_temporary_table_made_of_the_table_whose_name_it_takes_reads_that_one() -> None:
    parser = LineageParser(
        "CREATE TEMP TABLE t AS SELECT a FROM s; DROP TABLE t; CREATE TEMP TABLE t AS SELECT a FROM web.t;"
        " INSERT INTO x (a) SELECT a FROM t",
        "postgres",
    )
    assert edges(parser) == ["s.a -> t.a", "web.t.a -> t (2).a", "t (2).a -> x.a"]


FROM_S, FROM_U = "CREATE TEMP TABLE t AS SELECT a FROM s", "CREATE TEMP TABLE t AS SELECT a FROM u"
AGAIN = f"DROP TABLE t; {FROM_U};"

NOT_SURELY_ANEW = [
    ("postgres", f"{FROM_S}; CREATE TEMP TABLE IF NOT EXISTS t AS SELECT a FROM u;"),
    ("postgres", f"{FROM_S}; DROP TABLE t; CREATE TEMP TABLE IF NOT EXISTS t AS SELECT a FROM u;"),
    ("postgres", f"{FROM_S}; {FROM_U};"),
    ("postgres", f"{FROM_S}; DROP TABLE web.t; {FROM_U};"),
    ("postgres", f"{FROM_S}; BEGIN; {AGAIN} ROLLBACK;"),
    ("postgres", f"DO $$ BEGIN IF c THEN {FROM_S}; ELSE {AGAIN} END IF; END $$;"),
    ("postgres", f"{FROM_S};\n\\if :c\n{AGAIN}\n\\endif\n"),
    ("redshift", f"{FROM_S}; IF c THEN {AGAIN} END IF;"),
    ("redshift", f"{FROM_S}; FOR r IN (SELECT 1) LOOP {AGAIN} END LOOP;"),
    ("bigquery", f"IF c THEN {FROM_S}; ELSE {AGAIN} END IF;"),
    ("bigquery", f"{FROM_S}; BEGIN {AGAIN} EXCEPTION WHEN ERROR THEN SELECT 1; END;"),
    ("bigquery", f"{FROM_S}; WHILE c DO {AGAIN} END WHILE;"),
    ("mysql", f"CREATE PROCEDURE p() BEGIN IF c THEN {FROM_S}; ELSE {AGAIN} END IF; END;".replace("TEMP", "TEMPORARY")),
]


@pytest.mark.parametrize(("dialect", "script"), NOT_SURELY_ANEW)
def test_a_temporary_table_that_may_be_the_one_before_has_its_name(dialect: str, script: str) -> None:
    parser = LineageParser(f"{script} INSERT INTO x (a) SELECT a FROM t", dialect)
    assert edges(parser) == ["s.a -> t.a", "u.a -> t.a", "t.a -> x.a"]


@pytest.mark.parametrize(
    "script",
    [
        "IF @c = 1 SELECT a INTO #t FROM s ELSE SELECT a INTO #t FROM u",
        "SELECT a INTO #t FROM s; IF @c = 1 BEGIN DROP TABLE #t SELECT a INTO #t FROM u END",
        "SELECT a INTO #t FROM s; IF @c = 1 GOTO n; DROP TABLE #t; SELECT a INTO #t FROM u; n:",
    ],
)
def test_a_temporary_table_of_one_branch_of_t_sql_has_the_name_of_the_other(script: str) -> None:
    found = edges(LineageParser(f"{script} INSERT x (a) SELECT a FROM #t", "tsql"))
    assert found == ["s.a -> #t.a", "u.a -> #t.a", "#t.a -> x.a"]


def test_a_temporary_table_made_if_it_does_not_exist_has_the_rows_that_it_had() -> None:
    script = "CREATE TEMP TABLE t (a int); INSERT INTO t SELECT a FROM s; CREATE TEMP TABLE IF NOT EXISTS t (a int);"
    parser = LineageParser(f"{script} INSERT INTO x (a) SELECT a FROM t", "postgres")
    assert edges(parser) == ["s.a -> t.a", "t.a -> x.a"]


@pytest.mark.parametrize(
    ("dialect", "made", "read"),
    [
        ("postgres", "TEMP TABLE t", "pg_temp.t"),
        ("postgres", "TEMP TABLE pg_temp.t", "t"),
        ("tsql", "TABLE #t", "tempdb..#t"),
    ],
)
def test_a_temporary_table_goes_by_the_name_that_it_was_made_under(dialect: str, made: str, read: str) -> None:
    name = made.rpartition(" ")[2]
    parser = LineageParser(
        f"CREATE {made} (a int); INSERT INTO {read} SELECT a FROM s; INSERT INTO x (a) SELECT a FROM {read}", dialect
    )
    assert edges(parser) == [f"s.a -> {name}.a", f"{name}.a -> x.a"]
    assert [str(one) for one in parser.intermediate_tables] == [name]


def test_a_temporary_table_is_no_table_of_a_schema_that_is_named() -> None:
    parser = LineageParser("CREATE TEMP TABLE t AS SELECT a FROM s; INSERT INTO x SELECT a FROM public.t", "postgres")
    assert edges(parser) == ["s.a -> t.a", "public.t.a -> x.a ?"]


def test_temporary_tables_of_two_schemas_are_told_by_their_names() -> None:
    parser = LineageParser(
        "CREATE TEMP TABLE t AS SELECT a FROM s; CREATE OR REPLACE TEMP TABLE web.t AS SELECT a FROM u;"
        " INSERT INTO x (a) SELECT a FROM t; INSERT INTO y (a) SELECT a FROM web.t",
        "snowflake",
    )
    assert edges(parser) == ["s.A -> t.A", "u.A -> web.t.A", "t.A -> x.A", "web.t.A -> y.A"]


def test_a_renamed_temporary_table_has_its_last_name_and_no_number() -> None:
    parser = LineageParser(
        f"{FROM_S}; {AGAIN} ALTER TABLE t RENAME TO v; INSERT INTO x (a) SELECT a FROM v", "postgres"
    )
    assert edges(parser) == ["s.a -> t.a", "u.a -> v.a", "v.a -> x.a"]


def test_a_branch_beside_does_not_make_tables_of_batches_one() -> None:
    batch = "DECLARE @t TABLE (a int); INSERT @t SELECT a FROM {}; IF @c = 1 INSERT {} (a) SELECT a FROM @t"
    found = edges(LineageParser(f"{batch.format('s', 'x')}\nGO\n{batch.format('u', 'y')}", "tsql"))
    assert found == ["s.a -> #@t.a", "#@t.a -> x.a", "u.a -> #@t (2).a", "#@t (2).a -> y.a"]


FILLED_AGAIN = "INSERT INTO w SELECT b AS a FROM u"
FILLED = "CREATE TEMP TABLE w (a int); INSERT INTO w SELECT a FROM s; INSERT INTO x (a) SELECT a FROM w"


@pytest.mark.parametrize(
    ("dialect", "emptying"),
    [
        ("postgres", "TRUNCATE TABLE w RESTART IDENTITY"),
        ("postgres", "TRUNCATE W"),
        ("snowflake", "DELETE FROM w"),
        ("mysql", "TRUNCATE w"),
        ("tsql", "DELETE #w"),
        ("tsql", "TRUNCATE TABLE #w"),
        ("teradata", "DELETE FROM w ALL"),
    ],
)
def test_what_a_temporary_table_is_filled_with_behind_its_emptying_is_none_of_what_it_held(
    dialect: str, emptying: str
) -> None:
    script = f"{FILLED}; {emptying}; {FILLED_AGAIN}; INSERT INTO y (a) SELECT a FROM w"
    if dialect == "tsql":
        script = re.sub(r"(?<!#)\bw\b", "#w", script.replace("TEMP ", ""))
    found = [edge.replace("#", "").lower() for edge in edges(LineageParser(script, dialect))]
    assert found == ["s.a -> w.a", "w.a -> x.a", "u.b -> w (2).a", "w (2).a -> y.a"]


@pytest.mark.parametrize(
    "again",
    [
        f"DELETE FROM w WHERE k = 1; {FILLED_AGAIN}",
        f"DELETE FROM other; {FILLED_AGAIN}",
        f"TRUNCATE TABLE web.w; {FILLED_AGAIN}",
        f"BEGIN; TRUNCATE TABLE w; ROLLBACK; {FILLED_AGAIN}",
        f"TRUNCATE w, v; {FILLED_AGAIN}",
        "TRUNCATE w; INSERT INTO w SELECT b AS a FROM u UNION ALL SELECT a FROM w",
        f"CREATE TEMP VIEW v AS SELECT 1 AS one FROM w; TRUNCATE w; {FILLED_AGAIN}",
        f"DO $$ BEGIN DELETE FROM w; END $$; {FILLED_AGAIN}",
        f"TRUNCATE w; SELECT a FROM w; {FILLED_AGAIN}",
    ],
)
def test_what_may_not_be_emptied_or_is_read_before_it_is_filled_again_keeps_its_name(again: str) -> None:
    found = edges(LineageParser(f"{FILLED}; {again}; INSERT INTO y (a) SELECT a FROM w", "postgres"))
    assert {"s.a -> w.a", "u.b -> w.a", "w.a -> x.a", "w.a -> y.a"} <= set(found)
    assert not any("(2)" in edge for edge in found)


@pytest.mark.parametrize(
    ("dialect", "first", "last"),
    [
        ("tsql", "SET ROWCOUNT 5", "SELECT a FROM w"),
        ("snowflake", "SELECT 1", "SELECT a FROM w AT (OFFSET => -60)"),
        ("snowflake", "SELECT 1", "SELECT a FROM w BEFORE (STATEMENT => 'q')"),
    ],
)
def test_what_is_left_of_an_emptied_table_or_read_of_it_later_keeps_its_name(
    dialect: str, first: str, last: str
) -> None:
    script = f"{first}; {FILLED}; DELETE FROM w; {FILLED_AGAIN}; INSERT INTO y (a) {last}"
    if dialect == "tsql":
        script = re.sub(r"\bw\b", "#w", script.replace("TEMP ", ""))
    found = [edge.replace("#", "").lower() for edge in edges(LineageParser(script, dialect))]
    assert found == ["s.a -> w.a", "w.a -> x.a", "u.b -> w.a", "w.a -> y.a"]


def test_a_table_that_stays_is_one_though_it_is_emptied() -> None:
    script = f"{FILLED}; TRUNCATE TABLE w; {FILLED_AGAIN}".replace("TEMP ", "")
    assert edges(LineageParser(script, "postgres")) == ["s.a -> w.a", "w.a -> x.a", "u.b -> w.a"]
