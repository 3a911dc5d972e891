"""A live PostgreSQL as the source: 78 views and five procedures against what that server itself depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from pyspark.sql import SparkSession

from ingestion.dialects.lexing import STRING, tokens
from tests.support import live_postgres as live
from tests.support.catalog_contents import Catalog, opened
from workflows.config import load_config
from workflows.counts import RunCounts
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not live.SHARED.is_dir(), reason="the MIMIC-III schema is not on this machine"),
]
REDEFINED = "pivoted_icp"

Edges = Mapping[tuple[str, str], dict[str, Any]]


@dataclass(frozen=True)
class Runs:
    """Two runs over one server, between which one view was defined anew."""

    dependencies: dict[str, dict[str, set[str]]]
    first: RunCounts
    second: RunCounts
    before: Edges
    after: Edges
    procedures: list[dict[str, Any]]
    literals: frozenset[str]
    left: bytes


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("live")
    with (
        live.server(folder / "data") as (socket, uri),
        psycopg.connect(uri, autocommit=True) as session,
    ):
        live.fill(session)
        dependencies = live.dependencies(session)
        live.make_procedures(session)
        session.execute("CREATE ROLE reader LOGIN PASSWORD 'p4ss-word-of-reader'")
        first, before, _ = _run(folder, socket)
        session.execute(f"DROP VIEW {live.DERIVED}.{REDEFINED}".encode())
        anew = f"CREATE VIEW {live.DERIVED}.{REDEFINED} AS SELECT icustay_id, los AS icp FROM mimiciii.icustays"
        session.execute(anew.encode())
        second, after, procedures = _run(folder, socket)
        views = session.execute("SELECT definition FROM pg_views WHERE schemaname = %s", [live.DERIVED]).fetchall()
    texts = (token.text[1:-1] for (text,) in views for token in tokens(text, "postgres") if token.kind == STRING)
    literals = frozenset(text for text in texts if len(text) > 6 and not text.replace("_", "a").isalnum())
    left = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    return Runs(dependencies, first, second, before, after, procedures, literals, left)


def _run(folder: Path, socket: Path) -> tuple[RunCounts, Edges, list[dict[str, Any]]]:
    content = {
        **live.configuration(socket),
        "headwater": {"catalog": {"file": str(folder / "catalog.db")}, "deadLetters": str(folder / "dead.jsonl")},
    }
    # The statistics are not there, and all else is open to any role.
    content["source"]["serviceConnection"]["config"]["username"] = "reader"
    content["source"]["serviceConnection"]["config"]["authType"] = {"password": "p4ss-word-of-reader"}
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
    summary = run_workflow(load_config(folder / "lineage.yaml"), RunOptions("test"), LoggedProgress())
    with opened(folder / "catalog.db") as catalog:
        return summary.counts, catalog.edges(), _procedures(catalog)


def _procedures(catalog: Catalog) -> list[dict[str, Any]]:
    return catalog.listing("storedProcedures")


def _into(edges: Edges, schema: str = live.DERIVED) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for source, target in edges:
        if target.startswith(f"{schema}."):
            found.setdefault(target.partition(".")[2], set()).add(source)
    return found


def test_every_view_and_procedure_reads_exactly_the_tables_that_the_server_depends_on(runs: Runs) -> None:
    reads = {view: set(tables) for view, tables in runs.dependencies.items()}
    assert len(reads) == 83
    assert _into(runs.before) == reads


def test_nothing_that_is_left_holds_a_literal_of_a_view_or_a_procedure(runs: Runs) -> None:
    assert len(runs.literals) > 50
    assert [text for text in sorted(runs.literals) if text.encode() in runs.left] == []
    assert b"p4ss-word-of-reader" not in runs.left.replace(b"password: p4ss-word-of-reader", b"")


def test_the_trigger_s_rows_go_where_it_puts_them_column_by_column(runs: Runs) -> None:
    found = {target: (source, details) for (source, target), details in runs.before.items() if target in live.TRIGGERED}
    assert set(found) == live.TRIGGERED
    for target, (source, details) in found.items():
        assert source == "mimiciii.chartevents"
        assert details["pipeline"]["fullyQualifiedName"].endswith(".mimiciii.chartevents_insert_trigger")
        pairs = [(one["fromColumns"][0], one["toColumn"]) for one in details["columnsLineage"]]
        # The schema makes no chartevents_null, so nobody knows its columns.
        assert len(pairs) == (0 if target.endswith("_null") else 15)
        assert all(one.rpartition(".")[2] == other.rpartition(".")[2] for one, other in pairs)


def _derived(edges: Edges) -> dict[tuple[str, str], dict[str, Any]]:
    """The edges of views and procedures."""
    return {key: details for key, details in edges.items() if key[1].startswith(f"{live.DERIVED}.")}


def test_no_column_comes_from_one_that_the_server_does_not_depend_on(runs: Runs) -> None:
    wrong = []
    for (source, target), details in _derived(runs.before).items():
        needed = runs.dependencies[target.partition(".")[2]][source]
        read = {name.rsplit(".", 1)[1] for one in details["columnsLineage"] for name in one["fromColumns"]}
        if read - needed:
            wrong.append((target, source, read - needed))
    assert not wrong


def test_edges_of_a_procedure_say_which_and_edges_of_a_view_that_they_are_a_view_s(runs: Runs) -> None:
    for (_source, target), details in _derived(runs.before).items():
        name = target.partition(".")[2]
        if name in live.AS_PROCEDURES:
            assert details["pipeline"]["type"] == "storedProcedure"
            assert details["pipeline"]["fullyQualifiedName"].endswith(f".load_{name}")
            assert details["source"] == "QueryLineage"
        else:
            assert details["source"] == "ViewLineage"
            assert "pipeline" not in details


def test_a_redefined_view_changes_its_own_edges_and_no_other(runs: Runs) -> None:
    changed = {key for key in {*runs.before, *runs.after} if runs.before.get(key) != runs.after.get(key)}
    assert {target for _source, target in changed} == {f"{live.DERIVED}.{REDEFINED}"}
    assert _into(runs.after)[REDEFINED] == {"mimiciii.icustays"}


def test_what_was_not_redefined_is_not_written_again(runs: Runs) -> None:
    assert (runs.second.edges.new, runs.second.edges.merged, runs.second.edges.unchanged) == (1, 0, 0)
    assert runs.second.edges.replaced == len(runs.dependencies[REDEFINED])
    assert runs.second.skipped["unchanged"] == 82 + len(live.TRIGGERED)


def test_every_definition_is_accounted_for_and_none_was_given_up(runs: Runs) -> None:
    for counts in (runs.first, runs.second):
        counts.check_conservation()
        assert counts.dead == {}
    assert runs.first.published == 83 + len(live.TRIGGERED)


def test_what_the_catalog_keeps_of_a_procedure_has_no_literal(runs: Runs) -> None:
    loads = {f"load_{name}" for name in live.AS_PROCEDURES}
    assert {procedure["name"] for procedure in runs.procedures} == {*loads, "chartevents_insert_trigger"}
    for procedure in runs.procedures:
        code = procedure["storedProcedureCode"]["code"]
        assert "'" not in code
        assert "INSERT INTO" in code
