"""Where the passes over the batches of a log are carried out: in the driver, or as `tasks` tells, in Spark's tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from workflows.batches.passes import BatchStages
from workflows.control.collection import collection_paused
from workflows.control.shelf import Shelf

Value = TypeVar("Value")
Given = TypeVar("Given")
Left = TypeVar("Left")
Summary = TypeVar("Summary")

Pass = Callable[[BatchStages, Value, Given], tuple[Left, Summary]]
"""Takes what is left of a batch and what is given for it; gives what it leaves, and what it tells."""


class Place(Protocol):
    """Where passes are carried out."""

    def carry_out(
        self,
        work: Pass[Value, Given, Left, Summary],
        batches: tuple[Iterable[Value], Iterable[Given]],
        leave: Shelf[Left],
        take: Callable[[Summary], None],
    ) -> None:
        """Does the work on all batches; in their order, `leave` gets what is left of each and `take` what it tells.

        Raises as the work does.
        """


@dataclass(frozen=True, slots=True)
class InDriver:
    """One batch after the other, in this process."""

    stages: BatchStages

    def carry_out(
        self,
        work: Pass[Value, Given, Left, Summary],
        batches: tuple[Iterable[Value], Iterable[Given]],
        leave: Shelf[Left],
        take: Callable[[Summary], None],
    ) -> None:
        """Does the `work`, as `Place` says."""
        for value, given in zip(*batches, strict=False):
            with collection_paused():
                left, summary = work(self.stages, value, given)
            leave.append(left)
            take(summary)
