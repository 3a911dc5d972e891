"""One run: it holds the lease of its workflow, and how it ends is recorded, whatever ends it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from connectors.scratch import scratch_folder
from ingestion.errors import StateLost
from ingestion.model.outcomes import RunOutcome
from workflows.config import RunConfig
from workflows.counts import RunSummary, report
from workflows.runtime.options import Backfill, RunOptions
from workflows.runtime.progress import Progress
from workflows.runtime.spark import SparkStart
from workflows.state.lease import Lease, hold_lease
from workflows.state.log_files import files_unchanged
from workflows.state.runs import RecordedRun, begin_run, end_run, message_of_error, outcome_of, outcome_of_error
from workflows.state.store import StateStore, open_state

if TYPE_CHECKING:
    from connectors.dbt.model_statements import DbtProject


def run_workflow(config: RunConfig, options: RunOptions, progress: Progress) -> RunSummary:
    """Runs the workflow of `config` and tells what became of every statement.

    Raises ConfigError, TargetDown, LeaseHeld, SparkLost, Interrupted, and Unaccounted where the counts do not add up.
    """
    with _state(config, options) as store, hold_lease(store, config.workflow, options.run_id) as lease:
        kind = {"kind": options.extent.kind.value}
        run = RecordedRun(options.run_id, config.workflow, time.time(), None, RunOutcome.RUNNING, "", kind)
        with store.write() as connection:
            begin_run(connection, run.workflow, run.run_id, run.started, run.kind)
        try:
            summary = _summary(config, options, progress, (run.started, store, lease))
        except BaseException as error:
            with suppress(StateLost):  # what ended the run is what to tell
                _end(store, run, outcome_of_error(error), message_of_error(error))
            raise
        outcome = outcome_of(summary.counts.success_percent, config.workflow_config.demanded_percent)
        _end(store, run, outcome, "", summary)
        if config.headwater.metrics_file is not None and not options.dry_run:
            from workflows.state.metrics import write_metrics  # the JVM is waited for less where it begins sooner

            write_metrics(store, config.headwater.metrics_file)
        return summary


@contextmanager
def _state(config: RunConfig, options: RunOptions) -> Iterator[StateStore]:
    """The state store; for a dry run an empty one that is thrown away, so that it shows all that the log has."""
    with scratch_folder("state") as scratch:
        store = open_state(str(scratch / "state.db") if options.dry_run else config.state_url)
        try:
            yield store
        finally:
            store.close()


@contextmanager
def _local_project(config: RunConfig) -> Iterator[tuple[RunConfig, DbtProject | None]]:
    """The configuration with dbt's artifacts on this machine's disk, and the project in them; of another, itself."""
    if config.dbt is None:
        yield config, None
        return
    from workflows.run.read.sources import local_artifacts, open_dbt

    with local_artifacts(config) as whole:
        yield whole, open_dbt(whole)


def _summary(
    config: RunConfig, options: RunOptions, progress: Progress, begun: tuple[float, StateStore, Lease]
) -> RunSummary:
    with _local_project(config) as (whole, project), closing(SparkStart(whole.headwater.spark)) as spark:
        with begun[1].read() as connection:
            may_be_unchanged = options.extent == Backfill() and files_unchanged(connection, config.workflow)
        if not may_be_unchanged:  # where it is, a run that finds nothing else changed needs no JVM
            spark.begin()
        # They take seconds to load: the JVM starts meanwhile.
        from workflows.run.pipeline import BegunRun, run_stages

        summary = run_stages(whole, options, progress, BegunRun(*begun, spark, project))
    return replace(summary, ended=time.time())


def _end(
    store: StateStore, run: RecordedRun, outcome: RunOutcome, message: str, summary: RunSummary | None = None
) -> None:
    content = report(summary) if summary is not None else run.report
    ended = RecordedRun(run.run_id, run.workflow, run.started, time.time(), outcome, message, content)
    with store.write() as connection:
        end_run(connection, ended)
