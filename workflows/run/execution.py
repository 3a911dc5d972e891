"""Where a pass over the shards of a log runs: in the driver, or in Spark's tasks."""

from __future__ import annotations

import logging
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Event
from typing import Any, Protocol, TypeVar, cast
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import Broadcast, SparkContext

from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection, is_loopback, local_files
from connectors.sink import DryRunSink, Sink, SinkRun
from connectors.sinks import ConfiguredSink
from ingestion.errors import LineageError
from ingestion.model import pickling
from ingestion.resolution import Resolver
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import Binding
from workflows.run.bind.schemas import Schemas
from workflows.run.passes import PassContext, send_shard
from workflows.run.resolve.resolution import NameResolution
from workflows.runtime.garbage_collection import collection_paused
from workflows.runtime.options import Failpoints, RunOptions
from workflows.runtime.spill import SpillList, pack, unpack
from workflows.state.acknowledgements import PublishedState
from workflows.target import TRIED_ONCE, RunTarget

# Where the passes over the batches of a log are carried out: in the driver, or as `tasks` tells, in Spark's tasks.

Value = TypeVar("Value")
Given = TypeVar("Given")
Left = TypeVar("Left")
Summary = TypeVar("Summary")

Pass = Callable[[PassContext, Value, Given], tuple[Left, Summary]]
"""Takes what is left of a batch and what is given for it; gives what it leaves, and what it tells."""


class Place(Protocol):
    """Where passes are carried out."""

    def carry_out(
        self,
        work: Pass[Value, Given, Left, Summary],
        batches: tuple[Iterable[Value], Iterable[Given]],
        leave: SpillList[Left],
        take: Callable[[Summary], None],
    ) -> None:
        """Does the work on all batches; in their order, `leave` gets what is left of each and `take` what it tells.

        Raises as the work does.
        """


@dataclass(frozen=True, slots=True)
class InDriver:
    """One batch after the other, in this process."""

    stages: PassContext

    def carry_out(
        self,
        work: Pass[Value, Given, Left, Summary],
        batches: tuple[Iterable[Value], Iterable[Given]],
        leave: SpillList[Left],
        take: Callable[[Summary], None],
    ) -> None:
        """Does the `work`, as `Place` says."""
        for value, given in zip(*batches, strict=False):
            with collection_paused():
                left, summary = work(self.stages, value, given)
            leave.append(left)
            take(summary)


# What works on batches in a task of Spark: built once in each Python process, with a catalog client of its own.
#
# A task gives back what its pass leaves, what it tells, and what the target has acknowledged meanwhile: the state is
# the driver's alone.

_PIECE = 32 * 1024 * 1024
"""Bytes of a row: what is larger than 2 GB does not go through Spark in one."""

