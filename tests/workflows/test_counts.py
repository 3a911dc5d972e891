"""Counts that add up, and the report made of them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.sink import EdgeCounts
from ingestion.errors import ConfigError, ThresholdBreached, Unaccounted
from workflows.counts import Pointer, RunCounts, RunSummary, most_frequent, report, total, write_report

NUMBERS = st.integers(0, 1000)
TALLIES = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(1, 50))
OF_TYPE = {dict: TALLIES, int: NUMBERS, EdgeCounts: st.builds(EdgeCounts, *(NUMBERS for _ in fields(EdgeCounts)))}
COUNTS = st.builds(RunCounts, **{f.name: OF_TYPE[type(getattr(RunCounts(), f.name))] for f in fields(RunCounts)})


@given(COUNTS, COUNTS, COUNTS)
def test_counts_add_up_in_any_grouping_and_order(one: RunCounts, two: RunCounts, three: RunCounts) -> None:
    assert (one + two) + three == one + (two + three) == total([three, one, two])
    assert one + RunCounts() == one


@given(st.integers(0, 50), TALLIES, TALLIES)
def test_a_run_whose_statements_all_ended_once_is_conserved(
    published: int, skipped: dict[str, int], dead: dict[str, int]
) -> None:
    statements = published + sum(skipped.values()) + sum(dead.values())
    counts = RunCounts(statements=statements, published=published, skipped=skipped, dead=dead)

    counts.check_conservation()
    for wrong in (replace(counts, statements=statements + 1), replace(counts, published=published + 1)):
        with pytest.raises(Unaccounted, match="do not add up"):
            wrong.check_conservation()


def test_counts_below_zero_never_balance() -> None:
    with pytest.raises(Unaccounted):
        RunCounts(statements=0, published=1, dead={"crash": -1}).check_conservation()
    with pytest.raises(Unaccounted):
        RunCounts(edges=EdgeCounts(new=-1)).check_conservation()


def test_success_is_what_was_not_given_up_on() -> None:
    counts = RunCounts(statements=200, published=100, skipped={"no lineage": 70}, dead={"timeout": 20, "crash": 10})

    assert counts.success_percent == pytest.approx(85)
    assert RunCounts().success_percent == 100
    counts.check_threshold(85)
    with pytest.raises(ThresholdBreached, match=r"85\.0 % of 200 .* 86 % .*timeout 20, crash 10"):
        counts.check_threshold(86)


def test_names_come_by_frequency_then_by_name() -> None:
    assert most_frequent({"b": 1, "a": 1, "c": 3}, 2) == [("c", 3), ("a", 1)]


def summary(counts: RunCounts) -> RunSummary:
    return RunSummary(
        run_id="r1",
        workflow="lineage.yaml",
        started=0.0,
        ended=1.5,
        counts=counts,
        seconds_by_stage={"read": 0.25, "parse": 1.0},
        where_to_look=(Pointer("catalog", "ingest serve"),),
        warnings=("quiet",),
    )


def test_the_report_has_every_count_and_is_json() -> None:
    content = report(summary(RunCounts(records_read=3, unresolved_names={"x": 1, "y": 2})), exit_code=3)

    assert json.loads(json.dumps(content)) == content
    assert list(content) == [
        *("version", "run_id", "workflow", "kind", "read_until", "dry_run", "exit_code", "started", "ended", "seconds"),
        "seconds_by_stage",
        *("success_percent", "counts", "reasons", "where_to_look", "warnings"),
    ]
    assert content["version"] == 1
    assert content["started"] == "1970-01-01T00:00:00.000+00:00"
    edges = {"edges_new", "edges_merged", "edges_unchanged", "edges_replaced", "edges_removed", "column_edges"}
    assert set(content["counts"]) == {f.name for f in fields(RunCounts)} - {"edges"} | edges
    assert list(content["counts"]["unresolved_names"]) == ["y", "x"]
    assert content["where_to_look"] == {"catalog": "ingest serve"}


def test_a_report_is_written_whole_with_its_directory(tmp_path: Path) -> None:
    file = tmp_path / "new" / "report.json"

    write_report(file, {"a": "ä"})
    write_report(file, {"a": "ö"})

    assert json.loads(file.read_text()) == {"a": "ö"}
    assert [entry.name for entry in file.parent.iterdir()] == ["report.json"]


def test_a_report_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    write_report(file, {"a": 1})

    with pytest.raises(TypeError):
        write_report(file, {"a": 1, "b": object()})

    assert json.loads(file.read_text()) == {"a": 1}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_report_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="choose another --report"):
        write_report(tmp_path / "file" / "report.json", {})
