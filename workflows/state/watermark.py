"""How far a workflow has read, and what its published lineage depended on."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, insert, select

from workflows.state.schema import positions


@dataclass(frozen=True, slots=True)
class Watermark:
    """`newest` and `source_id`: the newest record that was read. Times are seconds since the epoch.

    `complete_since`: the journal has every record that was read with a time from then on; None: every record at all.
    `version` and `settings` say what lineage depended on; `unsettled` counts the names and edges to try again.
    """

    newest: float | None = None
    source_id: str = ""
    complete_since: float | None = None
    version: str = ""
    settings: str = ""
    unsettled: int = 0


def position_of(connection: Connection, workflow: str) -> Watermark | None:
    """The position of a workflow; None before its first run came to its end."""
    row = connection.execute(select(positions).where(positions.c.workflow == workflow)).one_or_none()
    if row is None:
        return None
    return Watermark(row.newest, row.source_id, row.complete_since, row.version, row.settings, row.unsettled)


def store_position(connection: Connection, workflow: str, position: Watermark) -> None:
    """Keeps the position in place of the one before."""
    connection.execute(delete(positions).where(positions.c.workflow == workflow))
    connection.execute(insert(positions).values(workflow=workflow, **asdict(position)))
