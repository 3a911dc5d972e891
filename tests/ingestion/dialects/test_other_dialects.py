"""A text that cannot be of the dialect that it is given as is told by what shows it, with the type that fits."""

from __future__ import annotations

from collections import Counter

import pytest

from ingestion import LineageParser, Unparsable
from ingestion.dialects import DIALECTS
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.dialects.other_dialects import FORMS, fitting_types, is_share, mismatch_text, other_dialect
from tests.support.written_corpora import written_statements

_SAMPLES = {
    "path": ("bigquery", "INSERT INTO `acme.mart.sold` SELECT a FROM `acme.raw.sale`"),
    "backquotes": ("mysql", "INSERT INTO `mart`.`sold` (`a`) SELECT `a` FROM `raw`.`sale`"),
    "brackets": ("tsql", "INSERT INTO [dbo].[Sold] SELECT [A] FROM [dbo].[Sale]"),
    "dashes": ("bigquery", "INSERT INTO mart.sold SELECT a FROM acme-eu-1.raw.sale"),
    "hash": ("tsql", "INSERT INTO mart.sold SELECT a FROM #sale"),
    "double quotes": ("postgres", 'INSERT INTO "mart"."sold" SELECT a FROM "raw"."sale"'),
    "top": ("tsql", "INSERT INTO sold SELECT TOP (5) a FROM sale"),
    "nolock": ("tsql", "INSERT INTO sold SELECT a FROM sale WITH (NOLOCK)"),
    "casts": ("postgres", "INSERT INTO sold SELECT a::int FROM sale"),
    "outer": ("oracle", "INSERT INTO sold SELECT s.a FROM sale s, shop p WHERE s.b = p.b (+)"),
    "qualify": ("snowflake", "INSERT INTO sold SELECT a FROM sale QUALIFY ROW_NUMBER() OVER (ORDER BY b) = 1"),
    "duplicate": ("mysql", "INSERT INTO sold SELECT a FROM sale ON DUPLICATE KEY UPDATE a = 1"),
    "lateral view": ("hive", "INSERT OVERWRITE TABLE sold SELECT a FROM sale"),
    "merge tree": ("clickhouse", "CREATE TABLE sold ENGINE = ReplacingMergeTree ORDER BY a AS SELECT a FROM sale"),
    "int64": ("bigquery", "INSERT INTO sold SELECT CAST(a AS INT64) FROM sale"),
    "max": ("tsql", "CREATE TABLE sold (a NVARCHAR(MAX))"),
    "varchar2": ("oracle", "CREATE TABLE sold (a VARCHAR2(10))"),
    "distinct on": ("postgres", "INSERT INTO sold SELECT DISTINCT ON (a) a, b FROM sale"),
}


def test_each_form_is_found_where_it_cannot_be_and_nowhere_else() -> None:
    assert set(_SAMPLES) == set(FORMS)
    for code, (own, text) in _SAMPLES.items():
        assert other_dialect(text, own) is None, code
        for name in sorted(FORMS[code].refused | FORMS[code].strange):
            found = other_dialect(text, name)
            assert found is not None and code in found.forms, (code, name)


