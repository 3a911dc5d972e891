"""Runs in the process and the Spark session of the tests."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from workflows.cli import app
from workflows.config import load_config
from workflows.counts import RunSummary
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress


def run(folder: Path, *settings: str, may_lack_log: bool = False, **options: Any) -> RunSummary:
    """A run of the workflow in the folder; `options` are those of RunOptions."""
    config = load_config(folder / "lineage.yaml", settings, may_lack_log=may_lack_log)
    return run_workflow(config, RunOptions(options.pop("run_id", uuid.uuid4().hex), **options), LoggedProgress())


def command_line(folder: Path, *arguments: str, given: str = "") -> Result:
    """`ingest` with these arguments, in the folder, and this standard input: what it printed, and its exit code."""
    with chdir(folder), _logging_kept():
        return CliRunner().invoke(app, list(arguments), input=given)


@contextmanager
def _logging_kept() -> Iterator[None]:
    """A command sets up the logging of its process, which here is that of other tests too."""
    loggers = [logging.getLogger(name) for name in (None, "workflows", "connectors", "ingestion")]
    kept = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    raising = logging.raiseExceptions
    try:
        yield
    finally:
        logging.raiseExceptions = raising
        for logger, level, handlers in kept:
            logger.level, logger.handlers = level, handlers
