"""What works on batches in a task of Spark: built once in each Python process, with a catalog client of its own.

A task gives back what its pass leaves, what it tells, and what the target has acknowledged meanwhile: the state is the
driver's alone.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, cast

from pydantic import SecretStr
from pyspark import Broadcast

from connectors.openmetadata.client import CatalogSearch, connect
from connectors.openmetadata.rest_sink import DryRunSink, RestSink, SinkOptions
from connectors.openmetadata.transport.connection import Connection
from connectors.openmetadata.transport.platform import Platform
from connectors.sink import Sink
from ingestion import pickling
from ingestion.errors import LineageError
from ingestion.resolution.resolver import Resolver
from workflows.batches.passes import BatchStages
from workflows.config import EmbeddedCatalog, RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.config.values import SparkSettings, State
from workflows.control.collection import collection_paused
from workflows.control.failpoints import Failpoints
from workflows.control.options import RunOptions
from workflows.control.shelf import pack, unpack
from workflows.lineage.entity_resolution import NameResolution
from workflows.lineage.schema_files import Schemas
from workflows.lineage.stage import Binding
from workflows.state.acknowledgements import PublishedState
from workflows.target import RunTarget

_PIECE = 32 * 1024 * 1024
"""Bytes of a row: what is larger than 2 GB does not go through Spark in one."""

TaskPass = Callable[[BatchStages, Any, Any], tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What tasks read from a file of their executor: `config` has no secrets, `stated` the schemas before the log."""

    config: RunConfig
    settings: SourceSettings
    stated: tuple[Schemas, ...]


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a task is built from; `key` tells the settings of one run from those of another.

    The token of the target is in the `connection`: nothing that grows stands beside it, since Spark puts the code of
    tasks into a file where it is large. `publishers`: how many tasks may write to the target at a time. `writes` False:
    nothing may change there.
    """

    key: str
    facts: Broadcast[WorkerFacts] = field(compare=False, repr=False)
    connection: Connection = field(compare=False)
    run_id: str = field(compare=False)
    failpoints: Failpoints = field(compare=False)
    publishers: int = field(compare=False, default=1)
    writes: bool = field(compare=False, default=True)


@dataclass(slots=True)
class Recorded:
    """What came of a batch in a task. `left` is packed, None where it cannot be: then the driver does it again.

    `notes`: what the target has acknowledged, in that order; `advanced`: how many requests are done.
    """

    left: bytes | None = None
    summary: Any = None
    error: LineageError | None = None
    notes: list[Mapping[str, PublishedState]] = field(default_factory=list)
    advanced: int = 0

    def note(self, done: Mapping[str, PublishedState]) -> None:
        self.notes.append(done)

    def advance(self, count: int) -> None:
        self.advanced += count


def config_for_tasks(config: RunConfig) -> RunConfig:
    """What the passes need of a configuration, without its secrets: none of them is for an executor's disk."""
    target = config.target
    if isinstance(target, EmbeddedCatalog):
        target = replace(target, token=None)
    else:
        target = replace(target, token=SecretStr(""), headers={})
    connection = config.source.connection
    source = config.source if connection is None else replace(config.source, connection=replace(connection, options={}))
    return replace(
        config,
        source=source,
        target=target,
        query_log=replace(config.query_log, path=None, jdbc={}),
        filters=replace(config.filters, condition=None),
        spark_history=None,
        spark=SparkSettings(),
        state=State("", config.state.workflow),
        dbt=None,
        open_lineage=None,
        secrets=(),
    )


def batch_task(settings: WorkerSettings, work: TaskPass, payload: Broadcast[bytes]) -> Callable[[int], Iterator[bytes]]:
    """A task that does the `work` on the batch of a number, which is in the `payload` with what is given for it.

    Done again for the same batch it sends the same again, in the same calls, which count once.
    """

    def carry_out(number: int) -> Iterator[bytes]:
        recorded = Recorded()
        packed, given = pickle.loads(payload.value)
        try:
            with collection_paused():
                left, recorded.summary = work(_worker(settings).stages(number, recorded), unpack(packed), given)
                recorded.left = pack(left)
        except LineageError as error:  # as a value: Spark would try a dead target again, and tell it as its own failure
            recorded.error = error
        try:
            done = pickling.dumps(recorded)
        except RecursionError:
            done = pickling.dumps(Recorded(notes=recorded.notes))
        for start in range(0, len(done), _PIECE):
            yield done[start : start + _PIECE]

    return carry_out


def recorded_in(pieces: list[bytes]) -> Recorded:
    """What a task has recorded, given the pieces that it gave back."""
    return cast(Recorded, pickle.loads(b"".join(pieces)))


@dataclass(frozen=True, slots=True)
class _Worker:
    """The stages of one process, over one client. Its resolver remembers, as the driver's does."""

    settings: WorkerSettings
    platform: Platform
    names: NameResolution
    binding: Binding
    resolver: Resolver

    def stages(self, number: int, recorded: Recorded) -> BatchStages:
        """What the batch of that number goes through."""
        settings, facts = self.settings, self.settings.facts.value
        options = RunOptions(settings.run_id, failpoints=settings.failpoints)
        return BatchStages(
            config=facts.config,
            options=options,
            target=_target(self.platform, self._sink(number), settings),
            names=self.names,
            binding=self.binding,
            before=self.binding.providers(facts.stated, self.resolver),
            resolver=self.resolver,
            texts=lambda _wanted: {},
            course=recorded,
        )

    def _sink(self, number: int) -> Sink:
        settings = self.settings
        if not settings.writes:
            return DryRunSink()
        threads = max(1, settings.facts.value.config.threads // settings.publishers)
        return RestSink(self.platform, SinkOptions(f"{settings.run_id} {number}", threads))


@lru_cache(maxsize=1)
def _worker(settings: WorkerSettings) -> _Worker:
    """The one of this process, for as long as it works for the same run. Raises TargetDown and ConfigError."""
    platform = connect(settings.connection)
    probe = settings.failpoints.probe
    target = _target(platform, DryRunSink(), settings)  # names are not resolved by way of a sink
    config, names_meant = settings.facts.value.config, settings.facts.value.settings
    names = NameResolution(config, names_meant, target, probe)
    binding = Binding(config, names_meant, None, lambda _templates: None, probe)
    return _Worker(settings, platform, names, binding, names.resolver())


def _target(platform: Platform, sink: Sink, settings: WorkerSettings) -> RunTarget:
    return RunTarget(platform, CatalogSearch(platform), sink, (), settings.writes)
