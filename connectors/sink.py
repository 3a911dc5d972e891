"""What a sink does with requests, and what it tells of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ingestion.lineage_request import AddLineageRequest, Replacement


class Outcome(StrEnum):
    """What became of one request."""

    NEW = "new"
    MERGED = "merged"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"  # what its source had said before made room for it
    STORED = "stored"  # acknowledged in a batch; which of the above it was, only the batch's counts tell
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The outcome of one request; `reason` when it was rejected, `refused_columns` when some were not taken."""

    request: AddLineageRequest
    outcome: Outcome
    reason: str = ""
    refused_columns: int = 0

    @property
    def accepted(self) -> bool:
        return self.outcome is not Outcome.REJECTED


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """Edges by outcome; `replaced` counts what ended; `column_edges` is what the accepted requests hold."""

    new: int = 0
    merged: int = 0
    unchanged: int = 0
    replaced: int = 0
    rejected: int = 0
    column_edges: int = 0

    def __add__(self, other: WriteCounts) -> WriteCounts:
        return WriteCounts(
            self.new + other.new,
            self.merged + other.merged,
            self.unchanged + other.unchanged,
            self.replaced + other.replaced,
            self.rejected + other.rejected,
            self.column_edges + other.column_edges,
        )


@dataclass(frozen=True, slots=True)
class WriteReport:
    """One result for each request, in their order, and the sums."""

    results: tuple[WriteResult, ...]
    counts: WriteCounts


class Sink(Protocol):
    """Takes requests, one for each edge. Writing the same again changes nothing."""

    def write(self, requests: Sequence[AddLineageRequest], replacements: Sequence[Replacement] = ()) -> WriteReport:
        """Writes all it can. Raises TargetDown and ConfigError when nothing more can be written."""
