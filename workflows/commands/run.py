"""`ingest run`: one workflow, from its source to its target."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import ConfigFile, Settings
from workflows.control.options import Backfill
from workflows.runtime.error_reporting import shows_errors, without_secrets
from workflows.runtime.logs import LogFormat

if TYPE_CHECKING:
    from workflows.config import RunConfig
    from workflows.report.counts import RunSummary

logger = logging.getLogger(__name__)
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]


class Level(StrEnum):
    """From where up to log."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


@shows_errors
def run(
    config: ConfigFile,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the requests as JSON lines, send nothing.")] = False,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Also write the summary to FILE, as JSON.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Read everything again, as if for the first time.")] = False,
    since: Annotated[
        datetime | None,
        typer.Option("--since", help="Read again what the log has from this time on (UTC).", formats=_TIMES),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option("--until", help="Read again what the log has before this time (UTC).", formats=_TIMES),
    ] = None,
    settings: Settings = None,
    log_format: Annotated[LogFormat, typer.Option("--log-format", help="How log lines are written.")] = LogFormat.TEXT,
    log_level: Annotated[
        Level | None,
        typer.Option(
            "--log-level", case_sensitive=False, help="Log from this level up; else workflowConfig.loggerLevel."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if anything is dead, unresolved, ambiguous or warned about.")
    ] = False,
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
    from workflows.runs.finish import SuccessCriteria, finish
    from workflows.runtime.java import find_java
    from workflows.runtime.logs import Redactor, start_logging

    extent = _extent(full, since, until)
    loaded = load_config(config, settings or ())
    redact = Redactor(loaded.secrets)
    run_id = uuid.uuid4().hex
    with without_secrets(redact):
        start_logging(log_format, log_level or loaded.log_level, run_id, redact)
        for key in loaded.without_effect:
            logger.warning("%s is accepted and has no effect here", key)
        find_java()
        request = Request(run_id, extent, dry_run)
        summary = carry_out(loaded, request, live=log_format is LogFormat.TEXT)
        demands = SuccessCriteria(loaded.success_threshold if loaded.fail_below_threshold else None, strict)
        finish(summary, demands, report, log_format)


@dataclass(frozen=True, slots=True)
class Request:
    """What one run is asked to do."""

    run_id: str
    extent: Backfill = field(default_factory=Backfill)
    dry_run: bool = False


def carry_out(config: RunConfig, request: Request, *, live: bool) -> RunSummary:
    """The run, with progress on standard error, in live bars where `live` and a terminal are given."""
    from rich.console import Console

    from workflows.control.failpoints import Failpoints
    from workflows.control.options import RunOptions
    from workflows.control.progress import open_progress
    from workflows.control.signals import interrupted_by_signals
    from workflows.runs.run import run_workflow

    console = Console(stderr=True, force_terminal=None if live else False)
    show = _print_request if request.dry_run else None
    options = RunOptions(request.run_id, show, request.extent, failpoints=Failpoints.from_environment())
    with interrupted_by_signals(options.drain), open_progress(console) as progress:
        return run_workflow(config, options, progress)


def _extent(full: bool, since: datetime | None, until: datetime | None) -> Backfill:
    if full and (since or until):
        raise ConfigError("--full reads everything again: leave out --since and --until, or --full")
    if since and until and since >= until:
        raise ConfigError("--since is not before --until: there is nothing between them")
    return Backfill(full, _seconds(since), _seconds(until))


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.replace(tzinfo=UTC).timestamp()


def _print_request(request: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(request, ensure_ascii=False))
