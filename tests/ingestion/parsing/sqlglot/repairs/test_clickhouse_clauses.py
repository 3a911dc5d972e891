"""ClickHouse's clauses that sqlglot does not know: what the columns of a statement with them are made of."""

from __future__ import annotations

import time

import pytest

from tests.support.lineage_lines import column_lines

CASES = [
    ("select a from t order by b limit 2 by k limit 9", {"a = t.a", "* sort t.b", "* group t.k"}),
    ("select a from t limit 2 offset 1 by k, b limit 9 offset 3", {"a = t.a", "* group t.k", "* group t.b"}),
    ("select a from t limit 1, 2 by k", {"a = t.a", "* group t.k"}),
    (
        "select k, quantile(0.5)(a) as x from (select k, a from t limit 9) group by k",
        {"k = t.k", "x agg t.a", "* group t.k"},
    ),
    ("select a from (select a from t limit 1 by k limit 3) order by a", {"a = t.a", "* group t.k", "* sort t.a"}),
    ("select sum(a) as s from t with totals", {"s agg t.a"}),
    ("select k, sum(a) as s from t group by k with totals format Null", {"k = t.k", "s agg t.a", "* group t.k"}),
    ("select a from t order by b limit 2, 5 with ties", {"a = t.a", "* sort t.b"}),
    ("with totals as (select a, k from t) select a from totals limit 1, 2 by k", {"a = t.a", "* group t.k"}),
    ("select d from t order by a + b as d, k", {"d f t.a", "d f t.b", "* sort t.a", "* sort t.b", "* sort t.k"}),
    ("select y from t prewhere (a = 1) as y where b > 1", {"y f t.a", "* filter t.a", "* filter t.b"}),
    ("select map.1 as x, p.2 as y from t", {"x f t.map", "y f t.p"}),
]


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_a_clause_is_read_as_what_it_does(query: str, expected: set[str]) -> None:
    assert column_lines(query, "clickhouse") == expected


def test_the_query_behind_a_tables_order_is_no_name_in_it() -> None:
    text = "create table o engine = MergeTree order by a as select a from t limit 1 by k limit 2"
    assert column_lines(text, "clickhouse") == {"a = t.a", "* group t.k"}


def test_a_long_union_is_read_in_time_that_grows_with_it() -> None:
    started = time.process_time()
    column_lines(" union all ".join(["select a from t where b = 1 as x limit 1, 2 by a"] * 1500), "clickhouse")
    assert time.process_time() - started < 8
