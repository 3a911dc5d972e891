"""Which records of a log were read before, as the tasks that read it ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from workflows.journal.record_digests import Digests, are_known, none_known
from workflows.journal.segments import Segment, digests_file, map_digests

Times = npt.NDArray[np.float64]
"""Seconds since the epoch; 0 where a record has none."""

_MAPPED = 256
"""Files that a process has mapped at once."""


@dataclass(frozen=True, slots=True)
class DigestFile:
    """The digests of records from `oldest` to `newest` (seconds since the epoch); 0 where one has no time."""

    path: str
    oldest: float
    newest: float


@dataclass(frozen=True, slots=True)
class KnownRecords:
    """Records that are not read again: those `at_hand` and in `files`, without those to be read `again`.

    The digests are sorted. `again` are too those of the time `between`; a time after `latest` counts as none.
    """

    at_hand: Digests = field(default_factory=none_known)
    files: tuple[DigestFile, ...] = ()
    again: Digests = field(default_factory=none_known)
    between: tuple[float, float] | None = None
    latest: float = float("inf")

    def __bool__(self) -> bool:
        return bool(self.at_hand.size or self.files)

    @property
    def leaves_out(self) -> bool:
        """Whether some may be read again."""
        return bool(self.again.size) or self.between is not None

    def among(self, digests: Digests, times: Times) -> npt.NDArray[np.bool_]:
        """Which of the records, by digest and time, are known."""
        if not self:
            return np.zeros(digests.size, np.bool_)
        possible = np.where(times <= self.latest, times, 0.0)
        known = are_known(digests, self.at_hand)
        for file in self._files_with(possible):
            known |= are_known(digests, _map_digests(file.path))
        known &= ~are_known(digests, self.again)
        if self.between is not None:
            begin, end = self.between
            known &= (possible < begin) | (possible >= end)
        return known

    def all_at_hand(self) -> KnownRecords:
        """The same, for tasks that cannot read the files."""
        digests = [self.at_hand, *(map_digests(Path(file.path)) for file in self.files)]
        return replace(self, at_hand=np.unique(np.concatenate(digests)), files=())

    def _files_with(self, times: Times) -> Iterable[DigestFile]:
        """The files that may have records of these times: where one has none, its records may have any."""
        if not times.size:
            return ()
        oldest, newest = times.min(), times.max()
        if oldest <= 0:
            return self.files
        return (file for file in self.files if file.oldest <= 0 or (file.oldest <= newest and oldest <= file.newest))


def known_records(segments: Iterable[Segment]) -> KnownRecords:
    """The records of all segments."""
    at_hand, files = [none_known()], list[DigestFile]()
    for segment in segments:
        if segment.file is None:
            at_hand.append(segment.digests())
        else:
            files.append(DigestFile(str(digests_file(segment.file)), *segment.span("time")))
    return KnownRecords(np.unique(np.concatenate(at_hand)), tuple(files))


@lru_cache(_MAPPED)
def _map_digests(path: str) -> Digests:
    return map_digests(Path(path))
