"""A clock that only sleeping moves, so that no test waits."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from connectors.openmetadata.http import Timing


@dataclass
class VirtualTime:
    """Time since an arbitrary start; `slept` holds every wait that was asked for."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def timing(self) -> Timing:
        return Timing(sleep=self.sleep, monotonic=lambda: self.now)


@pytest.fixture
def virtual_time() -> VirtualTime:
    return VirtualTime()
