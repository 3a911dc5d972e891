"""A log of another dialect than its source is of: what it cannot be is not published, the type that fits is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.growing_log import configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run

pytestmark = pytest.mark.spark


def test_a_log_of_bigquery_under_postgresql(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    texts = [
        'INSERT INTO `acme.mart.sold` (a) SELECT a FROM `acme.raw.sale` WHERE b = "canary"',
        "INSERT INTO plain (a) SELECT a FROM source",
    ]
    write_log(tmp_path / "log" / "all.csv", rows_of([("s1", text) for text in texts]))
    summary = run(tmp_path)
    reason = "other_dialect:a whole path in one pair of backquotes"
    assert (summary.counts.published, summary.counts.dead) == (1, {reason: 1})
    assert [one.target.rpartition(".")[2] for one in contributions_in(tmp_path / "catalog.db")] == ["plain"]
    (told,) = (warning for warning in summary.warnings if "distinct statements" in warning)
    assert told.endswith("they fit BigQuery: set source.serviceConnection.config.type: BigQuery")
    # Whose strings they are is not known: nothing of such a text is kept.
    (dead,) = map(json.loads, next(tmp_path.glob("**/*dead*.jsonl")).read_text("utf-8").splitlines())
    assert (dead["reason"], dead["masked"]) == (reason, "")
    assert b"canary" not in (tmp_path / "state.db").read_bytes()
