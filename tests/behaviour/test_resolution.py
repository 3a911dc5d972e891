"""Names mean one entity or none: never a product, never a guess, and never the same question twice."""

from __future__ import annotations

from collections.abc import Callable

from connectors.source_settings import LineageConfig
from ingestion.model.outcomes import Outcome
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record

Opened = Callable[..., Shop]
COLUMNS = ("a", "b")


def test_a_name_that_two_schemas_have_is_ambiguous_and_gives_no_edge(shop: Opened) -> None:
    made = shop({"one.src": COLUMNS, "two.src": COLUMNS, "one.tgt": COLUMNS, "two.tgt": COLUMNS}, schema="")
    outcome = made.run("insert into tgt select a, b from src")
    assert outcome.edges == {}
    assert set(outcome.entities.names[Outcome.AMBIGUOUS]) == {"db.src", "db.tgt"}


def test_the_search_path_settles_what_the_query_leaves_open(shop: Opened) -> None:
    made = shop({"one.src": COLUMNS, "two.src": COLUMNS, "one.tgt": COLUMNS, "two.tgt": COLUMNS})
    outcome = made.run(Record("insert into tgt select a, b from src", schema="two"))
    assert set(outcome.edges) == {("two.src", "two.tgt")}


def test_a_table_of_that_name_in_another_database_gets_no_edge(shop: Opened) -> None:
    made = shop({"other.public.src": COLUMNS, "db.public.tgt": COLUMNS})
    outcome = made.run("insert into db.public.tgt select a, b from db.public.src")
    assert outcome.edges == {}


def test_case_follows_the_dialect_and_the_exact_name_wins(shop: Opened) -> None:
    made = shop(
        {"PUBLIC.SRC": ("A",), "PUBLIC.src": ("a",), "PUBLIC.TGT": ("A",)}, dialect="snowflake", schema="PUBLIC"
    )
    outcome = made.run("insert into tgt select a from src", 'insert into tgt select "a" from "src"')
    assert outcome.columns == {("SRC.A", "TGT.A"), ("src.a", "TGT.A")}


def test_an_upper_case_name_finds_the_lower_case_table_of_a_catalog(shop: Opened) -> None:
    made = shop({"public.src": ("a",), "public.tgt": ("a",)}, dialect="snowflake", schema="PUBLIC")
    assert made.run("insert into tgt select a from src").columns == {("src.a", "tgt.a")}


def test_an_unknown_table_is_asked_for_once_and_not_once_a_query(shop: Opened) -> None:
    made = shop({"public.tgt": COLUMNS})
    outcome = made.run(*(f"insert into tgt (a) select x{n} from nowhere.nothing" for n in range(100)))
    asked = outcome.lookups
    assert asked.bulk_lookups + asked.field_searches + asked.fqn_lookups < 12  # type: ignore[attr-defined]
    assert outcome.entities.names[Outcome.UNRESOLVED] == {"db.nowhere.nothing": 100}


def test_four_parts_mean_the_service_that_they_name(shop: Opened) -> None:
    made = shop({"public.tgt": COLUMNS}, dialect="tsql", schema="public")
    made.add({"sales.dbo.src": COLUMNS}, service="linked")
    outcome = made.run("insert into tgt select a, b from far.sales.dbo.src", catalogs={"far": "linked"})
    assert set(outcome.edges) == {("dbo.src", "public.tgt")}


def test_four_parts_of_an_unknown_server_mean_nothing_here(shop: Opened) -> None:
    made = shop({"public.tgt": COLUMNS, "dbo.src": COLUMNS}, dialect="tsql", schema="public")
    assert made.run("insert into tgt select a, b from far.db.dbo.src").edges == {}


def test_a_trino_catalog_means_the_service_that_it_is_mapped_to(shop: Opened) -> None:
    made = shop({"hive.web.clicks": COLUMNS}, dialect="trino", database="hive", schema="web")
    made.add({"shopdb.sales.orders": COLUMNS}, service="mysql_shop")
    outcome = made.run(
        "insert into hive.web.clicks select a, b from mysql.sales.orders", catalogs={"mysql": "mysql_shop.shopdb"}
    )
    assert set(outcome.edges) == {("sales.orders", "web.clicks")}


