"""The second sink: what was published to the catalog, as OpenLineage's run events."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial

from openlineage.client.event_v2 import RunEvent

from connectors.openlineage import (
    DatasetNames,
    Emitter,
    EventLimits,
    JobRun,
    Origin,
    RunResult,
    Transport,
    job_runs,
    limits_of,
    open_emitter,
    outcome_event,
    rewritten_namespaces,
)
from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, get_by_name
from ingestion.dialects.dataset_namespaces import ServiceAddress
from ingestion.errors import Rejected
from ingestion.model.contributions import Producer
from ingestion.model.entities import DASHBOARD_TYPES, TableEntity
from ingestion.model.fqn import build_fqn, split_fqn
from ingestion.model.isolation import FailureStage, Isolation, in_parts
from ingestion.model.requests import AddLineageRequest
from workflows.config import RunConfig
from workflows.config.models.headwater import OpenLineage
from workflows.counts import EventReport, RunCounts, some_of
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import PublishedState
from workflows.state.workflow_state import WorkflowState

_EVENTS_AT_ONCE = 100
_SERVICES = {"container": Collection.STORAGE_SERVICES, "topic": Collection.MESSAGING_SERVICES}
"""Where the service of an entity is, by its type; that of any other is a database's."""


@dataclass(frozen=True, slots=True)
class EventSink:
    """Sends what its receiver has not taken yet; a repetition sends nothing."""

    config: RunConfig
    origin: Origin
    state: WorkflowState
    options: RunOptions
    platform: Platform
    _addresses: dict[str, ServiceAddress | None] = field(default_factory=dict)

    @classmethod
    def of(cls, config: RunConfig, options: RunOptions, state: WorkflowState, platform: Platform) -> EventSink | None:
        """The configured one, None where no events are wanted or the run only shows what it would do."""
        transport = config.headwater.open_lineage.transport
        if not transport or options.dry_run:
            return None
        dialect, names = config.source.dialect or "", DatasetNames(config.namespaces)
        limits = _limits(config.headwater.open_lineage)
        origin = Origin(config.workflow, options.run_id, config.job_namespace, dialect, names, limits)
        return cls(config, origin, state, options, platform)

    def send(self, requests: Sequence[AddLineageRequest], entities: Mapping[str, TableEntity]) -> EventReport:
        """Sends the events of each producer. Raises TargetDown and ConfigError."""
        isolation = Isolation[Producer](self.options.failpoints.probe)
        origin = replace(self.origin, names=self._names(entities.values()))
        nameless = {key for key, entity in entities.items() if not origin.names.has_name(entity)}
        named = [one for one in requests if nameless.isdisjoint(one.key)]
        jobs = list(job_runs(named, entities, origin, isolation))
        known = self.state.acknowledged_states(self._name, [job.key for job in jobs])
        news = [job for job in jobs if not _is_known(job.digest, known.get(job.key))]
        failures, refused = list(isolation.failures.values()), dict[str, str]()
        emit = partial(self._emit, refused)
        for start in range(0, len(news), _EVENTS_AT_ONCE):
            with self.options.drain.hold():
                left = in_parts(news[start : start + _EVENTS_AT_ONCE], emit, FailureStage.EVENTS, isolation.probe)
            failures += [failure for _job, failure in left]
            self.options.failpoints.reach("events")
        made = sum(len(job.events) for job in news)
        failed = len(failures) - len(isolation.failures)
        left_out = {job.key: job.left_out for job in news if job.left_out}
        unnamed = origin.names.services_without_namespace(entities.values()) if news else frozenset[str]()
        without_database = frozenset(entities[key].fully_qualified_name for key in nameless)
        sent = max(0, made - failed - len(refused))
        return EventReport(sent, tuple(failures), refused, left_out, unnamed, without_database)

    def _names(self, entities: Iterable[TableEntity]) -> DatasetNames:
        """How these are named: what the YAML does not tell of their services the catalog may."""
        placed = (one for one in entities if one.type not in DASHBOARD_TYPES)
        services = {(one.type, split_fqn(one.fully_qualified_name)[0]) for one in placed}
        known = {name: self._address(kind, name) for kind, name in services}
        found = {name: address for name, address in known.items() if address is not None}
        return DatasetNames(self.config.namespaces.with_services(found))

    def _address(self, kind: str, service: str) -> ServiceAddress | None:
        if service not in self._addresses:
            collection = _SERVICES.get(kind, Collection.DATABASE_SERVICES)
            document = get_by_name(self.platform.http, collection, build_fqn(service)) or {}
            config = (document.get("connection") or {}).get("config") or {}
            kind = document.get("serviceType") or ""
            self._addresses[service] = ServiceAddress(kind, config) if kind else None
        return self._addresses[service]

    def _emit(self, refused: dict[str, str], jobs: Sequence[JobRun]) -> None:
        """Adds to `refused` the events that the receiver refuses, by their runs; their jobs are not acknowledged."""
        taken = []
        with self._emitter() as emitter:
            for job in jobs:
                reasons = {}
                for event in job.events:
                    try:
                        emitter.emit(event)
                    except Rejected as error:
                        reasons[event.run.runId] = _refusal(job, event, str(error))
                refused |= reasons
                if not reasons:
                    taken.append(job)
        self.state.acknowledge(self._name, {job.key: PublishedState("job", job.digest, {}) for job in taken})

    def conclude(self, counts: RunCounts) -> tuple[str, ...]:
        """Tells what became of the run, where that is wanted; what to warn of. Raises TargetDown and ConfigError."""
        warnings = self._namespace_warnings()
        wanted = self.config.headwater.open_lineage.outcome
        if not (self.origin.limits.outcome if wanted is None else wanted):
            return warnings
        try:
            with self._emitter() as emitter:
                emitter.emit(outcome_event(self.origin, RunResult(counts.statements, counts.dead), time.time()))
        except Rejected as error:
            refusal = f"the OpenLineage receiver refuses the event of the run itself ({error}): set outcome: false"
            return (*warnings, refusal)
        return warnings

    def _namespace_warnings(self) -> tuple[str, ...]:
        settings = self.config.headwater.open_lineage
        given = (namespace for namespace in settings.namespaces if "*" not in namespace)
        found = rewritten_namespaces(settings.transport, [self.config.job_namespace, *given])
        if not found:
            return ()
        return (
            f"Marquez has _ for each sign of a namespace but letters, digits and :/_.@+- ({some_of(found)}): if it is "
            "the receiver of the events, give others in headwater.openLineage",
        )

    def _emitter(self) -> AbstractContextManager[Emitter]:
        return open_emitter(Transport(self.config.headwater.open_lineage.transport))

    @property
    def _name(self) -> str:
        parts = (
            Transport(self.config.headwater.open_lineage.transport).location,
            self.config.job_namespace,
        )
        return f"events {hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"


def _is_known(digest: str, known: PublishedState | None) -> bool:
    return known is not None and known.digest == digest


def _refusal(job: JobRun, event: RunEvent, reason: str) -> str:
    """An event as a person is told of it."""
    return f"{job.key} into {some_of([one.name for one in event.outputs or ()])} ({reason})"


def _limits(settings: OpenLineage) -> EventLimits:
    """What the receiver takes: as it is given, else as it is known of it."""
    known = limits_of(settings.transport)
    return replace(
        known,
        size=settings.max_event_bytes or known.size,
        links=settings.max_event_links or known.links,
        columns=settings.max_event_columns or known.columns,
    )
