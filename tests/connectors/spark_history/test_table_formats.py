"""Delta Lake and Apache Iceberg: the logs of a real application over each, beside the truth of its jobs.

Their jars are built for one Spark each, often not the newest: HEADWATER_FORMATS_PYTHON names an interpreter whose
pyspark they fit, HEADWATER_DELTA_JARS (delta-spark, delta-storage) and HEADWATER_ICEBERG_JARS (the runtime) their jars.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from ingestion.model import StatementKind
from tests.connectors.spark_history.comparison import by_target, compare, direct_edges, indirect_edges
from tests.connectors.spark_history.conftest import GENERATOR, LONGEST_RUN, environment, read_directory

KINDS = {
    "f09": StatementKind.MERGE,
    "f10": StatementKind.MERGE,
    "f12": StatementKind.UPDATE,
    "f13": StatementKind.DELETE,
}


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_plans_over_a_table_format_give_the_edges_of_the_analyzer(form: str, tmp_path: Path) -> None:
    python, jars = os.environ.get("HEADWATER_FORMATS_PYTHON"), os.environ.get(f"HEADWATER_{form.upper()}_JARS")
    if not python or not jars:
        pytest.skip(f"set HEADWATER_FORMATS_PYTHON and HEADWATER_{form.upper()}_JARS to run jobs over {form} tables")
    logs = tmp_path / "logs"
    logs.mkdir()
    script = [python, str(GENERATOR / "format_application.py"), "--format", form, "--jars", jars]
    places = ["--root", str(tmp_path), "--truth", str(tmp_path / "truth.json")]
    conf = ["--conf", f"spark.eventLog.dir={logs.as_uri()}"]
    run = {**environment(), "PYSPARK_PYTHON": python}
    subprocess.run(
        [*script, *places, *conf], cwd=tmp_path, env=run, check=True, timeout=LONGEST_RUN, capture_output=True
    )
    truth = json.loads((tmp_path / "truth.json").read_text())
    rows = read_directory(logs, through_views=True)
    result = compare(truth, rows)
    assert result.jobs >= 20
    assert result.wrong == {}
    found = by_target(rows)
    for fact in truth:
        lineage, flow = found[fact["target"].rstrip("/")]
        if fact["job"] in KINDS:
            assert lineage.kind is KINDS[fact["job"]]
        if fact.get("rows") and direct_edges(flow):
            columns = {output.name for output in flow.outputs}
            assert indirect_edges(flow) == {(name, *source) for name in columns for source in map(tuple, fact["rows"])}
