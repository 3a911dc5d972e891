"""What is repaired of Teradata's statements and values: the lineage is that of what they mean."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import column_lines, lines_of_flows, problems, value_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "locking table s for access merge into t using s on t.k = s.k when matched then update set v = s.w",
            "v = s.w",
        ),
        ("lock row for access update t from s set v = s.w where t.k = s.k", "v = s.w"),
        ("lock table d.s for access locking table d.r for access insert into t (v) select w from d.s", "v = d.s.w"),
        ("insert into t (v) select w where w > 1 from s", "v = s.w"),
        ("insert into t (v) select w where w > 1 and k in (select k where k < 9 from r) from s group by 1", "v = s.w"),
        ("insert into t (v) select x at 'GMT' from s", "v f s.x"),
        ("insert into t (v) select x at local from s", "v f s.x"),
        ("insert into t (v) select cast(x as timestamp(0) at 'GMT') from s", "v f s.x"),
        (
            "insert into t (v) select range_n(d between date '2020-01-01' and date '2021-12-31'"
            " each interval '1' month, no range or unknown) from s",
            "v f s.d",
        ),
        ("insert into t (v) select range_n(d between 1, 5, 9 and 20, no range, unknown) from s", "v f s.d"),
        ("insert into t (v) select begin(p) from s expand on validity as p by interval '1' day", "v f s.validity"),
        (
            "insert into t (v) select p from s where k > 1 expand on s.validity as p by anchor month_begin"
            " for period(date '2020-01-01', date '2021-01-01')",
            "v f s.validity",
        ),
    ],
)
def test_clauses_of_teradata_leave_values_where_they_are(text: str, expected: str) -> None:
    assert value_lines(text, "teradata") == {expected}
    assert not problems(text, "teradata")


def test_a_lock_before_a_delete_is_no_part_of_it() -> None:
    text = "locking row for access delete from t where k in (select k from s)"
    assert column_lines(text, "teradata") == {"* filter t.k", "* filter s.k"}


def test_the_ranges_that_a_number_is_of_are_no_columns() -> None:
    text = "insert into t (v) select case_n(a > 1, b < 2, no case or unknown) from s"
    assert {line.split()[-1] for line in column_lines(text, "teradata")} == {"s.a", "s.b"}


def test_a_table_operator_is_made_of_the_rows_of_its_inputs() -> None:
    by_hash = "insert into t (v) select o.v from op (on (select v from s) hash by k local order by q using z('1')) as o"
    several = "insert into t (v) select o.v from op (on s partition by k on r as d dimension using z('1')) as o"
    (first,), (second,) = lines_of_flows(by_hash, "teradata"), lines_of_flows(several, "teradata")
    assert "from s" in first
    assert {"from s", "from r"} <= second
    assert (
        "from f"
        in lines_of_flows(
            "insert into t (v) select d.v from table (f(1) returns (v integer)) as d hash by v local order by v",
            "teradata",
        )[0]
    )


@pytest.mark.parametrize("rows", ["s", "(select id, jan, feb from s)"])
def test_unpivoted_columns_go_into_the_value_column(rows: str) -> None:
    text = (
        f"insert into t (id, m, v) select id, m, v from td_unpivot(on {rows} using value_columns('v')"
        " unpivot_column('m') column_list('jan', 'feb')) x"
    )
    values = {line for line in column_lines(text, "teradata") if line[:3] in ("id ", "v =", "v f")}
    assert {line.split()[-1] for line in values} == {"s.id", "s.jan", "s.feb"}


def test_what_a_repair_moves_is_repaired_too() -> None:
    text = "insert into t (v) select o.v from op (on (select trim(x) at local as v where q > 1 from s) hash by v) as o"
    (lines,) = lines_of_flows(text, "teradata")
    assert {"from s", "v f s.x"} <= lines
