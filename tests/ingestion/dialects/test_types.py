"""The standard type set, and each warehouse's names for it."""

from __future__ import annotations

import pytest

from ingestion.dialects import DIALECTS
from ingestion.dialects.types import is_same_type, native_type, standard_type, widest


@pytest.mark.parametrize(
    ("written", "dialect", "expected"),
    [
        ("varchar(50)", "postgres", "VARCHAR(50)"),
        ("character varying(50)", "postgres", "VARCHAR(50)"),
        ("timestamp(0) without time zone", "postgres", "TIMESTAMP"),
        ("timestamp with time zone", "postgres", "TIMESTAMPTZ"),
        ("double precision", "postgres", "DOUBLE"),
        ("int[]", "postgres", "ARRAY<INT>"),
        ("NUMBER", "snowflake", "DECIMAL(38, 0)"),
        ("NUMBER(10,2)", "snowflake", "DECIMAL(10, 2)"),
        ("NUMBER", "oracle", "DECIMAL"),
        ("DATE", "oracle", "TIMESTAMP"),
        ("BOOL", "bigquery", "BOOLEAN"),
        ("TIMESTAMP", "bigquery", "TIMESTAMPTZ"),
        ("STRUCT<a INT64, b ARRAY<STRING>>", "bigquery", "STRUCT<a BIGINT, b ARRAY<STRING>>"),
        ("array<struct<a:int,b:string>>", "spark", "ARRAY<STRUCT<a INT, b STRING>>"),
        ("row(a bigint, b varchar)", "trino", "STRUCT<a BIGINT, b VARCHAR>"),
        ("LowCardinality(Nullable(String))", "clickhouse", "STRING"),
        ("Map(String, Array(Int64))", "clickhouse", "MAP<STRING, ARRAY<BIGINT>>"),
        ("tinyint(1)", "mysql", "BOOLEAN"),
        ("int(11) unsigned", "mysql", "INT"),
        ("enum('a','b')", "mysql", "STRING"),
        ("bit", "tsql", "BOOLEAN"),
        ("uniqueidentifier", "tsql", "UUID"),
        ("a_type_of_ours", "postgres", ""),
        ("Nullable", "clickhouse", ""),
        ("", "postgres", ""),
    ],
)
def test_a_warehouses_type_has_a_standard_name(written: str, dialect: str, expected: str) -> None:
    assert standard_type(written, dialect) == expected


@pytest.mark.parametrize(
    ("standard", "dialect", "expected"),
    [
        ("BOOLEAN", "bigquery", "BOOL"),
        ("BOOLEAN", "tsql", "BIT"),
        ("STRUCT<a INT>", "snowflake", "OBJECT"),
        ("STRUCT<a INT>", "trino", "ROW(a INTEGER)"),
        ("STRUCT<a INT>", "postgres", "JSONB"),
        ("ARRAY<STRING>", "postgres", "TEXT[]"),
        ("ARRAY<INT>", "clickhouse", "Array(Int32)"),
        ("MAP<STRING, INT>", "spark", "MAP<STRING, INT>"),
        ("DECIMAL(10, 2)", "oracle", "NUMBER(10, 2)"),
        ("VARCHAR(20)", "bigquery", "STRING"),
        ("VARCHAR(20)", "oracle", "VARCHAR2(20)"),
        ("TIMESTAMPTZ", "spark", "TIMESTAMP"),
    ],
)
def test_a_standard_type_has_a_name_in_each_warehouse(standard: str, dialect: str, expected: str) -> None:
    assert native_type(standard, dialect) == expected


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("standard", ["BOOLEAN", "INT", "DECIMAL(10, 2)", "STRING", "DATE", "ARRAY<INT>"])
def test_every_warehouse_has_a_name_for_every_type(dialect: str, standard: str) -> None:
    assert native_type(standard, dialect)
    assert "{" not in native_type(standard, dialect)


@pytest.mark.parametrize("standard", ["BOOLEAN", "DATE", "BIGINT", "DECIMAL(10, 2)", "ARRAY<BIGINT>"])
@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "trino", "spark", "duckdb"])
def test_a_type_with_a_name_of_its_own_comes_back(dialect: str, standard: str) -> None:
    assert standard_type(native_type(standard, dialect), dialect) == standard


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["INT", "BIGINT"], "BIGINT"),
        (["INT", "DECIMAL(10, 2)"], "DECIMAL(10, 2)"),
        (["DECIMAL(10, 2)", "DECIMAL(8, 4)"], "DECIMAL(12, 4)"),
        (["VARCHAR(10)", "VARCHAR(20)"], "VARCHAR(20)"),
        (["DATE", "TIMESTAMP"], "TIMESTAMP"),
        (["INT", "STRING"], ""),
        (["", "INT"], "INT"),
        ([], ""),
    ],
)
def test_the_widest_type_holds_all(types: list[str], expected: str) -> None:
    assert widest(types) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("varchar(10)", "CHARACTER  VARYING(10)", True),
        ("int4", "Integer", True),
        ("int(10) unsigned", "INT UNSIGNED", True),
        ("int(11)", "int(10) unsigned", False),
        ("char", "char(1)", True),
        ("text", "mediumtext", True),
        ("json", "jsonb", True),
        ("timestamp", "timestamp(6)", True),
        ("timestamp(3)", "timestamp(6)", False),
        ("bit(3)", "bit(8)", False),
        ("numeric(10)", "decimal(10, 0)", True),
        ("numeric(10, 2)", "numeric(10, 4)", False),
        ("", "int", False),
    ],
)
def test_types_are_one_in_other_words(one: str, other: str, *, same: bool) -> None:
    assert is_same_type(one, other) is same is is_same_type(other, one)
