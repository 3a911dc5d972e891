"""Lineage as OpenLineage's run events, sent by openlineage-python's own transports."""

from connectors.openlineage.emitter import Emitter, Transport, open_emitter
from connectors.openlineage.events import DatasetNames, JobRun, Origin, RunResult, job_runs, outcome_event
from connectors.openlineage.receivers import EventLimits, limits_of, rewritten_namespaces

__all__ = [
    "DatasetNames",
    "Emitter",
    "EventLimits",
    "JobRun",
    "Origin",
    "RunResult",
    "Transport",
    "job_runs",
    "limits_of",
    "open_emitter",
    "outcome_event",
    "rewritten_namespaces",
]
