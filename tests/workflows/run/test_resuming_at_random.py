"""The catalog and the resume logic, driven at random: runs that end, die at any step, start over, replay a window.

Everything but Spark and the parsers is real: the state store, the journal, the delivery, the catalog over HTTP. A
statement here is a template that writes to one table, or to another one where the log defines that.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pyspark.sql.pandas.types import to_arrow_schema

from connectors.openmetadata.client import connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.sink import RestSink
from connectors.sink import TargetBatch, WriteReport, target_batches
from ingestion.errors import TargetDown
from ingestion.model.contributions import Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.requests import AddLineageRequest, request_of
from tests.behaviour.harness import add_tables
from tests.support.catalog_contents import opened
from tests.support.growing_log import Said, configuration, contributions_in, write_log
from workflows.config import load_config
from workflows.run.publish.delivery import Publisher
from workflows.run.read.journal_frames import JOURNAL_SCHEMA
from workflows.runtime.options import Backfill, RunOptions
from workflows.state import journal
from workflows.state.lease import hold_lease
from workflows.state.segments import Segment, new_segment_file, segment_of, write_segment
from workflows.state.store import StateStore, open_state
from workflows.state.workflow_state import RunCheckpoint, WorkflowState

TABLES = ("base", "one", "two")
TEMPLATES = ("x", "y")
START = 1_767_225_600.0


@dataclass(frozen=True, order=True)
class Record:
    """One record of the log: a run of a template, or the definition that moves it to another table."""

    minute: int
    template: str
    defines: bool

    @property
    def digest(self) -> int:
        return self.minute + 1

    @property
    def row(self) -> dict[str, object]:
        key = f"{'define' if self.defines else 'run'} {self.template}"
        base = dict.fromkeys(JOURNAL_SCHEMA.fieldNames())
        return {
            **base, "time": START + 60 * self.minute, "file": "log", "line": self.minute, "position": 0, "step": 0,
            "session": "s", "sets": False, "already_published": False, "fingerprint": key, "dialect": "postgres",
            "digest": self.digest,
        }  # fmt: skip


class Died(Exception):
    """In place of a process that is killed."""


@dataclass
class Sink:
    """The catalog's sink, until it is time to die: before a chunk arrives, or before its answer does."""

    real: RestSink
    chunks: int
    before: bool

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        self.chunks -= 1
        if self.chunks < 0 and self.before:
            raise TargetDown("down")
        report = self.real.write(batches)
        if self.chunks < 0:
            raise TargetDown("down")
        return report


def segments_of(rows: Sequence[dict[str, object]], folder: Path | None) -> list[Segment]:
    """What the journal is to have: several rows in a file, one alone in the store."""
    if not rows:
        return []
    table = pa.Table.from_pylist(list(rows), to_arrow_schema(JOURNAL_SCHEMA))
    assert folder is not None
    return [segment_of(table) if len(rows) == 1 else write_segment(new_segment_file(folder), [table], table.schema)]


class Workflow:
    """A workflow over a folder, whose pipeline is a few lines."""

    def __init__(self, stack: ExitStack) -> None:
        stack.enter_context(patch.object(journal, "SMALL", 2))
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        catalog = stack.enter_context(opened(self.folder / "catalog.db"))
        self.platform = connect(Connection(catalog.url))
        stack.callback(self.platform.close)
        add_tables(self.platform, {f"svc.db.public.{name}": ["a"] for name in TABLES})
        ids = {table["name"]: table["id"] for table in catalog.listing("tables")}
        self.entities = {name: EntityReference(ids[name], "table") for name in TABLES}
        write_log(self.folder / "log" / "all.csv", [])
        self.config = load_config(configuration(self.folder))
        self.store: StateStore = open_state(str(self.folder / "state.db"))
        stack.callback(self.store.close)

    def run(
        self, log: Sequence[Record], extent: Backfill | None = None, dies: Sink | None = None, *, commits: bool = True
    ) -> None:
        run_id = uuid.uuid4().hex
        asked = extent or Backfill()
        with hold_lease(self.store, "w", run_id, heartbeat=60) as lease:
            memory = WorkflowState(self.store, lease, self.config, asked)
            times = np.array([START + 60 * r.minute for r in log], np.float64)
            known = memory.past.known.among(np.array([r.digest for r in log], np.int64), times)
            begin, end = asked.between or (float("-inf"), float("inf"))
            wanted = ~known & (times >= begin) & (times < end)
            read = [r.row for r, is_wanted in zip(log, wanted, strict=True) if is_wanted]
            again = {row["digest"] for row in read}
            before = [row for segment in memory.past.journal for row in segment.rows().to_pylist()]
            whole = [*read, *(row for row in before if row["digest"] not in again)]
            sink = dies or Sink(RestSink(self.platform, run_id), 10**6, before=False)
            sink.real = RestSink(self.platform, run_id)
            note = partial(memory.acknowledge, "c")
            deliverer = Publisher(sink, memory.acknowledged_states("c"), note, note, 1, RunOptions(run_id))
            templates = frozenset(str(row["fingerprint"]) for row in whole)
            scope = memory.complete_scope(templates, {})
            deliverer.deliver(target_batches(self.requests(whole)), scope, lambda _count: None)
            if not commits:
                raise Died
            newest = max((row["time"] for row in read), default=None)
            memory.commit(RunCheckpoint(segments_of(read, memory.past.written), newest))

    def requests(self, rows: Sequence[dict[str, object]]) -> list[AddLineageRequest]:
        defined = {str(row["fingerprint"]).split()[1] for row in rows if str(row["fingerprint"]).startswith("define")}
        found: dict[str, list[dict[str, object]]] = {}
        for row in rows:
            kind, template = str(row["fingerprint"]).split()
            if kind == "run":
                found.setdefault(template, []).append(row)
        return [
            request_of(
                self.entities["base"],
                self.entities["two" if template in defined else "one"],
                [
                    Contribution(
                        Producer(ProducerKind.QUERY, f"run {template}"), "QueryLineage", f"insert {template}", (),
                        "sqlglot", 1.0, min(float(str(r["time"])) for r in ran),
                        max(float(str(r["time"])) for r in ran), tuple(f"{r['digest']:016x}" for r in ran),
                    )
                ],
            )
            for template, ran in sorted(found.items())
        ]  # fmt: skip

    def contributions(self) -> set[Said]:
        return contributions_in(self.folder / "catalog.db")


