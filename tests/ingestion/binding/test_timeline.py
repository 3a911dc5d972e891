"""Which relation a name means, over time."""

from __future__ import annotations

import pytest

from ingestion.binding.binder import bind
from ingestion.binding.timeline import NameEvent, NameEventKind, Occurrence, SchemaProvider, without_names_in_between
from ingestion.model.lineage import Column
from ingestion.model.namespaces import Namespace, RelationKey
from ingestion.parsing.sqlglot.tier import parse
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


def test_a_temporary_table_that_is_made_in_a_schema_is_found_by_its_whole_name() -> None:
    log = bound(
        [
            ("one", "CREATE TEMP TABLE web.t AS SELECT x AS a FROM hidden"),
            ("one", "INSERT INTO from_one SELECT * FROM web.t"),
            ("two", "INSERT INTO from_two (a) SELECT a FROM web.t"),
            ("one", "INSERT INTO from_other (a) SELECT a FROM shop.t"),
            ("one", "DROP TABLE web.t"),
            ("one", "INSERT INTO from_left (a) SELECT a FROM web.t"),
        ]
    )
    assert edges(log) == {
        ("hidden.x", "from_one.a"),
        ("t.a", "from_two.a"),
        ("t.a", "from_other.a"),
        ("t.a", "from_left.a"),
    }


def test_a_temporary_table_of_the_schema_that_is_in_use_needs_no_schema() -> None:
    log = bound(["CREATE TEMP TABLE w.t AS SELECT x AS a FROM hidden", "INSERT INTO o SELECT * FROM t"], path=("w",))
    assert edges(log) == {("hidden.x", "o.a")}


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


@pytest.mark.parametrize(
    ("defined", "told"),
    [
        ("CREATE OR REPLACE VIEW v AS SELECT a FROM src", [("create", "db.s.v")]),
        ("CREATE VIEW IF NOT EXISTS v AS SELECT a FROM src", [("create", "db.s.v")]),
        ("CREATE VIEW v AS SELECT a FROM src", [("create", "db.s.v")]),
        ("DROP TABLE v", []),
    ],
)
def test_what_is_only_listed_as_a_definition_replaces_and_drops_nothing(
    defined: str, told: list[tuple[str, str]]
) -> None:
    texts = ("INSERT INTO report (a) SELECT a FROM v", defined)
    listed, ran = (
        bind(
            [
                Occurrence(text, parse(text, "spark"), Namespace("db", ("s",)), (float(at), at), ran=seen)
                for at, text in enumerate(texts, 1)
            ],
            SchemaProvider(lambda key: (Column("a"),) if key.table == "v" else None),
        )
        for seen in (False, True)
    )
    assert [(str(event.kind), str(event.key)) for event in listed.events] == told
    assert [str(event.kind) for event in ran.events] != [kind for kind, _name in told]
    assert not any(relation.unmade for relation in listed.relations)


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


def told(statements: list[str]) -> list[str]:
    log = bound([f"ALTER TABLE {s.replace(' -> ', ' RENAME TO ')}" if " -> " in s else s for s in statements])
    names = {
        event: event.key.table + (f" {event.other.table}" if event.other is not None else "") for event in log.events
    }
    return [f"{event.kind} {names[event]} {event.time:.0f}" for event in log.events]


@pytest.mark.parametrize(
    ("statements", "events"),
    [
        (BUILT[:4], ["create report__new 0", "rename report__new report 2", "drop report__old 3"]),
        # the log begins in the middle of a build
        (BUILT[1:4], ["rename report__new report 1", "drop report__old 2"]),
        # and ends before its last statement, or in the middle of it
        (BUILT[:3], ["create report__new 0", "rename report report__old 1", "rename report__new report 2"]),
        (BUILT[:2], ["create report__new 0", "rename report report__old 1"]),
        # the drop comes with the next build
        (
            ["a -> b", "c -> a", "DROP TABLE b", "a -> b", "CREATE TABLE a (x int)"],
            ["rename c a 1", "drop b 2", "rename a b 3", "create a 4"],
        ),
        (["a -> b", "CREATE TABLE a AS SELECT x FROM s", "DROP TABLE b"], ["drop a 0", "create a 1", "drop b 2"]),
        (["a -> b", "b -> c", "d -> a", "DROP TABLE c"], ["drop b 1", "rename d a 2", "drop c 3"]),
        # nothing took the name
        (["a -> b", "DROP TABLE b"], ["drop a 0", "drop b 1"]),
        (["c -> a", "a -> b", "DROP TABLE b"], ["drop c 0", "drop a 1", "drop b 2"]),
        # what took it went too
        (["a -> b", "c -> a", "DROP TABLE b", "DROP TABLE a"], ["drop c 1", "drop b 2", "drop a 3"]),
        (["DROP TABLE a", "c -> a"], ["drop a 0", "rename c a 1"]),
        (["a -> b"], ["rename a b 0"]),
        (["a -> b", "b -> c"], ["rename a c 0"]),
        (["a -> b", "b -> a"], []),
        (["a -> b", "CREATE TABLE a (x int)", "b -> c"], ["rename a c 0", "create a 1"]),
        # names that others bore meanwhile
        (["a -> b", "b -> c", "d -> b"], ["rename a b 0", "rename b c 1", "rename d b 2"]),
        (["c -> d", "a -> b", "b -> c"], ["rename c d 0", "rename a c 1"]),
        (["a -> b", "c -> d", "b -> c"], ["rename a b 0", "rename c d 1", "rename b c 2"]),
        (["a -> t", "b -> a", "t -> b"], ["rename a t 0", "rename b a 1", "rename t b 2"]),
    ],
)
def test_names_that_something_only_passed_through_are_not_told(statements: list[str], events: list[str]) -> None:
    assert told(statements) == events


def test_what_is_swapped_is_told_as_it_was() -> None:
    name, other = (RelationKey(("d", "p", table)) for table in "ab")
    swap = NameEvent(NameEventKind.SWAP, name, 1.0, other)
    drop = NameEvent(NameEventKind.DROP, other, 2.0)
    aside = NameEvent(NameEventKind.RENAME, RelationKey(("d", "p", "c")), 0.0, name)
    assert without_names_in_between([aside, swap, drop]) == (aside, swap, drop)
