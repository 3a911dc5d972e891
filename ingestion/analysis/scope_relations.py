"""The relations that a query's expressions see, and how they are called."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.analysis.relations import AnyRows
from ingestion.model import TableName
from ingestion.relational.form import RelationSource, Select, Slot
from ingestion.relational.slots import all_slots, projected


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
        """Whether a column's qualifier means this relation."""
        if len(qualifier) == 1 and self.alias:
            return qualifier[0] == self.alias
        if self.alias:
            return False
        return _suffix(self.parts, qualifier)


def _suffix(parts: tuple[str, ...], qualifier: tuple[str, ...]) -> bool:
    if not parts or len(parts) < len(qualifier):
        return bool(parts) and qualifier[-len(parts) :] == parts
    return parts[-len(qualifier) :] == qualifier


def called(relations: Sequence[ScopedRelation], qualifier: tuple[str, ...], loosely: bool) -> ScopedRelation | None:
    """The relation that a qualifier means; `loosely` also by the name that its alias hides, and in another case."""
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


def qualified_names(select: Select | None) -> dict[str, set[str]]:
    """The columns that a SELECT names with a prefix, by the prefix."""
    found: dict[str, set[str]] = {}
    for slot in _slots_of(select) if select is not None else ():
        if len(slot.parts) >= 2:
            found.setdefault(slot.parts[-2], set()).add(slot.parts[-1])
    return found


def _slots_of(select: Select) -> list[Slot]:
    expressions = list(projected(select))
    expressions += [clause.expression for clause in select.clauses if clause.expression is not None]
    for relation in select.relations:
        expressions += [clause.expression for clause in relation.on if clause.expression is not None]
    return [slot for slot in all_slots(expressions) if type(slot) is Slot]
