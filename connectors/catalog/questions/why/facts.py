"""What is asked, between which times it went wrong, and what is known of a table's past: what happened upstream,
what tests told, what nothing tells of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from connectors.catalog.store.lineage.reads import ColumnDependency
from connectors.catalog.store.lineage.window import DAY
from ingestion.walk import ColumnNode

# What is known of a table's past: what happened upstream of it, what tests told, and what nothing tells of.


class IncidentKind(StrEnum):
    """What can happen to a table."""

    DEFINITION = "definition changed"
    NEW_WRITER = "another statement writes it"
    TYPE = "type changed"
    COLUMN_DROPPED = "column dropped"
    COLUMN_RENAMED = "column renamed"
    COLUMN_ADDED = "column added"
    TABLE_DROPPED = "table dropped"
    TABLE_ADDED = "table made"
    LOAD_FAILED = "load failed"
    LOAD_REPEATED = "load failed, and its statement ran again"
    LOAD_REPLACED = "load failed, and a new statement wrote the table"
    LOAD_MISSING = "load missing"
    LOAD_LATE = "load late"
    FEWER_ROWS = "fewer rows"
    MORE_ROWS = "more rows"


CONSEQUENCES = frozenset({IncidentKind.LOAD_MISSING, IncidentKind.FEWER_ROWS, IncidentKind.MORE_ROWS})
"""What most often follows from something further upstream, where something happened there."""

SHAPES = frozenset(
    {IncidentKind.TYPE, IncidentKind.COLUMN_DROPPED, IncidentKind.COLUMN_RENAMED, IncidentKind.TABLE_DROPPED}
)
"""After which a statement that is as it was may fail."""


@dataclass(frozen=True, slots=True, order=True)
class Incident:
    """Something happened to a table at a time (milliseconds); `columns` are those that it touched, empty: every row."""

    at: int
    table: str
    kind: IncidentKind
    columns: tuple[str, ...] = ()
    detail: str = ""

    @property
    def text(self) -> str:
        """As people read it."""
        columns = f" ({', '.join(self.columns)})" if self.columns else ""
        return f"{self.kind}{columns}{f': {self.detail}' if self.detail else ''}"


@dataclass(frozen=True, slots=True, order=True)
class TestOutcomeAt:
    """What a test told at a time (milliseconds)."""

    at: int
    passed: bool
    failed_rows: int | None = None

    __test__ = False


@dataclass(frozen=True, slots=True)
class TestRecord:
    """A test of a node with its outcomes, oldest first; those that could not be carried out are not among them."""

    node: ColumnNode
    name: str
    kind: str
    outcomes: tuple[TestOutcomeAt, ...]

    __test__ = False

    @property
    def failing(self) -> bool:
        return bool(self.outcomes) and not self.outcomes[-1].passed

    @property
    def first_failure(self) -> TestOutcomeAt | None:
        """The first of the failures that it ends with."""
        found = None
        for outcome in reversed(self.outcomes):
            if outcome.passed:
                break
            found = outcome
        return found

    def failure_within(self, window: TimeRange) -> TestOutcomeAt | None:
        """The first failure of those that belong to what went wrong in `window`; None: there is none.

        That is a failure which lasts at the window's end, or the next result after it: tests that have not passed since
        run at other hours than the one whose first failure ends the window.
        """
        by_then = [one for one in self.outcomes if one.at <= window.end]
        if not by_then:
            return None
        if by_then[-1].passed:
            after = next((one for one in self.outcomes if one.at > window.end), None)
            return after if after is not None and not after.passed else None
        passes = [one.at for one in by_then if one.passed]
        first = next(one for one in by_then if not passes or one.at > passes[-1])
        return first if window.start < first.at else None

    def pass_within(self, window: TimeRange) -> int | None:
        """When it passed last in `window`; None where it did not, or failed after that in it."""
        by_then = [one for one in self.outcomes if one.at <= window.end]
        return by_then[-1].at if by_then and by_then[-1].passed and by_then[-1].at > window.start else None

    @property
    def last_pass(self) -> int | None:
        """When it passed last."""
        return max((one.at for one in self.outcomes if one.passed), default=None)


@dataclass(frozen=True, slots=True)
class TableKnowledge:
    """What tells of a table: whether something is seen to write it, and how many tests have results.

    `due` is when its next load after the last that is known of is to come (milliseconds); `usual_size` whether the last
    that is told of had as many rows as those before it. `commit`: the last that the table's own log has, with its time,
    "" where none is known.
    """

    written: bool
    tests: int
    due: int | None = None
    usual_size: bool = False
    commit: str = ""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """After `start` and up to `end`, in milliseconds."""

    start: int
    end: int

    def holds(self, at: int) -> bool:
        """Whether a moment lies in it."""
        return self.start < at <= self.end


@dataclass(frozen=True, slots=True)
class UpstreamFacts:
    """All that is known around a table, from `known_since`; of what ran up to `read_until` (None: of nothing)."""

    edges: tuple[ColumnDependency, ...]
    incidents: tuple[Incident, ...]
    tests: tuple[TestRecord, ...]
    tables: dict[str, TableKnowledge]
    known_since: int
    read_until: int | None = None


# What is asked: why a table or a column is wrong at a moment, and between which times it went wrong.


@dataclass(frozen=True, slots=True)
class LookBack:
    """How far back from a moment is looked: `days` (0: to the beginning), not before all that is known (`begun`)."""

    begun: int
    days: int

    def earliest(self, until: int) -> int:
        """The moment after which what happened by `until` counts; always before `until`."""
        back = until - self.days * DAY if self.days else self.begun - 1
        return max(self.begun - 1, back) if self.begun <= until else min(back, until - 1)


@dataclass(frozen=True, slots=True)
class Symptom:
    """What went wrong at the node that is asked about, and when (`window`): by its failing tests, else by the asker."""

    node: ColumnNode
    at: int
    window: TimeRange
    failing: tuple[TestRecord, ...]

    @property
    def nodes(self) -> tuple[ColumnNode, ...]:
        """Where the search begins: at the columns whose tests fail, else at what was asked about."""
        return tuple(sorted({test.node for test in self.failing}, key=str)) or (self.node,)


def symptom_of(node: ColumnNode, at: int, back: LookBack, tests: Iterable[TestRecord]) -> Symptom:
    """The symptom at a node as its tests tell by `at` (milliseconds).

    It began within `back` of the first failure, or of `at` where no test fails. Of a column the tests of the column
    count, else those of its table.
    """
    own = [test for test in tests if test.node[0] == node[0] and test.failing]
    failing = [test for test in own if node[1] in (None, test.node[1])] or [
        test for test in own if test.node[1] is None
    ]
    return Symptom(node, at, _failure_window(failing, at, back), tuple(failing))


def _failure_window(failing: Iterable[TestRecord], at: int, back: LookBack) -> TimeRange:
    """Between the last pass and the first failure of tests: where several fail, the first to fail tells most."""
    ends = []
    for test in failing:
        first = test.first_failure
        if first is not None:
            earliest = back.earliest(first.at)
            ends.append((first.at, -max(earliest, test.last_pass if test.last_pass is not None else earliest)))
    if not ends:
        return TimeRange(back.earliest(at), at)
    end, start = min(ends)
    return TimeRange(-start, end)