TaskPass = Callable[[PassContext, Any, Any], tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What tasks read from a file of their executor: `config` has no secrets, `stated` the schemas before the log."""

    config: RunConfig
    settings: SourceSettings
    stated: tuple[Schemas, ...]


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a task is built from; `key` tells the settings of one run from those of another.

    The token of the target is in the `connection`, and the `sink` may have secrets: nothing that grows stands beside
    them, since Spark puts the code of tasks into a file where it is large. `publishers`: how many tasks may write to
    the target at a time. `writes` False: nothing may change in the catalog; without a `sink` nothing is sent.
    """

    key: str
    facts: Broadcast[WorkerFacts] = field(compare=False, repr=False)
    connection: Connection = field(compare=False)
    run_id: str = field(compare=False)
    failpoints: Failpoints = field(compare=False)
    sink: ConfiguredSink | None = field(compare=False, repr=False)
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


def batch_task(settings: WorkerSettings, work: TaskPass, payload: Broadcast[bytes]) -> Callable[[int], Iterator[bytes]]:
    """A task that does the `work` on the batch of a number, which is in the `payload` with what is given for it.

    Done again for the same batch it sends the same again, in the same calls, which count once.
    """

    def carry_out(number: int) -> Iterator[bytes]:
        recorded = Recorded()
        packed, given = pickle.loads(payload.value)
        try:
            with collection_paused(), _worker(settings).stages(number, recorded) as stages:
                left, recorded.summary = work(stages, unpack(packed), given)
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

    @contextmanager
    def stages(self, number: int, recorded: Recorded) -> Iterator[PassContext]:
        """What the batch of that number goes through."""
        settings, facts = self.settings, self.settings.facts.value
        options = RunOptions(settings.run_id, failpoints=settings.failpoints)
        with self._sink(number) as sink:
            yield PassContext(
                config=facts.config,
                options=options,
                target=_target(self.platform, sink, settings),
                names=self.names,
                binding=self.binding,
                before=self.binding.providers(facts.stated, self.resolver),
                resolver=self.resolver,
                texts=lambda _wanted: {},
                course=recorded,
            )

    def _sink(self, number: int) -> AbstractContextManager[Sink]:
        settings = self.settings
        if settings.sink is None:
            return nullcontext(DryRunSink())
        threads = max(1, settings.facts.value.config.lineage.threads // settings.publishers)
        return settings.sink.open(SinkRun(f"{settings.run_id} {number}", threads, self.platform))


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


# Passes in the tasks of Spark: a job for each batch, as many at a time as there are cores.
#
# What a pass leaves of a shard comes back as bytes, and waits in the driver's file for the next pass: no executor has
# to keep it, and none that is lost has a shard bound again against a catalog that has changed since. The driver opens
# none of it. A shard goes out as a broadcast, which has no limit of size and is read by the one executor that needs
# it.

_SIGNALS_SEEN_AFTER = 0.5
"""Seconds. A signal that comes just before the main thread waits is handled only when that thread next runs Python."""


@dataclass(frozen=True, slots=True)
class InTasks:
    """As many batches at a time as there are `slots`; one that cannot be packed is done in the `driver`."""

    context: SparkContext
    settings: WorkerSettings
    slots: int
    driver: InDriver

    def carry_out(
        self,
        work: Pass[Value, Given, Left, Summary],
        batches: tuple[Iterable[Value], Iterable[Given]],
        leave: SpillList[Left],
        take: Callable[[Summary], None],
    ) -> None:
        """Does the `work`, as `Place` says.

        What the target has acknowledged is noted as the batches come back, also where one of them fails.
        """
        flow = _Flow(self, work, leave, take)
        slots = self.settings.publishers if flow.publishes else self.slots
        with ThreadPoolExecutor(slots, "batches") as pool:
            try:
                for number, (batch, given) in enumerate(zip(_packed_values(batches[0]), batches[1], strict=False)):
                    flow.begin(pool, number, (batch, given))
                    while len(flow.waiting) > slots:
                        flow.take_first()
                while flow.waiting:
                    flow.take_first()
            except BaseException:
                flow.end()
                raise

    def run(self, number: int, work: TaskPass, batch: bytes, given: object) -> Recorded:
        """What came of a batch in a task of its own."""
        payload = self.context.broadcast(pickling.dumps((batch, given)))
        try:
            self.context.setJobGroup(self.settings.key, f"batch {number}")
            task = batch_task(self.settings, work, payload)
            return recorded_in(self.context.parallelize([number], 1).flatMap(task).collect())
        finally:
            destroy(payload)


def destroy(given: Broadcast[Any]) -> None:
    """Has Spark forget what was given to its tasks."""
    with suppress(Py4JError, OSError):  # of a JVM that has gone
        given.destroy()


class _Flow:
    """The batches that are at work, in their order."""

    def __init__(self, place: InTasks, work: TaskPass, leave: SpillList[Any], take: Callable[[Any], None]) -> None:
        self._place = place
        self._work = work
        self._leave = leave
        self._take = take
        self._here = place.driver.stages
        self.publishes = work is send_shard
        self._failed = Event()
        self.waiting: deque[tuple[Future[Recorded], bytes | _Unpacked, object]] = deque()

    def begin(self, pool: ThreadPoolExecutor, number: int, batch: tuple[bytes | _Unpacked, object]) -> None:
        """Has a batch worked on."""
        packed, given = batch
        if self.publishes:
            self._here.options.failpoints.reach("send")
        if isinstance(packed, bytes):
            with self._here.options.drain.hold():  # what has begun is among what is waited for
                self.waiting.append((pool.submit(self._run, number, packed, given), packed, given))
        else:
            nothing: Future[Recorded] = Future()
            nothing.set_result(Recorded())
            self.waiting.append((nothing, packed, given))

    def _run(self, number: int, batch: bytes, given: object) -> Recorded:
        """What came of a batch; of one that stood by when the run was ended or another failed, nothing."""
        if self._failed.is_set() or self._here.options.drain.interruption is not None:
            return Recorded()
        try:
            recorded = self._place.run(number, self._work, batch, given)
        except BaseException:
            self._failed.set()
            raise
        if recorded.error is not None:
            self._failed.set()
        return recorded

    def take_first(self) -> None:
        """Takes what came of the first one, once it is done."""
        future, batch, given = self.waiting[0]
        while not wait((future,), _SIGNALS_SEEN_AFTER).done:
            pass
        recorded = future.result()
        with self._here.options.drain.hold():
            self.waiting.popleft()
            self._note(recorded)
        if recorded.error is not None:
            raise recorded.error
        if recorded.left is not None:
            self._leave.append_packed(recorded.left)
        else:
            value = unpack(batch) if isinstance(batch, bytes) else batch.value
            left, recorded.summary = self._work(self._here, value, given)
            self._leave.append(left)
        self._take(recorded.summary)

    def end(self) -> None:
        """Begins nothing more. What is being published comes to its end, and what was acknowledged is noted."""
        self._failed.set()
        begun = [future for future, _batch, _given in self.waiting if not future.cancel()]
        if not self.publishes:
            with suppress(Py4JError, OSError):
                self._place.context.cancelJobGroup(self._place.settings.key)
        for future in begun:
            if future.exception() is None:
                with suppress(LineageError):  # what ended the run is what to tell
                    self._note(future.result())

    def _note(self, recorded: Recorded) -> None:
        failpoints, course = self._here.options.failpoints, self._here.course
        for done in recorded.notes:
            failpoints.reach("sent")
            course.note(done)
            failpoints.reach("publish")
        course.advance(recorded.advanced)


@dataclass(frozen=True, slots=True)
class _Unpacked:
    """A batch that is too deep to be packed."""

    value: Any


def _packed_values(batches: Iterable[object]) -> Iterator[bytes | _Unpacked]:
    if isinstance(batches, SpillList):
        for number in range(len(batches)):
            packed = batches.packed_value(number)
            yield _Unpacked(batches[number]) if packed is None else packed
    else:
        for value in batches:
            packed = pack(value)
            yield _Unpacked(value) if packed is None else packed


# Where to carry out the passes: in Spark's tasks where a log has several batches, in the driver where they cannot.

_AT_MOST = 64
"""Batches at a time: each waits in a thread of the driver."""

logger = logging.getLogger(__name__)


@contextmanager
def place_of(driver: InDriver, spark: SparkContext, batches: int, stated: tuple[Schemas, ...]) -> Iterator[Place]:
    """Where to carry out the passes over so many `batches`, in the block; `stated` has the schemas before the log.

    Why a log of several batches stays in the driver is logged.
    """
    stages = driver.stages
    connection = stages.target.connection
    if batches < 2:
        yield driver
        return
    reason = next(_reasons_for_driver(driver, spark), None)
    if reason is not None or connection is None:
        logger.info("%d batches are worked on in the driver: %s", batches, reason)
        yield driver
        return
    slots = min(spark.defaultParallelism, batches, _AT_MOST)
    publishers = min(slots, stages.config.lineage.threads)
    facts = spark.broadcast(WorkerFacts(stages.config.without_secrets(), stages.names.settings, stated))
    settings = WorkerSettings(
        key=uuid4().hex,
        facts=facts,
        connection=replace(connection, connections=max(1, stages.config.lineage.threads // publishers)),
        run_id=stages.options.run_id,
        failpoints=stages.options.failpoints.in_tasks(),
        sink=None if isinstance(stages.target.sink, DryRunSink) else stages.config.sink,
        publishers=publishers,
        writes=stages.target.writes,
    )
    logger.info("%d batches are worked on in Spark's tasks, %d at a time", batches, slots)
    try:
        yield InTasks(spark, settings, slots, driver)
    finally:  # the session may be somebody's, and outlive the run
        destroy(facts)


def _reasons_for_driver(driver: InDriver, spark: SparkContext) -> Iterator[str]:
    """Why the tasks cannot do the same, the first one first."""
    stages = driver.stages
    connection = stages.target.connection
    if connection is None:
        yield "only it reaches the catalog"
        return
    if stages.config.sink.config.one_writer:
        yield f"only one process may write to {stages.config.sink.type}"
    if stages.binding.planner is not None:
        yield "the live database's planner is asked by it"
    if spark.defaultParallelism < 2:
        yield "Spark has one core"
    if not str(spark.master).startswith("local"):
        if is_loopback(connection.host_port):
            yield f"{connection.host_port} is reached from its machine alone"
        if files := local_files(connection):
            yield f"{', '.join(files)} is on its machine alone"
        if refusal := _refusal(connection, spark):
            yield f"from an executor, {refusal}"


def _refusal(connection: Connection, spark: SparkContext) -> str:
    """Why an executor cannot reach the target; "" where it does."""

    def try_it(_number: int) -> str:
        try:
            connect(connection, TRIED_ONCE).close()
        except LineageError as error:
            return str(error)
        return ""

    (answer,) = spark.parallelize([0], 1).map(try_it).collect()
    return str(answer)
