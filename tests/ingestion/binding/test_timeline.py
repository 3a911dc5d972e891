"""Which relation a name means, over time."""

from __future__ import annotations

import pytest

from tests.support.captured_logs import bound, edges, table_edges


def test_a_table_renamed_into_place_keeps_its_lineage() -> None:
    log = bound(
        [
            "CREATE TABLE report_new AS SELECT a FROM src",
            "DROP TABLE report",
            "ALTER TABLE report_new RENAME TO report",
            "INSERT INTO mart (a) SELECT a FROM report",
        ]
    )
    assert edges(log) == {("src.a", "report.a"), ("report.a", "mart.a")}


def test_the_search_path_finds_the_first_schema_that_has_the_table() -> None:
    log = bound(
        ["CREATE TABLE copy AS SELECT * FROM t"],
        {"second.t": ["b"], "third.t": ["c"]},
        path=("first", "second", "third"),
    )
    assert edges(log) == {("t.b", "copy.b")}


def test_a_temporary_table_hides_the_permanent_one_from_its_session_only() -> None:
    log = bound(
        [
            ("one", "CREATE TEMP TABLE t AS SELECT x AS a FROM hidden"),
            ("one", "INSERT INTO from_one (a) SELECT a FROM t"),
            ("two", "INSERT INTO from_two (a) SELECT a FROM t"),
        ]
    )
    assert edges(log) == {("hidden.x", "from_one.a"), ("t.a", "from_two.a")}


def test_a_name_means_the_permanent_table_until_the_temporary_one_is_made() -> None:
    log = bound(
        [
            "INSERT INTO before (a) SELECT a FROM t",
            "CREATE TEMP TABLE t AS SELECT x AS a FROM hidden",
            "INSERT INTO after (a) SELECT a FROM t",
        ]
    )
    assert edges(log) == {("t.a", "before.a"), ("hidden.x", "after.a")}


def test_drop_and_create_in_one_job_is_no_staging_table() -> None:
    log = bound(["DROP TABLE IF EXISTS t", "CREATE TABLE t AS SELECT a FROM src", "CREATE TABLE u AS SELECT a FROM t"])
    assert table_edges(log) == [("src", "t"), ("t", "u")]


def test_what_happens_to_names_is_told_in_order_and_without_temporary_ones() -> None:
    log = bound(
        [
            "CREATE TABLE report_new AS SELECT a FROM src",
            "CREATE TEMP TABLE passing AS SELECT a FROM src",
            "DROP TABLE report",
            "ALTER TABLE report_new RENAME TO report",
            "DROP TABLE passing",
        ]
    )
    assert [(event.kind.value, str(event.key), str(event.other or ""), event.time) for event in log.events] == [
        ("create", "db.public.report_new", "", 0.0),
        ("drop", "db.public.report", "", 2.0),
        ("rename", "db.public.report_new", "db.public.report", 3.0),
    ]


BUILT = [
    "CREATE TABLE report__new AS SELECT a FROM src",
    "ALTER TABLE report RENAME TO report__old",
    "ALTER TABLE report__new RENAME TO report",
    "DROP TABLE report__old",
    "INSERT INTO mart (a) SELECT a FROM report",
]
"""As dbt and others build a table: beside the one that stands, which goes once the new one has its place."""


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("columns", [{}, {"report": ["a"]}])
def test_a_table_that_gives_its_place_to_another_and_goes_is_what_its_readers_read(
    times: int, columns: dict[str, list[str]]
) -> None:
    log = bound(["INSERT INTO mart (a) SELECT a FROM report", *BUILT * times], columns)
    assert set(table_edges(log)) == {("src", "report"), ("report", "mart")}
    assert edges(log) == {("src.a", "report.a"), ("report.a", "mart.a")}


def test_a_table_that_is_set_aside_and_kept_has_its_own_name() -> None:
    log = bound(["INSERT INTO mart (a) SELECT a FROM report", *BUILT[:3]])
    assert edges(log) == {("src.a", "report.a"), ("report__old.a", "mart.a")}
