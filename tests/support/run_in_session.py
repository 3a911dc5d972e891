"""Runs in the process and the Spark session of the tests."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from click.testing import Result
from rich.console import Console
from typer.testing import CliRunner

from workflows.cli import app
from workflows.config import load_config
from workflows.counts import RunSummary, report
from workflows.run.finish import print_summary
from workflows.run.start import run_workflow
from workflows.runtime.logs import LogFormat, Redactor, start_logging
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress


def run(folder: Path, *settings: str, may_lack_log: bool = False, **options: Any) -> RunSummary:
    """A run of the workflow in the folder; `options` are those of RunOptions."""
    config = load_config(folder / "lineage.yaml", settings, may_lack_log=may_lack_log)
    return run_workflow(config, RunOptions(options.pop("run_id", uuid.uuid4().hex), **options), LoggedProgress())


def run_that_shows_all(file: Path, shown: Path) -> RunSummary:
    """A run of the YAML whose log from DEBUG on, whose summary and whose report are added to `shown`."""
    config = load_config(file)
    with logging_kept(), shown.open("a") as stream, redirect_stderr(stream):
        start_logging(LogFormat.JSON, "DEBUG", "r1", Redactor(config.secrets))
        summary = run_workflow(config, RunOptions("r1"), LoggedProgress())
        print_summary(summary, Console(file=stream, width=200))
        stream.write(json.dumps(report(summary)))
    return summary


def command_line(folder: Path, *arguments: str, given: str = "") -> Result:
    """`ingest` with these arguments, in the folder, and this standard input: what it printed, and its exit code."""
    with chdir(folder), logging_kept():
        return CliRunner().invoke(app, list(arguments), input=given)


@contextmanager
def logging_kept() -> Iterator[None]:
    """What is done sets up the logging of its process, which here is that of other tests too."""
    loggers = [logging.getLogger(name) for name in (None, "workflows", "connectors", "ingestion")]
    kept = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    raising = logging.raiseExceptions
    try:
        yield
    finally:
        logging.raiseExceptions = raising
        for logger, level, handlers in kept:
            logger.handlers = handlers
            logger.setLevel(level)  # which also forgets what each logger below it had found enabled
