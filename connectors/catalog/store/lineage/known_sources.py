"""What is known of what entities are made of: their columns, only the tables, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from sqlalchemy import Connection, func, select

from connectors.catalog.store.lineage.reads import Moment, read_contributions
from connectors.catalog.store.lineage.rejections import rejected_columns
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import intervals


class CoverageLevel(StrEnum):
    """What is known of a table's source."""

    COLUMNS = "columns"
    TABLE = "table"
    NONE = "none"


def levels_of(
    connection: Connection, as_of: int | None = None, among: Collection[str] | None = None
) -> dict[str, CoverageLevel]:
    """What is known of what each entity (of those `among` some; None: of all) is made of, by its id.

    Of one that is not there nothing is. Observations of any age count: what filled a table a year ago is its source
    until something else is known. What a table is made of itself, and what a person rejected, does not.
    """
    moment = Moment(as_of)
    chosen, bound = ([], {}) if among is None else ([intervals.c.to_id.in_(IDS)], bind_ids(sorted(among)))
    into = select(intervals.c.to_id, func.max(intervals.c.column_edges))
    where = (moment.holds(), intervals.c.from_id != intervals.c.to_id, *chosen)
    found = {
        target: CoverageLevel.COLUMNS if most else CoverageLevel.TABLE
        for target, most in connection.execute(into.where(*where).group_by(intervals.c.to_id), bound)
    }
    doubted = {one.to_id for one in rejected_columns(connection) if one.holds(as_of)} & found.keys()
    for some in thousands_of(sorted(doubted)):
        left = read_contributions(connection, intervals.c.to_id.in_(some), moment)
        kept = {one.to_id for one in left if one.from_id != one.to_id and one.content.get("columns")}
        found |= {target: CoverageLevel.COLUMNS if target in kept else CoverageLevel.TABLE for target in some}
    return found
