"""Views that the catalog defines: columns even of a bare query, once per definition, and nothing where it stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record

Opened = Callable[..., Shop]
TABLES = {"public.src": ("a", "b"), "public.old": ("a", "b"), "public.tgt": ("a", "b")}


def processed(made: Shop, name: str) -> bool:
    entity = made.catalog.get(f"tables/name/{made.warehouse.service}.db.public.{name}")
    return bool(entity.get("processedLineage"))


@pytest.mark.parametrize(
    ("kind", "definition"),
    [
        ("View", "select b as one, a as two from src"),
        ("View", "with q as (select * from src) select q.b as one, q.a as two from q"),
        ("View", "create view v as select b as one, a as two from src"),
        ("View", "create or replace view v (one, two) as select b, a from src"),
        ("MaterializedView", "select b as one, a as two from public.src"),
    ],
)
def test_a_definition_gives_columns_bare_query_or_statement(shop: Opened, kind: str, definition: str) -> None:
    made = shop(TABLES)
    made.define("v", ("one", "two"), definition, kind)
    outcome = made.run_definitions()
    assert outcome.columns == {("src.b", "v.one"), ("src.a", "v.two")}
    (request,) = outcome.requests
    assert request.edge.lineage_details.source == "ViewLineage"


def test_a_definition_whose_lineage_stands_writes_nothing(shop: Opened) -> None:
    made = shop(TABLES)
    made.define("v", ("one",), "select a as one from src where b = 'secret'")
    first = made.run_definitions()
    assert first.report.counts.new == 1
    assert processed(made, "v")
    assert "secret" not in first.sql("public.src", "public.v")
    second = made.run_definitions()
    assert second.requests == ()
    assert second.outcomes == (("skipped", "unchanged"),)


def test_without_the_incremental_step_it_is_read_again_and_changes_nothing(shop: Opened) -> None:
    made = shop(TABLES)
    made.define("v", ("one",), "select a as one from src")
    made.run_definitions()
    again = made.run_definitions(incremental=False)
    assert set(again.edges) == {("public.src", "public.v")}
    assert again.report.counts.new == again.report.counts.replaced == 0


def test_a_definition_that_changes_ends_the_old_lineage_and_only_that(shop: Opened) -> None:
    made = shop(TABLES)
    made.define("v", ("one",), "select a as one from old")
    made.define("w", ("one",), "select a as one from old")
    made.run_definitions()
    made.define("v", ("one",), "select a as one from src")
    assert not processed(made, "v")
    outcome = made.run_definitions()
    assert set(outcome.edges) == {("public.src", "public.v")}
    assert outcome.report.counts.replaced == 1
    upstream = [key for key in made.catalog.edges(made.warehouse.service) if key[1] in ("public.v", "public.w")]
    assert ("public.old", "public.w") in upstream


def test_a_query_over_a_view_ends_at_the_view_and_the_view_at_its_tables(shop: Opened) -> None:
    made = shop(TABLES)
    made.define("v", ("one",), "select a as one from src")
    outcome = made.run_definitions("insert into tgt (a) select one from v")
    assert outcome.columns == {("src.a", "v.one"), ("v.one", "tgt.a")}


def test_a_definition_that_no_parser_reads_is_given_up_with_its_place_and_not_silently(shop: Opened) -> None:
    made = shop(TABLES)
    made.define("v", ("one",), "select (((( from src ))")
    outcome = made.run_definitions()
    assert outcome.edges == {}
    assert not processed(made, "v")


def test_what_an_older_log_defined_does_not_outweigh_what_the_catalog_has(shop: Opened) -> None:
    made = shop(TABLES)
    made.define("v", ("one",), "select a as one from src")
    outcome = made.run_definitions(Record("create view v as select a as one from old", at=1.0))
    assert set(outcome.edges) == {("public.src", "public.v")}


def test_a_definition_that_comes_again_word_for_word_has_stood_since_it_first_came(shop: Opened) -> None:
    made = shop({**TABLES, "public.v": ("one",)})
    first, other = "create or replace view v as select a as one from src", "create or replace view v as select 1 as one"
    outcome = made.run(Record(first, at=100.0), Record(other, at=200.0), Record(first, at=300.0))
    (contribution,) = outcome.edges["public.src", "public.v"].contributions
    assert (contribution.first_seen, contribution.last_seen) == (100.0, 300.0)
    changed = "create or replace view v as select b as one from src"
    outcome = made.run(Record(first, at=100.0), Record(changed, at=400.0))
    (contribution,) = outcome.edges["public.src", "public.v"].contributions
    assert (contribution.first_seen, contribution.last_seen) == (400.0, 400.0)
