"""Temporary and staging tables: whose they are, when they live, and what is read through them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record

Opened = Callable[..., Shop]


def two_sessions() -> list[Record]:
    return [
        Record("create temp table tmp as select a from src1", "s1", 1.0),
        Record("create temp table tmp as select a from src2", "s2", 2.0),
        Record("insert into tgt1 select a from tmp", "s1", 3.0),
        Record("insert into tgt2 select a from tmp", "s2", 4.0),
    ]


TABLES = {f"public.{name}": ("a", "b") for name in ("src1", "src2", "tgt1", "tgt2")}


def test_a_name_that_two_sessions_use_gives_two_edges_and_not_four(shop: Opened) -> None:
    outcome = shop(TABLES).run(*two_sessions())
    assert set(outcome.edges) == {("public.src1", "public.tgt1"), ("public.src2", "public.tgt2")}


def test_a_name_may_begin_with_a_number(shop: Opened) -> None:
    outcome = shop(TABLES, dialect="tsql").run(
        "select a, null as b into #1 from src1",
        "update #1 set b = src2.b from src2",
        "insert into tgt1 (a, b) select #1.a, #1.b from #1",
        "delete from #1 where a in (select a from src2)",
        "drop table #1",
    )
    assert outcome.columns == {("src1.a", "tgt1.a"), ("src2.b", "tgt1.b")}
    assert not any(status == "dead" for status, _ in outcome.outcomes)


def test_a_table_variable_is_no_temporary_table_of_its_name(shop: Opened) -> None:
    outcome = shop(TABLES, dialect="tsql").run(
        "select a into #t from src2",
        "declare @t table (a int)",
        "insert into @t select a from src1",
        "insert into tgt1 (a) select a from @t",
        "insert into tgt2 (a) select a from #t",
    )
    assert outcome.columns == {("src1.a", "tgt1.a"), ("src2.a", "tgt2.a")}


def test_columns_and_text_are_carried_through(shop: Opened) -> None:
    outcome = shop(TABLES).run(*two_sessions())
    assert outcome.columns == {("src1.a", "tgt1.a"), ("src2.a", "tgt2.a")}
    assert outcome.sql("public.src1", "public.tgt1") == "insert into tgt1 select a from tmp"


def test_the_hops_are_told(shop: Opened) -> None:
    outcome = shop(TABLES).run(*two_sessions())
    hops = outcome.edges["public.src1", "public.tgt1"].edge.lineage_details.temp_lineage_tables
    assert {(hop.from_entity.rpartition(".")[2], hop.to_entity.rpartition(".")[2]) for hop in hops} == {
        ("src1", "tmp"),
        ("tmp", "tgt1"),
    }


def test_an_edge_tells_its_own_hops_once_each_and_none_of_another_edge(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create temp table one as select a from src1",
        "create temp table two as select a from src2 union all select a from one",
        "insert into two select a from one",
        "insert into tgt1 (a, b) select two.a, tgt2.b from two join tgt2 on true",
    )
    hops = {
        edge: [
            (hop.from_entity, hop.to_entity.rpartition(".")[2])
            for hop in request.edge.lineage_details.temp_lineage_tables
        ]
        for edge, request in outcome.edges.items()
    }
    service = outcome.requests[0].to_entity.fully_qualified_name.split(".")[0]  # type: ignore[union-attr]
    assert hops == {
        ("public.src1", "public.tgt1"): [("one", "two"), (f"{service}.db.public.src1", "one"), ("two", "tgt1")],
        ("public.src2", "public.tgt1"): [(f"{service}.db.public.src2", "two"), ("two", "tgt1")],
        ("public.tgt2", "public.tgt1"): [],
    }


def test_a_table_dropped_and_made_again_starts_anew(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create temp table tmp as select a from src1",
        "insert into tgt1 select a from tmp",
        "drop table tmp",
        "create temp table tmp as select b as a from src2",
        "insert into tgt2 select a from tmp",
    )
    assert outcome.columns == {("src1.a", "tgt1.a"), ("src2.b", "tgt2.a")}


EMPTYING = [
    ("postgres", "tmp", "truncate tmp"),
    ("postgres", "tmp", "/* all of it */ truncate table tmp restart identity"),
    ("postgres", "pg_temp.tmp", "delete from pg_temp.tmp"),
    ("mysql", "tmp", "truncate tmp"),
    ("tsql", "#tmp", "truncate table #tmp"),
    ("tsql", "#tmp", "delete #tmp"),
]


@pytest.mark.parametrize(("dialect", "name", "emptying"), EMPTYING)
def test_a_table_that_was_emptied_holds_what_is_written_since(
    shop: Opened, dialect: str, name: str, emptying: str
) -> None:
    temporary = "" if dialect == "tsql" else "temporary "
    outcome = shop(TABLES, dialect=dialect).run(
        f"create {temporary}table {name} (a int)",
        f"insert into {name} select a from src1",
        f"insert into tgt1 (a) select a from {name}",
        emptying,
        f"insert into {name} select b from src2",
        f"insert into tgt2 (a) select a from {name}",
        emptying,
        f"insert into tgt2 (b) select a from {name}",
    )
    assert outcome.columns == {("src1.a", "tgt1.a"), ("src2.b", "tgt2.a")}
    reason = "delete" if "delete" in emptying else "truncate"
    assert [outcome.outcomes[number] for number in (3, 6)] == [("skipped", reason)] * 2


@pytest.mark.parametrize(
    "kept",
    [
        "delete from tmp where a > 7",
        "truncate tmp, src2",
        "truncate other",
        "begin; truncate tmp; rollback",
        "set rowcount 5; delete from tmp",
    ],
)
def test_what_may_leave_rows_empties_nothing(shop: Opened, kept: str) -> None:
    outcome = shop(TABLES).run(
        "create temp table tmp as select a from src1",
        "create temp table other as select a from src1",
        kept,
        "insert into tmp select b from src2",
        "insert into tgt2 (a) select a from tmp",
    )
    assert outcome.columns == {("src1.a", "tgt2.a"), ("src2.b", "tgt2.a")}


@pytest.mark.parametrize(
    ("emptying", "made_of"),
    [("truncate table #tmp", {"src2.b"}), ("if @full = 1 truncate table #tmp", {"src1.a", "src2.b"})],
)
def test_a_block_may_empty_a_table_in_a_branch(shop: Opened, emptying: str, made_of: set[str]) -> None:
    outcome = shop(TABLES, dialect="tsql").run(
        "declare @full bit = 1; begin create table #tmp (a int); insert into #tmp select a from src1;"
        f" {emptying}; insert into #tmp select b from src2; insert into tgt2 (a) select a from #tmp end"
    )
    assert outcome.columns == {(one, "tgt2.a") for one in made_of}


@pytest.mark.parametrize("emptying", ["truncate v", "delete from v"])
def test_a_view_holds_what_its_tables_hold_whatever_is_emptied(shop: Opened, emptying: str) -> None:
    outcome = shop(TABLES).run(
        "create temp view v as select a from src1", emptying, "insert into tgt1 (a) select a from v"
    )
    assert outcome.columns == {("src1.a", "tgt1.a")}


def test_a_local_table_is_found_whatever_stands_before_its_name(shop: Opened) -> None:
    outcome = shop(TABLES, dialect="tsql").run(
        "select a into tempdb.dbo.#t from src1", "insert into tgt1 (a) select a from #t"
    )
    assert outcome.columns == {("src1.a", "tgt1.a")}


def test_what_one_session_empties_is_its_own(shop: Opened) -> None:
    first, second, *readers = two_sessions()
    emptied = Record("truncate tmp", "s2", 2.5)
    outcome = shop(TABLES).run(first, second, emptied, *readers)
    assert outcome.columns == {("src1.a", "tgt1.a")}


def test_a_table_that_stays_is_made_of_all_that_filled_it(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "insert into tgt1 (a) select a from src1", "truncate tgt1", "insert into tgt1 (a) select a from src2"
    )
    assert outcome.columns == {("src1.a", "tgt1.a"), ("src2.a", "tgt1.a")}
    assert ("skipped", "truncate") in outcome.outcomes


def test_a_temporary_view_is_read_through_like_a_table(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create temp view v as select a, b from src1 where a > 7", "insert into tgt1 (b) select a from v"
    )
    assert outcome.columns == {("src1.a", "tgt1.b")}


def test_without_the_step_no_temporary_table_is_followed(shop: Opened) -> None:
    outcome = shop(TABLES).run(*two_sessions(), inline_temporary=False)
    assert outcome.edges == {}


def test_a_graph_with_59049_paths_is_one_edge_at_once(shop: Opened) -> None:
    layers, width = 10, 3
    log = [f"create temp table l0_{i} as select a from src1" for i in range(width)]
    for layer in range(1, layers):
        for i in range(width):
            above = " union all ".join(f"select a from l{layer - 1}_{j}" for j in range(width))
            log.append(f"create temp table l{layer}_{i} as {above}")
    last = " union all ".join(f"select a from l{layers - 1}_{j}" for j in range(width))
    outcome = shop(TABLES).run(*log, f"insert into tgt1 (a) {last}")
    assert set(outcome.edges) == {("public.src1", "public.tgt1")}
    assert outcome.columns == {("src1.a", "tgt1.a")}


def test_a_staging_table_that_is_dropped_for_good_does_not_break_the_chain(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create table stage as select a from src1", "insert into tgt1 (a) select a from stage", "drop table stage"
    )
    assert outcome.columns == {("src1.a", "tgt1.a")}


def test_what_has_the_shape_of_a_table_has_no_rows_of_it(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create temp table shaped (like src1)",
        "insert into shaped select * from src2",
        "insert into tgt1 select * from shaped",
    )
    assert outcome.columns == {("src2.a", "tgt1.a"), ("src2.b", "tgt1.b")}
    assert outcome.outcomes[0] == ("skipped", "definition")
