"""Columns: by position where SQL means positions, through stars and subqueries, with the expression that made them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.behaviour.conftest import Shop

Opened = Callable[..., Shop]
TABLES = {
    "public.src": ("a", "b"),
    "public.tgt": ("a", "b"),
    "public.wide": ("a", "b", "c", "d"),
    "public.other": ("id", "x"),
}


def test_an_insert_without_a_column_list_goes_by_position(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt select a as b, b as a from src")
    assert outcome.columns == {("src.a", "tgt.a"), ("src.b", "tgt.b")}


def test_a_star_over_a_subquery_gives_what_the_subquery_gives(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into wide (a, c) select * from (select a, b as c from src) q")
    assert outcome.columns == {("src.a", "wide.a"), ("src.b", "wide.c")}


def test_a_qualified_star_over_a_subquery_is_expanded(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt select x.* from (select a, b from src) x")
    assert outcome.columns == {("src.a", "tgt.a"), ("src.b", "tgt.b")}


def test_a_star_except_a_column_leaves_it_out(shop: Opened) -> None:
    made = shop({"ds.wide": ("a", "b", "c"), "ds.tgt": ("a", "c")}, dialect="bigquery", schema="ds")
    outcome = made.run("insert into ds.tgt select * except (b) from ds.wide")
    assert outcome.columns == {("wide.a", "tgt.a"), ("wide.c", "tgt.c")}


def test_a_star_over_a_join_takes_the_columns_of_both_sides(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into wide select * from src join other on other.id = src.a")
    assert outcome.columns == {
        ("src.a", "wide.a"),
        ("src.b", "wide.b"),
        ("other.id", "wide.c"),
        ("other.x", "wide.d"),
    }


def test_a_star_is_expanded_with_the_catalog_s_columns_whatever_comes_between(shop: Opened) -> None:
    outcome = shop(TABLES).run("with q as (select * from src), r as (select * from q) insert into tgt select * from r")
    assert outcome.columns == {("src.a", "tgt.a"), ("src.b", "tgt.b")}


def test_the_expression_that_made_a_column_is_told_without_its_literals(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt (a) select coalesce(upper(b), 'secret') from src")
    (mapping,) = outcome.edges["public.src", "public.tgt"].edge.lineage_details.columns_lineage
    assert mapping.function is not None
    assert mapping.function.upper().startswith("COALESCE(UPPER(")
    assert "secret" not in mapping.function


@pytest.mark.parametrize(
    "expression", ["cast(b as int)", "b::text", "coalesce(b, b)", "case when b > 1 then b end", "max(b) over ()"]
)
def test_casts_and_functions_lose_no_column(shop: Opened, expression: str) -> None:
    assert ("src.b", "tgt.a") in shop(TABLES).run(f"insert into tgt (a) select {expression} from src").columns


def test_a_column_that_two_sources_may_have_makes_no_column_edge(shop: Opened) -> None:
    made = shop({"public.left_one": (), "public.right_one": (), "public.tgt": ("a",)})
    outcome = made.run("insert into tgt (a) select v from left_one, right_one")
    assert outcome.columns == set()
    assert set(outcome.edges) == {("public.left_one", "public.tgt"), ("public.right_one", "public.tgt")}


def test_how_a_column_takes_part_is_told_filters_and_joins_too(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "insert into tgt (a, b) select src.a, md5(src.b) from src join other on other.id = src.a where other.x > 7"
    )
    (said,) = outcome.edges["public.other", "public.tgt"].contributions
    assert {(one.transformation.type.value, one.transformation.subtype.value) for one in said.columns} == {
        ("INDIRECT", "JOIN"),
        ("INDIRECT", "FILTER"),
    }
    (direct,) = outcome.edges["public.src", "public.tgt"].contributions
    masked = {one.to_column.rpartition(".")[2]: one.transformation.masking for one in direct.columns if one.to_column}
    assert masked == {"a": False, "b": True}


def test_no_column_edge_of_the_wire_is_a_filter(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt (a) select a from src where b > 1")
    assert outcome.columns == {("src.a", "tgt.a")}


def test_an_update_takes_its_columns_from_where_it_says(shop: Opened) -> None:
    outcome = shop(TABLES).run("update tgt set a = o.x from other o where o.id = tgt.b")
    assert outcome.columns == {("other.x", "tgt.a")}


def test_less_certain_edges_say_so(shop: Opened) -> None:
    sure = shop(TABLES).run("insert into tgt (a) select a from src")
    (one,) = sure.edges["public.src", "public.tgt"].contributions
    made = shop({"public.blind": (), "public.tgt": ("a", "b")})
    unsure = made.run("insert into tgt select * from blind")
    (other,) = unsure.edges["public.blind", "public.tgt"].contributions
    assert (one.confidence, one.parser) == (1.0, "sqlglot")
    assert other.confidence < one.confidence
