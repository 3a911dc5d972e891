"""Runs in the process and the Spark session of the tests."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from workflows.config import load_config
from workflows.options import RunOptions
from workflows.progress import LoggedProgress
from workflows.run import run_workflow
from workflows.status import RunSummary


def run(folder: Path, *settings: str, may_lack_log: bool = False, **options: Any) -> RunSummary:
    """A run of the workflow in the folder; `options` are those of RunOptions."""
    config = load_config(folder / "lineage.yaml", settings, may_lack_log=may_lack_log)
    return run_workflow(config, RunOptions(options.pop("run_id", uuid.uuid4().hex), **options), LoggedProgress())
