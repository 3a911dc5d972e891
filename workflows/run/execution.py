"""Where a pass over the shards of a log runs: in the driver, or in Spark's tasks.

`executor_for` chooses; who has an `Executor` does not know which of the two it is. In Spark each shard is a job of its
own, as many at a time as there are cores. What a pass leaves of a shard comes back as bytes, and waits in the driver's
file for the next pass: no executor of Spark has to keep it, and none that is lost has a shard bound again against a
catalog that has changed since. The driver opens none of it. A shard goes out as a broadcast,
which has no limit of size and is read by the one Python worker that needs it.
"""

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
from typing import Any, Generic, Protocol, TypeVar, cast
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import Broadcast, SparkContext

from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection, is_loopback, local_files
from connectors.sink import DryRunSink, Sink, SinkRun
from connectors.sinks import ConfiguredSink
from connectors.source import Schemas
from ingestion.binding.timeline import SchemaProvider
from ingestion.errors import LineageError
from ingestion.model import pickling
from ingestion.resolution import Resolver
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import Binding
from workflows.run.passes import Listener, PassContext, send_shard
from workflows.run.publish.publishing import PublishOrder
from workflows.run.resolve.resolution import NameResolution
from workflows.runtime.garbage_collection import collection_paused
from workflows.runtime.options import Failpoints, RunOptions
from workflows.runtime.spill import Packed, SpillList, pack, unpack
from workflows.state.acknowledgements import PublishedState
from workflows.target import TRIED_ONCE, RunTarget

logger = logging.getLogger(__name__)

Value = TypeVar("Value")
Given = TypeVar("Given")
Left = TypeVar("Left")
Summary = TypeVar("Summary")

Pass = Callable[[PassContext, Value, Given], tuple[Left, Summary]]
"""Takes what is left of a shard and what is given for it; gives what it leaves for the next pass, and what it tells."""
_BYTES_A_ROW = 32 * 1024 * 1024
"""What is larger than 2 GB does not go through Spark in one row."""
TaskPass = Callable[[PassContext, Any, Any], tuple[Any, Any]]
_SIGNALS_SEEN_AFTER = 0.5
"""Seconds. A signal that comes just before the main thread waits is handled only when that thread next runs Python."""
_AT_MOST = 64
"""Shards at a time: each waits in a thread of the driver."""


@dataclass(frozen=True, slots=True)
class Result(Generic[Left, Summary]):
    """What came of a pass over a shard: what is `left` of it for the next one, and the `summary` for the driver."""

    left: Left | Packed[Left]
    summary: Summary


class Executor(Protocol):
    """Where passes run."""

    def map(
        self,
        work: Pass[Value, Given, Left, Summary],
        shards: Iterable[Value],
        given: Iterable[Given],
        on_result: Callable[[Result[Left, Summary]], None],
    ) -> None:
        """Does the work on each shard with what is `given` for it; `on_result` is told of each, in their order.

        Raises as the work does.
        """


@dataclass(frozen=True, slots=True)
class DriverExecutor:
    """One shard after the other, in this process."""

    context: PassContext

    def map(
        self,
        work: Pass[Value, Given, Left, Summary],
        shards: Iterable[Value],
        given: Iterable[Given],
        on_result: Callable[[Result[Left, Summary]], None],
    ) -> None:
        """Does the `work`, as `Executor` says."""
        for shard, given_for_it in zip(shards, given, strict=False):
            with collection_paused():
                left, summary = work(self.context, shard, given_for_it)
            on_result(Result(left, summary))


# What works on shards in a task of Spark: built once in each Python process, with a catalog client of its own.
#
# A task gives back what its pass leaves, what it tells, and what the target has acknowledged meanwhile: the state is
# the driver's alone.


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
class TaskResult:
    """What came of a shard in a task. `result` is None where it cannot be packed: then the driver does it again.

    The listener of a pass there: `acknowledged` is what the target took, in that order; `done` counts requests. The
    state is the driver's alone.
    """

    result: Result[Any, Any] | None = None
    error: LineageError | None = None
    acknowledged: list[Mapping[str, PublishedState]] = field(default_factory=list)
    done: int = 0

    def on_sending(self, states: Mapping[str, PublishedState]) -> None:
        """Nothing: the driver keeps it before the task begins, for what a task tells comes with its result."""

    def on_acknowledged(self, states: Mapping[str, PublishedState]) -> None:
        self.acknowledged.append(states)

    def on_progress(self, count: int) -> None:
        self.done += count


