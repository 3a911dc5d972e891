"""A column out of a run of columns that no schema has named yet."""

from __future__ import annotations

from ingestion.analysis.columns.field_access import field_of
from ingestion.analysis.columns.values import ColumnSources, ColumnValue, UnexpandedStar, union_of


def star_column(sources: ColumnSources, star: UnexpandedStar, name: str) -> ColumnValue:
    """The value of one of a run's columns, by its name in the table: t.x out of `SELECT x FROM (SELECT * FROM t) d`."""
    return star.own(sources, name) if star.value is None else field_of(star.value, (name,))


def star_value(sources: ColumnSources, star: UnexpandedStar, column: str) -> ColumnValue:
    """A column out of a run: certain in its own table, and some column of the runs beside it."""
    own = star_column(sources, star, column)
    if not star.others:
        return own
    branches = [own]
    for other in star.others:
        if isinstance(other, UnexpandedStar):
            inside = other.original(column)
            candidates = [star_column(sources, other, inside or column), other.whole(sources)]
            branches.append(sources.one_of(candidates, other.whole(sources).text()))
        else:
            branches.append(other)
    return union_of(branches)
