"""Edges over time: who says them, since when, what replaces what, and what is never lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.openmetadata.edges import put_edge
from connectors.openmetadata.sink import RestSink
from connectors.sink import target_batches
from ingestion.model.requests import ColumnLineage, EntitiesEdge, LineageDetails
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record

Opened = Callable[..., Shop]
TABLES = {"public.src": ("a", "b"), "public.old": ("a", "b"), "public.tgt": ("a", "b")}


def edges_of(made: Shop) -> dict[tuple[str, str], dict[str, object]]:
    """What the catalog holds of this shop alone."""
    return made.catalog.edges(made.warehouse.service)


def test_a_view_defined_anew_loses_what_it_does_not_read_any_more(shop: Opened) -> None:
    made = shop({**TABLES, "public.v": ("a", "b")})
    made.run(Record("create view v as select a, b from old", at=1.0))
    assert set(edges_of(made)) == {("public.old", "public.v")}
    made.run(Record("create or replace view v as select a, b from src", at=2.0))
    assert set(edges_of(made)) == {("public.src", "public.v")}


def test_of_two_definitions_in_one_log_the_last_one_stands(shop: Opened) -> None:
    made = shop({**TABLES, "public.v": ("a", "b")})
    outcome = made.run(
        "create view v as select a, b from old", "create or replace view v as select b as a, a as b from src"
    )
    assert outcome.columns == {("src.b", "v.a"), ("src.a", "v.b")}
    assert ("skipped", "superseded") in outcome.outcomes


def columns_of(made: Shop, source: str, target: str) -> set[tuple[str, str]]:
    mappings = edges_of(made)[source, target]["columnsLineage"]
    assert isinstance(mappings, list)
    return {(one["fromColumns"][0].rpartition(".")[2], one["toColumn"].rpartition(".")[2]) for one in mappings}


@pytest.mark.parametrize(
    "reader",
    [
        "insert into tgt (a, b) select a, b from v",
        "create view tgt as select a, b from v",
        "insert into tgt select * from v",
    ],
)
def test_what_a_redefined_view_lost_is_no_certain_source_any_more(shop: Opened, reader: str) -> None:
    made = shop({**TABLES, "public.v": ("a", "b")})
    log = [Record("create view v as select a, b from src", at=1.0)]
    log.append(Record(reader, at=2.0))
    made.run(*log)
    assert columns_of(made, "public.v", "public.tgt") == {("a", "a"), ("b", "b")}
    outcome = made.run(*log, Record("create or replace view v as select a from src", at=3.0))
    request = outcome.edges["public.v", "public.tgt"]
    assert {one.to_column[-1] for one in request.edge.lineage_details.columns_lineage} == {"a"}
    doubted = {column.to_column[-1] for said in request.contributions for column in said.columns if not column.certain}
    assert doubted == {"b"}


@pytest.mark.parametrize(
    "anew",
    [
        "create or replace view v as select A, B from old",  # in another case
        "create or replace view v as select * from nobody_knows",  # columns that are not known
        "create or replace view v as select a, b, a as c from old",
    ],
)
def test_what_a_redefined_view_still_has_or_may_have_stays_certain(shop: Opened, anew: str) -> None:
    outcome = shop({**TABLES, "public.v": ("a", "b")}).run(
        "create view v as select a, b from src", "insert into tgt (a, b) select a, b from v", anew
    )
    assert {("v.a", "tgt.a"), ("v.b", "tgt.b")} <= outcome.columns


def test_a_view_whose_new_sources_are_not_known_keeps_its_lineage(shop: Opened) -> None:
    made = shop({**TABLES, "public.v": ("a", "b")})
    made.run(Record("create view v as select a, b from old", at=1.0))
    made.run(Record("create or replace view v as select a, b from nobody_knows", at=2.0))
    assert set(edges_of(made)) == {("public.old", "public.v")}


def test_a_manual_edge_is_never_lost(shop: Opened) -> None:
    made = shop(TABLES)
    first = made.run("insert into tgt (a) select a from src")
    request = first.edges["public.src", "public.tgt"]
    manual = LineageDetails("said by hand", "Manual", (ColumnLineage((_of(request, "src.b"),), _of(request, "tgt.b")),))
    made.platform.http.send(put_edge(EntitiesEdge(request.from_entity, request.to_entity, manual)))
    made.run(Record("insert into tgt (a) select b from src", at=3000.0))
    columns = edges_of(made)["public.src", "public.tgt"]["columnsLineage"]
    assert isinstance(columns, list)
    assert {(one["fromColumns"][0][-1], one["toColumn"][-1]) for one in columns} >= {("b", "b"), ("b", "a")}


def _of(request: object, column: str) -> str:
    mappings = request.edge.lineage_details.columns_lineage  # type: ignore[attr-defined]
    service = mappings[0].to_column.split(".")[0]
    return f"{service}.db.public.{column}"


def test_the_same_log_again_writes_nothing(shop: Opened) -> None:
    made = shop(TABLES)
    log = [Record("insert into tgt (a) select a from src", at=float(n)) for n in range(1, 4)]
    made.run(*log)
    again = made.run(*log)
    counts = again.report.counts
    assert (counts.new, counts.merged, counts.replaced, counts.unchanged) == (0, 0, 0, 1)


def test_writing_the_same_column_many_times_stores_it_once(shop: Opened) -> None:
    made = shop(TABLES)
    for column in "abbbb":
        made.run(f"insert into tgt (a, b) select {column}, {column} from src")
    columns = edges_of(made)["public.src", "public.tgt"]["columnsLineage"]
    assert isinstance(columns, list)
    pairs = [(tuple(one["fromColumns"]), one["toColumn"]) for one in columns]
    assert len(pairs) == len(set(pairs)) == 4


def test_first_seen_last_seen_and_count_are_kept(shop: Opened) -> None:
    made = shop(TABLES)
    outcome = made.run(*(Record("insert into tgt (a) select a from src", at=float(at)) for at in (100, 300, 200)))
    (said,) = outcome.edges["public.src", "public.tgt"].contributions
    assert (said.first_seen, said.last_seen, said.count) == (100.0, 300.0, 3)


def test_a_table_that_is_dropped_and_made_anew_under_its_name_is_another_one(shop: Opened) -> None:
    outcome = shop({**TABLES, "public.made": ("a",)}).run(
        "create table stage as select a from old",
        "drop table stage",
        "create table stage as select a from src",
        "insert into tgt (a) select a from stage",
        "drop table stage",
    )
    assert outcome.columns == {("src.a", "tgt.a")}


def test_a_table_renamed_into_place_keeps_what_it_was_made_of(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "create table tgt_new as select a from src",
        "alter table tgt rename to tgt_old",
        "alter table tgt_new rename to tgt",
    )
    assert ("src.a", "tgt.a") in outcome.columns


def test_a_view_reads_what_comes_later_in_the_log(shop: Opened) -> None:
    made = shop({**TABLES, "public.v": ("a",), "public.w": ("a",)})
    outcome = made.run("create view v as select * from w", "create view w as select a from src")
    assert outcome.columns == {("src.a", "w.a"), ("w.a", "v.a")}


def test_a_batch_that_arrives_twice_counts_once(shop: Opened) -> None:
    made = shop(TABLES)
    requests = made.run("insert into tgt (a) select a from src").requests
    again = RestSink(made.platform, "another run").write(target_batches(requests))
    assert again.counts.unchanged == 1
