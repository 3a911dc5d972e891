"""Objects and functions that one warehouse alone has, and what is read through them."""

from __future__ import annotations

import pytest

from ingestion.errors import Unparsable
from ingestion.parsing.sqlglot.tier import parse
from tests.support.lineage_lines import column_lines, lines_of_flows, problems

STREAMED = {"METADATA$ACTION is constant", "METADATA$ISUPDATE is constant", "METADATA$ROW_ID is constant"}


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("create stream s on table db.sch.t", "DB.SCH.T"),
        (
            "create or replace stream if not exists a.s copy grants on table t append_only = true comment = 'on q'",
            "T",
        ),
        ("create stream s on view v at (stream => 'x')", "V"),
        ("create stream s on external table t insert_only = true", "T"),
        ("create stream s on dynamic table t", "T"),
        ("create stream identifier('a.s') on table identifier('db.sch.t') append_only = true", "DB.SCH.T"),
    ],
)
def test_a_stream_is_a_view_of_what_it_watches(text: str, source: str) -> None:
    assert column_lines(text, "snowflake") == {f"* = {source}"} | STREAMED


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("create stream s on stage st", "@st"),
        ("create or replace stream s on directory(@db.sc.st)", "@db.sc.st"),
    ],
)
def test_a_stream_on_a_stage_has_what_its_directory_tells_of_files(text: str, stage: str) -> None:
    told = ("RELATIVE_PATH", "SIZE", "LAST_MODIFIED", "MD5", "ETAG", "FILE_URL")
    assert column_lines(text, "snowflake") == {f"{name} = {stage}.{name}" for name in told} | STREAMED


def test_a_cloned_stream_reads_the_other() -> None:
    assert lines_of_flows("create stream s clone q", "snowflake") == [{"into S", "from Q", "* = Q"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create snapshot table if not exists d.s clone d.t", {"into d.s", "from d.t", "* = d.t"}),
        (
            "create snapshot table d.s clone `p-x.d.t` for system_time as of timestamp '2020-01-01' options (x = 1)",
            {"into d.s", "from p-x.d.t", "* = p-x.d.t"},
        ),
        ("create materialized view d.s options (x = 1) as replica of p.d.t", {"into d.s", "from p.d.t", "* = p.d.t"}),
    ],
)
def test_snapshots_and_replicas_read_their_base(text: str, expected: set[str]) -> None:
    assert lines_of_flows(text, "bigquery") == [expected]


def test_loaded_files_flow_into_the_table() -> None:
    text = (
        "load data {} (a int64) partition by a from files (format = 'CSV', uris = ['gs://b/x/*', 'gs://b/y']) "
        "with partition columns"
    )
    x, y = "gs://b/x/*", "gs://b/y"
    expected = [{"into d.t", f"from {x}", f"* = {x}"}, {"into d.t", f"from {y}", f"* = {y}"}]
    for how in ("into d.t", "overwrite d.t", "into temp table d.t"):
        assert lines_of_flows(text.format(how), "bigquery") == expected
    assert parse(text.format("into temp table d.t"), "bigquery").writes[0].target.temporary
    with pytest.raises(Unparsable):
        parse("load data into d.t from files (format = 'CSV')", "bigquery")


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("snowflake", "copy into t from @st/x file_format = sch.fmt on_error = continue", {"* = @st/x"}),
        ("snowflake", "copy into @st/x from t file_format = fmt", {"* = T"}),
        ("snowflake", "create or replace hybrid table t as select a from s", {"A = S.A"}),
        ("snowflake", "create table t cluster by linear (a) as select a from s", {"A = S.A"}),
        (
            "snowflake",
            "select * from semantic_view(s.v dimensions c.d metrics a.b as n where c.d > 1)",
            {"D = S.V.D", "N = S.V.B"},
        ),
        (
            "postgres",
            "select v.id, t.a from ((values (1)) v(id) left join t on t.k = v.id)",
            {"id is constant", "a = t.a", "* join t.k"},
        ),
    ],
)
def test_a_source_is_what_it_is_called(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "select ts, v from gap_fill(table d.t, ts_column => 'ts', bucket_width => interval 1 day)",
            {"ts = d.t.ts", "v = d.t.v"},
        ),
        (
            "select * from appends(table `p-x.d.t`, null, null)",
            {"* = p-x.d.t", "_change_type is constant", "_change_timestamp is constant"},
        ),
        ("select * from ml.detect_anomalies(model d.m, struct(0.2 as x), table d.t)", {"* = d.t"}),
        ("select * from ai.generate_table(model d.m, table d.t, struct('x' as y))", {"* = d.t"}),
        ("select * from ai.forecast(table d.t, data_col => 'v')", {"* f d.t.*"}),
        (
            "select forecast_value from ai.forecast((select a, b from d.t), data_col => 'v')",
            {"forecast_value f d.t.a", "forecast_value f d.t.b"},
        ),
        (
            "select base.a, query.k, distance from vector_search(table d.t, 'emb', (select k from d.q), top_k => 2)",
            {"a f d.t.a", "k f d.q.k", "distance f d.t.*", "distance f d.q.k"},
        ),
        ("select a from d.own(table d.t, 3)", {"a f d.t.*"}),
        (
            "from d.t |> where a > 1 |> as x |> join d.u as y on x.k = y.k |> select x.a, y.b",
            {"a = d.t.a", "b = d.u.b", "* filter d.t.a", "* join d.t.k", "* join d.u.k"},
        ),
        ("from d.t |> as x |> select x.a", {"a = d.t.a"}),
    ],
)
def test_what_is_given_to_a_function_as_a_table_is_read(text: str, expected: set[str]) -> None:
    assert column_lines(text, "bigquery") == expected


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "spark", "mysql", "tsql", "oracle", "duckdb"])
@pytest.mark.parametrize(
    "text",
    [
        "create view w as (select a from t) order by a",
        "create table w as (select a from t) order by a",
        "insert into w (a) (select a from t) order by a",
        "create view w as with c as ((select a from t) order by a) select c.a from c",
        "create view w as select d.a from ((select a from t) order by a) d",
    ],
)
def test_an_order_behind_a_bracket_loses_no_column(dialect: str, text: str) -> None:
    assert {line.lower() for line in column_lines(text, dialect)} == {"a = t.a", "* sort t.a"}


@pytest.mark.parametrize(
    ("values", "sought"),
    [("any order by b", set()), ("select distinct b from q where c > 0", {"* if Q.B", "* if Q.C"})],
)
def test_a_pivot_over_values_that_nobody_names_keeps_what_goes_into_it(values: str, sought: set[str]) -> None:
    text = f"select * from (select a, b, v from t) pivot (sum(v) for b in ({values}))"
    assert column_lines(text, "snowflake") - sought == {"A = T.A", "* agg T.V", "* if T.B", "* group T.A"}
    assert sought <= column_lines(text, "snowflake")
    assert problems(text, "snowflake") == [("unsupported", "PIVOT without a list of values")]
