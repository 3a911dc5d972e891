"""What is asked: why a table or a column is wrong at a moment, and between which times it went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from connectors.catalog.causes.facts import TestRecord, TimeRange
from connectors.catalog.store.queries.window import DAY
from ingestion.policies.values import ColumnNode


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
