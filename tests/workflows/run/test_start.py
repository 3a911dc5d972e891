"""A whole run over the shipped sample: what is published, what is counted, what never leaves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support import sample_lineage as expected
from tests.support.catalog_contents import REPOSITORY, Catalog, opened
from tests.support.run_in_session import command_line

pytestmark = pytest.mark.spark


@dataclass(frozen=True)
class Run:
    folder: Path
    printed: str
    report: dict[str, Any]

    @property
    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self.report["counts"]
        return counts


def arguments(name: str) -> list[str]:
    return ["run", "-c", "config/lineage.yaml", "--report", f"{name}.json"]


@pytest.fixture(scope="module")
def first(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """In the tests' own Spark: as a process of its own the README's command is run (tests/test_readme.py)."""
    folder = tmp_path_factory.mktemp("sample")
    shutil.copytree(REPOSITORY / "config", folder / "config")
    return run_of(folder, "first")


def run_of(folder: Path, name: str, *options: str) -> Run:
    done = command_line(folder, *arguments(name), *options)
    assert done.exit_code == 0, done.output
    return Run(folder, done.output, json.loads((folder / f"{name}.json").read_text()))


@pytest.fixture(scope="module")
def catalog(first: Run) -> Iterator[Catalog]:
    with opened(first.folder / ".headwater" / "catalog.db") as found:
        yield found


def test_every_table_edge_is_there_and_no_other(catalog: Catalog) -> None:
    assert set(catalog.edges()) == expected.TABLE_EDGES | {expected.PATH_EDGE}


def test_every_direct_column_edge_is_there_and_no_other(catalog: Catalog) -> None:
    assert catalog.column_edges() == expected.COLUMN_EDGES


def test_views_logged_before_the_views_they_read_have_all_their_columns(catalog: Catalog) -> None:
    into_info = {target for _table, _source, table, target in catalog.column_edges() if table == "mart.info"}
    assert into_info == {"name", "age", "oid", "wcid", "wdate", "wpage", "wreg"}


def test_every_statement_is_accounted_for(first: Run) -> None:
    counts = first.counts
    assert counts["records_read"] == expected.RECORDS
    assert counts["statements"] == expected.STATEMENTS
    counted = counts["published"] + sum(counts["skipped"].values()) + sum(counts["dead"].values())
    assert counted == counts["statements"]
    assert counts["skipped"]["failed"] == expected.FAILED
    assert sum(counts["dead"].values()) == 1


def test_the_hopeless_statement_is_a_dead_letter_with_its_place_and_reason(first: Run) -> None:
    (letter,) = map(json.loads, (first.folder / ".headwater" / "dead_letters.jsonl").read_text().splitlines())
    assert letter["source_id"].startswith("query_log.csv:")
    assert letter["reason"]


def test_no_literal_and_no_secret_leaves(first: Run, catalog: Catalog) -> None:
    written = [path for path in (first.folder / ".headwater").rglob("*") if path.is_file()]
    assert written
    everything = first.printed.encode() + json.dumps(first.report).encode()
    everything += b"".join(path.read_bytes() for path in written)
    for secret in expected.SECRETS:
        assert secret.encode() not in everything, secret
    assert json.dumps(list(catalog.edges().values())).count("?") > 0


def test_each_edge_has_the_masked_text_of_its_own_statement(catalog: Catalog) -> None:
    for (source, target), details in catalog.edges().items():
        assert target.split(".")[-1].split(" ")[0].lower() in details["sqlQuery"].lower(), (source, target)


def test_a_second_run_over_the_same_log_reads_nothing_again_and_changes_nothing(
    spark: SparkSession, first: Run, catalog: Catalog
) -> None:
    before = catalog.edges()
    second = run_of(first.folder, "second")
    assert second.counts["records_read_before"] == first.counts["records_read"]
    assert second.counts["statements"] == 0
    assert second.report["warnings"] == []
    assert catalog.edges() == before
    assert len((first.folder / ".headwater" / "dead_letters.jsonl").read_text().splitlines()) == 1


def test_a_full_run_starts_over_and_changes_nothing(spark: SparkSession, first: Run, catalog: Catalog) -> None:
    before = catalog.edges()
    full = run_of(first.folder, "full", "--full")
    assert full.counts["published"] == first.counts["published"]
    assert full.counts["edges_new"] == full.counts["edges_replaced"] == 0
    assert full.counts["templates_known"] == 0
    assert catalog.edges() == before
