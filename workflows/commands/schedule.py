"""`ingest schedule`: a workflow by its own schedule, each run a process of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ingestion.errors import ConfigError
from workflows.commands.options import ConfigFile, LogLines, Settings
from workflows.runtime.error_reporting import shows_errors, without_secrets
from workflows.runtime.logs import LogFormat

if TYPE_CHECKING:
    from workflows.config import RunConfig
    from workflows.runtime.scheduler import Scheduler
    from workflows.state.store import StateStore


OnceDue = Annotated[bool, typer.Option("--once-due", help="Run it if it is due, and end: for an outer cron.")]


@shows_errors
def schedule(
    config: ConfigFile,
    once_due: OnceDue = False,
    settings: Settings = None,
    host: Annotated[str, typer.Option(help="Where /metrics, /healthz and /readyz are answered.")] = "127.0.0.1",
    metrics_port: Annotated[
        int, typer.Option("--metrics-port", min=0, max=65535, help="Their port; 0 takes a free one.")
    ] = 9464,
    log_format: LogLines = LogFormat.TEXT,
) -> None:
    """Run a workflow by the cron of its YAML (headwater.schedule).

    Of the runs that were missed the latest is made up for. Never do two runs of one workflow overlap, be it on two
    machines.

    \b
    Examples:
      ingest schedule -c lineage.yaml
      ingest schedule -c lineage.yaml --once-due
      ingest schedule -c lineage.yaml --host 0.0.0.0 --metrics-port 9464 --log-format json
    """
    from workflows.config import load_config
    from workflows.runtime.logs import Redactor, start_logging
    from workflows.runtime.signals import interrupted_by_signals
    from workflows.state.store import open_state

    if config == "-":
        raise ConfigError("-c -: a schedule reads its YAML again for each run; name a file")
    loaded = load_config(config, settings or ())
    redact = Redactor(loaded.secrets)
    with without_secrets(redact):
        start_logging(log_format, loaded.workflow_config.logger_level, "", redact)
        store = open_state(loaded.state_url)
        try:
            scheduler = _scheduler(loaded, store, _command(config, settings or (), log_format))
            with interrupted_by_signals():
                _follow(scheduler, store, None if once_due else (host, metrics_port))
        finally:
            store.close()


def _follow(scheduler: Scheduler, store: StateStore, listen: tuple[str, int] | None) -> None:
    from workflows.state.health import health_server

    if listen is None:
        code = scheduler.run_if_due()
        if code:
            raise typer.Exit(code)
        return
    with health_server(store, *listen) as url:
        typer.echo(f"{url}/metrics, /healthz, /readyz", err=True)
        scheduler.run_forever()


def _scheduler(config: RunConfig, store: StateStore, command: list[str]) -> Scheduler:
    from workflows.runtime.scheduler import Scheduler
    from workflows.state.runs import recorded_runs

    if config.headwater.schedule.cron is None:
        raise ConfigError(f'{config.origin}: no schedule; write headwater.schedule: {{cron: "15 * * * *"}}')

    def last_started() -> float | None:
        store.follow()
        with store.read() as connection:
            found = recorded_runs(connection, config.workflow, 1)
        return found[0].started if found else None

    return Scheduler(config.headwater.schedule, command, last_started)


def _command(config: str, settings: list[str] | tuple[str, ...], log_format: LogFormat) -> list[str]:
    chosen = [part for setting in settings for part in ("--set", setting)]
    return [sys.executable, "-m", "workflows", "run", "-c", config, "--log-format", log_format.value, *chosen]
