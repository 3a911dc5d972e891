"""The cascade: the right parser for a text, limits that hold in any thread, and no text that spoils its neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ingestion.parser import LineageParser
from ingestion.parsing.parser_pool import ThreadedParser
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.tiers import ParseRequest
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record

Opened = Callable[..., Shop]
TABLES = {"public.src": ("id", "a", "b"), "public.tgt": ("id", "a", "b"), "public.more": ("id", "a")}
MERGE = (
    "merge into tgt t using src s on t.id = s.id when matched then update set a = s.a"
    " when not matched then insert (id, a) values (s.id, s.a)"
)


def test_a_merge_behind_a_comment_keeps_its_columns(shop: Opened) -> None:
    plain = shop(TABLES).run(MERGE)
    commented = shop(TABLES).run(f"/* nightly */ {MERGE}")
    assert plain.columns == commented.columns == {("src.id", "tgt.id"), ("src.a", "tgt.a")}


def test_each_edge_of_a_script_carries_its_own_statement(shop: Opened) -> None:
    script = "insert into tgt (a) select a from src where b = 'one'; insert into more (a) select b from src"
    outcome = shop(TABLES).run(script)
    assert outcome.sql("public.src", "public.tgt") == "insert into tgt (a) select a from src where b = ?"
    assert outcome.sql("public.src", "public.more") == "insert into more (a) select b from src"


def test_a_bad_statement_in_a_script_costs_only_itself(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "insert into tgt (a) select a from src; selec ((; insert into more (a) select b from src"
    )
    assert set(outcome.edges) == {("public.src", "public.tgt"), ("public.src", "public.more")}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("snowflake", "execute immediate $$insert into tgt (a) select a from src$$"),
        ("bigquery", "BEGIN insert into tgt (a) select a from src; END"),
        ("tsql", "[public].[tgt]"),
        ("postgres", "insert into tgt (a) select a from src where b = '{{ day }}'"),
        ("postgres", "insert into tgt (a)\\nselect a from src"),
        ("snowflake", "create or replace table tgt copy grants as select a from src"),
    ],
)
def test_texts_that_logs_really_hold_give_their_lineage(shop: Opened, dialect: str, text: str) -> None:
    if text == "[public].[tgt]":
        text = "insert into [public].[tgt] (a) select a from [public].[src]"
    outcome = shop(TABLES, dialect=dialect).run(text)
    assert ("public.src", "public.tgt") in outcome.edges


def test_a_statement_with_a_template_left_in_it_is_dead_and_not_read(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "insert into tgt (a) select a from src where b = {{ day }}; insert into more (a) select b from src"
    )
    assert ("dead", "templated") in outcome.outcomes
    assert set(outcome.edges) == {("public.src", "public.more")}


def test_a_copy_is_not_dropped(shop: Opened) -> None:
    outcome = shop(TABLES, dialect="snowflake").run("copy into tgt from 's3://bucket/day/' file_format = (type = csv)")
    assert outcome.outcomes == (("skipped", "unresolved"),)


@pytest.mark.parametrize("dialect", ["db2", "impala", "mariadb", "vertica", "soql", "greenplum", "informix"])
def test_dialects_that_a_parser_lacks_are_read_all_the_same(dialect: str) -> None:
    parser = LineageParser("insert into tgt (a) select a from src", dialect)
    assert [table.table.lower() for table in parser.source_tables] == ["src"]
    assert [table.table.lower() for table in parser.target_tables] == ["tgt"]


def test_a_time_limit_holds_in_a_worker_thread() -> None:
    deep = "select " + ", ".join(f"(select max(x{n}) from (select {n} as x{n}) q{n})" for n in range(4_000))
    request = ParseRequest("deep", f"insert into t {deep} from s", "snowflake")
    started = time.monotonic()
    with ThreadedParser(2, Limits(seconds=0.2)) as parser:
        (outcome,) = list(parser.parse([request]))
    assert time.monotonic() - started < 20
    assert outcome.attempts[0].reason == "timeout"


def test_a_parser_that_takes_too_long_keeps_no_other_statement_waiting() -> None:
    deep = "select " + ", ".join(f"(select max(x{n}) from (select {n} as x{n}) q{n})" for n in range(4_000))
    requests = [ParseRequest("deep", f"insert into t {deep} from s", "snowflake")]
    requests += [ParseRequest(str(n), f"insert into t{n} select a from s", "snowflake") for n in range(5)]
    with ThreadedParser(1, Limits(seconds=0.2)) as parser:
        outcomes = {outcome.key: outcome for outcome in parser.parse(requests)}
    assert all(outcomes[str(n)].symbolic is not None for n in range(5))


def test_a_literal_that_changes_makes_no_other_query(shop: Opened) -> None:
    log = [f"insert into tgt (a) select a from src where b = {n}" for n in range(50)]
    outcome = shop(TABLES).run(*log)
    (said,) = outcome.edges["public.src", "public.tgt"].contributions
    assert said.count == 50
    assert said.sql_query == "insert into tgt (a) select a from src where b = ?"


def test_positions_in_group_by_are_kept_and_literals_are_not(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt (a, b) select a, count(*) from src where id = 42 group by 1 order by 2")
    text = outcome.sql("public.src", "public.tgt")
    assert text.endswith("where id = ? group by 1 order by 2")


def test_a_text_in_which_a_quote_never_ends_is_stored_nowhere(shop: Opened) -> None:
    outcome = shop(TABLES).run(Record("insert into tgt (a) select 'never ends from src"))
    assert outcome.edges == {}


def test_options_of_a_table_are_no_columns_and_what_they_hold_is_no_type() -> None:
    """Else an INSERT by position would fill a column that is called password."""
    script = (
        'create table j using org.apache.spark.sql.jdbc options (url "jdbc:x://u:secret@h/d", password "secret");'
        " insert into j select a, b from s"
    )
    for dialect in ("databricks", "hive", "spark"):
        parser = LineageParser(script, dialect)
        assert {str(edge.target) for edge in parser.edges} == {"j.a", "j.b"}
        assert "secret" not in repr(parser.to_dict()).lower()


def test_quotes_that_a_setting_makes_strings_are_strings_where_no_column_can_stand() -> None:
    for text in ('insert into t (a, b) values (1, "x")', 'update t set a = "x" where b in ("x", "x")'):
        parser = LineageParser(text, "tsql")
        assert not parser.problems
        assert "x" not in {edge.source.column for edge in parser.edges}
    columns = LineageParser('insert into t select v.a from s cross apply (values ("b"), ("c")) v(a)', "tsql")
    assert {edge.source.column for edge in columns.edges} >= {"b", "c"}


def test_the_values_of_a_pivot_whose_columns_have_names_are_nowhere() -> None:
    text = "create table j as select * from (select a, b, c from s) pivot (sum(a) for b in ('v', 'w')) as p (x, y, z)"
    parser = LineageParser(text, "snowflake")
    assert {edge.target.column for edge in parser.edges} == {"X", "Y", "Z"}
