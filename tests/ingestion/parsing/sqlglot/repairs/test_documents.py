"""Functions of SQL/JSON and SQL/XML: what a document is made of is a source, and nothing of how it is written."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.parsing.sqlglot.repairs.by_dialect import repair_text
from tests.support.lineage_lines import column_lines, problems, value_lines

_DOCUMENT = {"a = s.id", "b f s.doc"}
_DOCUMENT_UP = {"A = S.ID", "B f S.DOC"}


@pytest.mark.parametrize("dialect", ["oracle", "db2", "postgres"])
@pytest.mark.parametrize(
    ("call", "sources"),
    [
        ("JSON_OBJECT('k' VALUE a RETURNING CLOB)", "a"),
        ("JSON_OBJECT('k' VALUE a, 'l' VALUE b NULL ON NULL WITH UNIQUE KEYS)", "ab"),
        ("JSON_OBJECTAGG(a VALUE b RETURNING VARCHAR(100))", "ab"),
        ("JSON_OBJECT('k' VALUE a FORMAT JSON, 'l' VALUE b RETURNING CLOB)", "ab"),
        ("JSON_ARRAY(a, b RETURNING CLOB)", "ab"),
        ("JSON_ARRAY(a FORMAT JSON ENCODING UTF8, b)", "ab"),
        ("JSON_ARRAY(s.returning)", "returning"),
        ("JSON_ARRAY(a, JSON_OBJECT('k' VALUE b RETURNING CLOB) ABSENT ON NULL RETURNING CLOB)", "ab"),
        ("JSON_ARRAY(SELECT a FROM s RETURNING CLOB)", "a"),
        ("JSON_QUERY(a, '$.x' RETURNING VARCHAR(100) WITH CONDITIONAL WRAPPER NULL ON EMPTY)", "a"),
        ("JSON_VALUE(a, '$?(@.x > $y)' PASSING b AS \"y\" RETURNING INT DEFAULT 0 ON EMPTY)", "ab"),
        ("JSON_EXISTS(a, '$?(@.x > $y)' PASSING b AS \"y\" ERROR ON ERROR)", "ab"),
        ("JSON_QUERY(a, '$.x' EMPTY ARRAY ON EMPTY DEFAULT '1' ON ERROR)", "a"),
        ("JSON_QUERY(a, '$.x' ALLOW SCALARS WITH WRAPPER)", "a"),
        ("JSON_OBJECT('k' VALUE a, 'l' VALUE b STRICT WITH UNIQUE KEYS)", "ab"),
        ("JSON_VALUE(a, '$.x' RETURNING INT TRUNCATE NULL ON MISMATCH)", "a"),
        ("JSON_ARRAY(s.strict)", "strict"),
        ("JSON_MERGEPATCH(a, b RETURNING CLOB PRETTY)", "ab"),
        ("XMLSERIALIZE(DOCUMENT a AS CLOB)", "a"),
        ("XMLSERIALIZE(content AS CLOB)", "content"),
        ("XMLPARSE(DOCUMENT a WELLFORMED)", "a"),
        ("XMLPARSE(CONTENT strip)", "strip"),
        ("XMLPI(NAME php, a)", "a"),
        ("XMLROOT(a, VERSION '1.0', STANDALONE YES)", "a"),
        ("XMLCAST(XMLQUERY('/x' PASSING BY VALUE a, b AS \"y\" RETURNING CONTENT) AS VARCHAR(10))", "ab"),
    ],
)
def test_a_document_is_made_of_its_values(dialect: str, call: str, sources: str) -> None:
    found = column_lines(f"INSERT INTO t (v) SELECT {call} FROM s", dialect)
    columns = [sources] if len(sources) > 2 else list(sources)
    assert {line.lower().rpartition(" ")[2] for line in found} == {f"s.{column}" for column in columns}


@pytest.mark.parametrize(("text", "names"), [("'{a,1}'", []), ("ARRAY[a, b]", ["a", "b"]), ("a, b", ["a", "b"])])
def test_postgres_makes_an_object_of_arrays_too(text: str, names: list[str]) -> None:
    found = column_lines(f"CREATE VIEW v AS SELECT json_object({text}) FROM s")
    assert {line.split(" ")[0] for line in found} == {"json_object"}
    assert {line.rpartition(" ")[2] for line in found} - {"constant"} == {f"s.{name}" for name in names}


@pytest.mark.parametrize("dialect", ["bigquery", "mysql", "snowflake", "spark"])
@pytest.mark.parametrize("text", ["s.returning, s.b", "error, s.returning, b"])
def test_a_column_is_called_like_a_clause(dialect: str, text: str) -> None:
    found = column_lines(f"INSERT INTO t (v) SELECT JSON_ARRAY({text}) FROM s", dialect)
    assert {line.lower().rpartition(" ")[2] for line in found} >= {"s.returning", "s.b"}


def test_the_order_of_an_array_is_read() -> None:
    text = "INSERT INTO t (v) SELECT JSON_ARRAYAGG(a FORMAT JSON ORDER BY b RETURNING CLOB) FROM s"
    assert {line.rpartition(" ")[2] for line in column_lines(text, "oracle")} == {"S.A", "S.B"}


@pytest.mark.parametrize("call", ["json_value(a, '$.x')", "json_value(a, '$.x' PASSING b AS x)"])
def test_postgres_names_an_output_by_the_function(call: str) -> None:
    assert {line.split(" ")[0] for line in column_lines(f"CREATE VIEW v AS SELECT {call} FROM s")} == {"json_value"}


def test_a_condition_is_read_of_a_document() -> None:
    text = "INSERT INTO t (v) SELECT a FROM s WHERE XMLEXISTS('//x' PASSING BY REF b)"
    assert column_lines(text, "db2") == {"V = S.A", "* filter S.B"}


@pytest.mark.parametrize(
    ("dialect", "relation"),
    [
        ("postgres", "json_table(s.doc, '$' columns (b int path '$.b' keep quotes null on empty error on error)) x"),
        ("postgres", "json_table(s.doc, '$' columns (b int path '$.b' omit quotes on scalar string)) x"),
        ("postgres", "json_table(s.doc, '$' columns (q int, nested '$.x[*]' as n columns (b int)) error on error) x"),
        ("postgres", "json_table(s.doc, '$' columns (b timestamp with time zone path '$.b' default now() on empty)) x"),
        ("oracle", "json_table(s.doc columns (b, c path x.y)) x"),
        ("oracle", "json_table(s.doc columns nested x[*] columns (b varchar2(9) truncate path '$.b')) x"),
        ("oracle", "json_table(s.doc, '$' columns (b varchar2(9) format json with wrapper path '$.b')) x"),
        (
            "trino",
            "json_table(s.doc, 'lax $' columns (b int, nested path '$.x' as n columns (c int)) plan (p outer n)) x",
        ),
        ("exasol", "json_table(s.doc, '$' columns (b int path '$.b' default '0' on empty)) x"),
    ],
)
def test_the_columns_of_a_document_are_those_that_its_table_lists(dialect: str, relation: str) -> None:
    found = column_lines(f"insert into t (a) select x.b from s, {relation}", dialect)
    assert {line.lower() for line in found} == {"a f s.doc", "* filter s.doc"}


@pytest.mark.parametrize(
    ("dialect", "relation"),
    [
        ("oracle", "json_table(s.a format json, '$?(@.x > $y)' passing s.b as \"y\" error on error columns (v int)) x"),
        ("postgres", "json_table(s.a, '$' as root passing s.b as y, 3 as z columns (v int path '$.v')) x"),
        ("postgres", "xmltable('/r' passing by ref s.a, s.b as y columns v text path 'v') x"),
    ],
)
def test_what_the_paths_of_a_table_are_given_is_read(dialect: str, relation: str) -> None:
    found = column_lines(f"insert into t (a) select x.v from s, {relation}", dialect)
    assert {line.lower() for line in found if line[0] != "*"} == {"a f s.a", "a f s.b"}


@pytest.mark.parametrize(
    "dialect", ["bigquery", "db2", "duckdb", "oracle", "postgres", "snowflake", "spark", "trino", "tsql"]
)
@pytest.mark.parametrize(
    "call",
    [
        "JSON_VALUE(a, 'lax $.x' PASSING b AS k, c AS l, d AS m)",
        "JSON_QUERY(a, 'lax $.x' PASSING b AS k, c AS l WITH WRAPPER DEFAULT d ON EMPTY)",
        "JSON_EXISTS(a, 'lax $.x' PASSING b AS k, c AS l, d AS m ERROR ON ERROR)",
        "JSON_VALUE(a, 'lax $.x' PASSING b AS k RETURNING INT DEFAULT c ON EMPTY DEFAULT d + 1 ON ERROR)",
        "JSON_VALUE(a, '$.x' DEFAULT JSON_VALUE(b, '$.y' DEFAULT c ON EMPTY) ON EMPTY DEFAULT d ON ERROR)",
    ],
)
def test_a_path_may_be_given_and_have_by_default_any_number_of_values(dialect: str, call: str) -> None:
    found = column_lines(f"INSERT INTO t (v) SELECT {call} FROM s", dialect)
    assert {line.lower() for line in found} == {f"v f s.{column}" for column in "abcd"}


@pytest.mark.parametrize("dialect", ["athena", "bigquery", "mysql", "oracle", "trino", "tsql"])
def test_the_paths_of_a_table_may_be_given_any_number_of_values(dialect: str) -> None:
    relation = "json_table(s.a, 'lax $' passing s.b as k, s.c as l, s.d as m columns (v int path 'lax $.v')) x"
    found = column_lines(f"insert into t (a) select x.v from s, {relation}", dialect)
    assert {line.lower() for line in found if line[0] != "*"} == {f"a f s.{column}" for column in "abcd"}


@pytest.mark.parametrize("condition", ["a IS NOT DISTINCT FROM error", "a LIKE error", "a BETWEEN 1 AND error"])
def test_a_column_called_like_a_clause_stands_in_a_condition(condition: str) -> None:
    found = column_lines(f"INSERT INTO t (v) SELECT JSON_ARRAY({condition} NULL ON NULL) FROM s")
    assert {line.rpartition(" ")[2] for line in found} == {"s.a", "s.error"}


@pytest.mark.parametrize(
    ("dialect", "relation", "expected"),
    [
        ("db2", "xmltable('$d/r' passing s.doc as \"d\" columns b varchar(9) path 'b') as x", _DOCUMENT_UP),
        (
            "mysql",
            "json_table(s.doc, '$' columns (b int path '$.b' default '0' on empty null on error)) as x",
            _DOCUMENT,
        ),
        ("mysql", "json_table(s.doc, '$' columns (b int exists path '$.b', c int path '$.c')) as x", _DOCUMENT),
        (
            "oracle",
            "json_table(s.doc, '$' error on error null on empty columns (b number exists path '$.b')) x",
            _DOCUMENT_UP,
        ),
        ("oracle", "json_table(s.doc, '$' columns (b varchar2(9) path '$.b' default null on empty)) x", _DOCUMENT_UP),
        ("postgres", "json_table(s.doc, '$' columns (b int path '$.b' default 0 on empty)) as x", _DOCUMENT),
        ("postgres", "lateral xmltable('/r' passing by ref s.doc columns b text path 'b') as x", _DOCUMENT),
    ],
)
def test_documents_are_read_whatever_is_done_where_nothing_is_found(
    dialect: str, relation: str, expected: set[str]
) -> None:
    text = f"insert into t (a, b) select s.id, x.b from s, {relation}"
    assert value_lines(text, dialect) == expected
    assert not problems(text, dialect)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("b int path 'b' default s.c", {"a f s.doc", "a f s.c", "b f s.doc"}),
        ("b int default s.c + 1 path s.p not null", {"a f s.doc", "a f s.c", "a f s.p", "b f s.doc"}),
        ("b int default case when true then null else s.c end path 'b'", {"a f s.doc", "a f s.c", "b f s.doc"}),
        ("b int path p default b", {"a f s.doc", "a f s.b", "a f s.p", "b f s.doc"}),
        ("b int path 'b' default 0 not null", {"a f s.doc", "b f s.doc"}),
    ],
)
@pytest.mark.parametrize("lateral", ["", "lateral "])
def test_what_a_column_of_xml_is_by_default_is_no_other_ones(lateral: str, columns: str, expected: set[str]) -> None:
    relation = f"{lateral}xmltable('/r' passing s.doc columns {columns}, d text)"
    assert value_lines(f"insert into t (a, b) select x.b, x.d from s, {relation} as x", "postgres") == expected
    assert value_lines(f"insert into t (a, b) select x.k, x.l from s, {relation} as x (k, l)", "postgres") == expected
    assert value_lines(f"insert into t (a, b) select xmltable.b, d from s, {relation}", "postgres") == expected


@pytest.mark.parametrize("path", ["s.p", "'/r' || p", "lower(s.p)"])
def test_the_rows_of_xml_may_be_those_of_a_path_that_a_column_has(path: str) -> None:
    relation = f"xmltable({path} passing by ref s.doc columns b int path 'b') x"
    found = value_lines(f"insert into t (a) select x.b from s, {relation}", "postgres")
    assert found == {"a f s.doc", "a f s.p"}


@pytest.mark.parametrize("dialect", ["mysql", "oracle", "postgres", "trino"])
@pytest.mark.parametrize(
    "columns", ["nested int path '$.n', b int", "b int, nested path '$' columns (c int, nested int)"]
)
def test_a_column_of_a_document_may_be_called_nested(dialect: str, columns: str) -> None:
    text = f"insert into t (a) select x.nested from s, json_table(s.doc, '$' columns ({columns})) x"
    assert {line.lower() for line in value_lines(text, dialect)} == {"a f s.doc"}
    assert not problems(text, dialect)


def test_an_alias_may_name_fewer_columns_than_there_are() -> None:
    relation = "json_table(s.doc, '$' columns (b int, n for ordinality)) as x (k)"
    assert value_lines(f"insert into t (a) select x.k from s, {relation}", "postgres") == {"a f s.doc"}


def test_lists_of_columns_may_be_nested_deeper_than_python_recurs() -> None:
    lists = "nested path '$' columns (" * 2_000 + "a int" + ")" * 2_000
    repaired = repair_text(f"select a from s, json_table(d, '$' columns ({lists})) x", dialect_of("oracle"))
    assert repaired is not None
    assert repaired.endswith("columns (a int)) x")
