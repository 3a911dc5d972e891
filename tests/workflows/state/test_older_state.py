"""A state that other code left: it is read again, not refused, and nothing in it that the code decides is trusted."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support import sample_lineage as expected
from tests.support.catalog_contents import REPOSITORY, opened
from tests.support.run_in_session import command_line

SAMPLE = Path(__file__).parent / "older" / "sample.db.xz"
"""Of a run over the shipped sample, before rooms and classes had the names that they have now."""


@pytest.mark.spark
def test_the_state_of_other_code_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """Its templates name classes that are gone: reading one would fail, and a run that trusts none needs none."""
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    state = tmp_path / ".headwater" / "state.db"
    state.parent.mkdir()
    state.write_bytes(lzma.decompress(SAMPLE.read_bytes()))
    done = command_line(tmp_path, "run", "-c", "config/lineage.yaml", "--report", "report.json")
    assert done.exit_code == 0, done.output
    counts = json.loads((tmp_path / "report.json").read_text())["counts"]
    assert (counts["records_read"], counts["records_read_before"]) == (expected.RECORDS, 0)
    assert (counts["statements"], counts["templates_known"]) == (expected.STATEMENTS, 0)
    with opened(tmp_path / ".headwater" / "catalog.db") as catalog:
        assert set(catalog.edges()) == expected.TABLE_EDGES | {expected.PATH_EDGE}
        assert catalog.column_edges() == expected.COLUMN_EDGES