def test_another_service_is_looked_at_only_for_what_the_own_one_lacks(shop: Opened) -> None:
    made = shop({"public.src": COLUMNS, "public.tgt": COLUMNS})
    made.add({"public.src": COLUMNS, "public.only_there": COLUMNS}, service="other_one")
    outcome = made.run(
        "insert into tgt select a, b from src", "insert into tgt (a) select a from only_there", others=("other_one",)
    )
    ends = {request.from_entity.fully_qualified_name for request in outcome.requests}
    assert ends == {f"{made.warehouse.service}.db.public.src", "other_one.db.public.only_there"}


def test_an_edge_between_databases_or_services_says_that_it_crosses(shop: Opened) -> None:
    own = {"public.src": ("a",), "public.tgt": ("a",), "public.v": ("a",), "elsewhere.public.far": ("a",)}
    made = shop(own, others=("beside",))
    made.add({"public.only_there": ("a",)}, service="beside")
    outcome = made.run(
        "insert into tgt (a) select a from src",
        "insert into tgt (a) select a from elsewhere.public.far",
        "insert into tgt (a) select a from only_there",
        "create view v as select a from elsewhere.public.far",
    )
    sources = {edge: request.edge.lineage_details.source for edge, request in outcome.edges.items()}
    assert sources == {
        ("public.src", "public.tgt"): "QueryLineage",
        ("public.far", "public.tgt"): "CrossDatabaseLineage",
        ("public.only_there", "public.tgt"): "CrossDatabaseLineage",
        ("public.far", "public.v"): "ViewLineage",
    }


def test_a_name_that_two_other_services_have_is_ambiguous(shop: Opened) -> None:
    made = shop({"public.tgt": COLUMNS})
    for service in ("left_one", "right_one"):
        made.add({"public.shared": COLUMNS}, service=service)
    outcome = made.run("insert into tgt select a, b from shared", others=("left_one", "right_one"))
    assert outcome.edges == {}
    assert set(outcome.entities.names[Outcome.AMBIGUOUS]) == {"db.public.shared"}


def test_filters_hold_for_both_ends_of_query_lineage_and_are_counted(shop: Opened) -> None:
    tables = {"public.src": COLUMNS, "public.tgt": COLUMNS, "scratch.tgt": COLUMNS, "scratch.src": COLUMNS}
    log = (
        "insert into public.tgt select a, b from public.src",
        "insert into scratch.tgt select a, b from public.src",
        "insert into public.tgt select a, b from scratch.src",
    )
    filters = LineageConfig.model_validate({"schemaFilterPattern": {"excludes": ["scratch"]}})
    outcome = shop(tables).run(*log, filters=filters)
    assert set(outcome.edges) == {("public.src", "public.tgt")}
    assert outcome.outcomes.count(("skipped", "filtered")) == 2


def test_an_included_table_keeps_its_edges_and_the_others_go(shop: Opened) -> None:
    tables = {"public.src": COLUMNS, "public.tgt": COLUMNS, "public.tgt_old": COLUMNS}
    filters = LineageConfig.model_validate({"tableFilterPattern": {"includes": ["src$", "tgt$"]}})
    outcome = shop(tables).run(
        "insert into tgt select a, b from src", "insert into tgt_old select a, b from src", filters=filters
    )
    assert set(outcome.edges) == {("public.src", "public.tgt")}


def test_a_database_before_a_colon_is_no_owner_and_a_server_s_no_own_one(shop: Opened) -> None:
    made = shop({"own.src": COLUMNS, "own.tgt": COLUMNS, "far.src": COLUMNS}, dialect="informix", schema="own")
    assert set(made.run("insert into db:own.tgt select a, b from db:own.src").edges) == {("own.src", "own.tgt")}
    for elsewhere in ("db@srv:own.src", "far:own.src", "far:src"):
        assert made.run(f"insert into own.tgt select a, b from {elsewhere}").edges == {}
