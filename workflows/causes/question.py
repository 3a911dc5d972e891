"""What is asked: why a table or a column is wrong at a moment, and between which times it went wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ingestion.policies.values import ColumnNode
from workflows.causes.facts import TestRecord, TimeRange


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


def symptom_of(node: ColumnNode, at: int, earliest: int, tests: Iterable[TestRecord]) -> Symptom:
    """The symptom at a node as its tests tell; it began after `earliest` (milliseconds), and by `at`.

    Of a column the tests of the column count, else those of its table.
    """
    own = [test for test in tests if test.node[0] == node[0] and test.failing]
    failing = [test for test in own if node[1] in (None, test.node[1])] or [
        test for test in own if test.node[1] is None
    ]
    return Symptom(node, at, _failure_window(failing, at, earliest), tuple(failing))


def _failure_window(failing: Iterable[TestRecord], at: int, earliest: int) -> TimeRange:
    """Between the last pass and the first failure of tests: where several fail, the first to fail tells most."""
    ends = []
    for test in failing:
        first = test.first_failure
        if first is not None:
            ends.append((first.at, -max(earliest, test.last_pass if test.last_pass is not None else earliest)))
    if not ends:
        return TimeRange(earliest, at)
    end, start = min(ends)
    return TimeRange(-start, end)
