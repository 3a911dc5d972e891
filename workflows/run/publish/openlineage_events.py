"""The second sink: what was published to the catalog, as OpenLineage's run events."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from connectors.openlineage import (
    DatasetNames,
    Emitter,
    JobRun,
    Origin,
    RunResult,
    Transport,
    job_runs,
    open_emitter,
    outcome_event,
)
from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, get_by_name
from ingestion.dialects.dataset_namespaces import ServiceAddress
from ingestion.model.contributions import Producer
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import build_fqn, split_fqn
from ingestion.model.isolation import Failure, FailureStage, Isolation, in_parts
from ingestion.model.requests import AddLineageRequest
from workflows.config import RunConfig
from workflows.counts import RunCounts
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import PublishedState
from workflows.state.workflow_state import WorkflowState

_EVENTS_AT_ONCE = 100


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
        origin = Origin(config.workflow, options.run_id, config.job_namespace, dialect, names)
        return cls(config, origin, state, options, platform)

    def send(
        self, requests: Sequence[AddLineageRequest], entities: Mapping[str, TableEntity]
    ) -> tuple[int, tuple[Failure, ...]]:
        """How many events were sent, one for each producer, and why others could not be.

        Raises TargetDown and ConfigError.
        """
        isolation = Isolation[Producer](self.options.failpoints.probe)
        origin = replace(self.origin, names=self._names(entities.values()))
        jobs = list(job_runs(requests, entities, origin, isolation))
        known = self.state.acknowledged_states(self._name, [job.key for job in jobs])
        news = [job for job in jobs if not _is_known(job.digest, known.get(job.key))]
        failures = list(isolation.failures.values())
        for start in range(0, len(news), _EVENTS_AT_ONCE):
            with self.options.drain.hold():
                left = in_parts(news[start : start + _EVENTS_AT_ONCE], self._emit, FailureStage.EVENTS, isolation.probe)
            failures += [failure for _job, failure in left]
            self.options.failpoints.reach("events")
        return len(news) - len(failures) + len(isolation.failures), tuple(failures)

    def _names(self, entities: Iterable[TableEntity]) -> DatasetNames:
        """How these are named: what the YAML does not tell of their services the catalog may."""
        services = {(entity.type, split_fqn(entity.fully_qualified_name)[0]) for entity in entities}
        known = {name: self._address(kind, name) for kind, name in services}
        found = {name: address for name, address in known.items() if address is not None}
        return DatasetNames(self.config.namespaces.with_services(found))

    def _address(self, kind: str, service: str) -> ServiceAddress | None:
        if service not in self._addresses:
            collection = Collection.STORAGE_SERVICES if kind == "container" else Collection.DATABASE_SERVICES
            document = get_by_name(self.platform.http, collection, build_fqn(service)) or {}
            config = (document.get("connection") or {}).get("config") or {}
            kind = document.get("serviceType") or ""
            self._addresses[service] = ServiceAddress(kind, config) if kind else None
        return self._addresses[service]

    def _emit(self, jobs: Sequence[JobRun]) -> None:
        with self._emitter() as emitter:
            for job in jobs:
                emitter.emit(job.event)
        self.state.acknowledge(self._name, {job.key: PublishedState("job", job.digest, {}) for job in jobs})

    def conclude(self, counts: RunCounts) -> None:
        """Tells what became of the run. Raises TargetDown and ConfigError."""
        with self._emitter() as emitter:
            emitter.emit(outcome_event(self.origin, RunResult(counts.statements, counts.dead), time.time()))

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
