"""Expressions are in the words of the statement's dialect, with its order of arguments, and over base columns."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import expression_of


@pytest.mark.parametrize(
    ("dialect", "written", "expected"),
    [
        ("bigquery", "date_diff(a, b, day)", "DATE_DIFF(t.a, t.b, DAY)"),
        ("bigquery", "format_date('%Y', a)", "FORMAT_DATE(?, t.a)"),
        ("bigquery", "parse_timestamp('%Y', a)", "PARSE_TIMESTAMP(?, t.a)"),
        ("bigquery", "date_trunc(a, month)", "DATE_TRUNC(t.a, MONTH)"),
        ("bigquery", "timestamp_add(a, interval b day)", "TIMESTAMP_ADD(t.a, INTERVAL t.b DAY)"),
        ("bigquery", "extract(year from a)", "EXTRACT(YEAR FROM t.a)"),
        ("bigquery", "string_agg(distinct a, ',' order by b)", "STRING_AGG(DISTINCT t.a ORDER BY t.b, ?)"),
        ("bigquery", "countif(a)", "COUNTIF(t.a)"),
        ("snowflake", "datediff(day, a, b + 1)", "DATEDIFF(DAY, T.A, T.B + ?)"),
        ("snowflake", "to_date(a)", "TO_DATE(T.A)"),
        ("snowflake", "boolor_agg(a)", "BOOLOR_AGG(T.A)"),
        ("snowflake", "date_trunc('month', a)", "DATE_TRUNC(?, T.A)"),
        ("redshift", "datediff(day, a, b)", "DATEDIFF(DAY, t.a, t.b)"),
        ("redshift", "dateadd(day, 7, a)", "DATEADD(DAY, ?, t.a)"),
        ("tsql", "charindex('x', a)", "CHARINDEX(?, t.a)"),
        ("tsql", "datediff(day, a, b)", "DATEDIFF(DAY, t.a, t.b)"),
        ("postgres", "position('x' in a || b)", "POSITION(? IN (t.a || t.b))"),
        ("postgres", "to_char(a, 'YYYY')", "TO_CHAR(t.a, ?)"),
        ("mysql", "date_format(a, '%Y')", "DATE_FORMAT(t.a, ?)"),
        ("oracle", "to_date(a, 'YYYY')", "TO_DATE(T.A, ?)"),
        ("spark", "date_format(a, 'yyyy')", "DATE_FORMAT(t.a, ?)"),
        ("spark", "collect_list(a)", "COLLECT_LIST(t.a)"),
        ("duckdb", "date_diff('day', a, b)", "DATE_DIFF(?, t.a, t.b)"),
        ("trino", "date_parse(a, '%Y')", "DATE_PARSE(t.a, ?)"),
    ],
)
def test_a_function_is_called_as_its_dialect_calls_it(dialect: str, written: str, expected: str) -> None:
    output = "V" if dialect in ("snowflake", "oracle") else "v"
    assert expected in expression_of(f"select {written} as v from t", output, dialect)


@pytest.mark.parametrize(
    "dialect", ["bigquery", "snowflake", "redshift", "tsql", "postgres", "mysql", "spark", "trino"]
)
def test_no_literal_is_in_the_words(dialect: str) -> None:
    written = ("concat(a, 'secret')", "replace(a, 'secret', '98765')", "round(b, 98765)", "substring(a, 98765, 4)")
    for text in written:
        found = {e for name in "vV" for e in expression_of(f"select {text} as v from t", name, dialect)}
        assert found and not any("secret" in expression or "98765" in expression for expression in found)


@pytest.mark.parametrize(
    ("dialect", "written", "expected"),
    [
        ("snowflake", "datediff('born 1985-03-12', a, b)", "DATEDIFF(?, T.A, T.B)"),
        ("snowflake", "last_day(a, 'secret')", "LAST_DAY(T.A, ?)"),
        ("redshift", "dateadd('secret', 1, a)", "DATEADD(?, ?, t.a)"),
        ("postgres", "date_part('secret', a)", "EXTRACT(? FROM t.a)"),
        ("trino", "time_slice(a, 1, 'secret')", "TIME_SLICE(t.a, ?, ?)"),
        ("bigquery", "timestamp_trunc(a, 'secret')", "TIMESTAMP_TRUNC(t.a, ?)"),
        ("mysql", "timestampdiff(sql_tsi_day, a, b)", "TIMESTAMPDIFF(SQL_TSI_DAY, t.a, t.b)"),
        ("mysql", "extract(day_hour from a)", "EXTRACT(DAY_HOUR FROM t.a)"),
        ("bigquery", "date_trunc(a, week(monday))", "DATE_TRUNC(t.a, WEEK(monday))"),
    ],
)
def test_a_unit_is_a_word_and_what_else_stands_in_its_place_a_value(dialect: str, written: str, expected: str) -> None:
    output = "V" if dialect == "snowflake" else "v"
    assert expected in expression_of(f"select {written} as v from t", output, dialect)


def test_the_words_of_one_function_do_not_depend_on_what_was_read_before() -> None:
    for text in ("lpad(a, 3, 'x')", "lpad(a, b, c)", "lpad('x', b, 'y')", "lpad('x', 9, c)"):
        (one,) = {e.count("?") for e in expression_of(f"select {text} as v from t", "v", "bigquery")} or {-1}
        assert one == text.count("'") // 2 + sum(word.isdigit() for word in text[:-1].replace(",", " ").split())
