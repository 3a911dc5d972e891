"""Temporary and staging relations fold away, with their columns."""

from __future__ import annotations

import gc

import networkx as nx
import pytest

from ingestion.binding.temporary_tables import DEPTH_LIMIT, inline_temporary_tables
from tests.support.captured_logs import bound, edges, table_edges


def test_columns_and_expressions_are_carried_through_hops() -> None:
    log = bound(
        [
            "CREATE TEMP TABLE one AS SELECT id, upper(name) AS big FROM people",
            "CREATE TEMP TABLE two AS SELECT id, max(big) AS biggest FROM one GROUP BY id",
            "INSERT INTO result (id, top) SELECT * FROM two",
        ]
    )
    assert edges(log) == {("people.id", "result.id"), ("people.name", "result.top")}
    (flow,) = inline_temporary_tables(log)
    (reference,) = flow.content.columns["top"]
    assert reference.expression == "MAX(UPPER(people.name))"
    assert reference.transformation.subtype == "AGGREGATION"
    assert {r.transformation.subtype for r in flow.content.indirect} == {"GROUP_BY"}


def test_one_name_in_two_sessions_gives_two_edges_and_not_four() -> None:
    log = bound(
        [
            ("a", "CREATE TEMP TABLE stage AS SELECT x FROM source_a"),
            ("b", "CREATE TEMP TABLE stage AS SELECT x FROM source_b"),
            ("a", "INSERT INTO target_a (x) SELECT x FROM stage"),
            ("b", "INSERT INTO target_b (x) SELECT x FROM stage"),
        ]
    )
    assert sorted(table_edges(log)) == [("source_a", "target_a"), ("source_b", "target_b")]


def test_a_temporary_table_made_again_starts_anew() -> None:
    log = bound(
        [
            "CREATE TEMP TABLE stage AS SELECT x FROM one",
            "INSERT INTO t1 (x) SELECT x FROM stage",
            "DROP TABLE stage",
            "CREATE TEMP TABLE stage AS SELECT x FROM two",
            "INSERT INTO t2 (x) SELECT x FROM stage",
        ]
    )
    assert table_edges(log) == [("one", "t1"), ("two", "t2")]


VIEWS = [
    "CREATE TABLE made AS SELECT x FROM one",
    "CREATE VIEW shown AS SELECT x FROM made",
    "CREATE VIEW above AS SELECT x FROM shown",
    "INSERT INTO kept (x) SELECT x FROM above",
]


def test_views_end_with_the_table_that_a_drop_takes_them_along_with() -> None:
    log = bound([*VIEWS, "DROP TABLE made CASCADE"])
    assert table_edges(log) == [("one", "kept")]
    assert edges(log) == {("one.x", "kept.x")}


def test_views_made_again_with_their_table_stand() -> None:
    log = bound([*VIEWS, "DROP TABLE IF EXISTS made CASCADE", *VIEWS])
    assert {*table_edges(log)} == {("one", "made"), ("made", "shown"), ("shown", "above"), ("above", "kept")}
    log = bound([*VIEWS, "DROP TABLE made CASCADE", "CREATE OR REPLACE VIEW shown AS SELECT x FROM two"])
    assert ("two", "shown") in table_edges(log)


def test_a_view_over_a_table_that_nothing_shows_made_again_stands() -> None:
    log = bound(["DROP TABLE IF EXISTS filled CASCADE", "CREATE VIEW shown AS SELECT x FROM filled"])
    assert table_edges(log) == [("filled", "shown")]


def test_where_a_drop_leaves_views_they_tell_what_the_table_was_made_of() -> None:
    log = bound([*VIEWS, "DROP TABLE made CASCADE"], dialect="duckdb")
    assert table_edges(log) == [("one", "shown"), ("shown", "above"), ("above", "kept")]


def test_a_reader_sees_what_was_written_before_it_and_not_after() -> None:
    log = bound(
        [
            "CREATE TEMP TABLE stage AS SELECT x FROM one",
            "INSERT INTO early (x) SELECT x FROM stage",
            "INSERT INTO stage SELECT y FROM two",
            "INSERT INTO late (x) SELECT x FROM stage",
        ]
    )
    assert edges(log) == {("one.x", "early.x"), ("one.x", "late.x"), ("two.y", "late.x")}