class Resuming(RuleBasedStateMachine):
    """A log that grows in any order; whatever happens on the way, a run that ends leaves what one run leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.workflow = Workflow(self.stack)
        self.log: list[Record] = []
        self.rotated: list[Record] = []
        self.up_to_date = False

    @initialize(template=st.sampled_from(TEMPLATES))
    def a_first_record(self, template: str) -> None:
        self.log.append(Record(10, template, defines=False))

    @rule(minute=st.integers(0, 20), template=st.sampled_from(TEMPLATES), defines=st.booleans())
    def a_record_comes(self, minute: int, template: str, defines: bool) -> None:
        known = next((one for one in (*self.log, *self.rotated) if one.minute == minute), None)
        self.log.append(known or Record(minute, template, defines))
        self.up_to_date = False

    @rule()
    def a_run_ends(self) -> None:
        self.workflow.run(self.log)
        self.up_to_date = True

    @rule(chunks=st.integers(0, 2), before=st.booleans())
    def a_run_finds_the_target_down(self, chunks: int, before: bool) -> None:
        dies = Sink(RestSink(self.workflow.platform, "none"), chunks, before)
        try:
            self.workflow.run(self.log, dies=dies)
            self.up_to_date = True
        except TargetDown:
            self.up_to_date = False

    @rule()
    def a_run_dies_before_it_notes_what_it_read(self) -> None:
        try:
            self.workflow.run(self.log, commits=False)
        except Died:
            self.up_to_date = False

    @rule()
    def a_full_run(self) -> None:
        self.workflow.run(self.log, Backfill(full=True))
        self.up_to_date = True

    @rule()
    def a_full_run_finds_the_target_down(self) -> None:
        dies = Sink(RestSink(self.workflow.platform, "none"), 0, before=False)
        with suppress(TargetDown):
            self.workflow.run(self.log, Backfill(full=True), dies)
        self.up_to_date = False

    @rule(begin=st.integers(0, 20), length=st.integers(1, 10))
    def a_window_is_replayed(self, begin: int, length: int) -> None:
        self.workflow.run(self.log, Backfill(since=START + 60 * begin, until=START + 60 * (begin + length)))

    @precondition(lambda self: self.up_to_date)
    @rule(records=st.integers(1, 3))
    def the_log_is_rotated(self, records: int) -> None:
        self.rotated += self.log[:records]
        self.log = self.log[records:]

    @invariant()
    def what_is_read_is_what_one_run_leaves(self) -> None:
        if self.up_to_date:
            assert self.workflow.contributions() == at_once(tuple(sorted({*self.rotated, *self.log})))

    def teardown(self) -> None:
        self.stack.close()


@cache
def at_once(log: tuple[Record, ...]) -> set[Said]:
    """What one run over these records leaves."""
    with ExitStack() as stack:
        workflow = Workflow(stack)
        workflow.run(log)
        return workflow.contributions()


Resuming.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=12,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
TestResuming = Resuming.TestCase
