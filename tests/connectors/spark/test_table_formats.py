"""Delta Lake and Apache Iceberg: the logs of a real application over each, beside the truth of its jobs.

Kept logs of all jobs in each mode are read everywhere, those of new applications where there is a folder with the jars.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connectors.spark._history_records import Row
from ingestion.model.lineage import LineageType, StatementKind, WriteMode
from tests.connectors.spark.conftest import read_directory
from tests.support.spark_jobs.comparison import by_target, compare, direct_edges, indirect_edges, lineages
from tests.support.spark_jobs.formats import LIVE, MODES, RUN
from tests.support.spark_jobs.older_logs import kept, write_log

FORMATS = ("delta", "iceberg")
FEWEST = 40
"""Jobs whose logs are kept."""
KINDS = {
    **dict.fromkeys(
        ("f09", "f10", "f11", "f26", "f28", "f35", "f40", "f42", "f43", "m09", "m10", "m40"), StatementKind.MERGE
    ),
    **dict.fromkeys(("f12", "f36", "f37", "m12", "m15"), StatementKind.UPDATE),
    **dict.fromkeys(("f13", "f14", "f38", "f39", "f41", "m13", "m14", "m39"), StatementKind.DELETE),
}
DELETING = {"f40", "f42", "m40"}
"""MERGE that only deletes."""
INCOMPLETE = {("iceberg", "extended"): {"f09", "f10", "f11", "f28", "f35", "f40", "f42", "f43", "m09", "m10", "m40"}}
"""MERGE as Spark prints a rewritten one on one line: the columns, not what becomes of them."""


@dataclass(frozen=True)
class Jobs:
    """What the jobs of one application said of themselves, and the records of their log."""

    form: str
    mode: str
    truth: list[dict[str, Any]]
    rows: list[Row]
    live: bool

    @property
    def incomplete_jobs(self) -> set[str]:
        return INCOMPLETE.get((self.form, self.mode), set())


KEPT = [(form, mode) for form in FORMATS for mode in MODES]


@pytest.fixture(scope="module", params=[*KEPT, *LIVE], ids="-".join)
def jobs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    form, mode, *live = request.param
    if live:
        folder: Path = request.getfixturevalue("formats") / form
        truth = json.loads((folder / "truth.json").read_text())
        return Jobs(form, mode, truth, read_directory(folder / "logs", through_views=True), live=True)
    folder = tmp_path_factory.mktemp(form)
    said = kept(f"4.0-{form}-{mode}")
    for number, events in enumerate(said["logs"]):
        write_log(events, folder, f"local-{number}")
    return Jobs(form, mode, said["truth"], read_directory(folder, through_views=True), live=False)


def test_plans_over_a_table_format_give_the_edges_of_the_analyzer(jobs: Jobs) -> None:
    result = compare(jobs.truth, jobs.rows)
    if jobs.live:
        assert {fact["job"] for fact in jobs.truth} == set(RUN[jobs.form])
    assert result.jobs >= (len(RUN[jobs.form]) if jobs.live else FEWEST)
    assert {job: why for job, why in result.wrong.items() if job not in jobs.incomplete_jobs} == {}
    assert result.marked == jobs.incomplete_jobs
    assert (result.indirect_precision, result.indirect_recall) == (1, 1)


def test_what_a_plan_does_not_tell_of_a_merge_is_never_certain(jobs: Jobs) -> None:
    found = by_target(jobs.rows)
    for fact in (fact for fact in jobs.truth if fact["job"] in jobs.incomplete_jobs):
        _, flow = found[fact["target"]]
        references = [reference for output in flow.outputs for reference in output.references]
        assert all(r.opaque for r in references if r.transformation.type is LineageType.DIRECT)
        assert {tuple(edge) for edge in map(tuple, direct_edges(flow))} >= {
            (fact["columns"][position], table, column) for position, table, column in fact["direct"]
        }


def test_row_operations_are_told_by_their_kind_and_by_what_decides_on_their_rows(jobs: Jobs) -> None:
    found = by_target(jobs.rows)
    writes = {fact["job"]: found[fact["target"]] for fact in jobs.truth if fact["job"] in KINDS}
    assert {job: lineage.kind for job, (lineage, _) in writes.items()} == {job: KINDS[job] for job in writes}
    for fact in jobs.truth:
        if (job := fact["job"]) in writes and job not in jobs.incomplete_jobs:
            lineage, flow = writes[job]
            columns = {output.name for output in flow.outputs}
            if lineage.kind is StatementKind.UPDATE:
                assert columns == set(re.findall(r"(\w+) = ", re.split(" SET | WHERE ", fact["statement"])[1]))
            decides = {tuple(source) for source in fact["rows"]}
            if lineage.kind is StatementKind.DELETE or job in DELETING:
                assert (flow.target.mode, columns) == (WriteMode.DELETE, set())
                assert {(c.table.dotted, c.column) for use in flow.indirect for c in use.sources} == decides
            assert indirect_edges(flow) == {(name, *source) for name in columns for source in decides}


def test_what_a_format_reads_and_rewrites_for_itself_has_no_lineage(jobs: Jobs) -> None:
    flows = [flow for lineage in lineages(jobs.rows) for flow in lineage.flows]
    names = {name.dotted for flow in flows for name in flow.sources} | {
        flow.target.name.dotted for flow in flows if flow.target is not None
    }
    assert not [name for name in names if "_delta_log" in name or "default_cache" in name or "branch_" in name]
    own = {flow.target.name.dotted for flow in flows if flow.target is not None and flow.target.name in flow.sources}
    told = {fact["target"] for fact in jobs.truth}
    assert {name for name in own if name in told or ".mart." not in name} == {
        fact["target"] for fact in jobs.truth if fact["target"] in _read(fact)
    }


def _read(fact: dict[str, Any]) -> set[str]:
    """The tables of which columns give a job's target values, or have a say in its rows."""
    return {table for *_, table, _ in [*fact["direct"], *fact.get("indirect", ()), *fact.get("rows", ())]}
