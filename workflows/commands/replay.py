"""`ingest replay`: dead letters tried again."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Annotated

import typer

from workflows.commands.options import ConfigFile, Settings
from workflows.runtime.error_reporting import shows_errors, without_secrets
from workflows.runtime.logs import LogFormat


@shows_errors
def replay(
    config: ConfigFile,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Also write the summary to FILE, as JSON.")
    ] = None,
    settings: Settings = None,
    log_format: Annotated[LogFormat, typer.Option("--log-format", help="How log lines are written.")] = LogFormat.TEXT,
) -> None:
    """Read the records of the dead letters again, after a fix.

    What comes of it is what a run would have come to that never failed. Where the log has a record no more, the
    masked text of its letter is parsed instead, and the summary says so.

    \b
    Examples:
      ingest replay -c lineage.yaml
      ingest replay -c lineage.yaml --set parsingTimeoutLimit=120
    """
    from workflows.commands.run import Request, carry_out
    from workflows.config import load_config
    from workflows.control.options import Backfill
    from workflows.runs.finish import SuccessCriteria, finish
    from workflows.runtime.java import find_java
    from workflows.runtime.logs import Redactor, start_logging

    loaded = load_config(config, settings or (), may_lack_log=True)
    redact = Redactor(loaded.secrets)
    run_id = uuid.uuid4().hex
    with without_secrets(redact):
        start_logging(log_format, loaded.log_level, run_id, redact)
        find_java()
        summary = carry_out(loaded, Request(run_id, Backfill(dead=True)), live=log_format is LogFormat.TEXT)
        demands = SuccessCriteria(loaded.success_threshold if loaded.fail_below_threshold else None)
        finish(summary, demands, report, log_format)
