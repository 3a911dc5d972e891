"""Statements that write: which column of the target each value reaches."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import StatementKind, WriteMode
from tests.support.lineage_lines import analysed, column_lines, lines_of_flows, problems

S = {"s": "x y", "t": "a b"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "create table n as select x, y + 1 as z from s", {"x = s.x", "z f s.y"}),
        ("postgres", "create table n (p, q) as select x, y from s", {"p = s.x", "q = s.y"}),
        ("postgres", "create view n (p, q) as (select x, y from s)", {"p = s.x", "q = s.y"}),
        ("databricks", "create table n (p string, q string) as select x, y from s", {"p = s.x", "q = s.y"}),
        ("postgres", "select x into n from s", {"x = s.x"}),
        ("tsql", "select x into #n from s", {"x = s.x"}),
        ("spark", "create table n select x from s", {"x = s.x"}),
        ("clickhouse", "create table n engine = Memory as select x from s", {"x = s.x"}),
        ("teradata", "create volatile table n as (select x from s) with data", {"x = s.x"}),
        ("postgres", "create table n as table s", {"x = s.x", "y = s.y"}),
        ("postgres", "insert into t (b, a) select x, y from s", {"b = s.x", "a = s.y"}),
        ("postgres", "insert into t select x as b, y as a from s", {"a = s.x", "b = s.y"}),
        ("postgres", "insert into t select * from s", {"a = s.x", "b = s.y"}),
        ("postgres", "insert into t select y from s", {"a = s.y"}),
        ("postgres", "with c as (select y from s) insert into t (b) select y from c", {"b = s.y"}),
        ("postgres", "insert into t with c as (select y from s) select y from c", {"a = s.y"}),
        ("postgres", "insert into t (a) values ((select max(x) from s))", {"a agg s.x"}),
        ("duckdb", "insert into t by name select x as b, y as a from s", {"b = s.x", "a = s.y"}),
        ("spark", "insert into t by name select x as b from s", {"b = s.x"}),
        ("spark", "insert overwrite table t partition (a = 1) select x from s", {"b = s.x"}),
        ("spark", "insert into t partition (b) (a) select x, y from s", {"a = s.x", "b = s.y"}),
        ("spark", "insert overwrite table t partition (b) select x, y from s", {"a = s.x", "b = s.y"}),
        ("mysql", "insert into t set a = (select max(x) from s)", {"a agg s.x"}),
        ("mysql", "replace into t select x, y from s", {"a = s.x", "b = s.y"}),
        ("mysql", "create table n (z int) select y, x as z from s", {"y = s.y", "z = s.x"}),
        ("spark", "create table n as select x, explode(y) from s", {"x = s.x", "col f s.y", "* filter s.y"}),
        ("bigquery", "create table n as select as value struct(x as p, y) from s", {"p = s.x", "y = s.y"}),
        ("snowflake", "insert into identifier('d.n') select x from identifier('d.s')", {"X = D.S.X"}),
        ("bigquery", "merge t using s on false when not matched then insert row", {"a = s.x", "b = s.y"}),
        (
            "spark",
            "merge with schema evolution into t using s on true when matched then update set a = s.x",
            {"a = s.x"},
        ),
        (
            "teradata",
            "merge into t using s on t.a = s.x when not matched then insert (s.y, s.x + 1)",
            {"a = s.y", "b f s.x", "* join t.a", "* join s.x"},
        ),
        ("snowflake", "create table n as select x from s order by all", {"X = S.X", "* sort S.X"}),
        ("databricks", "create table n as select x from s order by all", {"x = s.x", "* sort s.x"}),
        (
            "oracle",
            "create table n as select v from s unpivot include nulls ((v) for k in (x as 'x', y as 'y'))",
            {"V = S.X", "V = S.Y"},
        ),
        ("postgres", "create view v (p) as select x, y from s", {"p = s.x", "y = s.y"}),
        ("postgres", "create table n (p) as select x, y from s", {"p = s.x", "y = s.y"}),
        ("tsql", "insert t (a) select x from s", {"a = s.x"}),
        ("teradata", "ins into t (a) sel x from s", {"a = s.x"}),
        ("hive", "insert overwrite directory '/out' select x from s", {"x = s.x"}),
        ("postgres", "update t set a = s.x from s where s.y = t.b", {"a = s.x", "* filter s.y", "* filter t.b"}),
        ("postgres", "update t set a = a + 1", {"a f t.a"}),
        (
            "postgres",
            "update t set (a, b) = (select x, y from s where s.x = t.a)",
            {"a = s.x", "b = s.y", "a filter s.x", "a filter t.a", "b filter s.x", "b filter t.a"},
        ),
        (
            "postgres",
            "with c as (select x, y from s) update t set a = c.x from c where c.y = t.b",
            {"a = s.x", "* filter s.y", "* filter t.b"},
        ),
        ("tsql", "update al set al.a = s.x from t as al join s on s.y = al.b", {"a = s.x", "* join s.y", "* join t.b"}),
        ("tsql", "update t set t.a += s.x from s", {"a f t.a", "a f s.x"}),
        ("tsql", "with c as (select a as p, b from t) update c set p = b", {"a = t.b"}),
        ("tsql", "with c (p, q) as (select a, b from t) update c set p = q", {"a = t.b"}),
        ("tsql", "with c (p, q) as (select a, b from t) insert into c (q) select x from s", {"b = s.x"}),
        (
            "tsql",
            "with c as (select a as p, b from t), d as (select p as q from c) insert into d (q) select x from s",
            {"a = s.x"},
        ),
        (
            "tsql",
            "with c as (select a as p, b from t), d (q, r) as (select p, b from c) update d set q = r",
            {"a = t.b"},
        ),
        ("tsql", "with c as (select b as q, a as p from t) insert into c select x, y from s", {"b = s.x", "a = s.y"}),
        (
            "tsql",
            "with c (p, q) as (select a, b from t) merge c using s on s.y = c.p when matched then update set q = s.x;",
            {"b = s.x", "* join s.y", "* join t.a"},
        ),
        ("tsql", "update t set @v = a = s.x, b = s.y from s", {"a = s.x", "b = s.y"}),
        ("tsql", "update t set @v = s.x, b = s.y from s", {"b = s.y"}),
        ("mysql", "update t join s on s.y = t.b set t.a = s.x", {"a = s.x", "* join s.y", "* join t.b"}),
        ("oracle", "update T set A = (select max(X) from S)", {"A agg S.X"}),
        ("teradata", "update t from s set a = s.x where s.y = t.b", {"a = s.x", "* filter s.y", "* filter t.b"}),
        ("postgres", "update t set (a, b) = row(s.x, s.y) from s", {"a = s.x", "b = s.y"}),
        (
            "tsql",
            "with c as (select t.a, x from t join s on s.y = t.b) update c set a = x",
            {"a = s.x", "* join s.y", "* join t.b"},
        ),
        ("tsql", "update top (10) percent t set a = s.x from s", {"a = s.x"}),
        ("postgres", "delete from t using s where s.y = t.b", {"* filter s.y", "* filter t.b"}),
        ("tsql", "delete t from t join s on s.y = t.b", {"* join s.y", "* join t.b"}),
        ("postgres", "copy t (a, b) from '/in.csv'", {"* = /in.csv"}),
        ("postgres", "copy (select x from s) to '/out.csv'", {"x = s.x"}),
        ("postgres", "copy s (x) to '/out.csv'", {"x = s.x"}),
        ("snowflake", "copy into T (a, b) from (select $1, st.$2:k from @st st)", {"A = @st.$1", "B f @st.$2"}),
        ("redshift", "unload ('select x from s') to 's3://b/p'", {"x = s.x"}),
        (
            "duckdb",
            "insert into t (a, b) unpivot s on x, y into name k value v",
            {"a is constant", "b = s.x", "b = s.y", "* filter s.x", "* filter s.y"},
        ),
        (
            "duckdb",
            "create table n as pivot s on x in (1, 2) using sum(y) as z",
            {"1_z agg s.y", "1_z if s.x", "2_z agg s.y", "2_z if s.x"},
        ),
        ("redshift", "unload ($$select x from s where y = 'z'$$) to 's3://b/p'", {"x = s.x", "* filter s.y"}),
        ("bigquery", "export data options (uri = 'gs://b/p') as select x from s", {"x = s.x"}),
        ("mysql", "load data infile '/in.csv' into table t", {"* = /in.csv"}),
        ("hive", "load data inpath '/in' into table t", {"* = /in"}),
        ("snowflake", "create table n clone s", {"* = S"}),
        ("databricks", "insert into t replace where a = 1 table s", {"a = s.x", "b = s.y"}),
        ("tsql", "select x into n from d..s", {"x = d.dbo.s.x"}),
        ("tsql", "select x into n from [d]..[s]", {"x = d.dbo.s.x"}),
        ("snowflake", "create table n as select x from d..s", {"X = D.PUBLIC.S.X"}),
        ("redshift", "alter table t append from w", {"* = w"}),
        ("clickhouse", "alter table t on cluster c replace partition p from w", {"* = w"}),
        ("tsql", "alter table w switch partition 1 to t", {"* = w"}),
        ("hive", "alter table t exchange partition (d = 1) with table w", {"* = w"}),
        ("clickhouse", "alter table t replace partition 1 from w", {"* = w"}),
        ("mariadb", "alter table t convert table w to partition p values less than (5)", {"* = w"}),
        ("mariadb", "alter table w convert partition p to table n", {"* = w"}),
        ("snowflake", "execute immediate 'insert into n select x from w'", {"X = W.X"}),
        ("tsql", "exec ('insert into n select x from w')", {"x = w.x"}),
        ("tsql", "exec sp_executesql N'insert into n select x from w'", {"x = w.x"}),
        ("spark", "cache table n as select x from s", {"x = s.x"}),
    ],
)
def test_each_value_reaches_its_column(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect, S) == expected


@pytest.mark.parametrize("dialect", ["greenplum", "mariadb", "mysql"])
def test_rows_that_are_exchanged_go_both_ways(dialect: str) -> None:
    found = lines_of_flows("alter table t exchange partition p with table w", dialect)
    assert found == [{"into t", "from w", "* = w"}, {"into w", "from t", "* = t"}]


def test_a_positional_insert_into_an_unknown_table_guesses_names_and_says_so() -> None:
    (flow,) = analysed("insert into n select x as p, y from s").flows
    assert [(output.name, output.name_assumed) for output in flow.outputs] == [("p", True), ("y", True)]


def test_a_star_in_the_middle_keeps_the_ends_in_place() -> None:
    (flow,) = analysed("insert into n (a, b, c, d) select x, w.*, y from s, w", schemas={"s": "x y"}).flows
    assert [(output.name, output.name_assumed) for output in flow.outputs] == [("a", False), ("*", True), ("d", False)]


def test_more_values_than_columns_is_reported() -> None:
    assert problems("insert into t (a) select x, y from s", schemas=S) == [("column_count", "t")]


def test_an_update_reads_its_own_target_only_where_it_uses_its_values() -> None:
    assert "from t" not in lines_of_flows("update t set a = s.x from s where s.y = t.b")[0]
    assert "from t" in lines_of_flows("update t set a = t.a + s.x from s where s.y = t.b")[0]


@pytest.mark.parametrize(
    ("dialect", "value"),
    [
        ("bigquery", "(select as struct x, y from s where x > 1)"),
        ("bigquery", "(select struct(x, y) from s where x > 1)"),
        ("bigquery", "(select as struct s.* from s where x > 1)"),
        ("bigquery", "struct(s.x, s.y) from s where x > 1"),
        ("oracle", "(select * from s where x > 1)"),
        ("postgres", "row(s.x, s.y) from s where x > 1"),
        ("postgres", "(select * from (select x, y from s where x > 1) as z)"),
        ("postgres", "(select x, y from s where x > 1 union all select x, y from s where x > 1)"),
        ("snowflake", "((select x, y from s where x > 1))"),
    ],
)
def test_columns_that_are_set_together_take_their_values_by_position(dialect: str, value: str) -> None:
    lines = {line.lower() for line in column_lines(f"update t set (a, b) = {value}", dialect, {**S, "S": "X Y"})}
    direct = {line for line in lines if " = " in line and not line.startswith("*")}
    assert direct == {"a = s.x", "b = s.y"}
    assert {line for line in lines if "filter" in line or " if " in line}


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_a_column_that_gets_a_type_using_others_is_made_of_them(dialect: str) -> None:
    text = "ALTER TABLE t ALTER COLUMN v SET DATA TYPE text USING (a || k)"
    assert lines_of_flows(text, dialect) == [{"v f t.a", "v f t.k", "from t", "into t"}]
    assert lines_of_flows("ALTER TABLE t ALTER COLUMN v TYPE text", dialect) == []


def test_several_columns_get_types_at_once() -> None:
    text = "ALTER TABLE t ALTER v TYPE text USING a, ADD c int, ALTER COLUMN b TYPE int USING b::int"
    assert lines_of_flows(text) == [{"v = t.a", "b f t.b", "from t", "into t"}]


def test_every_branch_of_a_merge_is_a_flow() -> None:
    text = """merge into t using (select x, max(y) as y from s group by x) s on t.a = s.x
              when matched and s.y > 1 then update set b = s.y
              when matched then delete
              when not matched then insert (a, b) values (s.x, s.y)"""
    update, delete, insert = lines_of_flows(text)
    join = {"into t", "from s", "* group s.x", "* join t.a", "* join s.x"}
    assert update == join | {"b agg s.y", "* filter s.y"}
    assert delete == join | {"* filter s.y"}  # only of the rows that the branch before it leaves
    assert insert == join | {"a = s.x", "b agg s.y"}


def test_a_branch_of_a_merge_has_the_rows_that_those_of_its_kind_before_it_leave() -> None:
    text = """merge into t using s on t.a = s.x
              when matched and s.p then do nothing when not matched and s.q then insert (a) values (s.x)
              when not matched by source and t.c then delete when matched and s.r then update set b = s.y
              when not matched then insert (b) values (s.y) when matched then delete
              when not matched by source then update set b = 0"""
    found = [{line for line in lines if " filter " in line} for lines in lines_of_flows(text)]
    assert found == [
        {"* filter s.q"},
        {"* filter t.c"},
        {"* filter s.p", "* filter s.r"},
        {"* filter s.q"},
        {"* filter s.p", "* filter s.r"},
        {"* filter t.c"},
    ]


def test_rows_of_a_merge_without_a_match_have_the_columns_of_their_own_side() -> None:
    text = """merge into t as d using s on s.a = d.a
              when not matched and b > 1 then insert (a, b) values (a, b)
              when not matched by source and b > 2 then update set b = a"""
    for schemas in ({"s": "a b", "t": "a b"}, None):
        insert, update = lines_of_flows(text, "databricks", schemas)
        join = {"* join s.a", "* join t.a"}
        assert insert == join | {"into t", "from s", "a = s.a", "b = s.b", "* filter s.b"}
        assert update == join | {"into t", "from s", "from t", "b = t.a", "* filter t.b"}


def test_insert_star_and_update_star_match_by_name_and_leave_the_target_out() -> None:
    text = "merge into t using s on t.a = s.x when matched then update set * when not matched then insert *"
    for flow in analysed(text, "databricks", S).flows:
        assert flow.target is not None
        assert flow.target.by_name
        assert [output.name for output in flow.outputs] == ["x", "y"]


def test_oracles_merge_may_delete_after_an_update() -> None:
    text = """merge into t using s on (t.a = s.x)
              when matched then update set b = s.y where s.y > 1 delete where t.b = 0
              when not matched then insert (a) values (s.x)"""
    update, delete, insert = lines_of_flows(text, "oracle")
    assert "B = S.Y" in update
    assert "* filter S.Y" in update
    assert delete == {"into T", "from S", "* join T.A", "* join S.X", "* filter S.Y", "* filter T.B"}
    assert "A = S.X" in insert


def test_insert_all_writes_several_tables_each_under_its_condition() -> None:
    text = "insert all when x > 1 then into t (a) values (y) else into u select x, y from s"
    first, second = lines_of_flows(text, "snowflake")
    assert first == {"into T", "from S", "A = S.Y", "* filter S.X"}
    assert second == {"into U", "from S", "X = S.X", "Y = S.Y", "* filter S.X"}


def test_a_row_comes_to_a_later_branch_where_the_earlier_ones_did_not_take_it() -> None:
    text = """insert {} when x > 1 then into t (a) values (y) into u (a) values (y)
              when z > 2 then into v (a) values (y) else into w (a) values (y) select x, y, z from s"""
    for kind, third in (("all", {"* filter S.Z"}), ("first", {"* filter S.X", "* filter S.Z"})):
        found = [
            {line for line in lines if " filter " in line} for lines in lines_of_flows(text.format(kind), "oracle")
        ]
        assert found == [{"* filter S.X"}, {"* filter S.X"}, third, {"* filter S.X", "* filter S.Z"}]


def test_the_query_that_says_what_a_pivot_seeks_is_read() -> None:
    (lines,) = lines_of_flows("select * from t pivot (sum(a) for k in (select x from c)) p", "snowflake")
    assert {"from C", "* if C.X"} <= lines


def test_hives_multiple_insert_shares_its_source() -> None:
    text = "from s insert overwrite table t select x where y > 1 insert into table u partition (d = '1') select y"
    first, second = lines_of_flows(text, "hive")
    assert first == {"into t", "from s", "x = s.x", "* filter s.y"}
    assert second == {"into u", "from s", "y = s.y"}


def test_on_conflict_is_an_update_from_the_row_that_was_to_be_inserted() -> None:
    text = "insert into t (a, b) select x, y from s on conflict (a) do update set b = excluded.b + t.b"
    insert, update = lines_of_flows(text)
    assert insert == {"into t", "from s", "a = s.x", "b = s.y", "* join s.x", "* join t.a"}
    assert update == {"into t", "from s", "from t", "b f s.y", "b f t.b", "* join s.x", "* join t.a"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("duckdb", "insert into t by name select y as b, x as a from s on conflict (a) do nothing", {"t.a", "s.x"}),
        ("postgres", "insert into t (a) select x from s on conflict on constraint k do nothing", set()),
        ("postgres", "insert into t (b, a) select y, x from s on conflict (lower(a)) do nothing", {"t.a", "s.x"}),
        ("postgres", "insert into t (a) values (1) on conflict (a) do nothing", set()),
        ("postgres", "insert into t values (1) on conflict (a) do nothing", set()),
        ("sqlite", "insert into t (a) select x from s where true on conflict (a) do nothing", {"t.a", "s.x"}),
    ],
)
def test_the_key_of_a_conflict_decides_which_rows_come(dialect: str, text: str, expected: set[str]) -> None:
    (insert,) = lines_of_flows(text, dialect)
    assert {line.removeprefix("* join ") for line in insert if " join " in line} == expected


def test_the_condition_of_a_conflicts_index_is_of_both_rows() -> None:
    text = "insert into t (a, b) select x, y from s on conflict (a) where b > 1 do update set b = 0"
    for lines in lines_of_flows(text):
        assert {"* filter t.b", "* filter s.y"} <= lines


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("mysql", "update t set a = 1 order by b limit 5", {"* sort t.b"}),
        ("mysql", "update t set a = 1 order by a limit 5", {"* sort t.a"}),
        ("mysql", "delete from t where c = 1 order by b limit 5", {"* filter t.c", "* sort t.b"}),
        ("mysql", "update t set a = 1 order by b", set()),
        ("sqlite", "delete from t limit (select n from u)", {"* filter u.n", "from u"}),
        ("tsql", "update top (select n from u) t set a = 1 where c = 2", {"* filter u.n", "* filter t.c", "from u"}),
        ("tsql", "delete top (select n from u) from t option (recompile)", {"* filter u.n", "from u"}),
    ],
)
def test_how_many_rows_change_is_a_condition(dialect: str, text: str, expected: set[str]) -> None:
    (lines,) = lines_of_flows(text, dialect)
    assert {line for line in lines if line != "into t" and " is constant" not in line} == expected


def test_on_conflict_knows_the_target_by_its_alias() -> None:
    text = "insert into t as d (a, b) select x, y from s on conflict (a) do update set b = d.b where d.a > excluded.a"
    decisive = {"* filter t.a", "* filter s.x", "* join t.a", "* join s.x"}
    assert lines_of_flows(text)[1] == {"into t", "from s", "from t", "b = t.b", *decisive}


def test_on_duplicate_key_reads_the_incoming_row() -> None:
    _, update = lines_of_flows("insert into t (a) select x from s on duplicate key update a = values(a) + 1", "mysql")
    assert "a f s.x" in update


def test_writes_inside_with_are_flows_and_give_their_returned_columns() -> None:
    text = "with moved as (insert into t (a) select x from s returning a as z) insert into u (p) select z from moved"
    first, second = lines_of_flows(text)
    assert first == {"into t", "from s", "a = s.x"}
    assert second == {"into u", "from t", "p = t.a"}


def test_writes_inside_with_read_the_items_before_them() -> None:
    text = """with c as (select x, y + 1 as z from s),
              moved as (insert into t (a, b) select x, z from c returning a),
              gone as (delete from w where w.k = 1),
              changed as (update v set q = c.z from c where c.x = v.k returning v.q)
              insert into u (p, q) select moved.a, changed.q from moved, changed"""
    moved, gone, changed, last = lines_of_flows(text)
    assert moved == {"into t", "from s", "a = s.x", "b f s.y"}
    assert gone == {"into w", "* filter w.k"}
    assert changed == {"into v", "from s", "q f s.y", "* filter s.x", "* filter v.k"}
    assert last == {"into u", "from t", "from v", "from s", "p = t.a", "q = v.q"}


def test_rows_of_values_read_the_items_of_with_too() -> None:
    assert column_lines("with c as (select x from s) insert into t (a, b) values ((select max(x) from c), 1)") == {
        "a agg s.x",
        "b is constant",
    }


def test_what_a_write_returns_may_come_from_what_it_joined() -> None:
    gone = "delete from t using s where s.x = t.a returning t.*, s.y"
    text = f"with gone as ({gone}) insert into u (p, q) select y, b from gone"
    _, second = lines_of_flows(text, schemas=S)
    assert {"p = s.y", "q = t.b"} <= second
    text = "with new as (update t set a = 1 from s where s.x = t.a returning *) select y, b from new"
    assert {"y = s.y", "b = t.b"} <= lines_of_flows(text, schemas=S)[1]


def test_a_target_that_a_with_item_stands_for_leaves_its_other_tables_as_sources() -> None:
    (lines,) = lines_of_flows("with c as (select t.a, x from t join s on s.y = t.b) update c set a = x", "tsql", S)
    assert {line for line in lines if line.startswith(("from", "into"))} == {"from s", "into t"}


@pytest.mark.parametrize(
    "text",
    [
        "with c as (select a, b from t) insert into c (a) select x from s",
        "with c as (select a, b from t) merge into c using s on s.y = c.a when matched then update set a = s.x",
        "with c as (select a, b from t) update c set a = 1 where b = 2",
        "with c as (select a, b from t) delete from c where b = 1",
    ],
)
def test_only_tsql_looks_for_a_target_among_the_items_of_with(text: str) -> None:
    (changed,) = lines_of_flows(text, "tsql", S)
    assert "into t" in changed
    (named,) = lines_of_flows(text, "postgres", {**S, "c": "a b"})
    assert "into c" in named
    assert not any("t." in line for line in named)


def test_output_into_is_a_flow_of_the_rows_that_were_written() -> None:
    first, second = lines_of_flows("insert t (a) output inserted.a into u select x from s", "tsql")
    assert first == {"into t", "from s", "a = s.x"}
    assert second == {"into u", "from t", "a = t.a"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("insert d.t (a) output inserted.a into d.u (z) select x from s", {"into d.u", "from d.t", "z = d.t.a"}),
        ("update d.t set a = s.x output deleted.a as z into u from s", {"into u", "from d.t", "z = d.t.a"}),
        (
            "delete from d.t output deleted.* into d.u where a > 1",
            {"into d.u", "from d.t", "* = d.t", "* filter d.t.a"},
        ),
        (
            "delete c output deleted.a z into #u from t c join s on s.x = c.a",
            {"into #u", "from t", "from s", "z = t.a", "* filter s.x", "* filter t.a"},
        ),
        (
            "merge t using s on t.a = s.x when matched then update set b = y"
            " output $action, inserted.a, s.y into u (o, p, q);",
            {"into u", "from s", "from t", "o is constant", "p = t.a", "q = s.y", "* filter s.x", "* filter t.a"},
        ),
        (
            "with c as (select x from s) merge t using c on t.a = c.x when matched then delete output c.x into d.u",
            {"into d.u", "from s", "from t", "x = s.x", "* filter s.x", "* filter t.a"},
        ),
    ],
)
def test_what_output_gives_into_a_table_flows_there(text: str, expected: set[str]) -> None:
    assert lines_of_flows(text, "tsql")[1] == expected


@pytest.mark.parametrize(
    "text",
    [
        "insert into t (a) output inserted.a select x as a from s",
        "insert into t (a) output inserted.a into @u (a) output inserted.a select x as a from s",
        "insert into t (a) select x as a from s",
    ],
)
def test_rows_that_go_to_the_client_or_to_a_variable_leave_the_statement_as_it_is(text: str) -> None:
    assert lines_of_flows(text, "tsql")[0] == {"into t", "from s", "a = s.x"}


def test_insert_exec_takes_what_a_constant_text_gives_and_says_what_a_procedure_hides() -> None:
    assert column_lines("insert into t (a) exec('select x from s')", "tsql") == {"a = s.x"}
    assert lines_of_flows("insert into #t (a, b) exec d.p @a = 'x'", "tsql") == [{"into #t"}]
    assert problems("insert into #t exec d.p", "tsql") == [("unsupported", "rows of a procedure")]


@pytest.mark.parametrize(
    ("run", "source"),
    [
        ("exec ('select x from s') at far", "far...s"),
        ("exec ('select x from d.s where k = ''v'';') at [far]", "far..d.s"),
        ("exec ('select x from s where k = ?', 3) at far", "far...s"),
        ("exec ('with q as (select x from s) select x from q') at data_source far", "far...s"),
    ],
)
def test_what_a_linked_server_gives_comes_from_its_tables(run: str, source: str) -> None:
    (lines,) = lines_of_flows(f"insert into t (a) {run}", "tsql")
    assert {line for line in lines if " filter " not in line} == {"into t", f"from {source}", f"a = {source}.x"}


def test_what_a_linked_server_changes_is_no_change_of_the_tables_here() -> None:
    assert lines_of_flows("exec ('insert into t (a) select x from s') at far", "tsql") == []
    assert problems("insert into t (a) exec ('delete from s') at far", "tsql") == [
        ("unsupported", "rows of a procedure")
    ]


def test_a_column_may_be_called_output() -> None:
    assert column_lines("update t set output = inserted.a from s as inserted", "tsql") == {"output = s.a"}


def test_mysql_updates_several_tables_at_once() -> None:
    first, second = lines_of_flows("update t join u on t.k = u.k set t.a = u.b, u.c = t.d", "mysql")
    assert {"into t", "from u", "a = u.b"} <= first
    assert {"into u", "from t", "c = t.d"} <= second


@pytest.mark.parametrize(
    ("dialect", "text", "mode", "temporary", "view"),
    [
        ("postgres", "create temp table n as select 1 as x", WriteMode.CREATE, True, False),
        ("tsql", "select x into #n from s", WriteMode.CREATE, True, False),
        ("spark", "create or replace temporary view n as select 1 as x", WriteMode.CREATE, True, True),
        ("postgres", "create materialized view n as select 1 as x", WriteMode.CREATE, False, True),
        ("snowflake", "insert overwrite into n select 1 as x", WriteMode.OVERWRITE, False, False),
        ("postgres", "insert into n select 1 as x", WriteMode.APPEND, False, False),
        ("postgres", "update n set a = 1", WriteMode.UPDATE, False, False),
        ("postgres", "delete from n where a = 1", WriteMode.DELETE, False, False),
    ],
)
def test_the_target_says_how_it_is_written(
    dialect: str, text: str, mode: WriteMode, temporary: bool, view: bool
) -> None:
    target = analysed(text, dialect).flows[0].target
    assert target is not None
    assert (target.mode, target.temporary, target.view) == (mode, temporary, view)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "create table n (like s including all)"),
        ("mysql", "create table n like s"),
        ("hive", "create table if not exists n like s stored as orc"),
        ("snowflake", "create table n like s"),
        ("bigquery", "create table n like s"),
        ("databricks", "create table n like s using delta"),
        ("db2", "create table n like s"),
        ("trino", "create table n (like s including properties)"),
        ("clickhouse", "create table n as s engine = Memory"),
        ("saphana", "create table n like s with no data"),
    ],
)
def test_create_table_like_takes_a_shape_and_no_data(dialect: str, text: str) -> None:
    lineage = analysed(text, dialect)
    assert [(flow.outputs, [str(name) for name in flow.sources]) for flow in lineage.flows] == [((), ["s"])]
    assert [(change.kind, str(change.other)) for change in lineage.changes] == [(StatementKind.CREATE_TABLE_LIKE, "s")]


def test_of_a_temporary_table_its_shape_tells_no_source() -> None:
    lineage = analysed("create temp table n (like s)")
    assert lineage.flows == ()
    assert [(change.kind, str(change.other)) for change in lineage.changes] == [(StatementKind.CREATE_TABLE_LIKE, "s")]


@pytest.mark.parametrize(
    ("dialect", "text", "lines"),
    [
        ("snowflake", "create table n clone s", {"into N", "from S", "* = S"}),
        ("databricks", "create table n shallow clone s", {"into n", "from s", "* = s"}),
        ("saphana", "create table n like s with data", {"into N", "from S", "* = S"}),
        ("postgres", "create table n partition of s for values in (1)", {"into n", "from s"}),
    ],
)
def test_what_brings_rows_along_is_made_of_the_other_table(dialect: str, text: str, lines: set[str]) -> None:
    assert lines_of_flows(text, dialect) == [lines]


@pytest.mark.parametrize(
    "text", ["copy t from program 'p'", "copy (select a from t) to program 'p'", "copy t to stdout"]
)
def test_what_a_process_sends_or_takes_has_no_name(text: str) -> None:
    assert lines_of_flows(text) == []


@pytest.mark.parametrize(
    ("dialect", "value", "columns"),
    [
        ("tsql", "dbo.f(x, s.y + 1).ToString()", {"x", "y"}),
        ("tsql", "hierarchyid::Parse(x).GetLevel()", {"x"}),
        ("tsql", "cast(x as hierarchyid).GetAncestor(y).ToString()", {"x", "y"}),
        ("tsql", "s.x.STBuffer(y).STAsText()", {"x", "y"}),
        ("oracle", "xmltype(x).extract('/a').getStringVal()", {"X"}),
        ("oracle", "rtrim(xmlagg(xmlelement(e, x, ',').extract('//text()') order by y).getclobval(), ',')", {"X", "Y"}),
        ("oracle", 'xmlelement("A", xmlattributes(x as "k"), xmlforest(y as "z")).getclobval()', {"X", "Y"}),
        ("oracle", "xmlelement(name e, x).getclobval()", {"X"}),
        ("oracle", "xmltype(listagg(x, ',') within group (order by y)).getclobval()", {"X", "Y"}),
        ("duckdb", "upper(x).substr(y, 3)", {"x", "y"}),
        ("duckdb", "f(sum(x) over (partition by y)).substr(1)", {"x", "y"}),
        ("duckdb", "f(x between y and 3, z in (1, 2), d[1]).substr(1)", {"x", "y", "z", "d"}),
    ],
)
def test_what_stands_before_a_method_is_a_value_of_columns(dialect: str, value: str, columns: set[str]) -> None:
    (flow,) = analysed(f"insert into t (a) select {value} from s", dialect).flows
    (output,) = flow.outputs
    assert {one.column for reference in output.references for one in reference.sources} == columns


@pytest.mark.parametrize("shape", ["with (a int, b varchar(9) '@b')", "with d.kind"])
def test_rows_of_a_document_come_from_no_table(shape: str) -> None:
    (lines,) = lines_of_flows(f"insert into t (a) select x.a from openxml(@h, '/r', 2) {shape} x", "tsql")
    assert lines == {"into t", "a is constant"}
