"""Values told by their place, streams with a state, feeds, what moves no rows: a kept log beside its jobs' truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from connectors.spark._history_records import Row
from ingestion.model.lineage import Flow, LineageType, Reference, StatementLineage
from tests.connectors.spark.conftest import read_directory
from tests.support.spark_jobs.comparison import by_target, direct_edges, indirect_edges
from tests.support.spark_jobs.older_logs import kept, write_log

TABLES = {
    "l": "spark_catalog.sales.lines",
    "o": "spark_catalog.sales.others",
    "feed": "spark_catalog.sales.feed",
    "stored": "spark_catalog.sales.stored",
    "remote": "jdbc.remote",
    "k31": "spark_catalog.mart.k31",
}


UNTOLD = {"extended": {"k15"}}
"""Jobs of which a column is left open: an analyzed plan does not tell whether a stored struct has more fields."""


@dataclass(frozen=True)
class Kinds:
    """What the jobs of one application said of themselves, and the records of their log."""

    mode: str
    truth: list[dict[str, Any]]
    rows: list[Row]

    @property
    def told(self) -> list[dict[str, Any]]:
        return [fact for fact in self.truth if fact["job"] not in UNTOLD.get(self.mode, ())]

    @property
    def found(self) -> dict[str, tuple[StatementLineage, Flow]]:
        return by_target(self.rows)


@pytest.fixture(scope="module", params=["default", "extended"])
def kinds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kinds:
    said = kept(f"4.0-kinds-{request.param}")
    folder = write_log(said["logs"][0], tmp_path_factory.mktemp("kinds"))
    return Kinds(request.param, said["truth"], read_directory(folder))


def edges(stated: Mapping[str, str]) -> set[tuple[str, str, str]]:
    """The edges that a job states, with the names of the tables."""
    return {
        (name, TABLES[source.partition(".")[0]], source.partition(".")[2])
        for name, sources in stated.items()
        for source in sources.split()
    }


def test_each_column_is_made_of_the_columns_whose_values_move_it(kinds: Kinds) -> None:
    assert len(kinds.truth) >= 30
    wrong = {}
    for fact in kinds.told:
        _, flow = kinds.found[fact["target"]]
        if direct_edges(flow) != edges(fact["direct"]):
            wrong[fact["job"]] = sorted(direct_edges(flow) ^ edges(fact["direct"]))
    assert wrong == {}


def test_what_has_a_say_in_a_column_is_told_for_that_column(kinds: Kinds) -> None:
    wrong = {}
    for fact in kinds.truth:
        _, flow = kinds.found[fact["target"]]
        names = [output.name for output in flow.outputs]
        wanted = edges(fact["own"]) | edges(dict.fromkeys(names, fact["rows"]))
        found = {edge for edge in indirect_edges(flow) if edge not in direct_edges(flow) or edge in wanted}
        if not fact["opaque"] and found != wanted:
            wrong[fact["job"]] = sorted(found ^ wanted)
    assert wrong == {}


def direct_references(flow: Flow) -> list[Reference]:
    found = [reference for output in flow.outputs for reference in output.references]
    return [reference for reference in found if reference.transformation.type is LineageType.DIRECT]


def test_only_what_code_hides_is_uncertain(kinds: Kinds) -> None:
    for fact in kinds.told:
        lineage, flow = kinds.found[fact["target"]]
        assert {reference.certain for reference in direct_references(flow)} == {not fact["opaque"]}, fact["job"]
        assert bool(lineage.problems) == fact["opaque"], fact["job"]


def test_a_struct_of_which_nothing_may_be_left_is_no_certain_source(kinds: Kinds) -> None:
    for fact in (fact for fact in kinds.truth if fact not in kinds.told):
        _, flow = kinds.found[fact["target"]]
        certain = {
            (output.name, *edge[1:])
            for output in flow.outputs
            for edge in direct_edges(flow)
            if edge[0] == output.name and all(r.certain for r in direct_references(replace(flow, outputs=(output,))))
        }
        assert certain < edges(fact["direct"]) < direct_edges(flow)


def test_nothing_of_it_is_given_up_on(kinds: Kinds) -> None:
    """Neither what a format reads for itself in a stream's batch, nor a batch without rows, nor DDL and procedures."""
    assert [row["status"] for row in kinds.rows if row["status"] is not None] == []
    targets = {fact["target"] for fact in kinds.truth}
    written = {name for name, (lineage, _) in kinds.found.items() if name.partition(".mart.")[2] or name in targets}
    assert targets <= written
    names = {source.dotted for _, flow in kinds.found.values() for source in flow.sources}
    assert not [name for name in names if "@" in name or "_delta_log" in name]


def test_a_query_that_was_sent_to_a_database_shows_no_value_of_it(kinds: Kinds) -> None:
    assert b"secret" not in b"".join(row["symbolic"] or b"" for row in kinds.rows)
