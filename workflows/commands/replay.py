"""`ingest replay`: dead letters tried again."""

from __future__ import annotations

from typing import Annotated

import typer

from workflows.commands.options import ConfigFile, LogLines, ReportFile, Settings
from workflows.runtime.error_reporting import shows_errors
from workflows.runtime.logs import LogFormat


@shows_errors
def replay(
    config: ConfigFile,
    statement: Annotated[
        str,
        typer.Option("--statement", metavar="LOCATION", help="Only that of this file and line: log.csv:7."),
    ] = "",
    report: ReportFile = None,
    settings: Settings = None,
    log_format: LogLines = LogFormat.TEXT,
) -> None:
    """Read the records of the dead letters again, after a fix.

    What comes of it is what a run would have come to that never failed. Where the log has a record no more, the
    masked text of its letter is parsed instead, and the summary says so.

    \b
    Examples:
      ingest replay -c lineage.yaml
      ingest replay -c lineage.yaml --set parsingTimeoutLimit=120
      ingest replay -c lineage.yaml --statement log.csv:7
    """
    from workflows.commands.run import RunRequest, run_once
    from workflows.config import load_config
    from workflows.runtime.options import Backfill

    loaded = load_config(config, settings or (), may_lack_log=True)
    run_once(loaded, RunRequest(Backfill(dead=True, statement=statement), report, log_format))
