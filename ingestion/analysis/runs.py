"""Runs of columns that no schema has named yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingestion.analysis.values import ColumnSources, ColumnValue, combined, field_of, union_of
from ingestion.model import TableName
from ingestion.relational.roles import COMPOSED, IDENTITY, TRANSFORMATION

NO_TABLE = TableName(("*",))
"""The table of a run that is none of a table's."""


class UnexpandedStar:
    """All columns of a table of unknown schema but `excluded`; `renamed` is old name to new.

    `others` run beside it: the columns at the same positions in the other branches of a set operation. `role` is what
    they play (ARRAY_AGG(t)[0].*). With `value` they are the fields of a value of unknown type, and not of the table.
    """

    __slots__ = ("excluded", "others", "renamed", "role", "table", "value")

    def __init__(
        self,
        table: TableName,
        excluded: frozenset[str] = frozenset(),
        renamed: tuple[tuple[str, str], ...] = (),
        others: tuple[UnexpandedStar | ColumnValue, ...] = (),
        value: ColumnValue | None = None,
    ) -> None:
        self.table = table
        self.excluded = excluded
        self.renamed = renamed
        self.others = others
        self.value = value
        self.role = IDENTITY

    def _like(self, other: UnexpandedStar) -> UnexpandedStar:
        self.role = other.role
        return self

    def _altered(self, excluded: frozenset[str], renamed: tuple[tuple[str, str], ...]) -> UnexpandedStar:
        return UnexpandedStar(self.table, excluded, renamed, self.others, self.value)._like(self)

    def beside(self, others: Iterable[UnexpandedStar | ColumnValue]) -> UnexpandedStar:
        """This run with more that runs beside it."""
        beside = (*self.others, *others)
        return UnexpandedStar(self.table, self.excluded, self.renamed, beside, self.value)._like(self)

    def playing(self, role: int) -> UnexpandedStar:
        """This run where its columns play a role."""
        value = None if self.value is None else ColumnValue(combined([(role, self.value)])).known_as(self.value.text())
        run = UnexpandedStar(self.table, self.excluded, self.renamed, self.others, value)
        run.role = COMPOSED[role][self.role]
        return run

    def whole(self, sources: ColumnSources) -> ColumnValue:
        """The value that stands for all of its columns."""
        if self.value is None:
            return self._own(sources, "*")
        return ColumnValue(combined([(TRANSFORMATION, self.value)])).known_as(f"{self.value.text()}.*")

    def column(self, sources: ColumnSources, name: str) -> ColumnValue:
        """The value of one of its columns, by the name that it has in the table."""
        return self._own(sources, name) if self.value is None else field_of(self.value, (name,))

    def _own(self, sources: ColumnSources, name: str) -> ColumnValue:
        own = sources.column(self.table, name)
        return (
            own if self.role == IDENTITY else ColumnValue(combined([(self.role, own)])).known_as(own.text(), own.type())
        )

    def without(self, names: frozenset[str]) -> UnexpandedStar:
        """This run with some columns gone, given by the names they have now."""
        back = {new: old for old, new in self.renamed}
        gone = frozenset(back.get(name, name) for name in names)
        kept = tuple(pair for pair in self.renamed if pair[1] not in names)
        return self._altered(self.excluded | gone, kept)

    def with_renamed(self, pairs: Sequence[tuple[str, str]]) -> UnexpandedStar:
        """This run with columns renamed."""
        back = {new: old for old, new in self.renamed}
        kept = dict(self.renamed)
        kept.update({back.get(old, old): new for old, new in pairs})
        return self._altered(self.excluded, tuple(kept.items()))

    def original(self, name: str) -> str | None:
        """The table's own name of the column that is called `name` here; None where it cannot be in the run."""
        for old, new in self.renamed:
            if new == name:
                return old
            if old == name:
                return None
        return None if name in self.excluded else name


def star_value(sources: ColumnSources, star: UnexpandedStar, column: str) -> ColumnValue:
    """A column out of a run: certain in its own table, and some column of the runs beside it."""
    own = star.column(sources, column)
    if not star.others:
        return own
    branches = [own]
    for other in star.others:
        if isinstance(other, UnexpandedStar):
            inside = other.original(column)
            candidates = [other.column(sources, inside or column), other.whole(sources)]
            branches.append(sources.one_of(candidates, other.whole(sources).text()))
        else:
            branches.append(other)
    return union_of(branches)