def test_a_staging_table_that_is_dropped_for_good_folds() -> None:
    log = bound(
        [
            "CREATE TABLE stage AS SELECT x FROM one",
            "INSERT INTO result (x) SELECT x FROM stage",
            "DROP TABLE stage",
        ]
    )
    assert edges(log) == {("one.x", "result.x")}


def test_a_staging_table_that_feeds_itself_does_not_loop() -> None:
    log = bound(
        [
            "CREATE TABLE stage AS SELECT x FROM one",
            "INSERT INTO stage SELECT x FROM stage",
            "INSERT INTO result (x) SELECT x FROM stage",
            "DROP TABLE stage",
        ]
    )
    assert edges(log) == {("one.x", "result.x")}


@pytest.mark.parametrize("kind", ["TEMP TABLE", "TABLE"])
def test_a_table_that_is_updated_out_of_itself_again_and_again_is_no_explosion_of_texts(kind: str) -> None:
    """A temporary one has 2 texts after one update and 1,024 after ten; a staging table is gone round in a circle."""
    updates = [f"UPDATE stage SET x = x + {'y' if number % 2 else 'z'} * {number}" for number in range(10)]
    log = bound(
        [
            f"CREATE {kind} stage AS SELECT x, y, z FROM one",
            *updates,
            "INSERT INTO result (x) SELECT x FROM stage",
            "DROP TABLE stage",
        ]
    )
    assert edges(log) == {(f"one.{column}", "result.x") for column in "xyz"}
    (flow,) = inline_temporary_tables(log)
    assert len(flow.content.columns["x"]) < 200


def test_ten_layers_of_three_staging_tables_are_no_path_explosion() -> None:
    statements = [f"CREATE TEMP TABLE s0_{n} AS SELECT x FROM origin" for n in range(3)]
    for layer in range(1, 10):
        union = " UNION ALL ".join(f"SELECT x FROM s{layer - 1}_{n}" for n in range(3))
        statements += [f"CREATE TEMP TABLE s{layer}_{n} AS {union}" for n in range(3)]
    statements.append(
        "INSERT INTO result (x) SELECT x FROM s9_0 UNION ALL SELECT x FROM s9_1 UNION ALL SELECT x FROM s9_2"
    )
    log = bound(statements)
    assert edges(log) == {("origin.x", "result.x")}
    (flow,) = inline_temporary_tables(log)
    assert len(flow.content.hops) == 3 + 9 * 9 + 3  # origin to the first layer, nine steps of nine reads, to the result


def test_chains_beyond_the_depth_limit_say_so() -> None:
    statements = ["CREATE TEMP TABLE s0 AS SELECT x FROM origin"]
    statements += [f"CREATE TEMP TABLE s{n} AS SELECT x FROM s{n - 1}" for n in range(1, DEPTH_LIMIT + 2)]
    statements.append(f"INSERT INTO result (x) SELECT x FROM s{DEPTH_LIMIT + 1}")
    (flow,) = inline_temporary_tables(bound(statements))
    assert flow.too_deep


def test_a_star_over_a_temporary_table_of_unknown_columns_reaches_its_source() -> None:
    log = bound(["CREATE TEMP TABLE stage AS SELECT * FROM unknown", "CREATE TABLE result AS SELECT * FROM stage"])
    (flow,) = inline_temporary_tables(log)
    assert [(log.relations[number].key.table) for number, _star in flow.content.stars] == ["unknown"]


def test_no_graph_of_a_log_outlives_it() -> None:
    """A process binds many, and seldom looks for what refers to itself alone."""
    gc.collect(0)  # what is older is not looked at: thousands of tests before this one may have left a lot
    gc.disable()
    try:
        log = bound(
            [
                "CREATE TEMP TABLE n AS SELECT a FROM s",
                "INSERT INTO w SELECT a FROM n",
                "CREATE TABLE v AS SELECT a FROM w",
            ]
        )
        assert len(inline_temporary_tables(log)) == 2
        left = [one for one in gc.get_objects(generation=0) if isinstance(one, nx.DiGraph) and len(one)]
    finally:
        gc.enable()
    assert not left
