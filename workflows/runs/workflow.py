"""One run between its lease and its end: everything it works with is opened, and its stages are carried out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from connectors.dbt.model_statements import DbtProject
from workflows.config import RunConfig
from workflows.control.options import RunOptions
from workflows.control.progress import Progress
from workflows.publishing.warnings import warnings_of
from workflows.reading.live_sources import open_database
from workflows.report.counts import Pointer, RunCounts, RunSummary
from workflows.runs.pipeline import Pipeline, RunContext
from workflows.runtime.spark import SparkStart
from workflows.state.lease import Lease
from workflows.state.runs import last_done
from workflows.state.store import StateStore
from workflows.state.workflow_state import WorkflowState
from workflows.target import RunTarget, open_target


@dataclass(frozen=True, slots=True)
class BegunRun:
    """What stands when a run has begun, at `started` (seconds since the epoch): Spark may be starting still."""

    started: float
    store: StateStore
    lease: Lease
    spark: SparkStart
    project: DbtProject | None


def run_stages(config: RunConfig, options: RunOptions, progress: Progress, begun: BegunRun) -> RunSummary:
    """What became of every statement of a run that has `begun`, until now.

    Raises what the stages raise, and Unaccounted where the counts do not add up.
    """
    store, lease = begun.store, begun.lease
    with (
        open_database(config) as database,
        open_target(config, options.run_id, dry_run=options.dry_run) as target,
    ):
        memory = WorkflowState(store, lease, _dry_run_config(config) if options.dry_run else config, options.extent)
        context = RunContext(begun.spark, target, database, memory, begun.project)
        counts, warnings = Pipeline(config, options, progress, context).carry_out()
    counts.check_conservation()
    with store.read() as connection:
        before = last_done(connection, config.state.workflow)
    return RunSummary(
        run_id=options.run_id,
        workflow=config.origin,
        started=begun.started,
        ended=time.time(),
        counts=counts,
        seconds_by_stage=progress.seconds_by_stage,
        where_to_look=_where_to_look(config, options, target, counts),
        warnings=(*warnings_of(config, counts, before), *warnings),
        dry_run=options.dry_run,
    )


def _dry_run_config(config: RunConfig) -> RunConfig:
    """What a dry run leaves in a shared folder nobody would remove: its state is thrown away."""
    return replace(config, state=replace(config.state, folder=None))


def _where_to_look(config: RunConfig, options: RunOptions, target: RunTarget, counts: RunCounts) -> tuple[Pointer, ...]:
    if counts.dead_total and not options.dry_run:
        return (*target.where, Pointer("dead letters", str(config.dead_letters)))
    return target.where
