"""Counts that triggers keep, however many statements change what is counted: each would have to remember them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True)
class KeptCounts:
    """How the rows of a table are counted in another one.

    `add` and `take_away` are statements of SQL over the `new` and the `old` row, `changed` the columns by which a row
    is counted, all if empty.
    """

    counts: str
    counted: str
    add: str
    take_away: str
    changed: str = ""


def prepare_counts(connection: Connection, kept: KeptCounts) -> bool:
    """Has a store keep the counts. True where it did not before: what is there is not counted yet."""
    known = text("select 1 from sqlite_master where type = 'trigger' and name = :name")
    if connection.scalar(known, {"name": f"{kept.counts}_insert"}) is not None:
        return False
    update = f"update of {kept.changed}" if kept.changed else "update"
    for name, change, body in (
        ("insert", "insert", kept.add),
        ("delete", "delete", kept.take_away),
        ("update", update, f"{kept.take_away} {kept.add}"),
    ):
        connection.execute(
            text(f"create trigger {kept.counts}_{name} after {change} on {kept.counted} begin {body} end")
        )
    return True
