"""The runs of each workflow: when, how they ended, what they counted."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from ingestion.errors import Interrupted, LineageError, TargetDown
from ingestion.model.outcomes import RunOutcome, run_outcome
from workflows.runtime.options import RunKind
from workflows.state.store import runs

_KEPT = 1000
"""Runs of a workflow that are remembered."""
COMPLETED = (RunOutcome.DONE, RunOutcome.BELOW_THRESHOLD)
"""How runs end that read all they were asked to."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """Times are seconds since the epoch; `report` has its kind, the counts, the seconds by stage and the warnings."""

    run_id: str
    workflow: str
    started: float
    ended: float | None
    outcome: RunOutcome
    message: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> RunKind:
        """What it was asked to read."""
        return RunKind(self.report.get("kind", RunKind.RUN))


def outcome_of(success_percent: float, threshold: int | None) -> RunOutcome:
    """How a run ended that came to its end, given the per cent of statements that have to succeed (None: any)."""
    short = threshold is not None and success_percent < threshold
    return RunOutcome.BELOW_THRESHOLD if short else RunOutcome.DONE


def outcome_of_error(error: BaseException) -> RunOutcome:
    """How a run ended that did not come to its end."""
    if isinstance(error, TargetDown):
        return RunOutcome.TARGET_DOWN
    return RunOutcome.INTERRUPTED if isinstance(error, Interrupted | KeyboardInterrupt) else RunOutcome.FAILED


def message_of_error(error: BaseException) -> str:
    """What is told of it: nothing that an exception of somebody else's may quote."""
    return str(error) if isinstance(error, LineageError) else type(error).__name__


def begin_run(connection: Connection, workflow: str, run_id: str, started: float, kind: RunKind = RunKind.RUN) -> None:
    """Notes that a run has begun, in place of one that had its id. `started` is in seconds since the epoch."""
    values = {"workflow": workflow, "run_id": run_id, "started": started, "outcome": RunOutcome.RUNNING.value}
    connection.execute(delete(runs).where(runs.c.run_id == run_id))
    connection.execute(insert(runs).values(**values, message="", report=json.dumps({"kind": kind.value})))
    oldest = select(runs.c.run_id).where(runs.c.workflow == workflow).order_by(runs.c.started.desc()).offset(_KEPT)
    gone = list(connection.scalars(oldest))
    if gone:
        connection.execute(delete(runs).where(runs.c.run_id.in_(gone)))


def end_run(connection: Connection, run: RecordedRun) -> None:
    """Notes how a run has ended."""
    values = {"ended": run.ended, "outcome": run.outcome.value, "message": run.message}
    content = json.dumps(run.report, ensure_ascii=False)
    connection.execute(update(runs).where(runs.c.run_id == run.run_id).values(**values, report=content))


def last_done(connection: Connection, workflow: str) -> RecordedRun | None:
    """The latest run that came to its end and read something; a replay, which reads a few records, is none of them."""
    latest = (run for run in recorded_runs(connection, workflow, at_most=50) if run.kind is not RunKind.REPLAY)
    return next((run for run in latest if run.report.get("counts", {}).get("statements")), None)


def records_of_last_run(connection: Connection, workflow: str) -> tuple[int, Mapping[str, int]] | None:
    """How many records the run before this one found, read before or not, and by whom they were exported.

    None where there is none that came to its end and looked at all of them.
    """
    latest = recorded_runs(connection, workflow, at_most=2)
    if [run.outcome for run in latest[:1]] != [RunOutcome.RUNNING]:  # a clock went back: which came last, nobody knows
        return None
    before = next((run for run in latest[1:] if run.outcome in COMPLETED and run.kind is not RunKind.REPLAY), None)
    if before is None:
        return None
    counts = before.report["counts"]
    return counts["records_read"] + counts["records_read_before"], counts["exporters"]


def latest_runs(connection: Connection, outcomes: Collection[RunOutcome] = tuple(RunOutcome)) -> list[RecordedRun]:
    """The latest run of each workflow that ended in one of these ways."""
    chosen = runs.c.outcome.in_([outcome.value for outcome in outcomes])
    newest = select(runs.c.workflow, func.max(runs.c.started).label("started")).where(chosen).group_by(runs.c.workflow)
    latest = newest.subquery()
    same = and_(runs.c.workflow == latest.c.workflow, runs.c.started == latest.c.started, chosen)
    found = connection.execute(select(runs).join(latest, same).order_by(runs.c.workflow))
    return [_recorded_run(row) for row in found]


def run_totals(connection: Connection) -> dict[tuple[str, str], int]:
    """How many of the remembered runs of each workflow ended how."""
    counted = select(runs.c.workflow, runs.c.outcome, func.count()).group_by(runs.c.workflow, runs.c.outcome)
    return {(workflow, outcome): count for workflow, outcome, count in connection.execute(counted)}


def recorded_runs(connection: Connection, workflow: str | None = None, at_most: int = 20) -> list[RecordedRun]:
    """The latest runs of a `workflow` (None: of all), newest first, `at_most` so many."""
    found = select(runs).order_by(runs.c.started.desc()).limit(at_most)
    if workflow is not None:
        found = found.where(runs.c.workflow == workflow)
    return [_recorded_run(row) for row in connection.execute(found)]


def _recorded_run(row: Row[Any]) -> RecordedRun:
    outcome, report = run_outcome(row.outcome), json.loads(row.report)
    return RecordedRun(row.run_id, row.workflow, row.started, row.ended, outcome, row.message, report)
