"""`ingest runs`: what the workflow's runs came to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingestion.errors import ConfigError
from ingestion.model.moments import iso_time
from workflows.commands.options import Settings, print_answer
from workflows.runtime.error_reporting import shows_errors, without_secrets

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from connectors.catalog.questions.runs import RunDetails
    from connectors.catalog.store.evidence.workflow_runs import DeadStatementRow, StoredRun
    from workflows.config import RunConfig
    from workflows.runtime.logs import Redactor
    from workflows.state.dead_letters import DeadLetter
    from workflows.state.runs import RecordedRun

_COUNTS = ("statements", "published", "edges_new", "column_edges")


@shows_errors
def runs(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="One run, by (the beginning of) its id, or latest: all of it.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option("--config", "-c", metavar="FILE", help="The workflow's YAML, whose state has its runs."),
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A catalog's file, which all runs into it have told of.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, from the latest on.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    settings: Settings = None,
) -> None:
    """List a workflow's runs: when, how long, how they ended, what they counted. Or show one.

    Of one run: what it skipped and gave up on, by reason; what changed since the run before; the statements that are
    dead still, masked, with file and line; how to read them again.

    \b
    Examples:
      ingest runs -c lineage.yaml
      ingest runs -c lineage.yaml --json | jq .outcome
      ingest runs 3f9c -c lineage.yaml
      ingest runs latest -c lineage.yaml
      ingest runs --catalog catalog.db
    """
    if (config is None) == (catalog is None):
        raise ConfigError("give -c with the workflow's YAML, or --catalog with a catalog's file")
    if catalog is not None:
        _of_catalog(catalog, run, limit, as_json=as_json)
    else:
        _of_state(config or "", settings, run, limit, as_json=as_json)


def _of_catalog(catalog: Path, run: str | None, limit: int, *, as_json: bool) -> None:
    from connectors.catalog.answer.runs import RUN, RUN_LIST
    from connectors.catalog.questions.runs import run_in_file, run_json, runs_in_file

    if run is not None:
        print_answer(run_in_file(catalog, run), RUN, "json" if as_json else "tree")
    elif as_json:
        for one in runs_in_file(catalog, limit).content.runs:
            typer.echo(json.dumps(run_json(one), ensure_ascii=False))
    else:
        found = runs_in_file(catalog, limit)
        if not found.content.runs:
            typer.echo(f"no run has told {catalog} of itself yet")
        print_answer(found, RUN_LIST, "tree")


def _of_state(config: str, settings: list[str] | None, run: str | None, limit: int, *, as_json: bool) -> None:
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
                if run is not None:
                    _print_one(_details(connection, loaded, run), redact, as_json=as_json)
                    return
                found = recorded_runs(connection, loaded.workflow, limit)
        finally:
            store.close()
    if as_json:
        for one in found:
            typer.echo(redact(json.dumps(_as_json(one), ensure_ascii=False)))
        return
    if not found:
        state = loaded.state_url if "://" in loaded.state_url else Path(loaded.state_url).absolute()
        typer.echo(f"no run yet of {loaded.workflow} in {redact(str(state))}")
        return
    _print(found)


def _details(connection: Connection, config: RunConfig, run: str) -> RunDetails:
    """What the state of a workflow has of one run, as a catalog has it. Raises ConfigError where it is not just one."""
    from connectors.catalog.questions.runs import LATEST, RunDetails, changes_since
    from workflows.runtime.options import RunKind
    from workflows.state.dead_letters import dead_letters_of
    from workflows.state.runs import recorded_runs

    every = recorded_runs(connection, config.workflow, 1_000)
    by_id = (number for number, one in enumerate(every) if one.run_id.startswith(run))
    numbers = list(range(len(every))[:1] if run == LATEST else by_id)
    if len(numbers) != 1:
        raise ConfigError(f"{run} is not the (beginning of the) id of just one run; `ingest runs` lists them")
    found, earlier = every[numbers[0]], every[numbers[0] + 1 :]
    ended = (one for one in earlier if one.report.get("counts") and one.kind is not RunKind.REPLAY)
    before = next((_as_stored_run(config, one) for one in ended), None)
    dead = [_dead_statement(config, letter) for letter in dead_letters_of(connection, config.workflow)]
    own = tuple(one for one in dead if one.run == found.run_id)
    shown = _as_stored_run(config, found)
    return RunDetails(shown, before, changes_since(before, shown), own, len(dead) - len(own))


def _as_stored_run(config: RunConfig, run: RecordedRun) -> StoredRun:
    from connectors.catalog.store.evidence.workflow_runs import StoredRun

    ended = None if run.ended is None else round(run.ended * 1000)
    service, replay = config.source.service_name, config.replay_command
    times = round(run.started * 1000), ended
    report = dict(run.report)
    return StoredRun(run.run_id, run.workflow, service, *times, run.outcome.value, run.message, report, replay, None)


def _dead_statement(config: RunConfig, letter: DeadLetter) -> DeadStatementRow:
    from connectors.catalog.store.evidence.workflow_runs import DeadStatementRow

    masked, dialect, error = (str(letter.details.get(key) or "") for key in ("masked", "dialect", "error"))
    at = letter.details.get("time")
    where = letter.location_text, letter.reason, masked, dialect
    when = round(at * 1000) if at else None
    return DeadStatementRow(config.workflow, letter.run_id, *where, when, error, letter.fingerprint or "", ())


def _print_one(found: RunDetails, redact: Redactor, *, as_json: bool) -> None:
    from connectors.catalog.answer.rendering import render
    from connectors.catalog.answer.runs import RUN
    from connectors.catalog.questions.answer import Answer

    typer.echo(redact(render(Answer(found), RUN, "json" if as_json else "tree")), nl=False)


def _print(found: list[RecordedRun]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "run", "kind", "started (UTC)", "seconds", "ended", *_COUNTS, "skipped", "dead", box=None, pad_edge=False
    )
    for run in found:
        shown = _as_json(run)
        counts = shown["counts"]
        numbers = [f"{counts.get(name, 0):,}" for name in _COUNTS] if counts else [""] * len(_COUNTS)
        sums = [f"{sum(counts.get(name, {}).values()):,}" if counts else "" for name in ("skipped", "dead")]
        took = "" if shown["seconds"] is None else f"{shown['seconds']:.1f}"
        table.add_row(run.run_id[:12], run.kind.value, shown["started"][:19], took, shown["outcome"], *numbers, *sums)
    console = Console()
    (console if console.is_terminal else Console(width=160)).print(table)


def _as_json(run: RecordedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "workflow": run.workflow,
        "kind": run.kind.value,
        "started": iso_time(run.started),
        "ended": None if run.ended is None else iso_time(run.ended),
        "seconds": None if run.ended is None else round(run.ended - run.started, 3),
        "outcome": run.outcome.value,
        "message": run.message,
        "counts": run.report.get("counts", {}),
        "warnings": run.report.get("warnings", []),
    }
