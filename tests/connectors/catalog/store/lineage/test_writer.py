"""The store gives the same reads whatever the order, repetition or partition of what it was told."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from connectors.catalog.contract import bulk_models
from connectors.catalog.picture import cards
from connectors.catalog.store import rows
from connectors.catalog.store.database import Database, open_database
from connectors.catalog.store.entities.entities import entity_id, get_id
from connectors.catalog.store.entities.registration import put_one
from connectors.catalog.store.indexes import ACTIVITY_FILLED, prepare_activity
from connectors.catalog.store.lineage import bulk_lineage, name_changes
from connectors.catalog.store.lineage.window import window
from connectors.catalog.store.lineage.writer import project
from connectors.catalog.store.rows import holder_number
from connectors.catalog.store.schema import entity_activity, intervals, meta, metadata, versions
from tests.support.examples import examples

SCHEMAS = {"a": "p", "b": "p", "v": "q", "w": "q"}
TABLES = tuple(SCHEMAS)
MOMENTS = (None, 3, 7, 11, 16, 30)


def full_name(name: str) -> str:
    return f"s.d.{SCHEMAS[name]}.{name}"


def identifier(name: str) -> str:
    return entity_id("table", full_name(name))


def end(name: str) -> Any:
    return {"id": identifier(name), "type": "table"}


@contextmanager
def store() -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as directory:
        database = open_database(Path(directory) / "c.db")
        with database.write() as connection:
            put_one(connection, "databaseService", {"name": "s", "serviceType": "Mysql"})
            put_one(connection, "database", {"name": "d", "service": "s"})
            for schema in sorted(set(SCHEMAS.values())):
                put_one(connection, "databaseSchema", {"name": schema, "database": "s.d"})
            for name, schema in SCHEMAS.items():
                columns = [{"name": column, "dataType": "INT"} for column in "xy"]
                put_one(connection, "table", {"name": name, "databaseSchema": f"s.d.{schema}", "columns": columns})
        yield database
        database.close()


def apply_request(database: Database, request: Any) -> None:
    with database.write() as connection:
        if "events" in request:
            name_changes.apply(connection, bulk_models.DdlEvents.model_validate(request).events)
        else:
            bulk_lineage.apply(connection, bulk_models.Lineage.model_validate(request))


def reads(database: Database) -> list[Any]:
    """Everything that the explorer, and the entities themselves, show at several moments."""
    found: list[Any] = []
    with database.read() as connection:
        roots = [get_id(connection, "table", identifier(name), "all") for name in TABLES]
        found.append([bool(row.deleted) for row in roots])
        for moment in MOMENTS:
            body = cards.explore(connection, roots, cards.Reach(1, 1, 100), window(connection, moment, 0))
            found.append([without_partition(edge) for edge in body["edges"]])
    return found


def without_partition(edge: Any) -> Any:
    """An edge without what depends on how a log was cut into batches: the counts at past moments."""
    contributions = [
        {key: value for key, value in one.items() if key not in {"count", "lastSeen"}} for one in edge["contributions"]
    ]
    return {**edge, "contributions": sorted(contributions, key=str)}


times = st.integers(1, 20)
names = st.sampled_from(TABLES)
producers = st.sampled_from(["view", "query"])


@st.composite
def edges(draw: st.DrawFn) -> Any:
    source, target = draw(st.lists(names, min_size=2, max_size=2, unique=True))
    first, last = sorted((draw(times), draw(times)))
    column = {"from": [f"{full_name(source)}.x"], "to": f"{full_name(target)}.{draw(st.sampled_from('xy'))}"}
    kind = draw(producers)
    said = {
        "producer": {"kind": kind, "key": draw(st.sampled_from(["k1", "k2"]))},
        "source": "ViewLineage" if kind == "view" else "QueryLineage",
        "columns": draw(st.sampled_from([[], [column]])),
        "firstSeen": first,
        "lastSeen": last,
        "records": [f"{number:08d}" for number in draw(st.lists(st.integers(0, 5), max_size=3))],
    }
    return {"fromEntity": end(source), "toEntity": end(target), "contribution": said}


scopes = st.builds(
    lambda name, at, key: {
        "toEntity": end(name),
        "source": "ViewLineage",
        "at": at,
        "producer": {"kind": "view", "key": key} if key else None,
    },
    names,
    times,
    st.sampled_from([None, "k1", "k2"]),
)
batches = st.fixed_dictionaries({"edges": st.lists(edges(), max_size=4), "replace": st.lists(scopes, max_size=2)})
happenings = st.one_of(
    st.builds(lambda name, at: {"kind": "drop", "entity": end(name), "at": at}, names, times),
    st.builds(lambda name, at: {"kind": "create", "entity": end(name), "at": at}, names, times),
    st.builds(
        lambda kind, both, at: {"kind": kind, "entity": end(both[0]), "other": end(both[1]), "at": at},
        st.sampled_from(["rename", "swap"]),
        st.lists(names, min_size=2, max_size=2, unique=True),
        times,
    ),
).map(lambda event: {"events": [event]})
stories = st.lists(st.one_of(batches, batches, happenings), min_size=1, max_size=6).map(
    lambda requests: [
        {**one, "batchId": f"b{number}"} if "edges" in one else one for number, one in enumerate(requests)
    ]
)


@settings(max_examples=examples(10))
@given(stories, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(story: Sequence[Any], chance: random.Random) -> None:
    again = [*story, *chance.sample(story, k=chance.randint(0, len(story)))]
    chance.shuffle(again)
    with store() as one, store() as other:
        for request in story:
            apply_request(one, request)
        for request in again:
            apply_request(other, request)
        assert reads(one) == reads(other)


@settings(max_examples=examples(6))
@given(st.lists(edges(), min_size=1, max_size=6), st.integers(1, 3))
def test_the_partition_into_batches_does_not_matter(given_edges: list[Any], size: int) -> None:
    with store() as one, store() as other:
        apply_request(one, {"batchId": "all", "edges": given_edges})
        for number in range(0, len(given_edges), size):
            apply_request(other, {"batchId": f"b{number}", "edges": given_edges[number : number + size]})
        assert reads(one) == reads(other)
        assert seen(one) == seen(other)


def seen(database: Database) -> Any:
    with database.read() as connection:
        roots = [get_id(connection, "table", identifier(name), "all") for name in TABLES]
        body = cards.explore(connection, roots, cards.Reach(1, 1, 100), window(connection, None, 0))
    keys = ("count", "firstSeen", "lastSeen")
    return [sorted(str([one[key] for key in keys]) for one in edge["contributions"]) for edge in body["edges"]]


@settings(max_examples=examples(6))
@given(stories)
def test_the_projection_equals_the_events_computed_anew(story: Sequence[Any]) -> None:
    columns = (intervals.c.version_id, intervals.c.from_id, intervals.c.to_id, intervals.c.start, intervals.c.end)
    with store() as database:
        for request in story:
            apply_request(database, request)
        with database.write() as connection:
            before = sorted(map(str, connection.execute(select(*columns))))
            project(connection, sorted(connection.scalars(select(versions.c.id))))
            assert sorted(map(str, connection.execute(select(*columns)))) == before


@settings(max_examples=examples(10))
@given(stories)
def test_how_many_read_an_entity_is_counted_along_with_what_ends_and_moves(story: Sequence[Any]) -> None:
    number = func.count(intervals.c.to_id.distinct())
    with store() as database:
        for request in story:
            apply_request(database, request)
            with database.read() as connection:
                known = select(entity_activity.c.entity_id, entity_activity.c.readers).where(
                    entity_activity.c.readers > 0
                )
                counted = select(intervals.c.from_id, number).where(intervals.c.end.is_(None))
                by_source = counted.group_by(intervals.c.from_id)
                assert sorted(connection.execute(known)) == sorted(connection.execute(by_source))


@settings(max_examples=examples(10))
@given(st.lists(edges(), min_size=1, max_size=8), st.integers(1, 8), st.randoms(use_true_random=False))
def test_a_statement_of_a_record_is_one_run_of_what_it_reads_however_its_edges_come(
    given_edges: list[Any], size: int, chance: random.Random
) -> None:
    """In calls of any size, in any order, some of them again: what it writes, and in how many tables, is no matter."""
    statements = {
        (edge["fromEntity"]["id"], *edge["contribution"]["producer"].values(), record)
        for edge in given_edges
        for record in edge["contribution"]["records"]
    }
    expected = dict(Counter(statement[0] for statement in statements))
    sent = [*given_edges, *chance.sample(given_edges, k=chance.randint(0, len(given_edges)))]
    chance.shuffle(sent)
    with store() as database:
        for number in range(0, len(sent), size):
            apply_request(database, {"batchId": f"b{number}", "edges": sent[number : number + size]})
        assert runs_of_entities(database) == expected
        with database.write() as connection:
            connection.execute(delete(entity_activity))
            connection.execute(delete(meta).where(meta.c.key == ACTIVITY_FILLED))
            prepare_activity(connection)
        assert runs_of_entities(database) == expected


@settings(max_examples=examples(6))
@given(st.lists(edges(), min_size=1, max_size=6), st.data())
def test_a_call_that_tells_nothing_new_changes_nothing(given_edges: list[Any], data: st.DataObject) -> None:
    told = data.draw(st.lists(st.sampled_from(given_edges), min_size=1))
    with store() as database:
        apply_request(database, {"batchId": "first", "edges": given_edges})
        before = stored(database)
        apply_request(database, {"batchId": "again", "edges": told})
        assert stored(database) == before


def stored(database: Database) -> dict[str, list[str]]:
    """All rows of all tables, but for the answers to calls and the clock."""
    with database.read() as connection:
        return {
            table.name: sorted(map(str, connection.execute(select(table))))
            for table in metadata.sorted_tables
            if table.name not in {"batches", "meta"}
        }


def runs_of_entities(database: Database) -> dict[str, int]:
    known = select(entity_activity.c.entity_id, entity_activity.c.runs).where(entity_activity.c.runs > 0)
    with database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(known)}


@settings(max_examples=examples(6))
@given(stories)
def test_an_interval_tells_what_its_ends_lie_in_wherever_its_lineage_moves(story: Sequence[Any]) -> None:
    lies_in = {identifier(name): holder_number(entity_id("databaseSchema", f"s.d.{SCHEMAS[name]}")) for name in TABLES}
    ends = intervals.c.from_id, intervals.c.to_id, intervals.c.from_holder, intervals.c.to_holder
    with store() as database:
        for request in story:
            apply_request(database, request)
            with database.read() as connection:
                for source, target, *holders in connection.execute(select(*ends)):
                    assert holders == [lies_in[source], lies_in[target]]


def test_a_reader_counts_once_however_many_of_its_words_are_looked_at_together() -> None:
    def said(source: str, target: str, key: str, at: int) -> Any:
        producer = {"producer": {"kind": "view", "key": key}, "source": "ViewLineage", "firstSeen": at, "lastSeen": at}
        return {"fromEntity": end(source), "toEntity": end(target), "contribution": producer}

    first = [said(*edge, key, 5) for key in "kl" for edge in (("a", "w"), ("b", "w"), ("a", "v"))]
    ended = {"toEntity": end("w"), "source": "ViewLineage", "at": 9}
    for at_once in (1, 2, 1_000):
        with store() as database, patch.object(rows, "_MOST_BOUND", at_once):
            for request in (
                {"batchId": "b", "edges": first},
                {"batchId": "c", "edges": [said("b", "w", "k", 9)], "replace": [ended]},
            ):
                apply_request(database, request)
            with database.read() as connection:
                known = select(entity_activity.c.entity_id, entity_activity.c.readers)
                readers: dict[str, int] = {row[0]: row[1] for row in connection.execute(known)}
        assert [readers.get(identifier(name), 0) for name in TABLES] == [1, 1, 0, 0]


def test_a_name_that_is_given_moves_no_lineage_where_it_was_never_taken_away() -> None:
    said = {"producer": {"kind": "view", "key": "k"}, "source": "ViewLineage", "firstSeen": 5, "lastSeen": 5}
    both = [
        {"fromEntity": end(one), "toEntity": end(other), "contribution": said}
        for one, other in (("a", "b"), ("v", "w"))
    ]
    with store() as database:
        apply_request(database, {"batchId": "b", "edges": both})
        with database.read() as connection:
            before = sorted(connection.scalars(select(intervals.c.id)))
        apply_request(database, {"events": [{"kind": "create", "entity": end("a"), "at": 3}]})
        with database.read() as connection:
            assert sorted(connection.scalars(select(intervals.c.id))) == before
