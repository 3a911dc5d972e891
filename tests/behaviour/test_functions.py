"""User-defined functions: from arguments to result, and through a table function to the tables behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.behaviour.conftest import Shop

Opened = Callable[..., Shop]
TABLES = {"public.src": ("a", "b"), "public.tgt": ("a", "b")}


def test_a_scalar_function_passes_lineage_from_its_arguments_to_its_result(shop: Opened) -> None:
    outcome = shop(TABLES).run("insert into tgt (a) select my_own(a, b, 'x') from src")
    assert outcome.columns == {("src.a", "tgt.a"), ("src.b", "tgt.a")}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "postgres",
            "create function recent(n int) returns table (one text, two text) language sql as"
            " $$ select b, a from src where a > n $$",
        ),
        (
            "postgres",
            "create function public.recent(n int) returns table (one text, two text) begin atomic"
            " select b, a from src where a > n; end",
        ),
        ("tsql", "create function recent(@n int) returns table as return (select b as one, a as two from src)"),
        (
            "snowflake",
            "create function recent(n int) returns table (one text, two text) as 'select b, a from src where a > n'",
        ),
    ],
)
def test_a_table_function_is_read_through(shop: Opened, dialect: str, text: str) -> None:
    made = shop(TABLES, dialect=dialect)
    call = "table(recent(7))" if dialect == "snowflake" else "recent(7)"
    outcome = made.run(text, f"insert into tgt (a, b) select r.one, r.two from {call} r")
    assert outcome.columns == {("src.b", "tgt.a"), ("src.a", "tgt.b")}


def test_a_function_that_nobody_defined_has_no_place_and_is_no_table(shop: Opened) -> None:
    outcome = shop({**TABLES, "public.recent": ("one",)}).run("insert into tgt (a) select r.one from recent(7) r")
    assert outcome.edges == {}
