"""Passes in the tasks of Spark: a job for each batch, as many at a time as there are cores.

What a pass leaves of a batch comes back as bytes, and waits in the driver's file for the next pass: no executor has to
keep it, and none that is lost has a batch bound again against a catalog that has changed since. The driver opens none
of it. A batch goes out as a broadcast, which has no limit of size and is read by the one executor that needs it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import Any

from py4j.protocol import Py4JError
from pyspark import Broadcast, SparkContext

from ingestion import pickling
from ingestion.errors import LineageError
from workflows.batches.passes import send_batch
from workflows.batches.places import Given, InDriver, Left, Pass, Summary, Value
from workflows.batches.worker import Recorded, TaskPass, WorkerSettings, batch_task, recorded_in
from workflows.control.shelf import Shelf, pack, unpack

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
        leave: Shelf[Left],
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

    def __init__(self, place: InTasks, work: TaskPass, leave: Shelf[Any], take: Callable[[Any], None]) -> None:
        self._place = place
        self._work = work
        self._leave = leave
        self._take = take
        self._here = place.driver.stages
        self.publishes = work is send_batch
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
    if isinstance(batches, Shelf):
        for number in range(len(batches)):
            packed = batches.packed_value(number)
            yield _Unpacked(batches[number]) if packed is None else packed
    else:
        for value in batches:
            packed = pack(value)
            yield _Unpacked(value) if packed is None else packed
