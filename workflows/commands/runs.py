"""`ingest runs`: what the workflow's runs came to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingestion.model.moments import iso_time
from workflows.commands.options import ConfigFile, Settings
from workflows.runtime.error_reporting import shows_errors, without_secrets

if TYPE_CHECKING:
    from workflows.state.runs import RecordedRun

_COUNTS = ("statements", "published", "edges_new", "column_edges")


@shows_errors
def runs(
    config: ConfigFile,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, from the latest on.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    settings: Settings = None,
) -> None:
    """List a workflow's runs: when, how long, how they ended, what they counted.

    \b
    Examples:
      ingest runs -c lineage.yaml
      ingest runs -c lineage.yaml --json | jq .outcome
    """
    from workflows.config import load_config
    from workflows.runtime.logs import Redactor
    from workflows.state.runs import recorded_runs
    from workflows.state.store import open_state

    loaded = load_config(config, settings or (), may_lack_log=True)
    redact = Redactor(loaded.secrets)
    with without_secrets(redact):
        store = open_state(loaded.state_url)
        try:
            with store.read() as connection:
                found = recorded_runs(connection, loaded.workflow, limit)
        finally:
            store.close()
    if as_json:
        for run in found:
            typer.echo(redact(json.dumps(_as_json(run), ensure_ascii=False)))
        return
    if not found:
        state = loaded.state_url if "://" in loaded.state_url else Path(loaded.state_url).absolute()
        typer.echo(f"no run yet of {loaded.workflow} in {redact(str(state))}")
        return
    _print(found)


def _print(found: list[RecordedRun]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("run", "started (UTC)", "seconds", "ended", *_COUNTS, "skipped", "dead", box=None, pad_edge=False)
    for run in found:
        shown = _as_json(run)
        counts = shown["counts"]
        numbers = [f"{counts.get(name, 0):,}" for name in _COUNTS] if counts else [""] * len(_COUNTS)
        sums = [f"{sum(counts.get(name, {}).values()):,}" if counts else "" for name in ("skipped", "dead")]
        took = "" if shown["seconds"] is None else f"{shown['seconds']:.1f}"
        table.add_row(run.run_id[:12], shown["started"][:19], took, shown["outcome"], *numbers, *sums)
    console = Console()
    (console if console.is_terminal else Console(width=160)).print(table)


def _as_json(run: RecordedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "workflow": run.workflow,
        "started": iso_time(run.started),
        "ended": None if run.ended is None else iso_time(run.ended),
        "seconds": None if run.ended is None else round(run.ended - run.started, 3),
        "outcome": run.outcome.value,
        "message": run.message,
        "counts": run.report.get("counts", {}),
        "warnings": run.report.get("warnings", []),
    }
