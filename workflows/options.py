"""How one run is asked for, beside what its configuration says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`show` is given each request of a dry run as JSON, which then sends nothing; otherwise it is None."""

    run_id: str
    show: Callable[[Mapping[str, Any]], None] | None = None

    @property
    def dry_run(self) -> bool:
        return self.show is not None
