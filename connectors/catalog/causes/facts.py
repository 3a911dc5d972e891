"""What is known of a table's past: what happened upstream of it, what tests told, and what nothing tells of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from ingestion.policies.values import ColumnNode


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
    that is told of had as many rows as those before it.
    """

    written: bool
    tests: int
    due: int | None = None
    usual_size: bool = False


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
