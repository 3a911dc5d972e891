"""The relations that a query's expressions see, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ingestion.analysis.columns.relations import AnyRows, FunctionColumns, spellings
from ingestion.analysis.columns.values import ColumnValue, Entry, UnexpandedStar
from ingestion.model import TableName
from ingestion.relational.form import RelationSource, Select, Slot
from ingestion.relational.slots import all_slots, projected_expressions


class ScopedRelation:
    """One relation in scope: how it may be called, and its columns. `hidden` ones are those of semi and anti joins."""

    __slots__ = ("alias", "hidden", "parts", "rows", "written")

    def __init__(self, relation: RelationSource, rows: AnyRows, alias: str) -> None:
        self.rows = rows
        self.alias = alias
        self.parts = relation.source.parts if isinstance(relation.source, TableName) else ()
        self.hidden = False
        self.written = relation.written

    @property
    def name(self) -> str:
        """What it is called by in one word."""
        return self.alias or (self.parts[-1] if self.parts else "")

    def is_called(self, qualifier: tuple[str, ...]) -> bool:
        """Whether a column's qualifier means this relation.

        In `SELECT t.a, web.t.b FROM web.t` both mean web.t; in `FROM web.t AS o` only `o.a` does.
        """
        if len(qualifier) == 1 and self.alias:
            return qualifier[0] == self.alias
        if self.alias:
            return False
        return _suffix(self.parts, qualifier)


def _suffix(parts: tuple[str, ...], qualifier: tuple[str, ...]) -> bool:
    if not parts or len(parts) < len(qualifier):
        return bool(parts) and qualifier[-len(parts) :] == parts
    return parts[-len(qualifier) :] == qualifier


def find_relation(
    relations: Sequence[ScopedRelation], qualifier: tuple[str, ...], *, loosely: bool
) -> ScopedRelation | None:
    """The relation that a qualifier means; `loosely` also by the name that its alias hides, and in another case.

    `SELECT t.a FROM web.t AS o` finds web.t loosely alone.
    """
    for visible in relations:
        if visible.is_called(qualifier):
            return visible
    if not loosely:
        return None
    for visible in relations:
        if visible.alias and visible.parts and _suffix(visible.parts, qualifier):
            return visible
    if len(qualifier) == 1:
        lowered = qualifier[0].lower()
        same = [visible for visible in relations if visible.name.lower() == lowered]
        return same[0] if len(same) == 1 else None
    return None


def entries_of(rows: AnyRows) -> list[Entry]:
    """What `t.*` stands for, given the rows of t."""
    return rows.all() if isinstance(rows, FunctionColumns) else rows.entries


def unmerged_entries(relations: Sequence[ScopedRelation], merged_until: Mapping[str, int]) -> Iterator[Entry]:
    """The columns of relations in order but those that USING merged; `merged_until` has the last relation of each."""
    for number, visible in enumerate(relations):
        if visible.hidden or visible.written:
            continue
        gone = spellings(visible.rows.names(), [name for name, until in merged_until.items() if number <= until])
        for entry in entries_of(visible.rows):
            if isinstance(entry, UnexpandedStar):
                yield entry.without(gone) if gone else entry
            elif entry[0] not in gone:
                yield entry


def by_position(relations: Sequence[ScopedRelation], number: int, name: str) -> ColumnValue | None:
    """Snowflake's `SELECT $2 FROM t`: number 2 is the second column of what is read; of a stage, one of that name.

    There is no number 0.
    """
    entries = [entry for visible in relations for entry in visible.rows.entries]
    before = [entry[1] for entry in entries[:number] if isinstance(entry, tuple)]
    if len(before) == number > 0:
        return before[-1]
    guesses = [guess for visible in relations for guess in visible.rows.guesses(name)]
    return guesses[0] if len(guesses) == 1 else None


def qualified_names(select: Select | None) -> dict[str, set[str]]:
    """The columns that a SELECT names with a prefix, by the prefix."""
    found: dict[str, set[str]] = {}
    for slot in _slots_of(select) if select is not None else ():
        if len(slot.parts) > 1:
            found.setdefault(slot.parts[-2], set()).add(slot.parts[-1])
    return found


def _slots_of(select: Select) -> list[Slot]:
    expressions = list(projected_expressions(select))
    expressions += [clause.expression for clause in select.clauses if clause.expression is not None]
    for relation in select.relations:
        expressions += [clause.expression for clause in relation.on if clause.expression is not None]
    return [slot for slot in all_slots(expressions) if type(slot) is Slot]
