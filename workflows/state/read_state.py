"""What earlier runs have read, as the journal has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workflows.state.journal import FileMarks
from workflows.state.record_digests import Digests, none_known

SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class ReadState:
    """What earlier runs have read, as the journal has it.

    Records that are `known` are not read again, nor are logs all of whose `files` are as they were. Where the run reads
    others of the journal again (`rereads`), each counts as what it is read as now. `newest` is the newest time that was
    read. `between` is the window that is asked for, in place of the configured one; `log_may_be_gone`: a log that is
    not there any more is an empty one. No time after `latest` can be right: what has one counts as without a time.
    """

    known: Digests = field(default_factory=none_known)
    journal: Sequence[bytes] = ()
    files: FileMarks = field(default_factory=dict)
    newest: float | None = None
    rereads: bool = False
    between: tuple[float, float] | None = None
    log_may_be_gone: bool = False
    latest: float = float("inf")
