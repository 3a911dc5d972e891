"""How far a workflow has read, and what its published lineage depended on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from workflows.journal.known_records import KnownRecords
from workflows.journal.segments import Segment
from workflows.state.journal import FileMarks
from workflows.state.schema import positions


@dataclass(frozen=True, slots=True)
class Watermark:
    """`newest` and `source_id`: the newest record that was read. Times are seconds since the epoch.

    `complete_since`: the journal has every record that was read with a time from then on; None: every record at all.
    `version` and `settings` say what lineage depended on; `to_retry` counts the names and edges to try again.
    """

    newest: float | None = None
    source_id: str = ""
    complete_since: float | None = None
    version: str = ""
    settings: str = ""
    to_retry: int = 0


def position_of(connection: Connection, workflow: str) -> Watermark | None:
    """The position of a workflow; None before its first run came to its end."""
    row = connection.execute(select(positions).where(positions.c.workflow == workflow)).one_or_none()
    if row is None:
        return None
    return Watermark(row.newest, row.source_id, row.complete_since, row.version, row.settings, row.to_retry)


def store_position(connection: Connection, workflow: str, position: Watermark) -> None:
    """Keeps the position in place of the one before."""
    connection.execute(delete(positions).where(positions.c.workflow == workflow))
    connection.execute(insert(positions).values(workflow=workflow, **asdict(position)))


SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class ReadState:
    """What earlier runs have read, as the journal has it.

    Records that are `known` are not read again, nor are logs all of whose `files` are as they were. Where the run reads
    others of the journal again (`rereads`), each counts as what it is read as now. `newest` is the newest time that was
    read. `between` is the window that is asked for, in place of the configured one; `log_may_be_gone`: a log that is
    not there any more is an empty one. No time after `latest` can be right: what has one counts as without a time.
    Into the folder `written` go the segments of this run that are files, None where none are to be; `everywhere`: all
    hosts of a cluster see it. Under `literal_key` the literals of SELECTs are compared, None where these are not taken
    apart. Whether records before `complete_since` were read is not known.
    """

    known: KnownRecords = field(default_factory=KnownRecords)
    journal: Sequence[Segment] = ()
    files: FileMarks = field(default_factory=dict)
    newest: float | None = None
    rereads: bool = False
    between: tuple[float, float] | None = None
    log_may_be_gone: bool = False
    latest: float = float("inf")
    written: Path | None = None
    everywhere: bool = False
    literal_key: bytes | None = field(default=None, repr=False)
    complete_since: float | None = None
