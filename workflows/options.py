"""How one run is asked for, beside what its configuration says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workflows.extent import Extent
from workflows.failpoints import Failpoints
from workflows.signals import Drain


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`show` is given each request of a dry run as JSON, which then sends nothing; otherwise it is None.

    `extent` is what to read, `drain` holds signals back while something is being finished.
    """

    run_id: str
    show: Callable[[Mapping[str, Any]], None] | None = None
    extent: Extent = field(default_factory=Extent)
    drain: Drain = field(default_factory=Drain)
    failpoints: Failpoints = field(default_factory=Failpoints)

    @property
    def dry_run(self) -> bool:
        return self.show is not None
