"""What a record's rows say does not depend on the records before it, save that a template's text comes once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.base import RECORD_SCHEMA
from ingestion.dialects import DIALECTS
from workflows.statement_rows import Row, rows_of

TEMPLATES = (
    "insert into t select a, {} from s where b = {} and c in ({}, {})",
    "insert into t select a -> {} as x, {} from s order by {}",
    "insert into t select * from read_csv({}) union all select {}",
    "create table t as select cast(a as varchar({})), {} as label from s group by {}",
    "create table t as select * from s -- {}",
    "create table t (a int) location {}",
    "create function f() returns int as {} language sql",
    "create view v as select {{{{ {} }}}} as x from s",
    "copy t from {} with (format csv)",
    "update t set a = {} from s where s.b = {}",
    "merge into t using s on t.a = s.a when matched then update set b = {}",
    "select set_config('search_path', {}, false)",
    "select f({})",
    "set search_path to {}",
    "with x as (select {} as a from s) insert into t select a from x limit {}",
    "exec sp_rename {}, {}",
    "delete from t where a = {}",
    "insert into t values ({}, {})",
    "/* {} */ insert into t select a from s where b = {};",
)
VALUES = st.sampled_from(
    (
        "1", "2", "1.5", "0x1F", "12345678901", "'a'", "'b''c'", "'a;b'", "'a -- b'", "'/x/y.csv'", "'s3://b/c'",
        "E'a\\'b'", "N'x'", "$$select 1$$", "$$select a from r$$", '"q"', '"r"', "null", "a", "('x')", "'search_path'",
        "date '2026-01-01'", "'select'", "'open", "1 -- c\n", "1 /* c */", "`q`", "[q]", "?", "",
    )
)  # fmt: skip
STATEMENTS = st.builds(
    lambda template, values: template.format(*values), st.sampled_from(TEMPLATES), st.tuples(*[VALUES] * 4)
)


def record(text: str) -> Row:
    return {**dict.fromkeys(RECORD_SCHEMA.fieldNames()), "source_id": "log.csv:2", "text": text}


def said(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "text" and value is not None} for row in rows]


@settings(max_examples=400, deadline=None)
@given(st.lists(STATEMENTS, min_size=2, max_size=8), st.sampled_from(sorted(DIALECTS)))
def test_the_rows_of_a_record_do_not_depend_on_those_before_it(texts: list[str], dialect: str) -> None:
    alone = [row for text in texts for row in said(rows_of([record(text)], dialect))]
    assert said(rows_of([record(text) for text in texts], dialect)) == alone


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "mysql", "tsql"])
def test_the_text_of_a_template_is_in_its_first_row_alone(dialect: str) -> None:
    texts = [f"insert into t select a, {value} from s where b = '{value}'" for value in range(3)]
    rows = rows_of([record(text) for text in texts], dialect)
    assert [row.get("text") for row in rows] == [texts[0], None, None]
    assert len({row["fingerprint"] for row in rows}) == 1
