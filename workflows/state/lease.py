"""Never two runs of one workflow: a lease with an owner and a heartbeat, taken over when its owner is dead."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from ingestion.errors import LeaseHeld, StateLost
from workflows.state.store import StateStore, clock, leases, runs

logger = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 10.0
EXPIRY_SECONDS = 60.0
"""So long without a heartbeat, and an owner on another machine counts as dead."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: `started` tells it from a later one with its number."""

    host: str
    process: int
    started: str

    def __str__(self) -> str:
        return f"{self.host}/{self.process}/{self.started}"

    @classmethod
    def parse(cls, text: str) -> Owner:
        host, process, started = text.rsplit("/", 2)
        return cls(host, int(process), started)

    @classmethod
    def this(cls) -> Owner:
        return cls(_host(), os.getpid(), _start_time(os.getpid()))

    @property
    def is_dead(self) -> bool:
        """Whether it is known to be gone; of a process of another machine nothing is known."""
        return self.host == _host() and _start_time(self.process) != self.started


@dataclass(frozen=True, slots=True)
class Lease:
    """One workflow, held by one run of one process."""

    workflow: str
    owner: str
    run_id: str

    def confirm(self, connection: Connection) -> None:
        """Inside a transaction that writes: raises LeaseHeld where another run has taken over."""
        where = select(leases.c.owner, leases.c.run_id).where(leases.c.workflow == self.workflow)
        found = connection.execute(where.with_for_update()).one_or_none()
        if found is None or (found.owner, found.run_id) != (self.owner, self.run_id):
            raise LeaseHeld(
                f"{self.workflow}: another run took over while this one did not answer; it carries the work on"
            )


@contextmanager
def hold_lease(
    store: StateStore, workflow: str, run_id: str, heartbeat: float = HEARTBEAT_SECONDS, expiry: float = EXPIRY_SECONDS
) -> Iterator[Lease]:
    """The lease of a workflow, kept alive for the block. Raises LeaseHeld where another run has it."""
    lease = _take(store, Lease(workflow, str(Owner.this()), run_id), expiry)
    done = threading.Event()
    beating = threading.Thread(target=_beat, args=(store, lease, done, heartbeat), name="lease", daemon=True)
    beating.start()
    try:
        yield lease
    finally:
        done.set()
        beating.join()
        _give_back(store, lease)


def _give_back(store: StateStore, lease: Lease) -> None:
    try:
        with store.write() as connection:
            connection.execute(delete(leases).where(_mine(lease)))
    except StateLost as error:
        logger.warning("%s: the lease could not be given back; the next run takes it over (%s)", lease.workflow, error)


def _take(store: StateStore, lease: Lease, expiry: float) -> Lease:
    try:
        with store.write() as connection:
            held = connection.execute(
                select(leases).where(leases.c.workflow == lease.workflow).with_for_update()
            ).one_or_none()
            now = clock(connection)
            if held is not None:
                # One that is yet to come was noted before the clock was set back: a living owner notes another.
                silent = abs(now - held.heartbeat)
                if not Owner.parse(held.owner).is_dead and silent < expiry:
                    raise LeaseHeld(_sentence(lease.workflow, held.owner, held.run_id))
                logger.warning("%s: taking over from run %s, whose process is gone", lease.workflow, held.run_id)
                crashed = runs.c.run_id == held.run_id, runs.c.outcome == "running"
                connection.execute(update(runs).where(*crashed).values(outcome="crashed", ended=held.heartbeat))
                connection.execute(delete(leases).where(leases.c.workflow == lease.workflow))
            values = {"workflow": lease.workflow, "owner": lease.owner, "run_id": lease.run_id, "heartbeat": now}
            connection.execute(insert(leases).values(**values))
    except IntegrityError:
        raise LeaseHeld(f"{lease.workflow}: another run began at the same moment; try again later") from None
    return lease


def _sentence(workflow: str, owner: str, run_id: str) -> str:
    holder = Owner.parse(owner)
    return f"{workflow}: run {run_id} is at it (process {holder.process} on {holder.host}); try again later"


def _beat(store: StateStore, lease: Lease, done: threading.Event, seconds: float) -> None:
    while not done.wait(seconds):
        try:
            with store.write() as connection:
                connection.execute(update(leases).where(_mine(lease)).values(heartbeat=clock(connection)))
        except StateLost as error:
            logger.warning("the lease could not be renewed, trying again: %s", error)


def _mine(lease: Lease) -> ColumnElement[bool]:
    return (leases.c.workflow == lease.workflow) & (leases.c.owner == lease.owner) & (leases.c.run_id == lease.run_id)


def _host() -> str:
    """Where process numbers mean the same: this machine since its last start, this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}:{boot[:8]}:{Path('/proc/self/ns/pid').readlink().name}"
    except OSError:
        return socket.gethostname()


def _start_time(process: int) -> str:
    """When a process started, in the system's own count; "" where none of that number lives."""
    if not Path("/proc/self/stat").exists():
        return _lives(process)
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def _lives(process: int) -> str:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"
