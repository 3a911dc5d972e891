"""Which batches a log is worked on in: those that are bound at once, and those that are too large for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workflows.batches.large_batches import LargeBatch
from workflows.batches.passes import UnboundBatch
from workflows.templates.components import is_one_batch, most_of_several
from workflows.templates.stage import Occurrences


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The occurrences of each batch, by their numbers; a `large` one goes on in parts of `most` templates."""

    found: Occurrences
    small: Sequence[Sequence[int]]
    large: Sequence[Sequence[int]]
    most: int

    @property
    def expected(self) -> int:
        """About how many batches go on once all are bound."""
        return len(self.small) + sum(1 + len(_templates(self.found, one)) // self.most for one in self.large)

    def unbound(self) -> Iterator[UnboundBatch]:
        """The batches that are bound at once."""
        templates = self.found.templates.by_fingerprint
        for numbers in self.small:
            groups = self.found.runs.occurrences(numbers)
            yield UnboundBatch({key: templates[key] for key in {one.template for one in groups}}, groups)

    def unbound_large(self) -> Iterator[LargeBatch]:
        """The others, whose templates are read as they are needed."""
        for numbers in self.large:
            yield LargeBatch(self.found.templates.by_fingerprint, self.found.runs.occurrences(numbers), self.most)


def plan_of(found: Occurrences, batches: Sequence[Sequence[int]], at_once: int, *, parts: bool) -> BatchPlan:
    """The plan for `batches` of what a log was `found` to have, which is one batch if it has `at_once` templates.

    `parts`: what hangs together may be bound in parts.
    """
    most = most_of_several(at_once)
    if not parts or is_one_batch(found.runs, at_once):
        return BatchPlan(found, batches, (), most)
    large = [len(_templates(found, one)) > most for one in batches]
    return BatchPlan(
        found,
        [one for one, is_large in zip(batches, large, strict=True) if not is_large],
        [one for one, is_large in zip(batches, large, strict=True) if is_large],
        most,
    )


def _templates(found: Occurrences, numbers: Sequence[int]) -> set[str]:
    return {found.runs.templates[number] for number in numbers}
