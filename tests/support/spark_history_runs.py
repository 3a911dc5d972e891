"""A workflow over a Spark history, and what its catalog says in full names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.support.growing_log import contributions_in
from workflows.config import load_config
from workflows.counts import RunSummary
from workflows.run.start import run_workflow
from workflows.runtime.options import Backfill, RunOptions
from workflows.runtime.progress import LoggedProgress


def configuration(folder: Path, logs: Path, **ours: Any) -> Path:
    """The YAML of a workflow over the event logs in `logs`, whose catalog and state are in `folder`."""
    lineage = {"type": "DatabaseLineage", "eventLogDirectory": str(logs)}
    content = {
        "source": {"type": "spark-history-lineage", "serviceName": "spark", "sourceConfig": {"config": lineage}},
        "workflowConfig": {"successThreshold": 50},
        "headwater": {
            "spark": {"master": "local[2]", "conf": {"spark.sql.shuffle.partitions": 2}},
            "catalog": {"file": str(folder / "catalog.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            **ours,
        },
    }
    file = folder / "spark.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def run(file: Path, name: str = "run", extent: Backfill | None = None) -> RunSummary:
    """A run in the process and the Spark session of the test."""
    return run_workflow(load_config(file), RunOptions(name, extent=extent or Backfill()), LoggedProgress())


def edges_of(folder: Path) -> set[tuple[str, str]]:
    """(source, target) of every edge in the catalog, by fully qualified name."""
    return {(said.source, said.target) for said in contributions_in(folder / "catalog.db")}