def test_forms_name_dialects_that_there_are_and_none_in_two_ways() -> None:
    for form in FORMS.values():
        assert {*form.of, *form.refused, *form.strange} <= set(DIALECTS)
        assert not set(form.of) & (form.refused | form.strange)
        assert not form.refused & form.strange


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("snowflake", "INSERT INTO `acme.mart.sold` SELECT a FROM `acme.raw.sale`"),
        ("databricks", "INSERT INTO `acme.mart.sold` SELECT a FROM `acme.raw.sale`"),
        ("postgres", "INSERT INTO [dbo].[sold] SELECT a FROM [dbo].[sale]"),
        ("oracle", "INSERT INTO `sold` SELECT `a` FROM `sale`"),
        ("trino", "INSERT INTO sold SELECT a FROM acme-1.raw.sale"),
    ],
)
def test_what_its_names_are_nobody_knows_is_not_read(given: str, text: str) -> None:
    with pytest.raises(Unparsable, match="other_dialect:"):
        LineageParser(text, dialect=given)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("mysql", "INSERT INTO sold SELECT a::int FROM sale"),
        ("bigquery", 'INSERT INTO "sold" SELECT a FROM "sale"'),
        ("postgres", "INSERT INTO sold SELECT TOP 5 a FROM sale"),
    ],
)
def test_what_is_only_strange_there_keeps_its_tables(given: str, text: str) -> None:
    assert [str(name) for name in LineageParser(text, dialect=given).target_tables] == ["sold"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("postgres", "SELECT '`a.b.c`', $$ FROM [dbo].[x] $$ FROM t -- FROM `a`"),
        ("postgres", "SELECT extract(day FROM a-b.c.d) FROM t WHERE x IS DISTINCT FROM e-f.g.h"),
        ("clickhouse", "SELECT a FROM t ARRAY JOIN [b] AS c"),
        ("duckdb", "SELECT [x for x in [1, 2]], l[1:2] FROM t"),
        ("spark", "SELECT a FROM delta.`s3://bucket/a.b.c/t` JOIN parquet.`/data/a.b.c` USING (a)"),
        ("mysql", "SELECT \"a::b\", '(+)' FROM t # QUALIFY max"),
        ("snowflake", "CREATE PROCEDURE p() RETURNS STRING LANGUAGE JAVASCRIPT AS $$ return `SELECT ${x}`; $$"),
        ("ansi", "INSERT INTO `a`.b SELECT TOP 1 x::int FROM `c` WITH (NOLOCK)"),
        ("postgres", "SELECT 'never ends FROM `a.b.c`"),
        ("spark", "CREATE TABLE t USING `org.apache.spark.sql.parquet` AS SELECT a FROM s"),
        ("spark", "SELECT trim(BOTH FROM `x.y.z`) FROM t WHERE a IS DISTINCT FROM `x.y.z`"),
        ("duckdb", "SELECT a FROM t WHERE a IS DISTINCT FROM [b]"),
        ("clickhouse", "SELECT TOP 5 a FROM t LEFT ARRAY\n  JOIN [b] AS c"),
        ("hive", 'INSERT INTO t SELECT TRANSFORM (a) USING "sort" AS b FROM s'),
        ("hive", 'IMPORT EXTERNAL TABLE t FROM "/exports/t"'),
        ("databricks", 'COPY INTO t\nFROM "s3://b/in" FILEFORMAT = CSV'),
        ("mysql", 'PREPARE s FROM "SELECT 1"'),
        ("mysql", 'SELECT extract(year FROM "2019-07-02"), a FROM t'),
        ("oracle", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY b) = 1"),
        ("hive", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY b) = 1"),
        ("mysql", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY b) = 1"),
        ("fabric", "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY b) = 1"),
    ],
)
def test_strings_comments_and_signs_of_ones_own_show_nothing(given: str, text: str) -> None:
    assert other_dialect(text, given) is None


def test_no_statement_of_the_corpora_is_taken_for_one_of_another_dialect() -> None:
    corpora = [one for one in written_statements() if not one.place.startswith("test_other_dialects")]
    assert len(corpora) > 500
    assert [one for one in corpora if other_dialect(one.text, one.dialect) is not None] == []


@pytest.mark.parametrize(
    ("given", "codes", "first"),
    [
        ("snowflake", ("path", "backquotes", "int64"), "BigQuery"),
        ("snowflake", ("backquotes",), "Mysql"),
        ("snowflake", ("backquotes", "lateral view"), "Databricks"),
        ("postgres", ("brackets", "top", "nolock", "max"), "Mssql"),
        ("mysql", ("casts", "distinct on"), "Postgres"),
        ("bigquery", ("outer", "varchar2"), "Oracle"),
        ("postgres", ("merge tree",), "Clickhouse"),
    ],
)
def test_the_type_that_fits_is_the_one_whose_forms_they_are(given: str, codes: tuple[str, ...], first: str) -> None:
    found = Counter(other.forms for code in codes if (other := other_dialect(_SAMPLES[code][1], given)) is not None)
    assert sum(found.values()) == len(codes)
    fitting = fitting_types(found)
    assert fitting[0] == first and len(fitting) <= 3
    assert set(fitting) <= set(CONNECTION_TYPES)


def test_a_share_is_one_in_ten_and_is_told_in_words() -> None:
    found = {("backquotes",): 2, ("backquotes", "path"): 1}
    assert is_share(found, 30) and not is_share(found, 31) and not is_share({}, 5) and not is_share({}, 0)
    assert mismatch_text(found, 30, "Snowflake") == (
        "3 of 30 distinct statements cannot be SQL of Snowflake (names in backquotes 3, a whole path in one pair of"
        " backquotes 1); they fit BigQuery"
    )


@pytest.mark.parametrize("code", sorted(FORMS))
def test_how_letters_are_cased_hides_no_form(code: str) -> None:
    dialect = sorted(FORMS[code].refused | FORMS[code].strange)[0]
    _typical, text = _SAMPLES[code]
    for spelled in (text.upper(), text.lower(), f"{text.upper()} -- \u0130"):
        found = other_dialect(spelled, dialect)
        assert found is not None
        assert code in found.forms


def test_a_letter_that_is_another_where_case_does_not_count_hides_no_form() -> None:
    _typical, text = _SAMPLES["duplicate"]
    assert other_dialect(text.replace("I", "\u0130"), "postgres") is not None
