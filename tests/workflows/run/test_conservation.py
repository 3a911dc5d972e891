"""For any input, garbage bytes included: what goes in is published, skipped or dead, and nothing is lost or doubled."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from ingestion.errors import ConfigError
from tests.support.growing_log import HEADER, SHOP, configuration, rows_of
from workflows.config import load_config
from workflows.counts import RunSummary
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

pytestmark = pytest.mark.spark
LINES = st.one_of(
    st.sampled_from([row.encode() for row in rows_of(SHOP)]),
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"?")),
    st.sampled_from(
        [b"", b'"', b'"never closed,', b",,,,,,,,,", b"\x00\x00", b"\xff\xfe\xfd", b'"a;b";;,not a time,s,']
    ),
    st.text(alphabet="();'\"$,-/*selctfrominsrw \\", max_size=50).map(lambda text: text.encode()),
)


def run(folder: Path, name: str) -> RunSummary:
    config = load_config(configuration(folder))
    return run_workflow(config, RunOptions(name), LoggedProgress())


@settings(max_examples=3, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(lines=st.lists(LINES, min_size=3, max_size=60))
def test_nothing_is_lost_of_any_log(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("garbage")
    (folder / "log").mkdir()
    (folder / "log" / "all.csv").write_bytes(HEADER.encode() + b"\n".join(lines) + b"\n")
    try:
        first = run(folder, "first")
    except ConfigError:
        # What is no text at all is refused as a whole, before anything is counted.
        reject()
    counts = first.counts
    assert counts.published + counts.skipped_total + counts.dead_total == counts.statements
    assert counts.statements >= counts.records_read >= 0
    second = run(folder, "second")
    assert second.counts.statements == 0
    assert second.counts.records_read_before == counts.records_read
    shutil.rmtree(folder)
