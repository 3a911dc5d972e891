"""One run: its lease taken, its course noted, every statement accounted for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

from ingestion.errors import Interrupted, LineageError, StateLost, TargetDown
from workflows.config import RunConfig
from workflows.control.options import RunOptions
from workflows.control.progress import Progress
from workflows.control.scratch import scratch_folder
from workflows.publishing.warnings import warnings_of
from workflows.reading.dbt_definitions import local_artifacts, open_dbt
from workflows.reading.live_sources import open_database
from workflows.report.counts import Pointer, RunCounts, RunSummary, report
from workflows.runs.pipeline import Pipeline, RunContext
from workflows.runtime.metrics import write_metrics
from workflows.runtime.spark import SparkStart
from workflows.state.lease import Lease, hold_lease
from workflows.state.runs import RecordedRun, RunOutcome, begin_run, end_run, last_done
from workflows.state.store import StateStore, open_state
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, open_target


def run_workflow(config: RunConfig, options: RunOptions, progress: Progress) -> RunSummary:
    """Carries out the workflow of `config` and tells what became of every statement.

    Raises ConfigError, TargetDown, LeaseHeld, SparkLost, Interrupted, and Unaccounted where the counts do not add up.
    """
    with _state(config, options) as store, hold_lease(store, config.state.workflow, options.run_id) as lease:
        run = RecordedRun(options.run_id, config.state.workflow, time.time(), None, RunOutcome.RUNNING)
        with store.write() as connection:
            begin_run(connection, run.workflow, run.run_id, run.started)
        try:
            with local_artifacts(config) as whole:
                summary = _carried_out(whole, options, progress, (store, lease))
        except BaseException as error:
            message = str(error) if isinstance(error, LineageError) else type(error).__name__
            with suppress(StateLost):  # what ended the run is what to tell
                _end(store, run, _outcome(error), message)
            raise
        fell_short = config.fail_below_threshold and summary.counts.success_percent < config.success_threshold
        outcome = RunOutcome.BELOW_THRESHOLD if fell_short else RunOutcome.DONE
        _end(store, run, outcome, "", summary)
        if config.metrics_file is not None and not options.dry_run:
            write_metrics(store, config.metrics_file)
        return summary


@contextmanager
def _state(config: RunConfig, options: RunOptions) -> Iterator[StateStore]:
    """The state store; for a dry run an empty one that is thrown away, so that it shows all that the log has."""
    with scratch_folder("state") as scratch:
        store = open_state(str(scratch / "state.db") if options.dry_run else config.state.url)
        try:
            yield store
        finally:
            store.close()


def _dry_run_config(config: RunConfig) -> RunConfig:
    """What a dry run leaves in a shared folder nobody would remove: its state is thrown away."""
    return replace(config, state=replace(config.state, folder=None))


def _carried_out(
    config: RunConfig, options: RunOptions, progress: Progress, state: tuple[StateStore, Lease]
) -> RunSummary:
    started = time.time()
    store, lease = state
    project = open_dbt(config)
    with (
        closing(SparkStart(config.spark)) as spark,
        open_database(config) as database,
        open_target(config, options.run_id, dry_run=options.dry_run) as target,
    ):
        memory = WorkflowState(store, lease, _dry_run_config(config) if options.dry_run else config, options.extent)
        context = RunContext(spark, target, database, memory, project)
        counts, warnings = Pipeline(config, options, progress, context).carry_out()
    counts.check_conservation()
    with store.read() as connection:
        before = last_done(connection, config.state.workflow)
    return RunSummary(
        run_id=options.run_id,
        workflow=config.origin,
        started=started,
        ended=time.time(),
        counts=counts,
        seconds_by_stage=progress.seconds_by_stage,
        where_to_look=_where_to_look(config, options, target, counts),
        warnings=(*warnings_of(config, counts, before), *warnings),
        dry_run=options.dry_run,
    )


def _where_to_look(config: RunConfig, options: RunOptions, target: RunTarget, counts: RunCounts) -> tuple[Pointer, ...]:
    if counts.dead_total and not options.dry_run:
        return (*target.where, Pointer("dead letters", str(config.dead_letters)))
    return target.where


def _outcome(error: BaseException) -> RunOutcome:
    if isinstance(error, TargetDown):
        return RunOutcome.TARGET_DOWN
    return RunOutcome.INTERRUPTED if isinstance(error, Interrupted | KeyboardInterrupt) else RunOutcome.FAILED


def _end(
    store: StateStore, run: RecordedRun, outcome: RunOutcome, message: str, summary: RunSummary | None = None
) -> None:
    content = report(summary) if summary is not None else {}
    ended = RecordedRun(run.run_id, run.workflow, run.started, time.time(), outcome, message, content)
    with store.write() as connection:
        end_run(connection, ended)
