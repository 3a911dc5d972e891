"""Row patterns: in MATCH_RECOGNIZE and in windows."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import analysed, column_lines

ONE_ROW = "one row per match pattern (c+) define c as c.y > 1"


@pytest.mark.parametrize("dialect", ["flink", "trino"])
@pytest.mark.parametrize("other", ["join c on c.a = m.a", "join c on c.a = m.a, n"])
def test_a_pattern_is_looked_for_in_the_relation_before_it_alone(dialect: str, other: str) -> None:
    text = f"select m.d, c.b from t match_recognize (partition by a order by e measures last(c.x) as d {ONE_ROW}) as m"
    decided = {"* join t.a", "* join c.a", "* window t.a", "* window t.e", "* filter t.y"}
    assert column_lines(f"{text} {other}", dialect) == {"d agg t.x", "b = c.b"} | decided


def test_each_of_two_patterns_is_looked_for_in_its_own_relation() -> None:
    text = f"select m.d, n.d as e from t match_recognize (measures c.x as d {ONE_ROW}) as m, (select x, y from u) o "
    lines = column_lines(f"{text} match_recognize (measures c.x as d {ONE_ROW}) as n", "trino")
    assert lines == {"d = t.x", "e = u.x", "* filter t.y", "* filter u.y"}


def test_a_variable_of_the_pattern_is_no_column() -> None:
    text = (
        "select * from t match_recognize (measures classifier(a) as w pattern (a b+) define b as classifier(a) = 'a')"
    )
    assert column_lines(text, "trino", {"t": "a"}) == {"w is constant"}


@pytest.mark.parametrize("dialect", ["trino", "flink"])
@pytest.mark.parametrize("to", ["b", "last b", "first b", "next row"])
def test_the_search_goes_on_at_a_variable_of_the_pattern(dialect: str, to: str) -> None:
    pattern = f"measures last(b.v) as m after match skip to {to} pattern (a b+) define b as b.v > prev(b.v)"
    assert column_lines(f"select m from t match_recognize ({pattern})", dialect) == {"m agg t.v", "* filter t.v"}


@pytest.mark.parametrize(("dialect", "names"), [("trino", "k d m v"), ("oracle", "K D M V"), ("snowflake", "V K D M")])
def test_all_rows_of_a_match_have_the_columns_in_their_dialects_order(dialect: str, names: str) -> None:
    pattern = "measures last(c.v) as m all rows per match pattern (c+) define c as c.v > 1"
    text = f"select * from (select v, k, d from t) match_recognize (partition by k order by d {pattern})"
    (flow,) = analysed(text, dialect).flows
    assert [output.name for output in flow.outputs] == names.split()


@pytest.mark.parametrize("window", ["partition by k order by d", "partition by k, d"])
def test_a_pattern_in_a_window_decides_which_rows_it_has(window: str) -> None:
    pattern = "rows between current row and unbounded following after match skip past last row pattern (x y+)"
    measures = "measures final last(x.v) || classifier(x) as m, max(u.w) as n"
    named = f"({window} {measures} {pattern} subset u = (x, y) define y as y.e > prev(y.e))"
    lines = column_lines(f"select k, m over w, n over w, sum(v) over w as s from t window w as {named}", "trino")
    decided = {f"{name} window t.{column}" for name in ("_col1", "_col2", "s") for column in "kde"}
    assert lines == {"k = t.k", "_col1 agg t.v", "_col2 agg t.w", "s agg t.v"} | decided
    assert column_lines(f"select sum(v) over {named} as s from t", "trino") == {"s agg t.v"} | {
        line for line in decided if line.startswith("s ")
    }


def test_columns_that_are_called_as_a_windows_words_are_no_window() -> None:
    pattern = "match_recognize (order by rows measures a.p as q pattern (a b) define b as b.p > a.p) as m"
    text = f"with c as (select rows, pattern(x) as p from s) select q from c {pattern}"
    assert column_lines(text, "trino") == {"q f s.x", "* window s.rows", "* filter s.x"}