def shard_task(settings: WorkerSettings, work: TaskPass, payload: Broadcast[bytes]) -> Callable[[int], Iterator[bytes]]:
    """A task that does the `work` on the shard of a number, which is in the `payload` with what is given for it.

    Done again for the same shard it sends the same again, in the same calls, which count once.
    """

    def run(number: int) -> Iterator[bytes]:
        found = TaskResult()
        shard, given = pickle.loads(payload.value)
        try:
            with collection_paused(), _worker(settings).context(number, found) as context:
                left, summary = work(context, unpack(shard), given)
                packed = pack(left)
                if isinstance(packed, Packed):
                    found.result = Result(packed, summary)
        except LineageError as error:  # as a value: Spark would try a dead target again, and tell it as its own failure
            found.error = error
        try:
            content = pickling.dumps(found)
        except RecursionError:
            content = pickling.dumps(TaskResult(acknowledged=found.acknowledged))
        for start in range(0, len(content), _BYTES_A_ROW):
            yield content[start : start + _BYTES_A_ROW]

    return run


def _task_result(rows: list[bytes]) -> TaskResult:
    """What came of a shard, given the rows that its task gave back."""
    return cast(TaskResult, pickle.loads(b"".join(rows)))


@dataclass(frozen=True, slots=True)
class _Worker:
    """What passes need in one process, over one client. Its resolver remembers, as the driver's does.

    `before` gives what stood before the log.
    """

    settings: WorkerSettings
    platform: Platform
    names: NameResolution
    binding: Binding
    resolver: Resolver
    before: Callable[[], SchemaProvider]

    @contextmanager
    def context(self, number: int, listener: Listener) -> Iterator[PassContext]:
        """For the shard of that number."""
        settings, facts = self.settings, self.settings.facts.value
        options = RunOptions(settings.run_id, failpoints=settings.failpoints)
        with self._sink(number) as sink:
            yield PassContext(
                config=facts.config,
                options=options,
                target=_target(self.platform, sink, settings),
                names=self.names,
                binding=self.binding,
                before=self.before,
                resolver=self.resolver,
                texts=lambda _wanted: {},
                listener=listener,
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
    resolver = names.resolver()
    before = binding.providers(settings.facts.value.stated, resolver)
    return _Worker(settings, platform, names, binding, resolver, before)


def _target(platform: Platform, sink: Sink, settings: WorkerSettings) -> RunTarget:
    return RunTarget(platform, CatalogSearch(platform), sink, (), settings.writes)


# Passes in the tasks of Spark.


@dataclass(frozen=True, slots=True)
class SparkExecutor:
    """As many shards at a time as there are `slots`; one that cannot be packed is done in the `driver`."""

    spark: SparkContext
    settings: WorkerSettings
    slots: int
    driver: DriverExecutor

    def map(
        self,
        work: Pass[Value, Given, Left, Summary],
        shards: Iterable[Value],
        given: Iterable[Given],
        on_result: Callable[[Result[Left, Summary]], None],
    ) -> None:
        """Does the `work`, as `Executor` says.

        What the target has acknowledged is noted as the shards come back, also where one of them fails.
        """
        queue = _TaskQueue(self, work, on_result)
        slots = self.settings.publishers if queue.publishes else self.slots
        with ThreadPoolExecutor(slots, "shards") as pool:
            try:
                for number, (shard, given_for_it) in enumerate(zip(_packed_shards(shards), given, strict=False)):
                    queue.begin(pool, number, shard, given_for_it)
                    while len(queue.waiting) > slots:
                        queue.finish_first()
                while queue.waiting:
                    queue.finish_first()
            except BaseException:
                queue.end()
                raise

    def run(self, number: int, work: TaskPass, shard: Packed[Any], given: object) -> TaskResult:
        """What came of a shard in a task of its own."""
        payload = self.spark.broadcast(pickling.dumps((shard, given)))
        try:
            self.spark.setJobGroup(self.settings.key, f"shard {number}")
            task = shard_task(self.settings, work, payload)
            return _task_result(self.spark.parallelize([number], 1).flatMap(task).collect())
        finally:
            _destroy(payload)


def _destroy(given: Broadcast[Any]) -> None:
    """Has Spark forget what was given to its tasks."""
    with suppress(Py4JError, OSError):  # of a JVM that has gone
        given.destroy()


def _packed_shards(shards: Iterable[Value]) -> Iterator[Value | Packed[Value]]:
    return shards.packed_values() if isinstance(shards, SpillList) else map(pack, shards)


class _TaskQueue:
    """The shards that are at work, in their order."""

    def __init__(self, executor: SparkExecutor, work: TaskPass, on_result: Callable[[Result[Any, Any]], None]) -> None:
        self._executor = executor
        self._work = work
        self._on_result = on_result
        self._here = executor.driver.context
        self.publishes = work is send_shard
        self._failed = Event()
        self.waiting: deque[tuple[Future[TaskResult], object, object]] = deque()

    def begin(self, pool: ThreadPoolExecutor, number: int, shard: object, given: object) -> None:
        """Has a shard worked on."""
        if self.publishes:
            self._here.options.failpoints.reach("send")
        if isinstance(shard, Packed):
            with self._here.options.drain.hold():  # what has begun is among what is waited for
                if self.publishes:
                    self._here.listener.on_sending(cast(PublishOrder, given).unanswered_states())
                self.waiting.append((pool.submit(self._run, number, shard, given), shard, given))
        else:
            nothing: Future[TaskResult] = Future()
            nothing.set_result(TaskResult())
            self.waiting.append((nothing, shard, given))

    def _run(self, number: int, shard: Packed[Any], given: object) -> TaskResult:
        """What came of a shard; of one that stood by when the run was ended or another failed, nothing."""
        if self._failed.is_set() or self._here.options.drain.interruption is not None:
            return TaskResult()
        try:
            found = self._executor.run(number, self._work, shard, given)
        except BaseException:
            self._failed.set()
            raise
        if found.error is not None:
            self._failed.set()
        return found

    def finish_first(self) -> None:
        """Waits for the first one, and tells of it."""
        future, shard, given = self.waiting[0]
        while not wait((future,), _SIGNALS_SEEN_AFTER).done:
            pass
        found = future.result()
        with self._here.options.drain.hold():
            self.waiting.popleft()
            self._tell_listener(found)
        if found.error is not None:
            raise found.error
        result = found.result
        if result is None:
            left, summary = self._work(self._here, unpack(shard), given)
            result = Result(left, summary)
        self._on_result(result)

    def end(self) -> None:
        """Begins nothing more. What is being published comes to its end, and what was acknowledged is noted."""
        self._failed.set()
        begun = [future for future, _shard, _given in self.waiting if not future.cancel()]
        if not self.publishes:
            with suppress(Py4JError, OSError):
                self._executor.spark.cancelJobGroup(self._executor.settings.key)
        for future in begun:
            if future.exception() is None:
                with suppress(LineageError):  # what ended the run is what to tell
                    self._tell_listener(future.result())

    def _tell_listener(self, found: TaskResult) -> None:
        failpoints, listener = self._here.options.failpoints, self._here.listener
        for states in found.acknowledged:
            failpoints.reach("sent")
            listener.on_acknowledged(states)
            failpoints.reach("publish")
        listener.on_progress(found.done)


# Which of the two: Spark's tasks where a log has several shards, the driver where they cannot do the same.


@contextmanager
def executor_for(
    driver: DriverExecutor, spark: SparkContext, shards: int, stated: tuple[Schemas, ...]
) -> Iterator[Executor]:
    """Where passes over so many `shards` run, in the block; `stated` has the schemas before the log.

    Why a log of several shards stays in the driver is logged.
    """
    context = driver.context
    connection = context.target.connection
    if shards < 2:
        yield driver
        return
    reason = next(_reasons_for_driver(driver, spark), None)
    if reason is not None or connection is None:
        logger.info("%d shards are worked on in the driver: %s", shards, reason)
        yield driver
        return
    slots = min(spark.defaultParallelism, shards, _AT_MOST)
    publishers = min(slots, context.config.lineage.threads)
    facts = spark.broadcast(WorkerFacts(context.config.without_secrets(), context.names.settings, stated))
    settings = WorkerSettings(
        key=uuid4().hex,
        facts=facts,
        connection=replace(connection, connections=max(1, context.config.lineage.threads // publishers)),
        run_id=context.options.run_id,
        failpoints=context.options.failpoints.for_workers(),
        sink=None if isinstance(context.target.sink, DryRunSink) else context.config.sink,
        publishers=publishers,
        writes=context.target.writes,
    )
    logger.info("%d shards are worked on in Spark's tasks, %d at a time", shards, slots)
    try:
        yield SparkExecutor(spark, settings, slots, driver)
    finally:  # the session may be somebody's, and outlive the run
        _destroy(facts)


def _reasons_for_driver(driver: DriverExecutor, spark: SparkContext) -> Iterator[str]:
    """Why the tasks cannot do the same, the first one first."""
    context = driver.context
    connection = context.target.connection
    if connection is None:
        yield "only it reaches the catalog"
        return
    if context.config.sink.config.one_writer:
        yield f"only one process may write to {context.config.sink.type}"
    if context.binding.planner is not None:
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
