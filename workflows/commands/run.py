"""`ingest run`: one workflow, from its source to its target."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import FORMATS, ConfigFile, LogLines, ReportFile, Settings, seconds
from workflows.runtime.error_reporting import shows_errors, without_secrets
from workflows.runtime.logs import LogFormat
from workflows.runtime.options import Backfill

if TYPE_CHECKING:
    from workflows.config import RunConfig
    from workflows.counts import RunSummary

logger = logging.getLogger(__name__)


class Level(StrEnum):
    """From where up to log."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


Since = Annotated[
    datetime | None,
    typer.Option("--since", help="Read again what the log has from this time on (UTC).", formats=FORMATS),
]
Until = Annotated[
    datetime | None,
    typer.Option("--until", help="Read again what the log has before this time (UTC).", formats=FORMATS),
]
LogLevel = Annotated[
    Level | None,
    typer.Option("--log-level", case_sensitive=False, help="Log from this level up; else workflowConfig.loggerLevel."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 3 if anything is dead, unresolved, ambiguous or warned about.")
]


@shows_errors
def run(
    config: ConfigFile,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the requests as JSON lines, send nothing.")] = False,
    report: ReportFile = None,
    full: Annotated[bool, typer.Option("--full", help="Read everything again, as if for the first time.")] = False,
    since: Since = None,
    until: Until = None,
    settings: Settings = None,
    log_format: LogLines = LogFormat.TEXT,
    log_level: LogLevel = None,
    strict: Strict = False,
) -> None:
    """Read a source, derive its lineage, publish it.

    \b
    Examples:
      ingest run -c config/lineage.yaml
      ingest run -c lineage.yaml --dry-run | jq .edge
      ingest run -c lineage.yaml --set queryLogFilePath=/var/log/pg --report out/report.json
      ingest run -c lineage.yaml --log-format json --strict
      ingest run -c lineage.yaml --since 2026-01-31 --until 2026-02-01

    A run reads what is new in the log, and what came late.
    """
    from workflows.config import load_config

    request = RunRequest(_extent(since, until, full=full), report, log_format, log_level, dry_run, strict)
    run_once(load_config(config, settings or ()), request)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What one run is asked to do. `log_level` None leaves it to the configuration."""

    extent: Backfill
    report: Path | None = None
    log_format: LogFormat = LogFormat.TEXT
    log_level: Level | None = None
    dry_run: bool = False
    strict: bool = False


def run_once(config: RunConfig, request: RunRequest) -> None:
    """A run and its end: the summary, the report. Raises what `run_workflow` and `finish` raise, without secrets."""
    from workflows.run.finish import SuccessCriteria, finish
    from workflows.runtime.garbage_collection import collect_seldom
    from workflows.runtime.java import find_java
    from workflows.runtime.logs import Redactor, start_logging

    redact = Redactor(config.secrets)
    run_id = uuid.uuid4().hex
    with without_secrets(redact):
        start_logging(request.log_format, request.log_level or config.workflow_config.logger_level, run_id, redact)
        for key in config.without_effect:
            logger.warning("%s is accepted and has no effect here", key)
        find_java()
        collect_seldom()  # again: what was loaded for a run stays as well
        summary = _summary(config, request, run_id)
        limits = config.workflow_config
        finish(summary, SuccessCriteria(limits.demanded_percent, request.strict), request.report, request.log_format)


def _summary(config: RunConfig, request: RunRequest, run_id: str) -> RunSummary:
    """Of the run, with progress on standard error: in live bars where log lines are text, in a terminal."""
    from rich.console import Console

    from workflows.run.start import run_workflow
    from workflows.runtime.options import Failpoints, RunOptions
    from workflows.runtime.progress import open_progress
    from workflows.runtime.signals import interrupted_by_signals

    console = Console(stderr=True, force_terminal=None if request.log_format is LogFormat.TEXT else False)
    show = _print_request if request.dry_run else None
    options = RunOptions(run_id, show, request.extent, failpoints=Failpoints.from_environment())
    with interrupted_by_signals(options.drain), open_progress(console) as progress:
        return run_workflow(config, options, progress)


def _extent(since: datetime | None, until: datetime | None, *, full: bool) -> Backfill:
    if full and (since or until):
        raise ConfigError("--full reads everything again: leave out --since and --until, or --full")
    if since and until and since >= until:
        raise ConfigError("--since is not before --until: there is nothing between them")
    return Backfill(full, seconds(since) if since else None, seconds(until) if until else None)


def _print_request(request: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(request, ensure_ascii=False))
